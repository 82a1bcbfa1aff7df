"""Are Jacobians, Hessians and products with them right, in every engine and mode?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize

import jitad
from jitad import grad, hessian, hvp, jacfwd, jacobian, jacrev, jit
from jitad.errors import JitadTypeError, JitadValueError
from tests.engines import ENGINES
from tests.jacobians.truth import (
    complex_step,
    recurrence,
    rosenbrock,
    rosenbrock_gradient,
    rosenbrock_hessian,
)

Run = Callable[..., Any]
engines = pytest.mark.parametrize("run", ENGINES.values(), ids=ENGINES)
modes = pytest.mark.parametrize("mode", [jacfwd, jacrev, jacobian])


# -- values ---------------------------------------------------------------------------------------


@engines
@modes
@pytest.mark.parametrize("n", [1, 3, 4, 6, 9])  # fewer than go through one sweep, and more
def test_a_recurrence(run: Run, mode: Any, n: int) -> None:
    x = np.linspace(0.2, 1.4, n)
    np.testing.assert_allclose(
        run(mode(recurrence), x), complex_step(recurrence, x), rtol=1e-12, atol=1e-14
    )


@engines
@modes
@pytest.mark.parametrize("shape", [(2, 3), (1, 5), (7, 2)])
def test_blocks_have_the_axes_of_both_sides(run: Run, mode: Any, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    x, a = rng.standard_normal(shape), rng.standard_normal(shape[1])

    def f(x: Any, a: Any) -> Any:
        return np.exp(-0.1 * (x @ a)) + x[:, 0] * a[0]

    by_x, by_a = run(mode(f, (0, 1)), x, a)
    assert by_x.shape == (shape[0], *shape) and by_a.shape == (shape[0], shape[1])
    np.testing.assert_allclose(by_x, complex_step(f, x, a), rtol=1e-12, atol=1e-14)
    exact = complex_step(lambda a, x: f(x, a), a, x)
    np.testing.assert_allclose(by_a, exact, rtol=1e-12, atol=1e-14)


class Line(NamedTuple):
    slope: Any
    offset: Any


def structured(p: Any, line: Line, k: int) -> Any:
    w, b = p["w"], p["b"]
    return {"sum": np.sum(w * w) * b, "pair": [w * line.slope, line.offset * b], "k": k}


@engines
@modes
def test_structures(run: Run, mode: Any) -> None:
    """By hand: the structure of the result, and in each leaf that of the arguments."""
    w = np.array([1.0, 2.0])
    out = run(mode(structured, (0, 1)), {"w": w, "b": 3.0}, Line(5.0, 7.0), 2)
    assert set(out) == {"sum", "pair", "k"}
    by_p, by_line = out["sum"]
    np.testing.assert_allclose(by_p["w"], 6.0 * w)
    assert by_p["b"] == 5.0
    assert type(by_line) is Line and by_line == (0.0, 0.0)
    by_p, by_line = out["pair"][0]
    np.testing.assert_allclose(by_p["w"], 5.0 * np.eye(2))
    np.testing.assert_allclose(by_p["b"], np.zeros(2))
    np.testing.assert_allclose(by_line.slope, w)
    by_p, by_line = out["pair"][1]
    np.testing.assert_allclose(by_p["w"], np.zeros(2))
    assert by_p["b"] == 7.0 and by_line == (0.0, 3.0)
    np.testing.assert_allclose(out["k"][0]["w"], np.zeros(2))


@engines
@modes
def test_float32_stays(run: Run, mode: Any) -> None:
    x = np.array([0.5, 1.0, 2.0, 3.0, 0.25], np.float32)
    out = run(mode(lambda x: x * x * x), x)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out, np.diag(3.0 * x * x), rtol=1e-6)


@engines
def test_a_function_of_one_number(run: Run) -> None:
    for mode in (jacfwd, jacrev, jacobian):
        assert run(mode(lambda x: x * x * x), 2.0) == 12.0
        np.testing.assert_allclose(run(mode(lambda x: np.array([x, x * x])), 3.0), [1.0, 6.0])
    assert run(hessian(lambda x: x * x * x), 2.0) == 12.0


@engines
def test_many_numbers_share_sweeps(run: Run) -> None:
    """Eleven separate numbers, more than go through one sweep."""
    xs = [0.1 * k for k in range(11)]
    (row,) = run(jacfwd(lambda xs: [sum(x * x for x in xs)]), xs)
    np.testing.assert_allclose(row, [2.0 * x for x in xs])


@engines
def test_loops_of_unknown_length_and_branches(run: Run) -> None:
    def f(x: Any) -> Any:
        out = np.zeros(len(x))
        for i in range(len(x)):
            y = x[i]
            while y < 10.0:
                y = y * y if y > 2.0 else 2.0 * y * x[0]
            out[i] = y
        return out

    x = np.array([1.5, 2.5, 0.7, 3.0, 11.0])
    for mode in (jacfwd, jacrev):
        np.testing.assert_allclose(run(mode(f), x), _differences(f, x), rtol=1e-6, atol=1e-6)


def _differences(f: Any, x: Any) -> Any:
    def central(h: float, e: Any) -> Any:
        return (f(x + h * e) - f(x - h * e)) / (2.0 * h)

    columns = [(4.0 * central(1e-4, e) - central(2e-4, e)) / 3.0 for e in np.eye(len(x))]
    return np.stack(columns, -1)


@engines
def test_kwargs_and_closures(run: Run) -> None:
    scale = np.array([2.0, 3.0])

    def outer(x: Any) -> Any:
        return jacobian(lambda y, power=1.0: scale * y**power * x[0])(x, power=2.0)

    x = np.array([5.0, 7.0])  # the inner derivative is not by the x outside
    np.testing.assert_allclose(run(outer, x), np.diag(scale * 2.0 * x * 5.0))


# -- second derivatives, and nesting --------------------------------------------------------------


@engines
@pytest.mark.parametrize("n", [3, 7])
def test_hessian_of_rosenbrock(run: Run, n: int) -> None:
    x = np.linspace(-0.5, 1.2, n)
    exact = rosenbrock_hessian(x)
    np.testing.assert_allclose(complex_step(rosenbrock_gradient, x), exact, atol=1e-9)
    np.testing.assert_allclose(run(hessian(rosenbrock), x), exact, atol=1e-10)
    np.testing.assert_allclose(run(jacrev(jacfwd(rosenbrock)), x), exact, atol=1e-10)
    np.testing.assert_allclose(run(jacrev(grad(rosenbrock)), x), exact, atol=1e-10)
    v = np.cos(np.arange(n))
    np.testing.assert_allclose(run(hvp(rosenbrock), x, v), exact @ v, atol=1e-10)


@engines
def test_hessian_has_a_block_for_each_pair_of_arguments(run: Run) -> None:
    def f(x: Any, y: Any) -> Any:
        return y * np.sum(x**3)

    x = np.array([1.0, 2.0])
    (xx, xy), (yx, yy) = run(hessian(f, (0, 1)), x, 5.0)
    np.testing.assert_allclose(xx, np.diag(30.0 * x))
    np.testing.assert_allclose(xy, 3.0 * x**2)
    np.testing.assert_allclose(yx, 3.0 * x**2)
    assert yy == 0.0


@engines
def test_hvp_by_several_arguments_and_with_others(run: Run) -> None:
    def f(x: Any, k: Any) -> Any:
        return k * np.sum(x**3)

    x, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    np.testing.assert_allclose(run(hvp(f), x, v, 5.0), 30.0 * x * v)
    by_x, by_k = run(hvp(f, (0, 1)), x, (v, 2.0), 5.0)
    np.testing.assert_allclose(by_x, 30.0 * x * v + 3.0 * x**2 * 2.0)
    assert by_k == pytest.approx(np.sum(3.0 * x**2 * v))


@engines
def test_gradient_of_a_jacobian(run: Run) -> None:
    """Third derivatives: the gradient of the sum of all entries of a Hessian."""
    x = np.array([0.5, -1.0, 2.0, 0.1, 1.5, 1.0])

    def total(x: Any) -> Any:
        return np.sum(hessian(rosenbrock)(x))

    by_hand = complex_step(_total, x)
    np.testing.assert_allclose(run(grad(total), x), by_hand, atol=1e-9)


def _total(x: Any) -> Any:
    """The sum of the entries of the Hessian of Rosenbrock's function."""
    return np.sum(1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 202.0 - 800.0 * x[:-1])


@engines
def test_inside_loops(run: Run) -> None:
    """Newton's method with a Jacobian in each round."""

    def solve(x: Any) -> Any:
        for _ in range(20):
            residual = np.array([x[0] ** 2 + x[1] ** 2 - 4.0, x[0] * x[1] - 1.0])
            j = jacobian(
                lambda x: np.array([x[0] ** 2 + x[1] ** 2 - 4.0, x[0] * x[1] - 1.0])
            )(x)
            det = j[0, 0] * j[1, 1] - j[0, 1] * j[1, 0]
            x = x - np.array([
                (j[1, 1] * residual[0] - j[0, 1] * residual[1]) / det,
                (j[0, 0] * residual[1] - j[1, 0] * residual[0]) / det,
            ])  # fmt: skip
        return x

    x = run(solve, np.array([2.0, 0.4]))
    np.testing.assert_allclose([x[0] ** 2 + x[1] ** 2, x[0] * x[1]], [4.0, 1.0], rtol=1e-12)


# -- the compiled menu ----------------------------------------------------------------------------


def test_products_compiled() -> None:
    f = jitad.jit_jvp(lambda x, y: (x * y, np.sum(x)))
    x, y = np.array([1.0, 2.0]), 3.0
    (value, total), (moved, slope) = f((x, y), (np.array([1.0, 0.0]), 10.0))
    np.testing.assert_allclose(value, 3.0 * x)
    np.testing.assert_allclose(moved, [13.0, 20.0])
    assert (total, slope) == (3.0, 1.0)
    g = jitad.jit_vjp(lambda x, y: (x * y, np.sum(x)))
    (value, total), (by_x, by_y) = g((x, y), (np.array([1.0, 10.0]), 100.0))
    np.testing.assert_allclose(by_x, [103.0, 130.0])
    assert by_y == 21.0


def test_one_kernel_serves_all_lengths() -> None:
    j = jitad.jit_jacobian(recurrence)
    for n in (9, 21, 5):
        x = np.linspace(0.2, 1.4, n)
        np.testing.assert_allclose(j(x), complex_step(recurrence, x), rtol=1e-11, atol=1e-14)
    assert len(j.specialisations) == 1


def test_a_small_jacobian_first_and_a_large_one_then() -> None:
    j = jitad.jit_jacobian(recurrence)
    for n in (2, 30, 3, 1, 0):
        x = np.linspace(0.2, 1.4, n)
        want = complex_step(recurrence, x) if n else np.zeros((0, 0))
        np.testing.assert_allclose(j(x), want, rtol=1e-11, atol=1e-14)


def test_trust_ncg_with_products() -> None:
    slope, product = jitad.jit_grad(rosenbrock), jitad.jit_hvp(rosenbrock)
    found = minimize(rosenbrock, np.zeros(30), jac=slope, hessp=product, method="trust-ncg")
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


# -- what stays as it is, and what is refused -----------------------------------------------------


@modes
def test_arguments_are_not_changed(mode: Any) -> None:
    def f(x: Any) -> Any:
        x[0] = 2.0 * x[1]
        return x * x

    x = np.array([1.0, 2.0, 3.0])
    exact = np.diag(2.0 * x)
    exact[0] = [0.0, 8.0 * x[1], 0.0]
    for g in (mode(f), jit(mode(f))):
        np.testing.assert_allclose(g(x), exact)
        np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])


def test_a_kernel_prints_once(capfd: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("at", x[0])
        return x * x

    for mode in (jacfwd, jacrev):
        g = jit(mode(f))
        g(np.arange(6.0))
        capfd.readouterr()
        g(np.arange(6.0))
        assert capfd.readouterr().out == "at 0.0\n"


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "compiled"])
def test_what_is_refused(wrap: Any) -> None:
    with pytest.raises(JitadTypeError, match="no floats to differentiate"):
        wrap(jacobian(lambda n: n * 1.0))(3)
    with pytest.raises(JitadTypeError, match=r"the result.* is a function.*no Jacobian"):
        wrap(jacobian(lambda x: (lambda y: x * y)))(3.0)
    with pytest.raises(JitadValueError, match="argnums=2"):
        wrap(jacobian(lambda x: x, 2))(3.0)
    with pytest.raises(JitadTypeError, match="non-scalar"):
        wrap(hessian(lambda x: x * x))(np.ones(3))
    with pytest.raises(JitadTypeError, match="a point and a vector"):
        wrap(hvp(lambda x: x * x))(3.0)
