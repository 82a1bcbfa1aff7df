"""Does a bound call give what the call gives, whatever changes meanwhile?"""

from __future__ import annotations

import math
import types
from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_grad, jit_value_and_grad
from jitad.emit.numba_private import layout
from jitad.errors import JitadTypeError, JitadValueError

# What the functions below take from around them, and what the tests change.
weight = 2.0
table = np.array([1.0, 2.0, 4.0])


def bend(v):
    return np.sin(v)


def f(x, k):
    return np.sum(bend(weight * x) * table) * k + len(x)


def straight(v):
    return v


def _at(x, k):
    """The gradient of f, by hand, as things are now."""
    slope = np.cos(weight * x) if bend is not straight else np.ones_like(x)
    return weight * slope * table * k


@pytest.fixture(autouse=True)
def _restored(monkeypatch):
    for name, value in (("weight", 2.0), ("table", np.array([1.0, 2.0, 4.0])), ("bend", bend)):
        monkeypatch.setitem(globals(), name, value)


def _is_quick(call: Any) -> bool:
    return isinstance(call, types.BuiltinFunctionType)


needs_layout = pytest.mark.skipif(not layout.LAYOUT_IS_KNOWN, reason="objects lie otherwise")
X = np.array([0.1, 0.2, 0.3])


@needs_layout
@pytest.mark.parametrize("with_out", [False, True])
def test_it_reads_arrays_where_they_are(with_out):
    x, out = X.copy(), np.zeros(3)
    call = jit_grad(f).bound(x, 3.0, **({"out": out} if with_out else {}))
    assert _is_quick(call)
    for k in range(3):
        found = call()
        assert (found is out) == with_out
        np.testing.assert_allclose(found, _at(x, 3.0), rtol=1e-14)
        x += 0.1 * k


@pytest.mark.parametrize("name, value", [
    ("weight", 0.5), ("table", np.array([3.0, 1.0, 1.0])), ("bend", straight),
    ("table", np.array([3.0, 1.0])), ("len", lambda v: 100),
])  # fmt: skip
def test_it_notices_what_the_call_would_notice(monkeypatch, name, value):
    x = X.copy()
    call = jit_value_and_grad(f).bound(x, 3.0)
    before = call()
    monkeypatch.setitem(globals(), "unrelated", 1)  # another version of the namespace
    again = call()
    assert again[0] == before[0] and np.array_equal(again[1], before[1])
    monkeypatch.setitem(globals(), name, value)
    if np.shape(value) == (2,):
        with pytest.raises(ValueError, match="broadcast"):
            call()
        return
    for _ in range(2):
        value_now, slope = call()
        assert value_now == pytest.approx(f(x, 3.0), rel=1e-14)
        np.testing.assert_allclose(slope, _at(x, 3.0), rtol=1e-14)
    monkeypatch.undo()
    assert call()[0] == pytest.approx(f(x, 3.0), rel=1e-14)


def test_arrays_that_it_captures_are_read_where_they_are():
    call = jit_grad(f).bound(X, 1.0)
    call()
    table[:] = [5.0, 6.0, 7.0]
    np.testing.assert_allclose(call(), _at(X, 1.0), rtol=1e-14)


def test_a_closure_variable_that_is_bound_again():
    rate = 2.0

    def g(x):
        return rate * x * x

    call = jit_grad(g).bound(3.0)
    assert call() == 12.0
    rate = 5.0
    assert call() == 30.0


def _pair(x, y):
    return np.sum(x * x) * y


def _grid(m, n):
    return {"m": m * n, "n": 2 * n}


@pytest.mark.parametrize("f, args, argnums", [
    (_pair, (X, 2.0), (0, 1)), (_pair, (X, 2.0), 1), (_pair, (2.0, 3.0), (0, 1)),
    (_pair, (X, 2), 0), (_pair, (X[::-1], 2.0), (0,)), (_pair, ([1.0, 2.0], 2.0), 0),
    (_pair, (np.zeros(0), 2.0), (0, 1)), (_pair, (np.array([np.nan, np.inf]), 0.0), (0, 1)),
    (_pair, (X.astype(np.float32), np.float32(2.0)), 0),
])  # fmt: skip
def test_any_form_of_result(f, args, argnums):
    def sums(*a):
        return f(*(np.asarray(v) if isinstance(v, list) else v for v in a))

    made = jit_value_and_grad(sums, argnums=argnums)
    expected = made(*args)
    for call in (made.bound(*args), made.bound(*args, out=made(*args)[1])):
        for _ in range(2):
            found = call()
            assert type(found[1]) is type(expected[1])
            parts = [x if isinstance(x, tuple) else (x,) for x in (found[1], expected[1])]
            for a, b in zip((found[0], *parts[0]), (expected[0], *parts[1]), strict=True):
                assert type(a) is type(b)
                np.testing.assert_array_equal(a, b)


def test_structures_keywords_and_many_results():
    call = jit(_grid).bound(np.ones(2), n=3.0)
    assert call()["n"] == 6.0 and call()["m"].tolist() == [3.0, 3.0]
    of_dict = jit_grad(lambda p: p["a"] * p["b"]).bound({"a": 2.0, "b": 3.0})
    assert of_dict() == {"a": 3.0, "b": 2.0}


def test_a_function_with_an_argument_out_of_its_own():
    def g(x, out):
        return x * out

    assert jit_grad(g).bound(2.0, out=7.0)() == 7.0


def test_what_is_wrong_is_said_at_once():
    g = jit_grad(lambda x: np.sum(x * x))
    with pytest.raises(JitadValueError, match="shape"):
        g.bound(X, out=np.zeros(2))
    with pytest.raises(JitadTypeError, match="array"):
        g.bound(X, out=[0.0])
    with pytest.raises(JitadValueError, match="argnums"):
        g.bound()
    with pytest.raises(TypeError):
        g.bound(X)(X)
    with pytest.raises(TypeError):
        g.bound(X)(out=X)


def test_an_error_of_the_function_is_its_own():
    def g(x):
        return math.sqrt(x[0]) / x[1]

    x = np.array([4.0, 2.0])
    call = jit_grad(g).bound(x)
    call()
    x[:] = [-1.0, 1.0]
    for _ in range(2):
        with pytest.raises(ValueError, match="math domain error"):
            call()
    x[:] = [4.0, 2.0]
    np.testing.assert_allclose(call(), [0.125, -0.5])


def test_arrays_that_change_their_shape_or_their_memory():
    x, out = np.arange(6.0), np.zeros(6)
    call = jit_grad(lambda x: np.sum(x * x * x)).bound(x, out=out)
    call()
    x.resize(4, refcheck=False)
    with pytest.raises(JitadValueError, match="shape"):
        call()
    out.resize(4, refcheck=False)
    np.testing.assert_allclose(call(), 3.0 * x * x)
    x.shape = (2, 2)
    with pytest.raises(JitadValueError, match="shape"):
        call()


def test_the_result_may_be_an_argument():
    x = np.array([1.0, 2.0])
    call = jit_grad(lambda x: np.sum(x * x)).bound(x, out=x)  # made once: 2, 4
    assert call() is x and x.tolist() == [4.0, 8.0]
    assert call().tolist() == [8.0, 16.0]


def test_it_keeps_hold_of_what_it_needs():
    def made():
        x = np.array([1.0, 2.0])
        return jit_grad(lambda x: np.sum(x * x)).bound(x, out=np.zeros(2)), x

    call, x = made()
    x[:] = [5.0, 6.0]
    del x
    assert call().tolist() == [10.0, 12.0]


def test_where_there_is_no_kernel():
    def depth(x, n):
        def power(f, k):
            return f if k <= 0 else power(lambda y: y * f(y), k - 1)

        return power(lambda y: y, n)(x)

    assert jit_grad(depth).bound(2.0, 2)() == 12.0
