"""Is the linear interface that of a vector space, for everything that is a vector?"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from jitad import derivative, grad, jit, jvp, linear, vjp
from jitad.errors import JitadTypeError, JitadValueError
from jitad.linear import ZERO
from jitad.structures import flatten


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclass
class Model:
    weights: Any
    name: str


def vector(seed: int) -> Any:
    r = np.random.default_rng(seed)
    return {
        "n": float(r.normal()),
        "list": [r.normal(size=(2, 3)), Pair(float(r.normal()), (float(r.normal()),))],
        "model": Model(r.normal(size=4), "text"),
        "data": (3, True, None),
    }


def same(u: Any, v: Any) -> None:
    a, s = flatten(u)
    b, t = flatten(v)
    assert s == t
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)
        assert type(x) is type(y)


U, V = vector(1), vector(2)


def test_it_is_a_vector_space() -> None:
    same(linear.add(U, ZERO), U)
    same(linear.add(ZERO, U), U)
    same(linear.add(U, linear.zero(U)), U)
    same(linear.add(U, V), linear.add(V, U))
    same(linear.scale(U, 1.0), U)
    twice = linear.add(linear.scale(U, 2.0), linear.scale(V, 2.0))
    same(linear.scale(linear.add(U, V), 2.0), twice)
    same(linear.scale(U, ZERO), linear.zero(U))
    same(linear.coerce(ZERO, U), linear.zero(U))
    same(linear.coerce(U, V), U)
    assert linear.scale(ZERO, 3.0) is ZERO and linear.zero(ZERO) is ZERO
    assert linear.dot(U, ZERO) is ZERO and linear.dot(ZERO, U) is ZERO
    assert np.isclose(linear.dot(U, linear.add(U, V)), linear.dot(U, U) + linear.dot(U, V))
    numbers = [x for x in flatten(U)[0] if isinstance(x, (float, np.ndarray))]
    assert np.isclose(linear.dot(U, U), sum(np.sum(np.square(x)) for x in numbers))
    assert pickle.loads(pickle.dumps(ZERO)) is ZERO


def test_zeros_inside_structures() -> None:
    got = linear.coerce({"n": 1.0, "list": ZERO, "model": V["model"], "data": ZERO}, U)
    same(got["list"], linear.zero(U["list"]))
    assert got["n"] == 1.0 and got["model"] is not None
    same(linear.add({"x": ZERO, "y": 1.0}, {"x": [2.0], "y": ZERO}), {"x": [2.0], "y": 1.0})


def test_zero_is_not_a_product() -> None:
    inf = {"a": np.inf, "b": np.array([np.nan, 1.0])}
    same(linear.zero(inf), {"a": 0.0, "b": np.zeros(2)})
    same(linear.scale(inf, ZERO), {"a": 0.0, "b": np.zeros(2)})


def test_functions_are_vectors_pointwise() -> None:
    f: Callable[..., Any] = lambda x, k=1.0: [k * x, lambda y: x + y]
    g = linear.scale(linear.add(f, f), 3.0)
    assert g(2.0)[0] == 12.0 and g(2.0, k=2.0)[0] == 24.0 and g(2.0)[1](5.0) == 42.0
    z = linear.coerce(ZERO, f)(2.0)
    assert z[0] == 0.0 and z[1](5.0) == 0.0
    assert linear.add(f, ZERO) is f


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: linear.add([1.0], [1.0, 2.0]), JitadValueError, "1 and 2 elements"),
    (lambda: linear.add({"a": 1.0}, {"b": 1.0}), JitadValueError, "the keys"),
    (lambda: linear.add((1.0, [2.0]), (1.0, (2.0,))), JitadValueError, r"at \[1\]: a list and"),
    (lambda: linear.add(np.ones(2), np.ones(3)), JitadValueError, r"shapes \(2,\) and \(3,\)"),
    (lambda: linear.dot([np.ones(2)], [1.0]), JitadValueError, r"at \[0\]: shapes"),
    (lambda: linear.dot(abs, abs), JitadTypeError, "no inner product"),
    (lambda: linear.zero([object()]), JitadTypeError, r"at \[0\], a object is no vector"),
    (lambda: linear.coerce([1.0], 1.0), JitadValueError, "a list and a float"),
])  # fmt: skip
def test_what_does_not_conform_is_named(call: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


def test_it_can_be_differentiated_and_compiled() -> None:
    def f(x: Any) -> Any:
        u = {"a": x, "b": [2.0 * x[0], ZERO]}
        u = linear.coerce(u, {"a": x, "b": [x[0], x]})
        return linear.dot(u, linear.scale(linear.add(u, linear.zero(u)), 0.5))

    x = np.array([1.0, 2.0])
    want = np.array([5.0, 2.0])  # (x0^2 + x1^2 + 4 x0^2) / 2
    np.testing.assert_allclose(grad(f)(x), want)
    np.testing.assert_allclose(jit(grad(f))(x), want)


@pytest.mark.parametrize("run", [lambda f: f, jit])
def test_operators_take_generic_zeros(run: Any) -> None:
    def program(x: Any, y: Any) -> Any:
        _, pullback = vjp(lambda x, y: [x * y, {"s": np.sum(x), "t": y}], x, y)
        some = pullback([ZERO, {"s": 2.0, "t": ZERO}])
        none = pullback(ZERO)
        return some, none, jvp(lambda x, y: x * y, (x, y), (ZERO, 1.0))[1]

    (by_x, by_y), zeros, tangent = run(program)(np.array([1.0, 3.0]), 5.0)
    np.testing.assert_array_equal(by_x, [2.0, 2.0])
    np.testing.assert_array_equal(zeros[0], [0.0, 0.0])
    assert by_y == zeros[1] == 0.0
    np.testing.assert_array_equal(tangent, [1.0, 3.0])


def test_functions_as_vectors_where_they_are_traced() -> None:
    """(square + x sine)(x) and its derivative, where the vectors are made on the way."""
    square, sine = lambda t: t * t, lambda t: math.sin(t)

    def combination(x: float) -> Any:
        return linear.add(square, linear.scale(sine, x))(x) + linear.zero(sine)(x)

    expected = 2.0 * 0.5 + math.sin(0.5) + 0.5 * math.cos(0.5)
    for g in (grad(combination), jit(grad(combination)), jit(derivative(combination))):
        assert g(0.5) == pytest.approx(expected, rel=1e-14)
