"""Are objects of jitclasses, and Numba's lists and dicts, followed that were made outside?

Numba, or Python, computes the values and what is written; derivatives are checked by central
differences, each from the same state.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba import float64, int64, njit, typed
from numba.experimental import jitclass

import jitad
from tests.engines import ENGINES

X = np.array([0.4, 1.3, 0.7])


@jitclass([("w", float64[:]), ("n", int64), ("total", float64)])
class Layer:
    def __init__(self, w, n):
        self.w = w
        self.n = n
        self.total = 0.5

    @property
    def size(self):
        return self.n

    @size.setter
    def size(self, n):
        self.n = n

    @staticmethod
    def bent(v):
        return np.tanh(v)

    def value(self, x):
        return np.sum(self.bent(self.w * x)) * self.n

    def run(self, x):
        for i in range(self.n):
            self.total += self.bent(self.w[i] * x[i])
        return self.total


@jitclass([("inner", Layer.class_type.instance_type), ("scale", float64)])
class Outer:
    def __init__(self, inner, scale):
        self.inner = inner
        self.scale = scale

    def value(self, x):
        return self.scale * self.inner.value(x)


S: Any = SimpleNamespace()


def begin() -> None:
    """What is outside, as it is before each call."""
    S.layer = Layer(np.array([1.0, 2.0, 3.0]), 3)
    S.other = S.layer
    S.outer = Outer(Layer(np.array([0.5, 0.2, 0.1]), 2), 2.0)
    S.layers = [S.layer, Layer(np.ones(3), 1)]
    S.numbers = typed.List([1.0, 2.0])
    S.again = S.numbers
    S.counts = typed.List([1, 2, 3])
    S.arrays = typed.List([np.ones(3), np.array([1.0, 2.0, 3.0])])
    S.many = typed.List([float(k) for k in range(100)])
    S.lists = typed.List()
    S.lists.append(typed.List([1.0, 2.0]))
    S.lists.append(typed.List([3.0]))
    S.named = typed.Dict()
    S.named["a"] = 2.0
    S.named["b"] = 3.0
    S.table = typed.Dict()
    S.table[1] = np.ones(3)
    S.table[2] = np.arange(3.0)


def state() -> list[float]:
    """What is outside, but for the content of arrays, which a derivative leaves alone."""
    assert [type(S.numbers), type(S.named)] == [typed.List, typed.Dict]
    layers = [v for a in (S.layer, S.outer.inner, *S.layers) for v in (a.n, a.total, len(a.w))]
    lists = [v for a in (S.numbers, S.counts, S.many, *S.lists) for v in (len(a), *a)]
    return [*layers, S.outer.scale, *lists, len(S.arrays), *S.named.values(), *S.table]


# -- objects of jitclasses ------------------------------------------------------------------------


def of_a_method(x):
    return S.layer.value(x) ** 2


def of_attributes(x):
    return np.sum(S.layer.w * x) * S.layer.size + S.layer.total


def of_an_object_inside(x):
    return S.outer.value(x) + S.outer.inner.w[1] * x[1]


def of_objects_in_a_list(x):
    total = 0.0
    for layer in S.layers:
        total += layer.value(x) * isinstance(layer, Layer)
    return total


def that_writes(x):
    return S.layer.run(x) ** 2


def that_writes_by_another_name(x):
    S.layer.total = 3.0 * x[0]
    S.other.size = 2
    return S.layer.total**2 * S.layer.n if S.layer is S.other else 0.0


def that_writes_inside(x):
    S.outer.inner.total += x[1] ** 2
    return S.outer.inner.total * x[0]


def that_puts_another_array(x):
    S.layer.w = np.concatenate((x, x**2))
    return np.sum(S.layer.w**2)


def that_writes_elements(x):
    S.layer.w[0] = x[0]
    S.layer.w[1:] *= 2.0
    return S.layer.value(x)


@njit
def _by_numba(layer, x):
    return layer.value(x) * layer.size


def of_a_compiled_function(x):
    return _by_numba(S.layer, x)


# -- lists and dicts ------------------------------------------------------------------------------


def of_numbers(x):
    return sum(S.numbers) * x[0] + S.counts[1] * x[1] + (2.0 in S.numbers)


def of_many_numbers(x):
    total = 0.0
    for v in S.many:
        total += v * x[0] ** 2
    return total


def of_arrays(x):
    return np.sum(S.arrays[1] * x) + np.sum(S.arrays[0] * x) ** 2


def of_lists_of_lists(x):
    return x[0] ** 2 * S.lists[0][1] + S.lists[1][0] * x[1]


def of_a_dict(x):
    total = S.named["b"] * x[0] ** 2
    for k in S.table:
        total += np.sum(S.table[k] * x) * k
    return total


def that_appends(x):
    S.numbers.append(x[0] ** 2)
    S.counts.append(4)
    return S.again[-1] * x[1] + len(S.again) * len(S.counts)


def that_appends_to_many(x):
    S.many.append(x[0] ** 2)
    return S.many[-1] * x[1] + len(S.many)


def that_takes_away(x):
    return S.numbers.pop() * x[0] ** 2 + len(S.numbers)


def that_puts_into_lists(x):
    S.lists[0][1] = x[2] ** 2
    S.arrays[1] = x * 3.0
    return S.lists[0][1] + np.sum(S.arrays[1] ** 2)


def that_puts_into_a_dict(x):
    S.named["a"] = S.named["b"] * x[0]
    S.named["c"] = x[1]
    S.table[2] = x * 2.0
    return S.named["a"] ** 2 * S.named["c"] + np.sum(S.table[2] ** 2)


FUNCTIONS = [
    of_a_method, of_attributes, of_an_object_inside, of_objects_in_a_list, that_writes,
    that_writes_by_another_name, that_writes_inside, that_puts_another_array, that_writes_elements,
    of_a_compiled_function, of_numbers, of_many_numbers, of_arrays, of_lists_of_lists, of_a_dict,
    that_appends, that_appends_to_many, that_takes_away, that_puts_into_lists,
    that_puts_into_a_dict,
]  # fmt: skip


def from_the_start(f, x):
    begin()
    return f(x)


def slopes(f, x):
    h = 1e-6
    return np.array([(from_the_start(f, x + h * e) - from_the_start(f, x - h * e)) / (2.0 * h)
                     for e in np.eye(len(x))])  # fmt: skip


def itself(f):
    return f


def forward(f):
    return jitad.jit(jitad.jacfwd(f))


WAYS = {
    "eager": (itself, jitad.grad, jitad.jacfwd),
    "compiled": (jitad.jit, jitad.jit_grad, forward),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_python_does(f, way):
    """Twice, as the second call may meet what the first one has written."""
    begin()
    values = [f(X), f(X)]
    then, slope = state(), slopes(f, X)
    value, *derivatives = (operator(f) for operator in WAYS[way])
    begin()
    assert [value(X), value(X)] == pytest.approx(values, rel=1e-12)
    assert state() == pytest.approx(then, rel=1e-12)
    for derivative in derivatives:
        begin()
        np.testing.assert_allclose(derivative(X), slope, rtol=1e-6, atol=1e-8)
        derivative(X)
        assert state() == pytest.approx(then, rel=1e-12)


# -- arguments ------------------------------------------------------------------------------------


def by_layer(layer):
    return layer.value(X) ** 2 * layer.total


def by_outer(outer):
    return outer.value(X) * outer.inner.total


@pytest.mark.parametrize("engine", ENGINES)
def test_derivatives_by_objects(engine):
    begin()
    layer, outer = S.layer, S.outer
    found = ENGINES[engine](jitad.grad(by_layer), layer)
    u, slope = np.sum(np.tanh(layer.w * X)), X / np.cosh(layer.w * X) ** 2
    np.testing.assert_allclose(found.w, 2.0 * u * slope * layer.n**2 * layer.total, rtol=1e-12)
    assert found.total == pytest.approx(u**2 * layer.n**2, rel=1e-12) and found.n == 0
    inner = outer.inner
    found = ENGINES[engine](jitad.grad(by_outer), outer)
    slope = X / np.cosh(inner.w * X) ** 2 * inner.n * outer.scale * inner.total
    np.testing.assert_allclose(found.inner.w, slope, rtol=1e-12)
    assert found.scale == pytest.approx(inner.value(X) * inner.total, rel=1e-12)
    assert found.inner.total == pytest.approx(outer.value(X), rel=1e-12)
    assert layer.total == 0.5 and inner.total == 0.5


@pytest.mark.parametrize("engine", ENGINES)
def test_derivatives_of_derivatives_by_objects(engine):
    begin()
    inner = jitad.grad(by_layer)
    found = ENGINES[engine](jitad.grad(lambda layer: np.sum(inner(layer).w) * layer.total), S.layer)
    w, total, n = S.layer.w, S.layer.total, S.layer.n
    u, t = np.sum(np.tanh(w * X)), np.tanh(w * X)
    slope = X * (1.0 - t**2)
    bend = -2.0 * X * t * slope
    want = 2.0 * n**2 * total**2 * (slope * np.sum(slope) + u * bend)
    np.testing.assert_allclose(found.w, want, rtol=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_an_argument_is_written_to_as_any_object(way):
    value, gradient, _ = WAYS[way]
    begin()
    got = value(lambda layer, x: layer.run(x) ** 2)(S.layer, X)
    total = S.layer.total
    begin()
    assert got == pytest.approx(S.layer.run(X) ** 2, rel=1e-12) == total**2
    begin()
    found = gradient(lambda x, layer: layer.run(x) ** 2)(X, S.layer)
    np.testing.assert_allclose(found, slopes(that_writes, X), rtol=1e-6)


def test_one_object_in_two_places():
    def both(a, b, x):
        a.total = x[0] ** 2
        return b.total * x[1]

    for operator in (jitad.jit(both), jitad.jit_grad(both, 2)):
        begin()
        try:
            got = operator(S.layer, S.layer, X)
        except jitad.JitadError:
            continue
        want = X[0] ** 2 * X[1] if np.ndim(got) == 0 else [2.0 * X[0] * X[1], X[0] ** 2, 0.0]
        assert got == pytest.approx(want, rel=1e-12)


def test_other_content_needs_no_other_kernel():
    begin()
    f = jitad.jit_grad(of_a_method)
    for k in range(3):
        S.layer = Layer(np.array([1.0, 2.0, 3.0]) * k, 3)
        np.testing.assert_allclose(f(X), slopes_now(of_a_method, X), rtol=1e-6, atol=1e-8)
    g = jitad.jit_grad(of_many_numbers)
    for k in range(70, 73):
        S.many = typed.List([float(v) for v in range(k)])
        np.testing.assert_allclose(g(X), slopes_now(of_many_numbers, X), rtol=1e-6, atol=1e-8)
    assert f.compiled == g.compiled == 1 if hasattr(f, "compiled") else True


def slopes_now(f, x):
    h = 1e-6
    return [(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(len(x))]
