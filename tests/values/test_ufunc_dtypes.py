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
}


@pytest.mark.parametrize("run", [eagerly, as_emitted, lambda f, *args: jitad.jit(f)(*args)])
@pytest.mark.parametrize("f", CASES.values(), ids=CASES)
def test_as_numpy(f, run):
    expected, got = f(X, MASK, SMALL), run(f, X, MASK, SMALL)
    assert got.dtype == expected.dtype
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("run", [eagerly, as_emitted, lambda f, *args: jitad.jit(f)(*args)])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, bool])
def test_sums_of_narrow_integers_are_wide(dtype, run):
    """Also as the Python that a kernel is, where 0 and a number of 8 bits make 8 bits."""
    counts = np.full((3, 4), 100).astype(dtype)

    def weighted(x, counts):
        return np.sum(x) * counts.sum() + np.sum(x * counts.sum(axis=0))

    x = np.linspace(0.2, 0.8, 4)
    assert run(weighted, x, counts) == pytest.approx(float(weighted(x, counts)), rel=1e-13)
