"""Does what Numba alone has run in derivatives: its lists and dicts, casts, stencils, jitclasses?

Numba computes the values; derivatives are checked by central differences.
"""

from __future__ import annotations

import functools
import math

import numba
import numpy as np
import pytest
from numba import (
    cfunc,
    float64,
    int64,
    literal_unroll,
    njit,
    prange,
    stencil,
    typed,
    types,
    vectorize,
)
from numba.experimental import jitclass

import jitad
from tests.engines import ENGINES

X = np.array([
    [0.4, 1.3, 0.7, 2.25], [1.1, 0.3, 0.9, 1.7], [0.6, 1.9, 2.3, 0.2], [1.4, 0.8, 1.2, 0.5],
])  # fmt: skip
DIRECTION = np.random.default_rng(5).normal(size=X.shape)


@njit
def list_of_numbers(x):
    kept = typed.List()
    for i in range(x.shape[0]):
        kept.append(x[i, 0] * i)
    kept.insert(0, x[1, 1])
    total = 0.0
    for v in kept:
        total += v * v
    return total * kept.pop() + len(kept)


@njit
def list_of_arrays(x):
    rows = typed.List([row * 2.0 for row in x])
    rows[0] = rows[1] * rows[2]
    return np.sum(rows[0] + rows[-1])


@njit
def empty_list_of_a_kind(x):
    kept = typed.List.empty_list(types.float64)
    for v in x[0]:
        if v > 0.5:
            kept.append(v**2)
    return sum(kept) * kept[0]


@njit
def dict_of_a_kind(x):
    found = typed.Dict.empty(types.int64, types.float64)
    for i in range(x.shape[0]):
        found[i] = x[i, 0] ** 2
    total = 0.0
    for k in found:
        total += found[k] * k
    return total


@njit
def dict_of_texts(x):
    found = typed.Dict()
    found["mass"] = x[0, 0]
    found["charge"] = x[0, 1]
    return found["mass"] * found["charge"] if "mass" in found else 0.0


@njit
def casts(x):
    return numba.float64(x[0, 0]) * int64(x[0, 3] * 10.0) + float64(3) * x[1, 1]


@njit
def dtypes(x):
    out = np.zeros(4, dtype=float64)
    out[:] = x[0] * np.arange(4, dtype=numba.int64)
    whole = np.full((2, 2), x[1, 1], float64)
    return np.sum(out) + np.sum(whole) + np.sum(x.astype(numba.float64))


@cfunc("float64(float64)")
def square(t):
    return t * t


def by_c_function(x):
    return square(x[0, 0]) * x[0, 1]


@njit(parallel=True)
def by_prange(x):
    total = 0.0
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            total += math.sin(x[i, j]) * i
    return total


@njit
def unrolled(x):
    total = 0.0
    for t in literal_unroll((1, 2.5, x[0, 0])):
        total += t * x[0, 1]
    return total


@njit
def by_pndindex(x):
    out = np.empty_like(x)
    for at in numba.pndindex(x.shape):
        out[at] = x[at] ** 2
    return out.sum()


CONTAINERS = [list_of_numbers, list_of_arrays, empty_list_of_a_kind, dict_of_a_kind, dict_of_texts,
              casts, dtypes, by_c_function, by_prange, unrolled, by_pndindex]  # fmt: skip


# -- stencils -------------------------------------------------------------------------------------


@stencil
def around(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


@stencil
def decides(a, b):
    return a[0, 1] * b[-1, 0] if a[0, 0] > b[0, 0] else math.sin(a[0, -1])


@stencil(standard_indexing=("w",), cval=2.0)
def weighted(a, w, s):
    return s * (a[-1] * w[0] + a[0] * w[1] + a[1] * w[2])


@stencil(neighborhood=((-2, 0),))
def average(a):
    total = 0.0
    for i in range(-2, 1):
        total += a[i]
    return total / 3.0


@stencil
def in_space(a):
    return a[1, 0, 0] + a[0, -1, 0] * a[0, 0, 1] - 2.0 * a[0, 0, 0]


@stencil(neighborhood=((-2, 2),))
def as_far_as(a, n):
    total = 0.0
    for i in range(-n, n + 1):
        total += a[i] * i
    return total


@stencil(neighborhood=((-1, 1),))
def of_slices(a):
    return np.sum(a[-1:2])


def five_points(x):
    return np.sum(around(x) ** 2)


@njit
def in_rounds(x):
    u = x.copy()
    for _ in range(3):
        u = decides(u, x) + 0.5 * u
    return np.sum(u**2)


def beside_weights(x):
    return np.sum(weighted(x[0], np.array([1.0, x[1, 1], 3.0]), x[0, 0]) ** 2)


def of_a_neighbourhood(x):
    return np.sum(average(x[0]) ** 2)


def of_three_axes(x):
    return np.sum(in_space(np.stack([x, x**2, x**3])) ** 2)


def by_a_whole_number(x):
    return np.sum(as_far_as(np.ravel(x), 2) ** 2)


def sums_of_slices(x):
    return np.sum(of_slices(x[0]) ** 2)


@njit
def into_an_array(x):
    out = x * 2.0
    decides(x, x.T.copy(), out=out)
    return np.sum(out**2)


STENCILS = [five_points, in_rounds, beside_weights, of_a_neighbourhood, of_three_axes,
            by_a_whole_number, sums_of_slices, into_an_array]  # fmt: skip


# -- lists and dicts that are given ---------------------------------------------------------------


@njit
def of_a_list(x, rows):
    total = 0.0
    for row in rows:
        total += np.sum(row * x)
    rows[0][1] = x[0]
    rows.append(x * 2.0)
    return total * rows[0][1]


@njit
def of_a_dict(x, by):
    total = 0.0
    for k in by:
        total += by[k] * x[k]
    by[7] = total
    by[0] += 1.0
    return total * by[0]


@njit
def of_lists_in_a_list(x, rows):
    total = 0.0
    for row in rows:
        for v in row:
            total += v * x[0]
    rows[0].pop()
    return total * len(rows[0])


def _list():
    return typed.List([np.ones(3), np.arange(3.0)])


def _dict():
    made = typed.Dict()
    made[0], made[2] = 2.0, 3.0
    return made


def _lists():
    return typed.List([typed.List([1.0, 2.0]), typed.List([3.0])])


GIVEN = [(of_a_list, _list), (of_a_dict, _dict), (of_lists_in_a_list, _lists)]


def plain(thing):
    """The same in Python's own lists and dicts."""
    if isinstance(thing, (typed.List, list)):
        return [plain(v) for v in thing]
    return {k: plain(v) for k, v in thing.items()} if isinstance(thing, typed.Dict) else thing


@pytest.mark.parametrize("f, made", GIVEN, ids=lambda f: f.__name__)
def test_lists_and_dicts_that_are_given(f, made):
    x = np.array([0.5, 1.25, 0.75])  # whose sums are exact
    compiled = jitad.jit(f)
    for _ in range(2):  # by the trace, and by what it has made
        numbas, ours = made(), made()
        assert compiled(x, ours) == pytest.approx(f(x.copy(), numbas), rel=1e-12)
        assert repr(plain(ours)) == repr(plain(numbas))
        assert type(ours) is type(numbas)
    slope = [(f(x + s, made()) - f(x - s, made())) / 2e-6 for s in 1e-6 * np.eye(3)]
    for operator in (jitad.jit_grad, jitad.grad):
        by_x, by_it = operator(f, argnums=(0, 1))(x, made())
        assert by_x == pytest.approx(slope, rel=1e-6)
        same, whole = operator(f.py_func, argnums=(0, 1))(x, plain(made()))
        np.testing.assert_array_equal(by_x, same)
        assert repr(by_it) == repr(whole)


# -- methods of what is vectorised ----------------------------------------------------------------


@vectorize([float64(float64, float64)])
def joined(a, b):
    return a * b + a


@vectorize([float64(float64, float64)])
def over_the_difference(a, b):  # which is infinite where both are the same
    return a / (a - b)


def accumulated_quotients(x):
    return np.sum(over_the_difference.accumulate(x[0]) * x[1])


def reduced_along_axes(x):
    rows, columns = joined.reduce(x), joined.reduce(x, axis=1, keepdims=True)
    return np.sum(rows * columns) * joined.reduce(x[0], initial=0.5)


def accumulated(x):
    return np.sum(joined.accumulate(x, axis=1) * x) + joined.accumulate(x[0])[-1]


def outer_of_all(x):
    return np.sum(joined.outer(x, x[0]) ** 2)


def into_what_is_given(x):
    out = np.zeros((4, 4))
    joined(x, x.T, out=out)
    more = np.zeros(4)
    joined(x[0], x[1], more)
    return np.sum(out * x) + np.sum(more**2)


METHODS = [reduced_along_axes, accumulated, accumulated_quotients, outer_of_all, into_what_is_given]


# -- jitclasses -----------------------------------------------------------------------------------


@jitclass([("w", float64[:]), ("n", int64), ("total", float64)])
class Layer:
    def __init__(self, w, n):
        self.w = w
        self.n = n  # a whole number, whatever is given
        self.total = 0

    @property
    def size(self):
        return self.n

    @size.setter
    def size(self, n):
        self.n = n

    @staticmethod
    def bent(v):
        return np.tanh(v)

    def run(self, x):
        self.total += self.n / 2
        for i in range(self.n):
            self.total += self.bent(self.w[i] * x[i])
        return self.total


@jitclass
class Mean:
    total: float64
    count: int64

    def __init__(self):
        self.total = 0.0
        self.count = 0

    def add(self, v):
        self.total += v
        self.count += 1

    def of(self):
        return self.total / self.count


def of_a_layer(x):
    layer = Layer(2.0 * x[0], 3.7)
    first = layer.run(x[1])
    layer.size = 2.9
    return first * layer.size + layer.run(x[2])


@njit
def of_a_mean(x):
    mean = Mean()
    for v in x[0]:
        if v > 0.5:
            mean.add(v * v)
    return mean.of()


def of_several_objects(x):
    means = [Mean() for _ in range(2)]
    for i in range(4):
        means[i % 2].add(x[i, 0] ** 2)
    return means[0].of() * means[1].of() if isinstance(means[0], Mean) else 0.0


CLASSES = [of_a_layer, of_a_mean, of_several_objects]


@functools.cache
def by_numba(f):
    """The value, and the slope along a direction: Numba compiles a stencil at every call."""
    h = 1e-5
    return f(X.copy()), (f(X + h * DIRECTION) - f(X - h * DIRECTION)) / (2.0 * h)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("f", CONTAINERS + STENCILS + METHODS + CLASSES, ids=lambda f: f.__name__)
def test_as_numba_computes(f, engine):
    value, slope = by_numba(f)
    assert ENGINES[engine](jitad.jit(f), X) == pytest.approx(value, rel=1e-12)
    for operator in (jitad.grad, jitad.jacfwd):
        got = ENGINES[engine](operator(f), X)
        assert np.sum(got * DIRECTION) == pytest.approx(slope, rel=1e-6)


def test_a_stencil_keeps_the_dtype_and_the_border():
    @stencil(cval=-1.5)
    def halves(a):
        return a[-1] // 2

    given = np.arange(6.0)
    np.testing.assert_array_equal(jitad.jit(lambda x: halves(x))(given), halves(given))
    whole = jitad.jit(lambda x: around(np.ones((4, 4), int)) * x[0])(given)
    np.testing.assert_array_equal(whole, around(np.ones((4, 4), int)) * 0.0)


SHORT = typed.List([np.float32(1.0), np.float32(2.0)])


@pytest.mark.parametrize(
    "f, says",
    [
        (lambda x: sum(SHORT) * x[0, 0], "float32"),
        (lambda x: len(typed.List.empty_list(types.float32)) * x[0, 0], "float32"),
        (lambda x: len(typed.Dict.empty(types.int64, types.int8)) * x[0, 0], "int8"),
    ],
)
def test_what_is_refused_says_so(f, says):
    with pytest.raises(jitad.JitadError, match=says) as caught:
        jitad.jit_grad(f)(X)
    assert "test_numba_things.py" in str(caught.value)
