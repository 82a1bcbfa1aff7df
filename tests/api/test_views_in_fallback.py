"""Is what runs in place of a kernel written to through views, as in plain NumPy?

A function that can't be traced runs eagerly.  What NumPy's functions give of its arguments may be
views of them, and it may write to those.  Plain NumPy is the truth: results and arguments.
"""

import random
import warnings

import numpy as np
import pytest

import jitad
from jitad.errors import FallbackWarning, JitadError
from tests.engines import in_place_of_a_kernel
from tests.properties.check import forget, load
from tests.values.test_aliases import FUNCTIONS, WRITES, _program

OWN = ("np.broadcast_arrays(x, np.ones(3))[0]", "np.broadcast_arrays(x, 1.0)[0]",
       "np.vsplit(x, 3)[1]", "np.meshgrid(x[0], x[1], copy=False, sparse=True)[1]",
       "np.array(x, ndmin=3, copy=None)", "np.diff(x, 0)", "np.asarray(x, float)",
       "np.nan_to_num(x, copy=False)", "np.ix_(x[0])[0]", "np.trim_zeros(x[1], 'f')",
       "np.einsum('ii->i', x)", "np.lib.stride_tricks.as_strided(x, (2,), (8,))",
       "x.transpose()", "np.matrix_transpose(x)", "np.rollaxis(x, 1)", "np.rot90(x)",
       "np.broadcast_arrays(x, np.r_[x])[1]", "np.asarray(memoryview(x))",
       "np.r_[x, x]", "np.c_[x, x]", "np.mgrid[:3, :3] + x[0, 0]",
       "np.ogrid[:2.0:3j] * x[0]", "scipy.linalg.hankel(x[0])", "scipy.special.expit(x)",
       "scipy.linalg.toeplitz(x[0])", "np.broadcast_arrays(x, scipy.special.expit(x))[1]",
       "scipy.fft.next_fast_len(3) * x", "scipy.linalg.expm(x)", "scipy.signal.detrend(x, 0)",
       "scipy.ndimage.shift(x, 1)", "scipy.stats.rankdata(x, axis=0)")  # fmt: skip
INTO = ("np.copyto(x, np.ones(3))", "np.add(x, 1.0, out=x)", "np.put(x, [0, 2], s)",
        "np.fill_diagonal(x, np.ones(3))", "np.place(x, x > 0.2, np.zeros(2))",
        "np.add.at(x, [0, 0], np.ones(3))", "np.put_along_axis(x, np.array([[0]]), s, 1)",
        "np.putmask(x, x > 0.2, s)", "np.cumsum(np.ones((3, 3)), axis=1, out=x)",
        "x.sort(axis=0)", "np.sin(x, x)", "np.clip(x, 0.1, s, out=x)",
        "np.random.default_rng(3).shuffle(x)", "np.matmul(x, np.eye(3), out=x)",
        "scipy.special.expit(x, out=x)", "scipy.ndimage.shift(x, 1, output=x)",
        "scipy.linalg.solve_triangular(np.eye(3), x, overwrite_b=True)",
        "scipy.ndimage.gaussian_filter(x, 1.0, output=x)")  # fmt: skip


def _same_as_numpy(source: str, name: str) -> bool:
    f = load(source, name)
    a, b = np.arange(9.0).reshape(3, 3) / 10.0, np.cos(np.arange(9.0)).reshape(3, 3)
    try:
        mine, theirs = (a.copy(), b.copy()), (a.copy(), b.copy())
        try:
            want = f(*theirs, 0.5, 1)
        except (TypeError, ValueError, IndexError):
            return False
        try:
            got = in_place_of_a_kernel(f, *mine, 0.5, 1)
        except JitadError:
            return False
        for x, y in zip((*mine, *got), (*theirs, *want), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12, err_msg=source)
        return True
    finally:
        forget(name)


def _of(line: str, write: str) -> str:
    return (f"import numpy as np\nimport scipy\n\n\ndef program(a, b, s, n):\n    keep = x = b\n"
            f"    {line}\n    {write}\n    return a, b, x, y, keep\n")  # fmt: skip


@pytest.mark.parametrize("function", [*FUNCTIONS, *OWN])
def test_what_a_function_gives_is_written_to(function: str) -> None:
    for k, write in enumerate(WRITES[:6]):
        _same_as_numpy(_of(f"y = {function}", write), f"given_{len(function)}_{k}")


@pytest.mark.parametrize("write", INTO)
@pytest.mark.parametrize("view", ["x", "x[::-1]", "x.T", "np.asarray(x)", "np.swapaxes(x, 0, 1)"])
def test_functions_write_to_what_is_outside(write: str, view: str) -> None:
    assert _same_as_numpy(_of(f"x = y = {view}", write), f"into_{len(write)}_{len(view)}")


@pytest.mark.parametrize("seed", range(4))
def test_random_programs(seed: int) -> None:
    draw = random.Random(1000 + seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        compared = sum(_same_as_numpy(_program(draw), f"fallback_{seed}_{k}") for k in range(50))
    assert compared > 25


def test_a_call_that_falls_back_writes_through_a_view() -> None:
    def f(x, s):
        y = np.swapaxes(np.asarray(x, float), 0, 1)
        it = iter((1.0, 2.0))
        while s < 1.0:
            s += next(it)  # how often is known to numbers alone
        y *= s
        return y

    x = np.arange(6.0).reshape(2, 3)
    with pytest.warns(FallbackWarning):
        y = jitad.jit(f, fallback=True)(x, 0.5)
    np.testing.assert_array_equal(x, 1.5 * np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(y, x.T)
