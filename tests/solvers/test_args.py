"""May what SciPy hands on to your function (`args=`) be a tuple that is made of an array?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate as si
import scipy.optimize as so

from jitad import grad, jit_grad

# a x**2 = b at x = sqrt(b / a), which is the solution of each, or tells of it
SOLUTIONS = {
    "brentq": lambda p: so.brentq(lambda x, a, b: a * x * x - b, 0.0, 9.0, tuple(p)),
    "newton": lambda p: so.newton(lambda x, a, b: a * x * x - b, 1.0, args=tuple(p)),
    "newton, a list": lambda p: so.newton(lambda x, a, b: a * x * x - b, 1.0, args=[*p]),
    "root_scalar": lambda p: so.root_scalar(
        lambda x, a, b: a * x * x - b, bracket=(0.0, 9.0), args=tuple(p)).root,
    "fsolve": lambda p: so.fsolve(lambda x, a, b: a * x * x - b, 1.0, args=tuple(p))[0],
    "minimize": lambda p: so.minimize(
        lambda x, a, b: np.sum(a * x**3 / 3.0 - b * x), np.ones(1), tuple(p)).x[0],
    "minimize_scalar": lambda p: so.minimize_scalar(
        lambda x, a, b: a * x**3 / 3.0 - b * x, bounds=(0.0, 9.0), args=tuple(p)).x,
    "least_squares": lambda p: so.least_squares(
        lambda x, a, b: a * x**2 - b, np.ones(1), args=tuple(v for v in p)).x[0],
    "quad": lambda p: si.quad(lambda x, a, b: np.sqrt(b / a), 0.0, 1.0, args=tuple(p))[0],
    "nquad": lambda p: si.nquad(lambda x, y, a, b: np.sqrt(b / a), [(0.0, 1.0)] * 2, tuple(p))[0],
    "solve_ivp": lambda p: si.solve_ivp(
        lambda t, y, a, b: [np.sqrt(b / a)], (0.0, 1.0), [0.0], args=tuple(p)).y[0, -1],
    "solve_ivp, an array": lambda p: si.solve_ivp(
        lambda t, y, a, b: [np.sqrt(b / a)], (0.0, 1.0), [0.0], args=p).y[0, -1],
    "solve_ivp, a list": lambda p: si.solve_ivp(
        lambda t, y, a, b: [np.sqrt(b / a)], (0.0, 1.0), [0.0], args=list(p)).y[0, -1],
    "odeint": lambda p: si.odeint(
        lambda y, t, a, b: np.sqrt(b / a), 0.0, np.linspace(0.0, 1.0, 3), tuple(p))[-1, 0],
}  # fmt: skip


@pytest.mark.parametrize("solution", SOLUTIONS.values(), ids=SOLUTIONS)
@pytest.mark.parametrize("engine", (grad, jit_grad), ids=("eager", "compiled"))
def test_arguments_made_of_an_array(engine: Any, solution: Any) -> None:
    p = np.array([0.5, 2.0])
    assert solution(p) == pytest.approx(2.0, rel=1e-6)
    np.testing.assert_allclose(engine(solution)(p), [-2.0, 0.5], rtol=1e-6)


def test_an_array_that_is_the_only_argument() -> None:
    def f(p: Any) -> Any:
        return so.brentq(lambda x, p: p[0] * x * x - p[1], 0.0, 9.0, args=p)

    np.testing.assert_allclose(jit_grad(f)(np.array([0.5, 2.0])), [-2.0, 0.5], rtol=1e-6)
