"""Are SciPy's minima, and its solutions of systems, differentiated as what they are?

Truth: closed forms, linear algebra, and differences of SciPy's own results.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so

from jitad import FallbackWarning, argmin, derivative, grad, jit, jit_grad, jvp
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

W = np.array([1.0, 2.0, 3.0])
H = np.array([[2.0, 1.0, 0.2], [1.0, 3.0, 0.1], [0.2, 0.1, 1.0]])


def bowl(x, a):
    return x @ H @ x + np.sum(x**4) + a * (2.0 * x[1] - 3.0 * x[0])


def slope_of_bowl(x, a):
    return 2.0 * H @ x + 4.0 * x**3 + a * np.array([-3.0, 2.0, 0.0])


def bounded(a, bounds, **how):
    found = so.minimize(bowl, np.zeros(3), args=(a,), jac=slope_of_bowl, bounds=bounds,
                        options={"ftol": 1e-15, "gtol": 1e-10}, **how)  # fmt: skip
    return found.x @ W


BOUNDED: dict[str, Any] = {
    "pairs": lambda a: bounded(a, [(0, None), (-0.1, 0.1), (None, None)], method="L-BFGS-B"),
    "a table": lambda a: bounded(a, np.array([[0.0, 1.0], [-0.1, 0.1], [-1.0, 1.0]])),
    "bounds that move": lambda a: bounded(a, [(-1, 0.1 * a), (-0.1 * a**2, 0.1), (-a, a)]),
    "no room": lambda a: bounded(a, [(0.2 * a, 0.2 * a), (None, 0.1), (None, 1.0)]),
    "Bounds": lambda a: bounded(a, so.Bounds(0.05, 2.0)),
    "fmin_l_bfgs_b": lambda a: so.fmin_l_bfgs_b(
        lambda x: (bowl(x, a), slope_of_bowl(x, a)), np.zeros(3), pgtol=1e-12, factr=10.0,
        bounds=[(0.0, 1.0), (-0.1, 0.1), (-1.0, 1.0)])[0] @ W,
    "least_squares": lambda a: so.least_squares(
        lambda p: decay(TIME, p[0], p[1]) + p[2] - a * DATA, [1.0, 1.0, 0.5],
        bounds=([0.0, 0.0, 0.1], [np.inf, 5.0, 1.0]), **SAME).x @ W,
    "its cost": lambda a: so.least_squares(
        lambda p: decay(TIME, *p) - a * DATA, [1.0, 0.5], bounds=(0, [3.5 * a, 0.6]), **SAME).cost,
    "curve_fit": lambda a: np.sum(so.curve_fit(
        decay, TIME, a * DATA + 0.1 * a * a * TIME, bounds=(0, [10, 0.4]), **SAME)[0]),
}  # fmt: skip


def difference(f: Any, h: float) -> float:
    """The slope at 1.3, by differences of fourth order."""
    near, far = (f(1.3 + step) - f(1.3 - step) for step in (h, 2.0 * h))
    return (8.0 * near - far) / (12.0 * h)


@pytest.mark.parametrize("f", BOUNDED.values(), ids=BOUNDED)
@engines
def test_bounds_against_scipy(engine: Engine, f: Any) -> None:
    assert engine(f)(1.3) == pytest.approx(f(1.3), rel=1e-5)
    assert engine(grad(f))(1.3) == pytest.approx(difference(f, 1e-2), rel=1e-3)


def test_bounds_in_second_order() -> None:
    f = BOUNDED["bounds that move"]
    step = (derivative(f)(1.3 + 1e-4) - derivative(f)(1.3 - 1e-4)) / 2e-4
    assert derivative(grad(f))(1.3) == pytest.approx(step, rel=1e-5, abs=1e-6)
    assert jit(derivative(grad(f)))(1.3) == pytest.approx(step, rel=1e-5, abs=1e-6)


def test_bounds_of_random_functions() -> None:
    random = np.random.default_rng(3)
    for k in range(6):
        n = int(random.integers(1, 6))
        root, c = random.normal(size=(n, n)), 3.0 * random.normal(size=n)
        m, low = root @ root.T, random.normal(size=n) - 0.5
        high = low + random.uniform(0.0, 2.0, n)
        low[k % n] = low[k % n] if k % 3 else -np.inf

        def f(x, c):
            return 0.5 * x @ m @ x - c @ x + 0.1 * np.sum(np.cosh(x))

        pairs, start = list(zip(low, high)), np.clip(0.0, low, high)
        want = so.minimize(f, start, (c,), bounds=pairs, tol=1e-13).x
        found = derivative(lambda t: so.minimize(f, start, (t * c,), bounds=pairs).x)(1.0)
        free = (want > low) & (want < high)
        h = m + np.diag(0.1 * np.cosh(want))
        moved = np.zeros(n)
        moved[free] = np.linalg.solve(h[np.ix_(free, free)], c[free])
        np.testing.assert_allclose(found, moved, atol=1e-4)


def test_bounds_that_can_not_be_met() -> None:
    for f in (lambda a: so.minimize(bowl, np.zeros(3), (a,), bounds=[(a, 1.0)] * 3).fun,
              lambda a: so.least_squares(lambda x: x - a, [1.0], bounds=(1.5, 3.0)).cost):
        with pytest.raises(ValueError, match=r"upper bound is less|outside of provided bounds"):
            jit_grad(f, fallback=False)(2.0)


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
@engines
def test_against_scipy(engine: Engine, f: Any) -> None:
    assert engine(f)(1.3) == pytest.approx(f(1.3), rel=1e-6)
    assert engine(grad(f))(1.3) == pytest.approx(difference(f, 1e-3), rel=1e-5)


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
    (lambda a: so.minimize(lambda x: np.sum((x - a) ** 2), [1.0], callback=print).fun, "callback"),
    (lambda a: so.minimize(lambda x: np.sum((x - a) ** 2), [1.0], method="BFGS",
                           options={"return_all": True}).fun, "'return_all'"),
    (lambda a: so.least_squares(lambda x: x - a, [1.0], loss="soft_l1").cost, "loss"),
])  # fmt: skip
def test_options_that_are_refused_are_named(f: Any, option: str) -> None:
    with pytest.raises(JitadError, match=f"{option}.*not supported on traced") as raised:
        grad(f)(2.0)
    assert "test_minima.py" in str(raised.value)


S = np.array([[0.5, 0.1, 0.05], [0.1, 0.4, 0.07], [0.05, 0.07, 0.6]])
SUM = {"type": "eq", "fun": lambda w: np.sum(w) - 1.0}


def portfolio(p: Any, first: Any, **how: Any) -> Any:
    """The least of w S w / 2 - p w where sum(w) is one, and w[0] at most `first`."""
    less = {"type": "ineq", "fun": lambda w, top: top - w[0], "args": (first,)}
    return so.minimize(lambda w: 0.5 * w @ S @ w - p @ w, np.ones(3) / 3.0,
                       **{"constraints": [SUM, less], **how}).x  # fmt: skip


def of_equations(p: np.ndarray, first: float | None) -> np.ndarray:
    """The same as a system of linear equations, where `first` is known to hold."""
    rows = [np.ones(3)] + ([np.eye(3)[0]] if first is not None else [])
    C = np.array(rows)
    m = len(C)
    whole = np.block([[S, C.T], [C, np.zeros((m, m))]])
    right = np.concatenate([p, [1.0], [first] if first is not None else []])
    return np.linalg.solve(whole, right)[:3]


@engines
@pytest.mark.parametrize("first", [0.2, 5.0])
def test_a_minimum_under_constraints(first: float, engine: Any) -> None:
    p, to = np.array([0.3, 0.2, 0.25]), np.array([0.3, -0.2, 0.7])

    def of(p: Any, first: Any) -> Any:
        w = portfolio(p, first)
        return w @ to, w

    def want(p: Any, first: Any) -> Any:
        return of_equations(p, first if first < 1.0 else None) @ to

    (by_p, by_first), w = engine(grad(of, (0, 1), has_aux=True))(p, first)
    np.testing.assert_allclose(w @ to, want(p, first), rtol=1e-9)
    h = 1e-5
    slopes = [(want(p + h * e, first) - want(p - h * e, first)) / (2.0 * h) for e in np.eye(3)]
    np.testing.assert_allclose(by_p, slopes, rtol=1e-7, atol=1e-9)
    top = (want(p, first + h) - want(p, first - h)) / (2.0 * h)
    assert by_first == pytest.approx(top, rel=1e-7, abs=1e-9)


def test_constraints_of_other_forms_bounds_and_a_second_derivative() -> None:
    p, to = np.array([0.3, 0.2, 0.25]), np.array([0.3, -0.2, 0.7])
    linear = [so.LinearConstraint(np.ones((1, 3)), 1.0, 1.0),
              so.LinearConstraint(np.eye(3)[:1], -np.inf, [0.2])]  # fmt: skip
    curved = so.NonlinearConstraint(lambda w: w[:1], -np.inf, 0.2)
    for how in ({"constraints": linear}, {"constraints": [SUM, curved]},
                {"constraints": SUM, "bounds": [(None, 0.2), (None, None), (-9.0, None)]}):
        w = jvp(lambda p, how=how: portfolio(p, 9.0, **how), (p,), (to,))[1]
        h = 1e-5
        step = (of_equations(p + h * to, 0.2) - of_equations(p - h * to, 0.2)) / (2.0 * h)
        np.testing.assert_allclose(w, step, rtol=1e-6, atol=1e-9)

    def radius(a: Any) -> Any:  # the place of a circle of radius a that lies nearest to (3, 4)
        circle = {"type": "eq", "fun": lambda x: x @ x - a * a}
        far = lambda x: np.sum((x - np.array([3.0, 4.0])) ** 2)
        return so.minimize(far, np.array([1.0, 1.0]), constraints=circle).fun

    # (5 - a) ** 2
    assert radius(2.0) == pytest.approx(9.0, rel=1e-6)
    assert jvp(radius, (2.0,), (1.0,))[1] == pytest.approx(-6.0, rel=1e-7)
    assert grad(grad(radius))(2.0) == pytest.approx(2.0, rel=1e-6)


def test_constraints_that_contradict_each_other_raise() -> None:
    apart = [{"type": "ineq", "fun": lambda x: x[0] - 2.0},
             {"type": "ineq", "fun": lambda x: 1.0 - x[0]}]  # fmt: skip
    with pytest.raises(JitadConvergenceError):
        grad(lambda a: so.minimize(lambda x: a * x @ x, np.ones(1), constraints=apart).fun)(1.0)


def test_bounds_and_constraints_from_outside_are_read_at_each_call() -> None:
    box = so.Bounds([-1.0, -1.0], [0.3, 2.0])
    top = so.LinearConstraint(np.eye(2)[:1], -np.inf, 0.3)
    less = {"type": "ineq", "fun": lambda x, a: a - x[0], "args": (0.3,)}
    far = lambda p: lambda x: (x[0] - p) ** 2 + x[1] ** 2
    start = np.zeros(2)
    bounded = jit(lambda p: so.minimize(far(p), start, bounds=box).fun)
    linear = jit(lambda p: so.minimize(far(p), start, constraints=top).fun, fallback=True)
    by_dict = jit(lambda p: so.minimize(far(p), start, constraints=[less]).fun)
    for limit in (0.3, 0.6):
        box.ub, top.ub, less["args"] = np.array([limit, 2.0]), limit, (limit,)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            got = bounded(1.0), linear(1.0), by_dict(1.0)
        assert got == pytest.approx([(1.0 - limit) ** 2] * 3, rel=1e-6)
