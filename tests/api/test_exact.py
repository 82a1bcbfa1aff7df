"""Are functions traced again where a kernel finds extents that it was not made for?

What a trace can't know of extents, it takes to be as it mostly is: two that are computed are
equal, a slice of three has three elements, there are some numbers.  Where that isn't so in a call,
another kernel is made for just these extents.  Truth: the function itself, and differences.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from jitad import JitadError, jit, jit_grad, jit_hvp
from jitad.errors import JitadValueError


def slopes(f: Any, x: np.ndarray, h: float = 1e-6) -> list[float]:
    return [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))]


def stretched(x: Any, n: int) -> Any:
    return (np.sin(x) + x[-n::-1]).sum()


def beyond(x: Any, k: int) -> Any:
    w = x[k : k + 3]
    return (w * w).sum() + len(w)


def written(x: Any, k: int) -> Any:
    y = x * 2.0
    y[k : k + 2] = x[k : k + 2] * x[0]
    return y.sum()


def put(x: Any, k: int) -> Any:
    y = x * 1.0
    np.put(y, [0, 2], x[k:] * 3.0)
    return (y * y).sum()


def again(x: Any, k: int) -> Any:
    return (np.resize(x[k:], (2, 3)) * np.arange(6.0).reshape(2, 3)).sum() + x.sum()


CALLS = [
    (stretched, (1, 5, 1, 5)), (beyond, (0, 3, 4, 5, 1)), (written, (1, 4, 7, 0)),
    (put, (1, 5, 4)), (again, (0, 4, 5, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "ks"), CALLS, ids=lambda p: getattr(p, "__name__", ""))
def test_calls_of_other_extents(f: Any, ks: tuple[int, ...]) -> None:
    x = np.array([0.3, -0.4, 0.9, 0.2, 0.7])
    value, gradient = jit(f), jit_grad(f)
    for k in ks:
        assert value(x, k) == pytest.approx(f(x, k), rel=1e-14)
        np.testing.assert_allclose(gradient(x, k), slopes(lambda x, k=k: f(x, k), x), rtol=1e-6)


def test_another_kernel_is_made_once() -> None:
    g = jit_grad(stretched)
    x = np.array([0.3, -0.4, 0.9])
    for _ in range(3):
        g(x, 1)
        g(x, 3)
    assert g.specialisations == ["first call", "these extents"]


def test_arrays_that_do_not_fit_are_named_with_their_extents() -> None:
    g = jit_grad(lambda x, n: (x * x[n:]).sum())
    x = np.arange(5.0)
    g(x, 0)
    with pytest.raises(JitadValueError, match=r"\(5,\) \(3,\)"):
        g(x, 2)
    np.testing.assert_allclose(g(x, 0), 2 * x)


def by_numbers(x: Any, bound: float) -> Any:
    return (np.sin(x[x > 0.0]) * x[x < bound]).sum()


def carried(x: Any, bound: float) -> Any:
    rows = x[:1] * np.ones((2, 1))
    while rows.sum() < bound:
        rows = 0.5 * rows + x
    return (rows * x).sum() + np.maximum(rows, x[-1]).sum()


def stored(x: Any, bound: float) -> Any:
    y = np.outer(x, x)
    y[:, 1:] = x[x > bound]
    y -= x[x > bound]
    return (y * y).sum() + (np.broadcast_to(x[x > bound], 3) * x[:3]).sum()


def caught(x: Any, bound: float) -> Any:
    try:
        return (x * x[x > bound]).sum()
    except ValueError:
        return x.sum()


@pytest.mark.parametrize(("f", "bounds"), [
    (by_numbers, (9.0, 0.25)), (carried, (9.0, 0.0, 5.0)), (stored, (0.8,)),
    (caught, (0.0, 0.8, 0.5, 9.0)),
])  # fmt: skip
def test_what_turns_out_to_have_extent_1_is_stretched(f: Any, bounds: tuple[float, ...]) -> None:
    x = np.array([0.3, 0.4, 0.9, 0.2, 0.7]) if f is not stored else np.array([0.3, 0.4, 0.9])
    value, gradient, second = jit(f), jit_grad(f), jit_hvp(f)
    for b in bounds:
        assert value(x, b) == pytest.approx(f(x, b), rel=1e-14)
        np.testing.assert_allclose(gradient(x, b), slopes(lambda x, b=b: f(x, b), x), rtol=1e-6)
        there = slopes(lambda y, b=b: gradient(y, b) @ x, x)
        np.testing.assert_allclose(second(x, x, b), there, rtol=1e-6, atol=1e-9)


def test_what_numbers_decide_does_not_fit() -> None:
    g = jit_grad(by_numbers)
    g(np.array([0.5, 0.2]), 1.0)
    with pytest.raises(JitadValueError, match="broadcast"):
        g(np.array([0.5, 2.0, 3.0, 0.2]), 1.0)


def test_an_error_that_the_program_catches_is_numpys() -> None:
    def f(x: Any, n: int) -> Any:
        try:
            return (x * x[n:]).sum()
        except ValueError:
            return x.sum()

    x = np.array([0.5, 2.0, 3.0])
    for op, truth in ((jit(f), f), (jit_grad(f), lambda x, n: slopes(lambda x: f(x, n), x))):
        for n in (0, 1, 2):
            np.testing.assert_allclose(op(x, n), truth(x, n), rtol=1e-6)


def test_nothing_is_printed_twice(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any, n: int) -> Any:
        print("here")
        return stretched(x, n)

    g = jit(f)
    x = np.array([0.5, 2.0, 3.0])
    g(x, 1)
    capsys.readouterr()
    with pytest.raises(JitadError, match="broadcast"):
        g(x, 3)
    assert capsys.readouterr().out == "here\n"


def test_callers_from_native_code_get_the_error() -> None:
    g = jit(stretched)
    x = np.array([0.5, 2.0, 3.0])
    g(x, 1)

    @numba.njit
    def calls(x: Any, n: Any) -> Any:
        return g(x, n)

    assert calls(x, 1) == pytest.approx(stretched(x, 1))
    with pytest.raises(ValueError, match="broadcast"):
        calls(x, 3)
    assert g(x, 3) == pytest.approx(stretched(x, 3))
