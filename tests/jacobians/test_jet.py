"""Are higher derivatives along a path right?  Truth: mpmath's Taylor series, and closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from jitad import grad, jet
from jitad.errors import JitadTypeError, JitadValueError
from tests.engines import ENGINES

Run = Callable[..., Any]
engines = pytest.mark.parametrize("run", ENGINES.values(), ids=ENGINES)


@engines
@pytest.mark.parametrize("order", [1, 2, 4])
def test_against_taylor_series(run: Run, order: int) -> None:
    def f(x: Any) -> Any:
        return math.sin(x) * math.exp(-0.5 * x * x) / (1.0 + x)

    def taylor(x: Any) -> Any:
        return mpmath.sin(x) * mpmath.exp(-x * x / 2) / (1 + x)

    ds = [1.0] + [0.0] * (order - 1)
    value, found = run(lambda x: jet(f, (x,), (ds,)), 0.4)
    exact = [float(mpmath.diff(taylor, mpmath.mpf("0.4"), k)) for k in range(order + 1)]
    np.testing.assert_allclose([value, *found], exact, rtol=1e-11)


@engines
def test_a_curved_path(run: Run) -> None:
    """x = 1 + 2t + 3t²/2, y = 5 - t: derivatives of x² y, by hand."""
    _, (first, second, third) = run(
        lambda x, y: jet(lambda x, y: x * x * y, (x, y), ([2.0, 3.0, 0.0], [-1.0, 0.0, 0.0])),
        1.0, 5.0,
    )  # fmt: skip
    x, dx, ddx, y, dy = 1.0, 2.0, 3.0, 5.0, -1.0
    s, ds, dds, ddds = x * x, 2 * x * dx, 2 * dx * dx + 2 * x * ddx, 6 * dx * ddx
    assert first == pytest.approx(ds * y + s * dy)
    assert second == pytest.approx(dds * y + 2 * ds * dy)
    assert third == pytest.approx(ddds * y + 3 * dds * dy)


@engines
def test_arrays_loops_and_structures(run: Run) -> None:
    def f(p: Any) -> Any:
        out = np.zeros(len(p["a"]))
        s = p["b"]
        for i in range(len(out)):
            s = s * p["a"][i]
            out[i] = s
        return out

    a, b = np.array([2.0, 3.0]), 5.0
    path = [{"a": np.array([1.0, 0.0]), "b": 1.0}, {"a": np.zeros(2), "b": 0.0}]
    value, (first, second) = run(lambda a, b: jet(f, ({"a": a, "b": b},), (path,)), a, b)
    np.testing.assert_allclose(value, [10.0, 30.0])  # (5 + t)(2 + t), and three times that
    np.testing.assert_allclose(first, [7.0, 21.0])
    np.testing.assert_allclose(second, [2.0, 6.0])


@engines
def test_inside_a_gradient(run: Run) -> None:
    """d/dx of the second derivative of exp(x t) by t at 0, which is x²."""

    def second(x: Any) -> Any:
        return jet(lambda t: np.exp(x * t), (0.0,), ([1.0, 0.0],))[1][1]

    assert run(grad(second), 3.0) == pytest.approx(6.0)


def test_lengths_must_agree() -> None:
    with pytest.raises(JitadValueError, match="lengths"):
        jet(lambda x, y: x * y, (1.0, 2.0), ([1.0], [1.0, 0.0]))


def test_primals_and_series_are_tuples() -> None:
    with pytest.raises(JitadTypeError, match="primals are a float, series a int"):
        jet(np.sin, 0.3, 3)  # type: ignore[arg-type]
