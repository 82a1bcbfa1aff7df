"""Indices, bounds, extents and sums of NumPy's small ints: what is computed for them by the engine
must not have their few bits; what NumPy computes in few bits has them."""

import operator

import numpy as np
import pytest

import jitad
from tests.engines import ENGINES

MANY = np.arange(300.0)


def counted(a, b):
    total = 0
    for i in range(a, b):
        total += i * i
    for i in range(b, a, -1):
        total -= 3 * i
    return total, len(range(a, b)), len(range(a, b, 3)), 4 in range(a, b)


def indexed(a, b):
    rows = MANY.tolist()
    return rows[a], rows[-int(b)], MANY[a], MANY[a:b].sum(), MANY[::b].sum(), len(rows[b:a])


def made(a, b):
    return np.zeros((a, b)).size, np.eye(b).sum(), np.full(a, 2.0), [0.5] * a, np.roll(MANY, a)


def spread_out(a, b):
    return np.linspace(a, b, 5)


PAIRS = [(np.uint8(5), np.uint8(3)), (np.uint8(3), np.uint8(200)), (np.int8(2), np.int8(120)),
         (np.uint16(7), np.uint16(2)), (np.int32(3), np.int32(9)), (4, np.uint8(255)),
         (np.uint32(9), np.uint32(2))]  # fmt: skip


@pytest.mark.parametrize("f", [counted, indexed, made, spread_out])
def test_bounds_and_extents(f):
    compiled = jitad.jit(f)
    for pair in PAIRS:
        for x, y in zip(f(*pair), compiled(*pair), strict=True):
            np.testing.assert_array_equal(y, x)


def taken(v, x):
    return (x * MANY)[v].sum()


def taken_otherwise(v, x):
    scaled = x * MANY
    return sum(np.take(scaled, v, mode=m).sum() for m in ("wrap", "clip"))


def written(v, x):
    scaled = x * MANY
    scaled[v] *= 2.0
    np.add.at(scaled, v, x)
    return scaled.sum()


def in_a_loop(v, x):
    rows = [x * k for k in range(300)]
    total = 0.0
    for e in v:
        total += rows[e] + MANY[e] * x
    return total


PLACES = [np.array([-3, 100, 7, -100], dtype=np.int8), np.array([3, 200, 255], dtype=np.uint8),
          np.array([-300, 299, 5], dtype=np.int16), np.array([3, 299], np.uint16)]  # fmt: skip


@pytest.mark.parametrize("f", [taken, taken_otherwise, written, in_a_loop])
def test_index_arrays(f):
    for v in PLACES:
        assert np.isclose(jitad.jit(f)(v, 2.0), f(v, 2.0))
        slope = f(v, 1.0) - f(v, 0.0)  # they are linear
        assert np.isclose(jitad.jit_grad(f, argnums=1)(v, 2.0), slope)
        assert np.isclose(jitad.grad(f, argnums=1)(v, 2.0), slope)


SUMS = [
    lambda v: np.dot(v, v), lambda v: v @ v, lambda v: np.outer(v, v) @ v, np.sum, sum,
    lambda v: np.einsum("i,i", v, v), lambda v: np.stack([np.outer(v, v)] * 2) @ np.outer(v, v),
    np.maximum.accumulate, np.cumsum, lambda v: np.add.reduceat(v, [0, 2]),
]  # fmt: skip


@pytest.mark.parametrize("f", SUMS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.int64, np.float32])
def test_sums_have_the_bits_that_numpy_gives_them(f, dtype):
    v = np.array([1, 100, 120]).astype(dtype)
    with np.errstate(over="ignore"):
        want = f(v)
    got = jitad.jit(f)(v)
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype if isinstance(want, np.ndarray) else True


def test_places_in_arrays_of_several_axes():
    flat, apart = (jitad.jit(f) for f in (
        lambda a, b: np.ravel_multi_index((a, b), (300, 200)),
        lambda a: np.unravel_index(a, (300, 200))))  # fmt: skip
    small = np.array([200, 150], dtype=np.uint8)
    np.testing.assert_array_equal(flat(small, 7), np.ravel_multi_index((small, 7), (300, 200)))
    np.testing.assert_array_equal(apart(small), np.unravel_index(small, (300, 200)))
    for call in (lambda: flat(300, 0), lambda: flat(0, -1), lambda: apart(60_000)):
        with pytest.raises(ValueError):
            call()


SHIFTED = [7, -7, np.int8(5), np.uint8(200), np.array([1, -5, 100]), np.array([1, 5], np.int16)]


@pytest.mark.parametrize("f", [np.left_shift, np.right_shift])
def test_shifts_by_more_bits_than_there_are(f):
    compiled = jitad.jit(lambda a, b: f(a, b))
    for a in SHIFTED:
        for b in (0, 3, 7, 8, 15, 16, 63, 64, 100, np.int64(-1)):
            np.testing.assert_array_equal(compiled(a, b), f(a, b))
    assert jitad.jit(lambda a: a << 64)(np.int64(3)) == 0


BESIDE = {
    "/": operator.truediv, "+": operator.add, "-": operator.sub, "*": operator.mul,
    "//": operator.floordiv, "%": operator.mod, "<": operator.lt, ">=": operator.ge,
    "==": operator.eq, "&": operator.and_, "divide": np.divide, "maximum": np.maximum,
    "fmod": np.fmod, "where": lambda a, b: np.where(True, a, b),
    "float": lambda a, b: np.hypot(a, np.float64(b)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:overflow encountered")  # NumPy's, of numbers that wrap
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint64])
@pytest.mark.parametrize("name", BESIDE)
def test_python_ints_beside_small_ones(name, dtype, engine):
    """They are not cut to a few bits: what does not fit is compared, divided by, or an error."""
    of = BESIDE[name]
    few = np.array([5, 7, 100], dtype)
    for k in (-1, 3, 300):
        for swapped in (False, True):
            def f(x, a, k, swapped=swapped):
                one, all_ = a[1], a + a[:1]
                parts = (of(k, one), of(k, all_)) if swapped else (of(one, k), of(all_, k))
                return x * (np.float64(parts[0]) + np.sum(parts[1]))

            try:
                want = f(1.5, few, k)
            except OverflowError:
                with pytest.raises(OverflowError):
                    ENGINES[engine](jitad.value_and_grad(f), 1.5, few, k)
                continue
            value, slope = ENGINES[engine](jitad.value_and_grad(f), 1.5, few, k)
            np.testing.assert_allclose([value, 1.5 * slope], want, rtol=1e-12)


def stored(x, k):
    z = np.zeros(3, np.uint8)
    z[0] = k
    return z.sum() * x


def stored_in_a_slice(x, k):
    z = np.zeros(3, np.int16)
    z[:2] = k * 200
    return z.sum() * x


def stored_by_indices(x, k):
    z = np.zeros(3, np.uint8)
    z[np.array([0, 2])] = k
    return z.sum() * x


def stored_by_a_mask(x, k):
    z = np.ones(3, np.uint8)
    z[z > 0] = k
    return z.sum() * x


def filled(x, k):
    z = np.zeros(3, np.uint8)
    z.fill(k)
    return z.sum() * x


def added_in_place(x, k):
    z = np.ones(3, np.uint8)
    z += k
    return z.sum() * x


STORED = {
    "an element": stored, "a slice": stored_in_a_slice, "indices": stored_by_indices,
    "a mask": stored_by_a_mask, "fill": filled, "in place": added_in_place,
    "full": lambda x, k: np.full(3, k, dtype=np.uint8).sum() * x,
    "full_like": lambda x, k: np.full_like(np.ones(2, np.uint8), k).sum() * x,
    "array": lambda x, k: np.array([[k, 1]], dtype=np.uint8).sum() * x,
    "a number": lambda x, k: np.uint8(k) * x,
    "clip": lambda x, k: np.array([5, 7], np.uint8).clip(k, 6).sum() * x,
    "clip from above": lambda x, k: np.array([5, 7], np.uint8).clip(6, k).sum() * x,
    "append": lambda x, k: np.append(np.ones(2, np.uint8), k).sum() * x,
    "cast": lambda x, k: np.array([k]).astype(np.uint8).sum() * x,  # which takes the last bits
    "of NumPy's": lambda x, k: np.array([1, 2], np.uint8)[0] * x + k,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", STORED)
def test_python_ints_stored_as_small_ones(name, engine):
    for k in (-1, 3, 300):
        f = STORED[name]
        try:
            want = f(1.5, k)
        except OverflowError:
            with pytest.raises(OverflowError):
                ENGINES[engine](jitad.value_and_grad(f), 1.5, k)
            continue
        value, slope = ENGINES[engine](jitad.value_and_grad(f), 1.5, k)
        assert value == want
        assert slope == f(2.0, k) - f(1.0, k)
