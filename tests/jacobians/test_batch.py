"""Is a batch the function on each element, and nothing else?  Truth: the loop in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from jitad import JitadError, batch, grad, hessian, jacobian, jit, value_and_grad
from jitad.errors import JitadTypeError, JitadValueError
from tests.engines import ENGINES
from tests.jacobians.truth import complex_step, rosenbrock, rosenbrock_gradient, rosenbrock_hessian

Run = Callable[..., Any]
engines = pytest.mark.parametrize("run", ENGINES.values(), ids=ENGINES)

RNG = np.random.default_rng(7)


def steps(x: Any, a: Any) -> Any:
    """Takes as many rounds as the element says, and one of two branches."""
    s = x
    count = 0
    while s < 10.0:
        s = s * s if s > 2.0 else s + a
        count += 1
    return s, count


@engines
def test_each_element_takes_its_own_way(run: Run) -> None:
    x = np.array([0.5, 3.0, 11.0, 1.9])
    values, counts = run(batch(steps, (0, None)), x, 0.7)
    expected = [steps(float(e), 0.7) for e in x]
    np.testing.assert_allclose(values, [v for v, _ in expected])
    np.testing.assert_array_equal(counts, [c for _, c in expected])
    assert counts.dtype == np.int64


@engines
def test_gradients_per_example(run: Run) -> None:
    w, x, y = RNG.standard_normal(3), RNG.standard_normal((5, 3)), RNG.standard_normal(5)

    def loss(w: Any, x: Any, y: Any) -> Any:
        return (np.sin(w @ x) - y) ** 2

    values, slopes = run(batch(value_and_grad(loss), (None, 0, 0)), w, x, y)
    np.testing.assert_allclose(values, (np.sin(x @ w) - y) ** 2)
    exact = (2.0 * (np.sin(x @ w) - y) * np.cos(x @ w))[:, None] * x
    np.testing.assert_allclose(slopes, exact)


@engines
def test_jacobians_and_hessians_per_example(run: Run) -> None:
    x = RNG.standard_normal((4, 6))
    np.testing.assert_allclose(
        run(batch(jacobian(grad(rosenbrock))), x), [rosenbrock_hessian(e) for e in x], atol=1e-9
    )
    np.testing.assert_allclose(
        run(batch(hessian(rosenbrock)), x), [rosenbrock_hessian(e) for e in x], atol=1e-9
    )


@engines
def test_gradient_of_a_batch(run: Run) -> None:
    """The other way round: the batch is a loop of the function that is differentiated."""
    x = RNG.standard_normal((3, 5))
    out = run(grad(lambda x: np.sum(batch(rosenbrock)(x))), x)
    np.testing.assert_allclose(out, [rosenbrock_gradient(e) for e in x], atol=1e-9)
    np.testing.assert_allclose(
        complex_step(rosenbrock, x[0]), rosenbrock_gradient(x[0]), atol=1e-9
    )


@engines
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_axes(run: Run, axis: int) -> None:
    x = RNG.standard_normal((2, 3, 4))
    out = run(batch(lambda a: np.sum(a * a, axis=0), axis), x)
    np.testing.assert_allclose(out, np.sum(np.moveaxis(x, axis, 0) ** 2, axis=1))


@engines
@pytest.mark.parametrize("axis", [0, 1, -1, 2])
def test_axes_of_results(run: Run, axis: int) -> None:
    x = RNG.standard_normal((3, 4, 2))
    out = run(batch(lambda a: a * a, 1, axis), x)
    np.testing.assert_allclose(out, np.moveaxis(x * x, 1, axis))
    out, total = run(batch(lambda a: ({"b": a + 1.0}, np.sum(a, axis=0)), 0, (axis, -1)), x)
    np.testing.assert_allclose(out["b"], np.moveaxis(x + 1.0, 0, axis))
    np.testing.assert_allclose(total, np.sum(x, axis=1).T)
    # a batch in a batch, and the gradient through the axes
    table = run(batch(batch(lambda a: 3.0 * a, 0, 1), 0, axis), x)
    np.testing.assert_allclose(table, np.moveaxis(3.0 * np.swapaxes(x, 1, 2), 0, axis))
    w = np.moveaxis(RNG.standard_normal(x.shape), 0, axis)
    slope = run(grad(lambda x: np.sum(w * batch(lambda a: a * a, 0, axis)(x))), x)
    np.testing.assert_allclose(slope, 2.0 * x * np.moveaxis(w, axis, 0))


@engines
def test_structures_and_batches_of_batches(run: Run) -> None:
    p = {"a": RNG.standard_normal((3, 2)), "b": [RNG.standard_normal(3)]}

    def f(p: Any, c: Any) -> Any:
        return {"s": p["a"] * p["b"][0], "t": (p["b"][0] + c,)}

    out = run(batch(f, (0, None)), p, 10.0)
    np.testing.assert_allclose(out["s"], p["a"] * p["b"][0][:, None])
    np.testing.assert_allclose(out["t"][0], p["b"][0] + 10.0)
    x, y = RNG.standard_normal(3), RNG.standard_normal(4)
    table = run(batch(batch(lambda x, y: x * np.exp(y), (None, 0)), (0, None)), x, y)
    np.testing.assert_allclose(table, x[:, None] * np.exp(y))


@engines
def test_extents_made_inside(run: Run) -> None:
    def f(x: Any) -> Any:
        out = np.zeros(2 * len(x) + 1)
        out[1 : 1 + len(x)] = x
        return out

    x = RNG.standard_normal((3, 5))
    out = run(batch(f), x)
    assert out.shape == (3, 11)
    np.testing.assert_array_equal(out[:, 1:6], x)


def test_dtypes_and_kernels() -> None:
    g = jit(batch(lambda x: (x * x, len(x), x[0] > 0.0)))
    for n in (3, 5, 0):
        x = RNG.standard_normal((n, 4)).astype(np.float32)
        squares, lengths, positive = g(x)
        assert (squares.dtype, lengths.dtype, positive.dtype) == (np.float32, np.int64, np.bool_)
        np.testing.assert_array_equal(squares, x * x)
        np.testing.assert_array_equal(positive, x[:, 0] > 0.0)


def test_what_is_refused() -> None:
    for wrap in (lambda f: f, jit):
        with pytest.raises(JitadValueError, match="elements"):
            wrap(batch(lambda x, y: x * y))(np.ones(3), np.ones(4))
        with pytest.raises(JitadValueError, match="is no array"):
            wrap(batch(lambda x, y: x * y))(np.ones(3), 2.0)
        with pytest.raises(JitadValueError, match="no argument has an axis"):
            wrap(batch(lambda x: x, None))(np.ones(3))
        with pytest.raises(JitadTypeError, match="is no number but a str"):
            wrap(batch(lambda x: "a"))(np.ones(3))
        with pytest.raises(JitadValueError, match="2 arguments with 1"):
            wrap(batch(lambda x, y: x, (0,)))(np.ones(3), np.ones(3))
        with pytest.raises(JitadValueError, match=r"has 1 axes .* out_axes has 1"):
            wrap(batch(lambda x: x, 0, 1))(np.ones(3))
        with pytest.raises(JitadValueError, match=r"out_axes has \(0, 0\)"):
            wrap(batch(lambda x: x, 0, (0, 0)))(np.ones(3))
    with pytest.raises(JitadTypeError, match="out_axes=None"):
        batch(lambda x: x, 0, None)
    with pytest.raises(JitadError, match="depends on the values of the element"):
        jit(batch(lambda x: np.zeros(int(x))))(np.array([2.0, 3.0]))


class Layer(NamedTuple):
    weights: Any
    bias: Any


@dataclass
class Sample:
    inputs: Any
    scale: Any


@engines
def test_axes_in_structures(run: Run) -> None:
    x, s = RNG.standard_normal((4, 3)), RNG.standard_normal(4)
    w = RNG.standard_normal((2, 3))

    def layer(p: Any, sample: Any, rest: Any) -> Any:
        y = np.tanh(p.weights @ sample.inputs + p.bias) * sample.scale
        return {"y": y, "total": (np.sum(y), rest["a"][0] * rest["a"][1])}

    axes = (Layer(None, 0), Sample(1, None), {"a": [0, None]})
    out_axes = {"y": 1, "total": 0}
    found = run(
        batch(layer, axes, out_axes), Layer(w, s), Sample(x.T, 2.0), {"a": [s, 5.0]}
    )
    y = 2.0 * np.tanh(x @ w.T + s[:, None])
    np.testing.assert_allclose(found["y"], y.T)
    np.testing.assert_allclose(found["total"][0], y.sum(axis=1))
    np.testing.assert_allclose(found["total"][1], 5.0 * s)


def test_axes_that_do_not_fit() -> None:
    x = np.ones((3, 2))
    with pytest.raises(JitadValueError, match=r"argument 0 .* is a dict of 1, and in_axes has"):
        batch(lambda p: p["a"], ({"a": 0, "b": 0},))({"a": x})
    with pytest.raises(JitadValueError, match=r"is a tuple of 2, and in_axes has \(0,\)"):
        batch(lambda p: p[0], ((0,),))((x, x))
    with pytest.raises(JitadValueError, match=r"is a number or array, and in_axes has \(0, 0\)"):
        batch(lambda p: p, ((0, 0),))(x)
    with pytest.raises(JitadValueError, match=r"the result is a number or array, and out_axes"):
        batch(lambda p: p, 0, (0, 0))(x)
    with pytest.raises(JitadTypeError, match="in_axes=.* is not an axis"):
        batch(lambda p: p["a"], ({"a": "0"},))
