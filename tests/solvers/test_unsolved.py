"""What isn't found: an error that a program may catch where SciPy raises one, and only there."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate as si
import scipy.optimize as so

import jitad
from jitad.errors import JitadConvergenceError, JitadUnsolvedError

X = 1.3
START = np.array([0.5])


def attempted(search: Callable[[Any], Any], kinds: Any) -> Callable[[Any], Any]:
    def f(x):
        try:
            return search(x) * x
        except kinds:
            return 7.0 * x

    return f


def never(t, x):
    return t * t + 1.0 + x


RAISED = {
    "newton": lambda x: so.newton(never, 0.5, args=(x,), maxiter=5),
    "newton_each": lambda x: so.newton(lambda t: never(t, x), np.array([0.5, 1.0]), maxiter=5)[0],
    "brentq": lambda x: so.brentq(lambda t: t * t * t - x, 0.0, 20.0, maxiter=2),
    "bisect": lambda x: so.bisect(lambda t: t * t * t - x, 0.0, 20.0, maxiter=2),
    "fixed_point": lambda x: so.fixed_point(lambda t: t * t + 1.0 + x, 0.5, maxiter=5),
    "jitad.root": lambda x: jitad.root(lambda t: never(t, x), 0.5, max_iterations=3),
    "jitad.fixed_point": lambda x: jitad.fixed_point(lambda t: never(t, x), 0.5),
}


@pytest.mark.parametrize("name", RAISED)
def test_what_is_raised_may_be_caught(name: str) -> None:
    kind = JitadConvergenceError if name.startswith("jitad") else RuntimeError
    f = attempted(RAISED[name], kind)
    assert f(X) == 7.0 * X
    assert jitad.jit(f)(X) == 7.0 * X
    assert jitad.grad(f)(X) == jitad.jit_grad(f)(X) == jitad.derivative(f)(X) == 7.0
    g = attempted(RAISED[name], ArithmeticError)
    for run in (g, jitad.jit(g), jitad.grad(g), jitad.jit_grad(g)):
        with pytest.raises(RuntimeError):
            run(X)


def from_newton(x):
    r, found = so.newton(never, 0.5, args=(x,), maxiter=5, full_output=True, disp=False)
    return r if found.converged else 7.0


def from_fsolve(x):
    r, _, flag, _ = so.fsolve(lambda t: never(t, x), START, full_output=True)
    return r[0] if flag == 1 else 7.0


SILENT = {
    "newton": from_newton,
    "fsolve": from_fsolve,
    "brentq": lambda x: so.brentq(lambda t: t * t * t - x, 0.0, 20.0, maxiter=2, disp=False),
    "root_scalar": lambda x: so.root_scalar(never, args=(x,), x0=0.5, x1=0.6, maxiter=5).root,
    "root": lambda x: so.root(lambda t: never(t, x), START).x[0],
    "minimize": lambda x: so.minimize(lambda t: np.sum(x * t), START, tol=1.0).x[0],
    "minimize_scalar": lambda x: so.minimize_scalar(
        lambda t: (t - x) ** 2, bounds=(0.0, 3.0), method="bounded", options={"maxiter": 1}
    ).x,
    "quad": lambda x: si.quad(lambda t: 1.0 / np.abs(t - 0.3 * x), 0.0, 1.0, limit=3)[0],
    "solve_ivp": lambda x: si.solve_ivp(lambda t, y: y * y * x, (0.0, 10.0), [1.0]).y[0, -1],
}


@pytest.mark.parametrize("name", SILENT)
def test_what_scipy_goes_on_with_is_refused(name: str) -> None:
    f = attempted(SILENT[name], Exception)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f(X)  # raises nothing, or is caught
    for run in (jitad.jit(f), jitad.grad(f), jitad.jit_grad(f)):
        with pytest.raises(JitadUnsolvedError):
            run(X)


def test_solutions_with_what_is_told_of_them() -> None:
    def f(a):
        x, told, flag, _ = so.fsolve(lambda x: x**3 - a, np.ones(1), full_output=True)
        y, found = so.newton(lambda y: y**3 - a, 1.0, full_output=True, disp=False)
        assert flag == 1 and found.converged
        return x[0] + y + np.sum(told["fvec"])

    slope = 2.0 / 3.0 * 2.0 ** (-2.0 / 3.0)
    assert jitad.jit_grad(f)(2.0) == pytest.approx(slope, rel=1e-9)
    assert jitad.grad(f)(2.0) == pytest.approx(slope, rel=1e-9)
