"""Are SciPy's roots of functions of one number differentiated as the solutions that they are?

Truth: closed forms, and SciPy's own results.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so

from jitad import batch, derivative, grad, jit, jit_grad
from jitad.errors import JitadConvergenceError, JitadError

ENGINES = {"eager": lambda f: f, "compiled": jit}
engines = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
Engine = Callable[[Any], Any]

CUBE = {
    "brentq": lambda a: so.brentq(lambda x: x**3 - a, 0, 9),
    "brenth": lambda a: so.brenth(lambda x: x**3 - a, 9.0, 0.0, xtol=1e-13),
    "bisect": lambda a: so.bisect(lambda x, a: x**3 - a, 0.0, a, args=(a,)),
    "ridder": lambda a: so.ridder(lambda x, a: x**3 - a, 0.0, 9.0, args=a),
    "toms748": lambda a: so.toms748(lambda x: x**3 - a, 0.0, 9.0, k=2),
    "secant": lambda a: so.newton(lambda x: x**3 - a, 1.5),
    "second start": lambda a: so.newton(lambda x: x**3 - a, 1.5, x1=2.5),
    "newton": lambda a: so.newton(lambda x: x**3 - a, 1.5, fprime=lambda x: 3.0 * x**2),
    "halley": lambda a: so.newton(lambda x: x**3 - a, 1.5, lambda x: 3 * x**2,
                                  fprime2=lambda x: 6.0 * x),
    "array": lambda a: so.newton(lambda x: x**3 - a, np.array([1.5, 3.0]))[1],
    "full_output": lambda a: so.brentq(lambda x: x**3 - a, 0.0, 9.0, full_output=True)[1].root,
    "root_scalar": lambda a: so.root_scalar(lambda x: x**3 - a, bracket=(0.0, 9.0)).root,
    "x0": lambda a: so.root_scalar(lambda x, a: x**3 - a, x0=1.5, args=(a,)).root,
    "x0 and x1": lambda a: so.root_scalar(lambda x: x**3 - a, x0=1.5, x1=2.5).root,
    "fprime=True": lambda a: so.root_scalar(
        lambda x: (x**3 - a, 3.0 * x**2), x0=1.5, fprime=True).root,
    "fixed_point": lambda a: so.fixed_point(lambda x: x + (a - x**3) / 4.0, 1.9),
    "iteration": lambda a: so.fixed_point(
        lambda x: x + (a - x**3) / 20.0, 1.5, xtol=1e-13, method="iteration"),
}  # fmt: skip


@pytest.mark.parametrize("f", CUBE.values(), ids=CUBE)
@engines
def test_a_cube_root(engine: Engine, f: Any) -> None:
    assert engine(f)(8.0) == pytest.approx(2.0, rel=1e-10)
    assert f(8.0) == pytest.approx(2.0, rel=1e-10)
    assert engine(grad(f))(8.0) == pytest.approx(1.0 / 12.0, rel=1e-9)
    assert engine(derivative(f))(8.0) == pytest.approx(1.0 / 12.0, rel=1e-9)
    assert engine(derivative(grad(f)))(8.0) == pytest.approx(-2.0 / 9.0 / 32.0, rel=1e-8)


@engines
def test_the_solution_of_a_solution(engine: Engine) -> None:
    def f(a: Any) -> Any:
        def outer(y: Any) -> Any:
            return so.brentq(lambda x: x * x * x - y * a, 0.1, 9.0) - 2.0 * y

        return so.brentq(outer, 0.01, 5.0)  # (a y)^(1/3) = 2 y, so y = (a / 8)^(1/2)

    assert engine(f)(2.0) == pytest.approx(0.5, rel=1e-10)
    assert engine(grad(f))(2.0) == pytest.approx(0.125, rel=1e-8)


@engines
def test_of_arrays_and_in_loops(engine: Engine) -> None:
    def f(p: Any) -> Any:
        total = 0.0
        for k in range(len(p)):
            x = so.brentq(lambda x, k=k: x * math.exp(x) - p[k], 0.0, 5.0)
            if x > 0.6:
                total += x * p[0]
        return total

    p = np.array([2.0, 0.5, 3.0])
    w = np.array([0.8526055020137255, 0.3517337112491958, 1.0499088949640398])
    slope = w / (p * (1.0 + w))
    want = p[0] * slope * (w > 0.6)
    want[0] += w[0] + w[2]
    np.testing.assert_allclose(engine(grad(f))(p), want, rtol=1e-9)


def test_in_a_batch() -> None:
    f = batch(grad(lambda a: so.newton(lambda x: x * x - a, 1.0)))
    a = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(jit(f)(a), 0.5 / np.sqrt(a), rtol=1e-9)


# -- what fails -----------------------------------------------------------------------------------


@pytest.mark.parametrize("derive", [grad, jit_grad])
def test_an_interval_without_a_change_of_sign(derive: Any) -> None:
    f = derive(lambda a: so.brentq(lambda x: x * x + a, -1.0, 3.0))
    with pytest.raises(ValueError, match="must have different signs") as raised:
        f(2.0)
    assert "test_roots.py" in str(raised.value)
    assert f(-1.0001) == pytest.approx(-0.5 / math.sqrt(1.0001))


@pytest.mark.parametrize("derive", [grad, jit_grad])
@pytest.mark.parametrize("f", [
    lambda a: so.newton(lambda x: x * x + a, 1.0),
    lambda a: so.brentq(lambda x: x**3 - a, 0.0, 9.0, maxiter=2),
    lambda a: so.fixed_point(lambda x: x + a, 1.0, method="iteration"),
    lambda a: so.brentq(lambda x: x - a if x < 3.0 else math.nan, 0.0, 9.0),
])  # fmt: skip
def test_no_convergence(derive: Any, f: Any) -> None:
    with pytest.raises(JitadError, match=r"did not converge|different signs"):
        derive(f)(2.0)


@pytest.mark.parametrize("derive", [grad, jit_grad])
@pytest.mark.parametrize("f", [
    lambda x, a: x + 1.0 if x > a else x - 9.0,
    lambda x, a: 1.0 if x > a else -1.0,
    lambda x, a: np.sign(x - a) + 0.1 * a,
])  # fmt: skip
def test_a_jump_over_zero_is_no_root(derive: Any, f: Any) -> None:
    with pytest.raises(JitadConvergenceError, match="jumps over zero"):
        derive(lambda a: so.brentq(f, 0.0, 4.5, args=(a,)))(2.0)


def test_a_root_without_a_derivative() -> None:
    def solved(a: Any) -> Any:
        return so.brentq(lambda x: (x - 1.0) ** 3 - a, 0.0, 2.0)

    assert jit(solved)(0.0) == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(JitadConvergenceError):
        jit_grad(lambda a: so.brentq(lambda x: x**3 - a, -1.0, 1.0))(0.0)


@pytest.mark.parametrize("f, option", [
    (lambda a: so.newton(lambda x: x - a, np.ones(2), full_output=True), "full_output"),
    (lambda a: so.root_scalar(lambda x: x - a, x0=1.0, options={}), "options"),
])  # fmt: skip
def test_options_that_are_refused_are_named(f: Any, option: str) -> None:
    with pytest.raises(JitadError, match=f"{option}=.*is not supported on traced"):
        jit_grad(f)(2.0)


def test_scipy_runs_itself_where_nothing_is_traced() -> None:
    ran: list[Any] = []

    def f(x: Any) -> Any:
        found = so.root_scalar(lambda t: t * t - 2.0, bracket=(0.0, 2.0), options={})
        ran.append(type(found))
        return found.root * x

    assert grad(f)(3.0) == pytest.approx(math.sqrt(2.0))
    assert jit_grad(lambda x: so.brentq(lambda t: t * t - 2.0, 0.0, 2.0, disp=False) * x)(
        3.0) == pytest.approx(math.sqrt(2.0))  # fmt: skip
    assert ran == [so.RootResults]


def test_an_attempt_leaves_nothing_behind() -> None:
    def f(a: Any) -> Any:
        seen = [0.0]

        def g(x: Any) -> Any:
            seen[0] = 0.5
            return x * x - (a if x > 0.25 else 4.0)

        return so.brentq(g, 0.0, 9.0) + seen[0]

    assert jit_grad(f)(4.0) == pytest.approx(0.25)
    assert jit(f)(4.0) == pytest.approx(2.5)
