"""Does a library that can't take a traced or differentiated number say so in the user's terms?"""

import json
import pickle
import struct
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg
from scipy import interpolate, signal

import jitad
from jitad.errors import JitadTypeError

GIVEN = {
    "json.dumps": lambda x: len(json.dumps({"a": [x]})),
    "Decimal": lambda x: float(Decimal(x)),
    "Fraction": lambda x: float(Fraction(x)),
    "struct.pack": lambda x: struct.unpack("d", struct.pack("d", x))[0],
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "timedelta": lambda x: timedelta(seconds=x).total_seconds(),
}
OWN = ("Leaf", "Cell", "Bundle", "ArrayHandle", "Stretch")


@pytest.mark.parametrize("take", [jitad.grad, jitad.jit_grad], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", GIVEN)
def test_it_names_what_and_where(name, take):
    with pytest.raises(JitadTypeError) as error:
        take(GIVEN[name])(1.5)
    text = str(error.value)
    assert "test_libraries.py" in text and f'"{name}"' in text and text.count("\n") >= 3
    assert not any(own in text for own in OWN)


def test_what_the_user_raises_inside_is_the_users():
    def key(v):
        raise TypeError("no order")

    with pytest.raises(TypeError, match="no order"):
        jitad.grad(lambda x: sorted([x, 2.0 * x], key=key)[0])(1.5)


def test_a_library_function_that_knows_numbers_is_called():
    assert jitad.jit_grad(lambda x: x * len(json.dumps([1, 2])))(2.0) == 6.0


def dates(x):
    start, end = datetime(2024, 1, 31), datetime.fromisoformat("2025-03-01")
    years = (end - start).days / 365.25 + timedelta(hours=6).total_seconds() / 86400
    return x**years * (end.year - start.year) * int(end.strftime("%m"))


def test_dates_are_data_and_the_clock_is_not():
    want = 3 * (years := 395 / 365.25 + 0.25) * 1.5 ** (years - 1.0)
    assert jitad.grad(dates)(1.5) == pytest.approx(want)
    assert jitad.jit_grad(dates)(1.5) == pytest.approx(want)
    with pytest.raises(jitad.JitadError, match="something else at every call"):
        jitad.jit_grad(lambda x: x * datetime.now().year)(1.5)


LENGTHS = {
    "get_window": lambda x: signal.get_window("hann", len(x)) @ x,
    "by keyword": lambda x: signal.get_window("hann", Nx=len(x)) @ x,
    "hilbert": lambda x: np.sum(scipy.linalg.hilbert(len(x)) @ x),
    "firwin": lambda x: signal.firwin(len(x), 0.3) @ x,
    "loop": lambda x: sum(signal.get_window("hann", k + 2).sum() * x[k] for k in range(len(x))),
}


@pytest.mark.parametrize("f", LENGTHS.values(), ids=LENGTHS)
def test_lengths_are_ints_to_what_looks_at_them(f):
    value, gradient = jitad.jit(f), jitad.jit_grad(f)
    for x in (np.array([1.3, -0.4, 0.7]), np.array([1.3, -0.4, 0.7, 2.0])):
        assert value(x) == pytest.approx(f(x), rel=1e-12)
        np.testing.assert_allclose(gradient(x), [f(e) for e in np.eye(len(x))], atol=1e-12)
    with pytest.raises(JitadTypeError, match="not known while tracing"):
        jitad.jit(lambda x: signal.get_window("hann", int(x)).sum() * x)(3.0)


@pytest.mark.filterwarnings("ignore::jitad.FallbackWarning")
def test_options_that_a_condition_chose():
    def f(x):
        places = np.arange(len(x)) * 1.0
        table = interpolate.interp1d(places, x, kind="cubic" if x[0] > 1.0 else "linear")
        return table(0.5) ** 2

    g = jitad.jit_grad(f, fallback=True)
    for first in (1.3, 0.3, 1.5):
        x = np.array([first, -0.4, 0.7, 2.0])
        np.testing.assert_allclose(g(x), jitad.grad(f)(x), rtol=1e-12)
    with pytest.raises(jitad.JitadError, match="is a Table after this branch"):
        jitad.jit_grad(f, fallback=False)(x)


def _by_given_indices(x):
    """What library code gives in a tuple is indexed by what is traced, and written."""
    i, j = np.triu_indices(4, 1)
    near = x > 0.0
    i[x < -1.0] = 3
    total = np.zeros(4)
    np.add.at(total, i[near], x[near])
    for k in range(len(x)):
        if x[k] > 0.5:
            total[j[np.argmin(x)]] += x[k] * j[k]
    return total


@pytest.mark.parametrize("take", [jitad.grad, jitad.jit_grad], ids=["eager", "compiled"])
def test_arrays_that_come_in_a_tuple(take):
    def f(x):
        return np.sum(_by_given_indices(x) ** 2)

    x = np.array([1.0, -1.5, 2.0, 0.3, -0.2, 0.7])
    want = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(6)]
    np.testing.assert_allclose(take(f)(x), want, rtol=1e-7)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_arrays_with_arithmetic_of_their_own():
    """Those that are made inside are what NumPy says; beside matrices traced arrays are refused."""

    def product(x):
        m = np.matrix([[1.0, 2.0], [3.0, 4.0]])
        return (m * m)[0, 1] * x

    def masked(x):
        m = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
        return (m * 2.0).sum() * x

    for f in (product, masked):
        assert jitad.jit(f)(1.5) == pytest.approx(f(1.5))
        assert jitad.jit_grad(f)(1.5) == pytest.approx(f(1.0))
    with pytest.raises(jitad.JitadError):
        jitad.jit(lambda x: np.sum(np.matrix([[1.0, 2.0]]) * x))(A2)


A2 = np.array([1.0, 2.0])
