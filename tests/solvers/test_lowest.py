"""Are minima of functions of one number differentiated as what they are?

Truth: closed forms, and SciPy's own values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so

from jitad import derivative, grad, jit, jit_grad
from jitad.errors import JitadError

ENGINES = {"eager": lambda f: f, "compiled": jit}
engines = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
Engine = Callable[[Any], Any]

# the place, or the value there, its first and its second derivative at 1.3
KNOWN: dict[str, tuple[Any, Any, Any]] = {
    "the default": (
        lambda a: so.minimize_scalar(lambda t: np.cosh(t - a**3)).x,
        lambda a: 3.0 * a * a, lambda a: 6.0 * a),
    "the value": (
        lambda a: so.minimize_scalar(lambda t, b: (t - b) ** 2 + b * t, args=(a,)).fun,
        lambda a: 1.5 * a, lambda a: 1.5),
    "between bounds": (
        lambda a: so.minimize_scalar(lambda t: np.exp(t) - a * t, bounds=(-3.0, 4.0)).x,
        lambda a: 1.0 / a, lambda a: -1.0 / a**2),
    "bounds that move": (
        lambda a: so.fminbound(lambda t: t**4 - a * t, 0.0, a),
        lambda a: (0.25 * a) ** (-2 / 3) / 12.0, lambda a: -((0.25 * a) ** (-5 / 3)) / 72.0),
    "a bracket": (
        lambda a: so.brent(lambda t: np.cos(a * t), brack=(2.0, 2.4)),
        lambda a: -np.pi / a**2, lambda a: 2.0 * np.pi / a**3),
    "three places": (
        lambda a: so.minimize_scalar(lambda t: np.cos(a * t), bracket=(5.5, 7.0, 9.0)).x,
        lambda a: -3.0 * np.pi / a**2, lambda a: 6.0 * np.pi / a**3),
    "a large constant": (
        lambda a: so.golden(lambda t: 1e6 + a * (t - a * a) ** 2),
        lambda a: 2.0 * a, lambda a: 2.0),
}  # fmt: skip


@pytest.mark.parametrize("f, slope, bend", KNOWN.values(), ids=KNOWN)
@engines
def test_known_minima(engine: Engine, f: Any, slope: Any, bend: Any) -> None:
    assert f(1.3) == pytest.approx(engine(f)(1.3), rel=1e-4)
    assert engine(grad(f))(1.3) == pytest.approx(slope(1.3), rel=1e-9)
    if engine is not jit:
        assert engine(derivative(grad(f)))(1.3) == pytest.approx(bend(1.3), rel=1e-6)


@engines
def test_the_best_rate_of_each_row(engine: Engine) -> None:
    def f(w: Any) -> Any:
        total = 0.0
        for k in range(len(w)):
            total += so.minimize_scalar(lambda t, k=k: t * t - w[k] * t + w[k] ** 2).fun * (k + 1)
        return total

    w = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(engine(grad(f))(w), 1.5 * w * [1, 2, 3], rtol=1e-9)


@pytest.mark.parametrize("derive", [grad, jit_grad])
@pytest.mark.parametrize("f, text", [
    (lambda a: so.minimize_scalar(lambda t: np.abs(t - a)).x, "isn't smooth"),
    (lambda a: so.minimize_scalar(lambda t: abs(t - a), bounds=(0, 3)).x, "did not converge"),
    (lambda a: so.minimize_scalar(lambda t: a * t).x, "did not converge"),
    (lambda a: so.minimize_scalar(lambda t: (t - a) ** 2, bounds=(2.0 * a, a)).x, "upper bound"),
    (lambda a: so.brent(lambda t: np.sin(a * t), brack=(1.0, a, 2.0)), "lower than those"),
])  # fmt: skip
def test_what_has_no_derivative_is_told(derive: Any, f: Any, text: str) -> None:
    with pytest.raises(JitadError, match=text) as raised, np.errstate(all="ignore"):
        derive(f)(2.0)
    assert "test_lowest.py" in str(raised.value)


@pytest.mark.parametrize("f, value, slope", [
    (lambda a: so.minimize_scalar(lambda t: a * t, bounds=(0.3 * a, 9.0)).x, 0.6, 0.3),
    (lambda a: so.minimize_scalar(lambda t: a * t, bounds=(0.3 * a, 9.0)).fun, 1.2, 1.2),
    (lambda a: so.fminbound(lambda t: (t - 5.0) ** 2, -1.0, 2.0 * a), 4.0, 2.0),
    (lambda a: so.minimize_scalar(lambda t: a * t, bounds=(0.0, 2.0)).x, 0.0, 0.0),
])  # fmt: skip
@engines
def test_what_lies_at_a_bound_goes_with_it(
    engine: Engine, f: Any, value: float, slope: float
) -> None:
    assert engine(grad(f))(2.0) == pytest.approx(slope, abs=1e-9)
    assert engine(f)(2.0) == pytest.approx(value, abs=1e-4)
