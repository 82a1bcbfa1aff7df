"""Are SciPy's minima, and its solutions of systems, differentiated as what they are?

Truth: closed forms, linear algebra, and differences of SciPy's own results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so

from jitad import argmin, derivative, grad, jit, jit_grad
from jitad.errors import JitadConvergenceError, JitadError

ENGINES = {"eager": lambda f: f, "compiled": jit}
engines = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
Engine = Callable[[Any], Any]

A = np.array([[2.0, 1.0], [1.0, 3.0]])
TIME = np.linspace(0.0, 2.0, 8)
DATA = 3.0 * np.exp(-0.7 * TIME) + 0.1 * np.sin(5.0 * TIME)
SAME = {"ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14}


def bent(x, a):
    return A @ x + a * x**3 - 1.0


def decay(t, p, q):
    return p * np.exp(-q * t)


FUNCTIONS: dict[str, Any] = {
    "fsolve": lambda a: so.fsolve(
        lambda x: [x[0] ** 2 + x[1] - a, x[1] ** 3 - x[0] - 1.0], [1.0, 1.0], xtol=1e-13)[0],
    "one equation": lambda a: so.fsolve(lambda x: x * x - a, 1.0, xtol=1e-13)[0],
    "root": lambda a: so.root(bent, [1, 1], args=(a,), tol=1e-12).x[0],
    "jac=True": lambda a: so.root(
        lambda x: (bent(x, a), A + np.diag(3.0 * a * x * x)), np.ones(2), jac=True, method="lm",
        tol=1e-12).x[1],
    "broyden1": lambda a: so.broyden1(lambda x: bent(x, a), np.ones(2), f_tol=1e-12)[0],
    "minimize": lambda a: so.minimize(
        lambda x: x @ A @ x + np.sum(x**4) - a * x[0], [0.0, 0.0], tol=1e-12,
        method="BFGS", jac=lambda x: 2.0 * A @ x + 4.0 * x**3 - np.array([a, 0.0])).x[1],
    "its value": lambda a: so.minimize(
        lambda x: (np.sum(np.cosh(x - a)) + a * a, np.sinh(x - a)), [0.0, 0.0], jac=True).fun,
    "least_squares": lambda a: so.least_squares(
        lambda p: decay(TIME, *p) - a * DATA, [1.0, 1.0], **SAME).cost,
}  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
@engines
def test_against_scipy(engine: Engine, f: Any) -> None:
    near, far = (f(1.3 + h) - f(1.3 - h) for h in (1e-3, 2e-3))
    want = (8.0 * near - far) / 12e-3
    assert engine(f)(1.3) == pytest.approx(f(1.3), rel=1e-6)
    assert engine(grad(f))(1.3) == pytest.approx(want, rel=1e-5)


@engines
def test_a_fit_and_its_covariance(engine: Engine) -> None:
    def f(a: Any) -> Any:
        found, spread = so.curve_fit(decay, TIME, a * DATA + 0.1 * a * a * TIME, sigma=1.0 + TIME)
        return found[0] + found[1], spread[0, 1]

    want = f(1.3)
    np.testing.assert_allclose(engine(f)(1.3), want, rtol=1e-5)
    slopes = engine(lambda a: (grad(lambda a: f(a)[0])(a), grad(lambda a: f(a)[1])(a)))(1.3)
    near, far = (np.subtract(f(1.3 + h), f(1.3 - h)) for h in (1e-2, 2e-2))
    np.testing.assert_allclose(slopes, (8.0 * near - far) / 12e-2, rtol=1e-3)


@engines
def test_second_order(engine: Engine) -> None:
    def f(a: Any) -> Any:
        return so.minimize(lambda x: np.sum(x**3 / 3.0 - a * x), np.array([1.0])).x[0]

    assert engine(derivative(grad(f)))(4.0) == pytest.approx(-1.0 / 32.0, rel=1e-7)


def test_a_minimum_where_rounding_decides_the_last_step() -> None:
    def f(a: Any) -> Any:
        y = a * DATA + 0.01 * a * a * TIME
        return argmin(lambda p: 0.5 * np.sum((decay(TIME, p[0], p[1]) - y) ** 2), np.ones(2))

    for a in np.linspace(1.0, 2.0, 21):
        p = f(a)
        r = decay(TIME, *p) - (a * DATA + 0.01 * a * a * TIME)
        by = np.array([np.exp(-p[1] * TIME), -p[0] * TIME * np.exp(-p[1] * TIME)])
        np.testing.assert_allclose(by @ r, 0.0, atol=1e-9)


@pytest.mark.parametrize("f, text", [
    (lambda a: so.minimize(lambda x: a * x[0], [1.0]), "minimize did not converge"),
    (lambda a: so.fsolve(lambda x: x * x + a, 1.0)[0], "fsolve did not converge"),
])  # fmt: skip
def test_no_convergence(f: Any, text: str) -> None:
    with pytest.raises(JitadConvergenceError, match=text):
        jit_grad(lambda a: np.sum(getattr(f(a), "x", f(a))))(2.0)


@pytest.mark.parametrize("f, option", [
    (lambda a: so.minimize(lambda x: np.sum((x - a) ** 2), [1.0], bounds=[(0, 1)]).fun, "bounds"),
    (lambda a: so.minimize(lambda x: np.sum((x - a) ** 2), [1.0], callback=print).fun, "callback"),
    (lambda a: so.minimize(lambda x: np.sum((x - a) ** 2), [1.0], method="BFGS",
                           options={"return_all": True}).fun, "'return_all'"),
    (lambda a: so.least_squares(lambda x: x - a, [1.0], loss="soft_l1").cost, "loss"),
    (lambda a: so.fsolve(lambda x: x - a, 1.0, full_output=True)[0][0], "full_output"),
])  # fmt: skip
def test_options_that_are_refused_are_named(f: Any, option: str) -> None:
    with pytest.raises(JitadError, match=f"{option}.*not supported on traced") as raised:
        grad(f)(2.0)
    assert "test_minima.py" in str(raised.value)
