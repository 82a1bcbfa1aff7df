"""Packages that are installed: their functions are traced as the user's own are, but for some."""

import importlib
import math
import sys

import numpy as np
import pytest

from jitad import JitadError, grad, jit_grad
from jitad.where import LIBRARIES, is_of_library

PACKAGE = '''
import functools
import math
import numpy as np

SCALE = 2.0

def helper(x):
    if x > 1:
        return math.sin(x) * SCALE
    return x

def top(x):
    total = 0.0
    for i in range(3):
        total = total + helper(x * i)
    return total

def elements(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = helper(x[i])
    return y.sum()

def scale():
    return SCALE

def measured(f):
    """A decorator."""
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)
    return wrapper

class Model:
    def __init__(self, rate):
        self.rate = rate
    def __call__(self, x):
        if x < 0:
            return 0.0
        return self.rate * x * x

def refused(x):
    return locals()["x"] * 2.0
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "lib" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "formulas.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module("formulas")
    del sys.modules["formulas"]


@pytest.mark.parametrize("derivative", [grad, jit_grad])
def test_functions_and_classes(derivative, package):
    truth = 2.0 * math.cos(1.2) + 4.0 * math.cos(2.4)
    assert derivative(package.top)(1.2) == pytest.approx(truth, rel=1e-12)
    assert derivative(lambda x: package.top(x) + 1.0)(1.2) == pytest.approx(truth, rel=1e-12)
    found = derivative(package.elements)(np.array([0.5, 2.0, 3.0]))
    np.testing.assert_allclose(found, [1.0, 2.0 * math.cos(2.0), 2.0 * math.cos(3.0)], rtol=1e-12)
    assert derivative(lambda r: package.Model(r)(3.0))(2.0) == 9.0
    model = package.Model(2.0)
    assert derivative(lambda x: model(x))(3.0) == 12.0


def test_what_they_read_may_change(package):
    f = jit_grad(lambda x: package.top(x) * package.scale())
    first = f(1.2)
    package.SCALE = 3.0
    assert f(1.2) == pytest.approx(2.25 * first, rel=1e-12)


@pytest.mark.parametrize("derivative", [grad, jit_grad])
def test_decorators(derivative, package):
    @package.measured
    def f(x, n=2):
        return x**3 if x > 1.0 else x * n

    assert derivative(f)(2.0) == 12.0
    assert derivative(lambda x: f(x, n=5))(0.5) == 5.0


def test_what_is_refused_names_their_line(package):
    with pytest.raises(JitadError, match=r"formulas\.py"):
        jit_grad(package.refused)(2.0)


def test_which_files_are_of_libraries():
    assert all(is_of_library(m.__file__) for m in (np, math) if hasattr(m, "__file__"))
    assert is_of_library(importlib.import_module("dataclasses").__file__)
    for name in LIBRARIES:
        assert is_of_library(f"/env/lib/python3.11/site-packages/{name}/core.py")
    assert is_of_library("/usr/lib/python3/dist-packages/numpy/core.py")
    assert is_of_library("/env/lib/python3.11/site-packages/tqdm.py")
    assert not is_of_library("/env/lib/python3.11/site-packages/mine/numpy.py")
    assert not is_of_library("/code/numpy/core.py")
