"""Do results get into arrays that the caller gives, all of them or none?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from jitad import JitadError, jit, jit_grad, jit_value_and_grad

X = np.array([1.0, 2.0, 3.0])


def squares(x: Any) -> Any:
    return np.sum(x * x)


@pytest.mark.parametrize("calls", [1, 3])
def test_gradient_and_value_and_gradient(calls: int) -> None:
    """The first call goes another way than those after it."""
    for made, pair in ((jit_grad(squares), False), (jit_value_and_grad(squares), True)):
        for k in range(calls):
            out = np.full(3, np.nan)
            given = X + k
            found = made(given, out=out)
            value, gradient = found if pair else (np.sum(given**2), found)
            assert gradient is out and value == np.sum(given**2)
            assert out.tolist() == (2.0 * given).tolist()
            assert given.tolist() == (X + k).tolist()


def test_the_result_is_complete_before_it_is_written() -> None:
    """`out=` may be the argument."""
    g = jit_grad(lambda x: np.sum(x[1:] * x[:-1]) + x[0])
    for _ in range(3):
        x = np.array([1.0, 2.0, 5.0])
        assert g(x, out=x) is x
        assert x.tolist() == [3.0, 6.0, 2.0]


@dataclass
class Weights:
    w: Any
    b: Any


class Both(NamedTuple):
    w: Any
    b: Any


def in_dict(p: Any) -> Any:
    return np.sum(p["w"] ** 2) * p["b"]


def in_fields(p: Any) -> Any:
    return np.sum(p.w**2) * p.b


def in_list(p: Any) -> Any:
    return np.sum(p[0] ** 2) * p[1]


STRUCTURES: list[tuple[Any, Callable[[Any, Any], Any], Callable[[Any], Any]]] = [
    (in_dict, lambda w, b: {"w": w, "b": b}, lambda p: (p["w"], p["b"])),
    (in_fields, Weights, lambda p: (p.w, p.b)),
    (in_fields, Both, tuple),
    (in_list, lambda w, b: [w, b], tuple),
    (in_list, lambda w, b: (w, b), tuple),
]


@pytest.mark.parametrize("k", range(len(STRUCTURES)))
def test_structures(k: int) -> None:
    f, make, parts = STRUCTURES[k]
    g = jit_grad(f)
    for b in (1.0, 2.0, 3.0):
        out = np.empty(3)
        w, slope = parts(g(make(X, b), out=make(out, None)))
        assert w is out and slope == 14.0
        assert out.tolist() == (2.0 * b * X).tolist()


def test_other_arguments_and_types_in_turn() -> None:
    g = jit_grad(lambda x, a: np.sum(x * x) * a)
    for _ in range(2):
        for dtype, shape in (("f8", 3), ("f4", 3), ("f8", (2, 2)), ("f8", 5)):
            x = np.ones(shape, dtype)
            out = np.zeros(shape, dtype)
            assert g(x, 2.0, out=out) is out
            assert np.all(out == 4.0)
            assert g(x, a=3.0, out=out) is out
            assert np.all(out == 6.0)


def test_arrays_that_are_not_contiguous() -> None:
    g = jit_grad(squares)
    wide = np.zeros((3, 2))
    for _ in range(3):
        assert g(X, out=wide[:, 0]).base is wide
        assert wide.tolist() == [[2.0, 0.0], [4.0, 0.0], [6.0, 0.0]]
        wide[:] = 0.0


def read_only() -> Any:
    out = np.zeros(3)
    out.flags.writeable = False
    return out


@pytest.mark.parametrize("ready", [False, True])
@pytest.mark.parametrize(
    ("out", "says"),
    [
        (lambda: np.zeros(4), "out has shape (4,), the result (3,)"),
        (lambda: np.zeros((3, 1)), "out has shape (3, 1), the result (3,)"),
        (lambda: np.zeros(3, "f4"), "out is an array of float32, the result one of float64"),
        (lambda: np.zeros(3, int), "out is an array of int64, the result one of float64"),
        (lambda: [0.0] * 3, "out is a list, the result an array"),
        (lambda: None, "out is a NoneType, the result an array"),
        (read_only, "out is read-only"),
    ],
)
def test_what_does_not_fit_is_refused_and_left_alone(ready: bool, out: Any, says: str) -> None:
    g = jit_grad(squares)
    if ready:
        g(X, out=np.empty(3))
    given = out()
    with pytest.raises(JitadError) as error:
        g(X, out=given)
    assert str(error.value).startswith(says)
    assert given is None or not np.any(given)


@pytest.mark.parametrize("ready", [False, True])
def test_arrays_that_overlap_are_refused(ready: bool) -> None:
    g = jit_grad(lambda x, y: np.sum(x * y), argnums=(0, 1))
    if ready:
        g(X, X, out=(np.empty(3), np.empty(3)))
    memory = np.zeros(5)
    with pytest.raises(JitadError, match="shares memory with"):
        g(X, X, out=(memory[:3], memory[2:]))
    assert not np.any(memory)
    with pytest.raises(JitadError, match="out is not like the result"):
        g(X, X, out=[np.empty(3), np.empty(3)] if not ready else {"a": 1})


def test_a_function_with_an_argument_out_gets_it() -> None:
    def scaled(x: Any, out: Any) -> Any:
        return np.sum(x * out)

    assert jit_grad(scaled)(X, out=2.0 * X).tolist() == (2.0 * X).tolist()


def test_whole_functions_and_more_results() -> None:
    f = jit(lambda x: (x * 2.0, np.sum(x), {"s": x + 1.0}))
    for _ in range(2):
        a, s = np.empty(3), np.empty(3)
        found = f(X, out=(a, None, {"s": s}))
        assert found[0] is a and found[2]["s"] is s and found[1] == 6.0
        assert a.tolist() == [2.0, 4.0, 6.0] and s.tolist() == [2.0, 3.0, 4.0]


def test_errors_of_the_function_leave_the_arrays_alone() -> None:
    def checked(x: Any) -> Any:
        if x[0] < 0.0:
            raise ValueError("negative")
        return np.sum(x * x)

    g = jit_grad(checked)
    out = np.empty(3)
    g(X, out=out)
    with pytest.raises(ValueError, match="negative"):
        g(-X, out=out)
    assert out.tolist() == (2.0 * X).tolist()


def test_nothing_is_held_or_lost() -> None:
    g = jit_value_and_grad(squares)
    out, x = np.empty(3), X.copy()
    g(x, out=out)
    g(x, out=out)
    before = sys.getrefcount(out), sys.getrefcount(x)
    for _ in range(100):
        g(x, out=out)
    assert (sys.getrefcount(out), sys.getrefcount(x)) == before
