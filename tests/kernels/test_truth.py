"""The kernels' derivatives by hand are right: every other test leans on them.

As the Python that they are; those that are there in C as well also as Numba compiles them.  The
others Numba compiles where they are measured, and there the results are compared first.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from benchmarks.c import c_gradient, compiler, has_vector_math, time_c
from benchmarks.gradbench.data import workload
from kernels import ALL, KERNELS, NAMES, arrays, ba, fresh, gmm, logsumexp
from tests.kernels import complexsteps
from tests.kernels.multiprecision import truth
from tests.kernels.plainly import by_hand

RTOL = 1e-12

needs_gcc = pytest.mark.skipif(compiler() is None, reason="no gcc on the path")
every_kernel = pytest.mark.parametrize("name", ALL)
in_c = pytest.mark.parametrize("name", NAMES)


def as_list(grads: Any) -> list[Any]:
    return list(grads) if isinstance(grads, tuple) else [grads]


def assert_close(actual: Any, expected: Any, rtol: float) -> None:
    """Equal up to rtol of the largest element, so that a sum that cancels may keep its rounding."""
    assert np.shape(actual) == np.shape(expected)
    assert np.all(np.isfinite(actual))
    scale = np.max(np.abs(expected))
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=rtol * scale)


def assert_same(actual: tuple[float, Any], expected: tuple[float, Any], rtol: float) -> None:
    assert_close(actual[0], expected[0], rtol)
    for a, e in zip(as_list(actual[1]), as_list(expected[1]), strict=True):
        assert_close(a, e, rtol)


@in_c
@pytest.mark.parametrize("seed", [0, 1])
def test_gradient_equals_forty_digits(name: str, seed: int) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs("small", seed)
    value, grads = truth(name, args)
    assert any(np.any(g != 0.0) for g in grads)
    assert_same(by_hand(name)(*args), (value, tuple(grads)), RTOL)


@pytest.mark.parametrize("name", arrays.NAMES + fresh.NAMES)
@pytest.mark.parametrize("seed", [0, 1])
def test_gradient_equals_complex_steps(name: str, seed: int) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs("small", seed)
    value, grads = complexsteps.truth(name, args)
    assert any(np.any(g != 0.0) for g in grads)
    assert_same(by_hand(name)(*args), (value, tuple(grads)), 1e-11)


@pytest.mark.parametrize("size", ["small", "medium"])
@pytest.mark.parametrize("name", [k.name for k in KERNELS.values() if k.adjoint is not None])
def test_adjoints_of_the_loops_equal_the_other_way(name: str, size: str) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs(size)
    assert kernel.adjoint is not None
    assert_same(kernel.adjoint(*args), kernel.gradient(*args), 1e-10)


@pytest.mark.parametrize("name", arrays.NAMES + fresh.NAMES)
def test_value_equals_plain_objective(name: str) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs("small", 2)
    assert_close(by_hand(name)(*args)[0], kernel.objective(*args), RTOL)


@in_c
def test_value_equals_plain_and_compiled_objective(name: str) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs("small", 2)
    value = kernel.gradient(*args)[0]
    assert_close(value, kernel.objective(*args), RTOL)
    for function in {kernel.objective, kernel.primal}:  # often one
        assert_close(value, numba.njit(function)(*args), RTOL)


@every_kernel
def test_calls_leave_their_arguments_alone(name: str) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs("small")
    before = [np.copy(a) for a in args]
    kernel.objective(*args)
    by_hand(name)(*args)
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)


@every_kernel
def test_gradient_has_the_structure_of_the_arguments(name: str) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs("small")
    grads = by_hand(name)(*args)[1]
    assert isinstance(grads, tuple) == isinstance(kernel.argnums, tuple)
    argnums = kernel.argnums if isinstance(kernel.argnums, tuple) else (kernel.argnums,)
    assert [np.shape(g) for g in as_list(grads)] == [np.shape(args[i]) for i in argnums]


@every_kernel
def test_inputs_repeat_and_take_a_size_itself(name: str) -> None:
    kernel = KERNELS[name]
    assert list(kernel.sizes) == ["small", "medium", "large"]
    by_name = kernel.inputs("medium", seed=3)
    for a, b in zip(by_name, kernel.inputs(kernel.sizes["medium"], seed=3), strict=True):
        np.testing.assert_array_equal(a, b)
    if name != "newton_sqrt":
        other = kernel.inputs("medium", seed=4)
        assert any(not np.array_equal(a, b) for a, b in zip(by_name, other, strict=True))


@needs_gcc
@in_c
@pytest.mark.parametrize("size", ["small", "medium"])
def test_c_equals_numba(name: str, size: str) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs(size)
    # Lorenz's chaos enlarges the different rounding of 1000 steps.
    rtol = 1e-9 if name == "lorenz" else 1e-11
    for vector_math in {False, has_vector_math()}:
        assert_same(c_gradient(name, vector_math)(*args), kernel.gradient(*args), rtol)


def test_newton_sqrt_differentiates_the_rounds_and_not_the_limit() -> None:
    x = KERNELS["newton_sqrt"].inputs("small")[0]
    args = (x, 0.3)  # far from converged
    value, grads = truth("newton_sqrt", args)
    assert not np.allclose(grads[0], 0.5 / np.sqrt(x), rtol=1e-3)
    assert_same(KERNELS["newton_sqrt"].gradient(*args), (value, tuple(grads)), RTOL)


@needs_gcc
def test_c_is_timed_per_call() -> None:
    assert 0.0 < time_c("rosenbrock", KERNELS["rosenbrock"].inputs("small"), 10) < 1.0


def test_importing_and_listing_kernels_compiles_nothing() -> None:
    code = (
        "import sys, kernels; assert 'numba' not in sys.modules; "
        "assert not any(k.gradient.signatures for k in kernels.KERNELS.values())"
    )
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=True)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 9])
def test_logsumexp_of_few_elements(n: int) -> None:
    x = np.linspace(3.0, -2.0, n) * (-1.0) ** np.arange(n)
    assert_same(logsumexp.gradient(x), (logsumexp.objective(x), np.exp(x) / np.exp(x).sum()), 1e-13)


@pytest.mark.parametrize("size", ["check", "small"])
def test_gmm_agrees_with_gradbench(size: str) -> None:
    given, expected = workload("gmm", size)
    arrays = [np.array(given[key], dtype=np.float64) for key in ("alpha", "mu", "q", "l", "x")]
    args = (*arrays, float(given["gamma"]), given["m"])
    grads = tuple(np.array(expected["jacobian"][key]) for key in ("alpha", "mu", "q", "l"))
    assert_same(gmm.gradient(*args), (expected["objective"], grads), 1e-11)
    if size == "check":
        assert_close(gmm.objective(*args), expected["objective"], 1e-13)


def test_logsumexp_agrees_with_gradbench() -> None:
    given, expected = workload("lse", "check")
    x = np.array(given["x"], dtype=np.float64)
    value, grad = logsumexp.gradient(x)
    assert_close(value, expected["primal"], 1e-14)
    np.testing.assert_allclose(grad, expected["gradient"], rtol=1e-12)


@pytest.mark.parametrize("size", ["check", "small"])
def test_ba_agrees_with_gradbench(size: str) -> None:
    given, expected = workload("ba", size)
    args = tuple(np.array([given[key]]) for key in ("cam", "x", "w", "feat"))
    obs = np.zeros((1, 2), dtype=np.int64)
    reprojection, weight = ba.residuals(*args, obs)
    elements = expected["objective"]["reproj_error"]["elements"]
    assert_close(reprojection[0], elements, 1e-11)
    assert_close(weight[0], expected["objective"]["w_err"]["element"], 1e-14)

    # The first two rows of the sparse Jacobian, and the last: the same camera, point and weight.
    vals = np.array(expected["jacobian"]["vals"])
    rows = vals[:15], vals[15:30]
    grad = sum(r * row for r, row in zip(elements, rows, strict=True))
    _, (cams, points, weights) = ba.gradient(*args, obs)
    assert_close(cams[0], grad[:11], 1e-10)
    assert_close(points[0], grad[11:14], 1e-10)
    assert_close(weights[0], grad[14] + weight[0] * vals[-1], 1e-10)
