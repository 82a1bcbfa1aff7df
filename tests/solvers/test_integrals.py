"""Are SciPy's integrals of functions differentiated, by parameters and by ends?

Truth: closed forms, and SciPy's own values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate as si

from jitad import derivative, grad, jit, jit_grad
from jitad.errors import JitadError

ENGINES = {"eager": lambda f: f, "compiled": jit}
engines = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
Engine = Callable[[Any], Any]

ROOT_PI = math.sqrt(math.pi)

# the integral, its first and its second derivative at 1.3
KNOWN: dict[str, tuple[Any, Any, Any]] = {
    "an end": (lambda a: si.quad(np.cos, 0, a)[0], math.cos, lambda a: -math.sin(a)),
    "both ends and args": (
        lambda a: si.quad(lambda x, c: c * x, -a, 2.0 * a, args=(a,))[0],
        lambda a: 4.5 * a * a, lambda a: 9.0 * a),
    "the line": (
        lambda a: si.quad(lambda x: math.exp(-a * x * x), -np.inf, np.inf)[0],
        lambda a: -0.5 * ROOT_PI * a**-1.5, lambda a: 0.75 * ROOT_PI * a**-2.5),
    "backwards from infinity": (
        lambda a: si.quad(lambda x: math.exp(-x), np.inf, a)[0],
        lambda a: math.exp(-a), lambda a: -math.exp(-a)),
    "up from minus infinity": (
        lambda a: si.quad(lambda x: math.exp(a * x), -np.inf, 0)[0],
        lambda a: -1.0 / a**2, lambda a: 2.0 / a**3),
    "infinite at an end": (
        lambda a: si.quad(lambda x: a * a / np.sqrt(1.0 - x), 0, 1)[0],
        lambda a: 4.0 * a, lambda a: 4.0),
    "a logarithm": (
        lambda a: si.quad(lambda x: math.log(a * x), 0.0, 1.0)[0],
        lambda a: 1.0 / a, lambda a: -1.0 / a**2),
    "a peak": (
        lambda a: si.quad(lambda x: 1e-2 / (1e-4 + (x - a) ** 2), -np.inf, a)[0],
        lambda a: 0.0, lambda a: 0.0),
    "a jump that moves": (
        lambda a: si.quad(lambda x: x if x < a else 3.0 * x * a, 0.0, 4.0, points=[a])[0],
        lambda a: a + 24.0 - 4.5 * a * a, lambda a: 1.0 - 9.0 * a),
    "a kink": (
        lambda a: si.quad(lambda x: abs(x - a) ** 3, 0.0, 4.0)[0],
        lambda a: a**3 - (4.0 - a) ** 3, lambda a: 3.0 * a**2 + 3.0 * (4.0 - a) ** 2),
    "over a triangle": (
        lambda a: si.dblquad(lambda y, x: a * x * y * y, 0.0, a, 0.0, lambda x: a * x)[0],
        lambda a: 0.6 * a**8, lambda a: 4.8 * a**7),
    "over a strip": (
        lambda a: si.nquad(lambda x, y: np.exp(-a * x * x - y), [(-np.inf, np.inf), (0, 1)])[0],
        lambda a: -0.5 * math.sqrt(math.pi) * a**-1.5 * (1.0 - math.exp(-1.0)),
        lambda a: 0.75 * math.sqrt(math.pi) * a**-2.5 * (1.0 - math.exp(-1.0))),
    "of an integral": (
        lambda a: si.quad(lambda x: si.quad(lambda y: a * x * y, 0.0, x)[0], 0.0, a)[0],
        lambda a: 5.0 * a**4 / 8.0, lambda a: 2.5 * a**3),
}  # fmt: skip


@pytest.mark.parametrize("f, slope, bend", KNOWN.values(), ids=KNOWN)
@engines
def test_known_integrals(engine: Engine, f: Any, slope: Any, bend: Any) -> None:
    assert f(1.3) == pytest.approx(engine(f)(1.3), rel=1e-8)
    assert engine(grad(f))(1.3) == pytest.approx(slope(1.3), rel=1e-7, abs=1e-7)
    if engine is not jit or slope is math.cos:  # the rest of the compiled ones are like this one
        assert engine(derivative(grad(f)))(1.3) == pytest.approx(bend(1.3), rel=1e-5, abs=1e-5)


@engines
def test_in_a_loop_over_data(engine: Engine) -> None:
    def f(p: Any) -> Any:
        total = 0.0
        for k in range(len(p)):
            value, off = si.quad(lambda t, k=k: np.exp(-t * p[k]), 0.0, 1.0)
            assert off < 1e-8
            total += value * p[0]
        return total

    p = np.array([0.5, 1.0, 2.0])
    slope = (np.exp(-p) * (1.0 + p) - 1.0) / p**2
    want = p[0] * slope
    want[0] += np.sum((1.0 - np.exp(-p)) / p)
    np.testing.assert_allclose(engine(grad(f))(p), want, rtol=1e-9)


@pytest.mark.parametrize("derive", [grad, jit_grad])
@pytest.mark.parametrize("f", [
    lambda a: si.quad(lambda x: a / x, 0.0, 1.0)[0],
    lambda a: si.quad(lambda x: a + 1.0 / (x - 0.3), 0.0, 1.0)[0],
    lambda a: si.quad(lambda x: math.nan * a, 0.0, 1.0)[0],
    lambda a: si.quad(lambda x: np.sin(1000.0 * a * x), 0.0, 100.0, limit=5)[0],
])  # fmt: skip
def test_no_convergence(derive: Any, f: Any) -> None:
    with pytest.raises(JitadError, match="quad did not converge") as raised:
        derive(f)(2.0)
    assert "test_integrals.py" in str(raised.value)


def test_an_end_that_is_found_infinite() -> None:
    f = jit(lambda a: si.quad(lambda x: np.exp(-x), 0.0, a)[0])
    assert f(1.0) == pytest.approx(1.0 - math.exp(-1.0))
    with pytest.raises(JitadError, match="quad did not converge"):
        f(math.inf)


@pytest.mark.parametrize("option", [{"weight": "cos", "wvar": 2.0}, {"full_output": 1}])
def test_options_that_are_refused_are_named(option: Any) -> None:
    with pytest.raises(JitadError, match=f"{next(iter(option))}= of quad is not supported"):
        jit_grad(lambda a: si.quad(lambda x: a * x, 0.0, 1.0, **option)[0])(2.0)


ARRAYS: dict[str, tuple[Any, Any]] = {
    "to infinity, an array of two axes": (
        lambda a: si.quad_vec(lambda t, c: np.exp(-c * a * t) * np.eye(2), 0, np.inf, norm="max",
                              args=(2.0,))[0][1, 1],
        lambda a: -0.5 / a**2),
    "points, and a number": (
        lambda a: si.quad_vec(lambda t: abs(t - a) ** 3, 0.0, 4.0, points=[1.3])[0],
        lambda a: a**3 - (4.0 - a) ** 3),
}  # fmt: skip


@engines
@pytest.mark.parametrize("name", ARRAYS)
def test_integrals_of_arrays(name: str, engine: Engine) -> None:
    f, slope = ARRAYS[name]
    value, found = engine(lambda a: (f(a), grad(f)(a)))(1.3)
    assert value == pytest.approx(f(1.3), rel=1e-8)
    assert found == pytest.approx(slope(1.3), rel=1e-7)


def test_a_search_outside_asks_for_values_alone() -> None:
    """Eagerly, an integral inside of it is not summed up once more for a derivative."""
    calls = 0

    def product(y: Any, x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x * y

    slope = grad(lambda a: si.dblquad(product, 0.0, a, 0.0, 1.0)[0])(1.3)
    assert slope == pytest.approx(0.65)
    assert calls == 21 * 21 + 21 * (21 + 21)
