"""Does a ufunc with `dtype=` compute in that dtype, as NumPy does?"""

import numpy as np
import pytest

import jitad
from tests.engines import as_emitted, eagerly

MASK, SMALL = np.array([True, False, True]), np.array([120, -120, 5], np.int8)
X = np.arange(1.0, 4.0)
CASES = {
    "sum of bools": lambda x, m, s: np.add(m, True, dtype=np.float32) * x,
    "sum of small ints": lambda x, m, s: np.add(s, s, dtype=np.float64) + x,
    "product of small ints": lambda x, m, s: np.multiply(s, s, dtype=np.int64) * x,
    "comparison": lambda x, m, s: np.less(s, 3, dtype=bool) * x,
    "nan_to_num of bools": lambda x, m, s: np.nan_to_num(m) * x,
    "nan_to_num of ints": lambda x, m, s: np.nan_to_num(s),
    "sum in small ints": lambda x, m, s: np.sum(s[:, None] + np.int8([1, 2]), 0, dtype=np.int8),
    "product in small ints": lambda x, m, s: np.prod(s[:, None], axis=0, dtype=np.int8),
    "sum of floats in ints": lambda x, m, s: np.sum(x[:, None] * 1.7, axis=0, dtype=np.int16),
    "mean in float32": lambda x, m, s: np.mean(x[:, None], axis=0, dtype=np.float32),
    "clip of small ints": lambda x, m, s: np.clip(s, 0.5, np.float32(x)),
    "clip of float32": lambda x, m, s: np.clip(np.float32(x), 0, s),
    "clip of ints": lambda x, m, s: np.clip(s, 0, 100),
}


@pytest.mark.parametrize("run", [eagerly, as_emitted, lambda f, *args: jitad.jit(f)(*args)])
@pytest.mark.parametrize("f", CASES.values(), ids=CASES)
def test_as_numpy(f, run):
    expected, got = f(X, MASK, SMALL), run(f, X, MASK, SMALL)
    assert got.dtype == expected.dtype
    assert np.array_equal(got, expected)


NUMBERS = [True, 3, 1.5, np.int8(3), np.int64(2), np.float32(1.5), np.float64(2.5), np.uint8(0)]
NUMBERS += [np.array([n, n], np.asarray(n).dtype) for n in NUMBERS]


@pytest.mark.parametrize("f", [np.logical_and, np.logical_or, np.logical_xor, np.less, np.equal])
def test_truths_are_bools_whatever_the_operands_are(f):
    """Of two numbers of other kinds a kernel made a number."""
    for a in NUMBERS:
        for b in NUMBERS:
            want, got = f(a, b), as_emitted(lambda a, b: f(a, b), a, b)
            assert np.asarray(got).dtype == bool
            assert np.array_equal(got, want)
    assert jitad.jit(lambda a, b: np.logical_and(a, b))(np.float32(1.5), 3) is True


@pytest.mark.parametrize("dtype", [
    bool, np.int8, np.uint8, np.int16, np.int32, np.int64, np.float32])
@pytest.mark.parametrize("f", [
    np.add, np.multiply, np.divide, np.power, lambda x, y: np.concatenate([x, y]),
    lambda x, y: np.stack([x, y]), lambda x, y: np.array([x[0], y[1]]),
    lambda x, y: np.append(x, y), lambda x, y: np.choose([0, 1, 0], [x, y]),
    lambda x, y: np.where(np.array([True, False, True]), x, y), lambda x, y: np.array([x, y]),
])  # fmt: skip
def test_integers_beside_complex_numbers(f, dtype):
    a = np.array([1, 0, 1], dtype)
    for z in (np.array([1 + 1j, 2, 1], np.complex64), np.array([1 + 1j, 2, 1])):
        for x, y in ((a, z), (z, a + dtype(1))):
            want, got = f(x, y), as_emitted(lambda x, y: f(x, y), x, y)
            assert got.dtype == want.dtype, (x.dtype, y.dtype)
            np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("run", [eagerly, as_emitted, lambda f, *args: jitad.jit(f)(*args)])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, bool])
def test_sums_of_narrow_integers_are_wide(dtype, run):
    """Also as the Python that a kernel is, where 0 and a number of 8 bits make 8 bits."""
    counts = np.full((3, 4), 100).astype(dtype)

    def weighted(x, counts):
        return np.sum(x) * counts.sum() + np.sum(x * counts.sum(axis=0))

    x = np.linspace(0.2, 0.8, 4)
    assert run(weighted, x, counts) == pytest.approx(float(weighted(x, counts)), rel=1e-13)
