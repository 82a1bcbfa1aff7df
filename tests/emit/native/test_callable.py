"""Compiled objects inside @njit code."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit, types

import jitad
from jitad.emit import native
from jitad.emit.callable import register
from jitad.errors import JitadIndexError, JitadTypeError

TEXT = """
from jitad.emit.preamble import empty, float64, load, store
from jitad.errors import JitadIndexError

def k(x, s):
    if s > 10.0:
        raise JitadIndexError("too far")
    g = empty(float64, x.shape[0])
    for i in range(x.shape[0]):
        store(g, FACTOR * load(x, i) * s, i)
    return s, g
"""


@register
class Scaled:
    """Stands for what `jit_grad` gives."""

    def __init__(self, factor):
        self.text = TEXT.replace("FACTOR", str(factor))
        self.asked = []

    def entry(self, argument_types):
        self.asked.append(argument_types)
        return native.compile(self.text, "k")


double = Scaled(2.0)
X = np.arange(3.0)


def test_as_global_closure_and_argument():
    triple = Scaled(3.0)

    @njit
    def global_(x):
        return double(x, 1.0)

    @njit
    def closure(x):
        g = triple(x, 2.0)[1]
        return g

    @njit
    def argument(f, x):
        return f(x, 1.0)[1]

    s, g = global_(X)
    assert s == 1.0
    np.testing.assert_array_equal(g, 2 * X)
    np.testing.assert_array_equal(closure(X), 6 * X)
    np.testing.assert_array_equal(argument(double, X), 2 * X)
    np.testing.assert_array_equal(argument(triple, X), 3 * X)
    np.testing.assert_array_equal(argument(Scaled(5.0), X), 5 * X)


def test_a_whole_optimiser_is_compiled():
    @njit
    def descend(f, x, steps):
        for _ in range(steps):
            _, g = f(x, 1.0)
            x = x - 0.1 * g
        return x

    np.testing.assert_allclose(descend(double, X, 10), X * 0.8**10)


def test_entry_is_asked_for_the_types_of_the_call():
    asked = Scaled(7.0)

    @njit
    def call(x, s):
        return asked(x, s)[0]

    call(X, 2)
    assert asked.asked[0] == (types.float64[::1], types.int64)


def test_objects_pass_through_unchanged():
    @njit
    def same(f):
        return f

    assert same(double) is double


def test_exceptions_keep_their_class():
    @njit
    def call(x, s):
        return double(x, s)

    with pytest.raises(JitadIndexError, match="too far"):
        call(X, 11.0)

    @njit
    def caught(x, s):
        try:
            double(x, s)
        except Exception:
            return -1.0
        return s

    assert caught(X, 11.0) == -1.0 and caught(X, 1.0) == 1.0


def test_keywords_are_refused():
    @njit
    def call(x):
        return double(x, s=1.0)

    with pytest.raises(JitadTypeError, match="keyword"):
        call(X)


CALLER = """
from numba import njit
from objective import g

@njit(cache=True)
def inner(x):
    return g(x)

@njit(cache=True)
def outer(x):
    return inner(x) + 1.0

@njit(cache=True)
def passed(f, x):
    return f(x)
"""
OBJECTIVE = """
from jitad.emit import native
from jitad.emit.callable import register

@register
class Compiled:
    def entry(self, argument_types):
        return native.compile("def k(x): return FACTOR * x", "k")

g = Compiled()
"""
MAIN = """
import warnings
from numba.core.errors import NumbaWarning
warnings.simplefilter("ignore", NumbaWarning)
from caller import outer, inner, passed
from objective import g
print(outer(1.0), inner(1.0), passed(g, 1.0))
"""


def test_an_edited_objective_is_seen_by_callers_on_numbas_disk_cache(tmp_path):
    def run(factor):
        (tmp_path / "objective.py").write_text(OBJECTIVE.replace("FACTOR", factor))
        env = dict(os.environ, JITAD_CACHE_DIR=str(tmp_path / "cache"), PYTHONDONTWRITEBYTECODE="1")
        env["PYTHONPATH"] = os.pathsep.join([str(Path(jitad.__file__).parents[1]), str(tmp_path)])
        done = subprocess.run([sys.executable, "-c", MAIN], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    (tmp_path / "caller.py").write_text(CALLER)
    assert run("2.0") == ["3.0", "2.0", "2.0"]
    assert run("5.0") == ["6.0", "5.0", "5.0"]
