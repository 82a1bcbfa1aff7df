"""Are derivatives of fixed points, roots and minima those of the implicit function theorem?

Truth: closed forms, linear algebra by NumPy, and differences of solutions found by the plain
iteration.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from jitad import argmin, derivative, fixed_point, grad, jit, jvp, root

ENGINES = {"eager": lambda f: f, "compiled": jit}
engines = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
Engine = Callable[[Any], Any]


def slope(f: Callable[[float], Any], x: float) -> Any:
    """Extrapolated central differences."""

    def central(h: float) -> Any:
        return (np.asarray(f(x + h)) - np.asarray(f(x - h))) / (2.0 * h)

    return (4.0 * central(1e-4) - central(2e-4)) / 3.0


def gradient(f: Callable[[Any], float], x: Any) -> Any:
    return np.array([slope(lambda t, e=e: f(x + t * e), 0.0) for e in np.eye(len(x))])


def heron(a: Any) -> Any:
    return fixed_point(lambda y: 0.5 * (y + a / y), 1.0)


def cosine(a: Any) -> Any:
    return fixed_point(lambda y: np.cos(a * y), 0.5)


def cube_root(a: Any) -> Any:
    return root(lambda y: y**3 - a, 1.0)


# -- one number -----------------------------------------------------------------------------------


@engines
@pytest.mark.parametrize("outer", [derivative, grad])
@pytest.mark.parametrize("inner", [derivative, grad])
def test_second_derivatives_in_all_mode_pairs(engine: Engine, outer: Any, inner: Any) -> None:
    assert engine(outer(inner(heron)))(9.0) == pytest.approx(-1.0 / 108.0, rel=1e-9)
    assert engine(outer(inner(cube_root)))(8.0) == pytest.approx(-2.0 / 9.0 / 32.0, rel=1e-9)


@engines
def test_third_derivative(engine: Engine) -> None:
    third = derivative(grad(derivative(heron)))
    assert engine(third)(9.0) == pytest.approx(3.0 / 8.0 * 9.0**-2.5, rel=1e-9)


@engines
@pytest.mark.parametrize("how", [derivative, grad])
def test_linear_convergence(engine: Engine, how: Any) -> None:
    """The derivative is converged as well as the value, not stopped with it."""
    for a in (0.3, 1.0):
        y = engine(cosine)(a)
        assert y == pytest.approx(math.cos(a * y), rel=1e-11)
        exact = -y * math.sin(a * y) / (1.0 + a * math.sin(a * y))
        assert engine(how(cosine))(a) == pytest.approx(exact, rel=1e-10)


@engines
@pytest.mark.parametrize("how", [derivative, grad])
def test_no_dependence_on_the_start(engine: Engine, how: Any) -> None:
    def f(t: Any) -> Any:
        x = fixed_point(np.cos, t)
        y = root(lambda y: y * y - 2.0, t)
        return x + y + argmin(lambda z: (z - 1.0) ** 2, t)

    assert engine(how(f))(0.7) == 0.0


@engines
def test_derivatives_between_solutions(engine: Engine) -> None:
    """A fixed point of a map that holds the derivative of another fixed point."""

    def inner(x: Any, y: Any) -> Any:  # 4/3 x y z**2, by z at 1
        return derivative(lambda z: fixed_point(lambda w: 0.25 * w + x * y * z * z, 0.0))(1.0)

    def outer(x: Any) -> Any:  # x / (1 - 0.8/3 x)
        return fixed_point(lambda y: 0.1 * inner(x, y) + x, 0.0)

    exact = 1.0 / (1.0 - 0.8 / 3.0 * 0.5) ** 2
    assert engine(derivative(outer))(0.5) == pytest.approx(exact, rel=1e-9)
    assert engine(grad(outer))(0.5) == pytest.approx(exact, rel=1e-9)


# -- vectors and structures -----------------------------------------------------------------------

A = np.array([[0.2, 0.1, 0.0], [-0.3, 0.4, 0.2], [0.1, 0.0, -0.5]])


def affine(b: Any) -> Any:
    x = fixed_point(lambda x: A @ x + b, np.zeros(3))
    return np.sum(x * x)


@engines
def test_a_vector(engine: Engine) -> None:
    b = np.array([1.0, 2.0, -1.0])
    before = b.copy()
    r = np.linalg.inv(np.eye(3) - A)
    np.testing.assert_allclose(engine(grad(affine))(b), 2.0 * r.T @ r @ b, rtol=1e-10)
    d = np.array([1.0, 0.0, 2.0])
    hessian = 2.0 * r.T @ r
    along = engine(lambda b, d: jvp(grad(affine), (b,), (d,))[1])
    np.testing.assert_allclose(along(b, d), hessian @ d, rtol=1e-9)
    back = engine(lambda b, d: grad(lambda b: np.sum(grad(affine)(b) * d))(b))
    np.testing.assert_allclose(back(b, d), hessian @ d, rtol=1e-9)
    np.testing.assert_array_equal(b, before)


@dataclass
class Pair:
    low: Any
    high: Any


@engines
@pytest.mark.parametrize("how", [derivative, grad])
def test_a_structure(engine: Engine, how: Any) -> None:
    def f(b: Any) -> Any:
        def step(s: Any) -> Any:
            p, (u, v) = s["p"], s["q"]
            return {
                "p": Pair(0.3 * np.sin(u) + b, p.low * np.array([0.2, 0.1]) + v),
                "q": (0.5 * p.low * b, 0.1 * p.high),
            }

        start = {"p": Pair(0.0, np.zeros(2)), "q": (0.0, np.zeros(2))}
        s = fixed_point(step, start)
        return s["p"].low * s["p"].high[1] + s["q"][0]

    assert engine(how(f))(1.2) == pytest.approx(float(slope(f, 1.2)), rel=1e-8)


@engines
def test_further_arguments(engine: Engine) -> None:
    def f(a: Any) -> Any:
        x = fixed_point(lambda y, b, c: 0.5 * (y + b / y) * c["one"], 1.0, a, {"one": 1.0})
        return x + root(lambda y, b: y * y - b, 1.0, a) + argmin(lambda y, b: (y - b) ** 2, 0.0, a)

    assert engine(grad(f))(4.0) == pytest.approx(0.25 + 0.25 + 1.0, rel=1e-10)


@engines
def test_single_precision(engine: Engine) -> None:
    def f(b: Any) -> Any:
        return np.sum(fixed_point(lambda x: np.float32(0.5) * x + b, np.zeros(2, np.float32)))

    got = engine(grad(f))(np.array([1.0, 3.0], np.float32))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, [2.0, 2.0], rtol=1e-5)


# -- inside other code ----------------------------------------------------------------------------


def chained(a: Any, n: int) -> Any:
    """Each solution enters the next equation, so that a reverse sweep must record it."""
    total, y = 0.0, 1.0
    for k in range(n):
        y = fixed_point(lambda x, k=k, y=y: np.cos(a * x + 0.1 * k * y), 0.5)
        total += y * y
    return total


def chained_arrays(a: Any, n: int) -> Any:
    y = 1.0 * a
    for k in range(n):
        y = fixed_point(lambda x, k=k, y=y: 0.5 * np.cos(a * x + 0.1 * k * y), np.zeros(3))
    return np.sum(y * y)


def chosen(a: Any, n: int) -> Any:
    s = a
    while s < n:
        if s > 2.0:
            s = s + root(lambda y: y**3 - s * a, 1.0)
        else:
            s = 2.0 * s
    return s


@engines
@pytest.mark.parametrize("f", [chained, chosen])
def test_in_loops_and_branches(engine: Engine, f: Any) -> None:
    exact = float(slope(lambda a: f(a, 5), 0.9))
    assert engine(grad(f))(0.9, 5) == pytest.approx(exact, rel=1e-8)
    assert engine(derivative(f))(0.9, 5) == pytest.approx(exact, rel=1e-8)


@engines
@pytest.mark.parametrize("outer", [derivative, grad])
def test_second_derivative_through_a_loop(engine: Engine, outer: Any) -> None:
    exact = float(slope(lambda a: grad(chained)(a, 3), 0.9))
    assert engine(outer(grad(chained)))(0.9, 3) == pytest.approx(exact, rel=1e-8)


@engines
def test_arrays_in_a_loop(engine: Engine) -> None:
    a = np.array([0.3, 0.5, 0.7])
    exact = gradient(lambda a: float(chained_arrays(a, 4)), a)
    np.testing.assert_allclose(engine(grad(chained_arrays))(a, 4), exact, rtol=1e-8)


# -- roots and minima -----------------------------------------------------------------------------


def crossing(p: Any) -> Any:
    x = root(lambda x: np.array([x[0] ** 2 + x[1] ** 2 - p[0], x[0] - x[1] * p[1]]),
             np.array([1.0, 0.5]))  # fmt: skip
    return x[0] * x[1] ** 2


@engines
def test_a_root_in_the_plane(engine: Engine) -> None:
    p = np.array([2.0, 0.7])  # x1 = sqrt(p0 / (1 + p1**2)), x0 = p1 x1
    exact = gradient(lambda p: p[1] * (p[0] / (1.0 + p[1] ** 2)) ** 1.5, p)
    assert engine(crossing)(p) == pytest.approx(0.7 * (2.0 / 1.49) ** 1.5, rel=1e-12)
    np.testing.assert_allclose(engine(grad(crossing))(p), exact, rtol=1e-9)


def valley(a: Any) -> Any:
    """A banana from the far side of the valley: the Hessian is indefinite on the way."""
    x = argmin(lambda x: (1.0 - x["u"]) ** 2 + a * (x["v"] - x["u"] ** 2) ** 2 + 0.1 * x["v"] ** 2,
               {"u": -1.0, "v": 3.0})  # fmt: skip
    return x["u"] * x["v"]


@engines
def test_a_minimum(engine: Engine) -> None:
    first, second = slope(valley, 10.0), slope(lambda a: slope(valley, a), 10.0)
    assert engine(grad(valley))(10.0) == pytest.approx(float(first), rel=1e-7)
    assert engine(derivative(grad(valley)))(10.0) == pytest.approx(float(second), rel=1e-3)


@engines
def test_a_hyper_gradient(engine: Engine) -> None:
    """The loss on other data of a ridge regression, by its penalty: exact by linear algebra."""
    rng = np.random.default_rng(3)
    a, b, c, d = rng.normal(size=(6, 3)), rng.normal(size=6), rng.normal(size=(4, 3)), np.ones(4)

    def loss(penalty: Any) -> Any:
        w = argmin(lambda w: np.sum((a @ w - b) ** 2) + penalty * np.sum(w * w), np.zeros(3))
        return np.sum((c @ w - d) ** 2)

    h = a.T @ a + 0.5 * np.eye(3)
    w = np.linalg.solve(h, a.T @ b)
    exact = -2.0 * (c @ w - d) @ c @ np.linalg.solve(h, w)
    assert engine(loss)(0.5) == pytest.approx(np.sum((c @ w - d) ** 2), rel=1e-12)
    assert engine(grad(loss))(0.5) == pytest.approx(exact, rel=1e-9)
