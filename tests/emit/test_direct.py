"""Does the direct way take exactly the arguments that it was made for, and keep hold of none?"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from jitad import jit, jit_grad
from jitad.emit.native import compile, direct
from jitad.emit.numba_private import layout
from jitad.tape.ir import Var
from jitad.tape.types import BOOL, FLOAT, INT, Array

SOURCE = """
import numpy as np
def total(a, m, s, n, flag):
    out = np.empty(2)
    out[0] = a[0] + a[a.shape[0] - 1] + m.sum() + s + n
    out[1] = 1.0 if flag else 0.0
    return (out, s, n, flag)
"""
PARAMS = [Var(Array("f8", 1)), Var(Array("f8", 2)), Var(FLOAT), Var(INT), Var(BOOL)]
A, M = np.arange(3.0), np.ones((2, 3))
GOOD = (A, M, 0.5, 7, True)

pytestmark = pytest.mark.skipif(
    not layout.LAYOUT_IS_KNOWN, reason="objects are laid out otherwise"
)


class Odd(np.ndarray):
    pass


def frozen(a: np.ndarray) -> np.ndarray:
    out = a.copy()
    out.flags.writeable = False
    return out


@pytest.fixture
def counted() -> Iterator[None]:
    """Numba counts what it allocates."""
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


@pytest.fixture(scope="module")
def way() -> Any:
    kernel = compile(SOURCE, "total")
    assert direct(kernel, PARAMS) is None  # nothing is compiled for it
    kernel(*GOOD)
    return direct(kernel, PARAMS)


@pytest.mark.parametrize(
    "args",
    [GOOD, (A, M, np.float64(0.5), -7, False), (A[1:], M[1:], np.inf, 2**63 - 1, True),
     (np.arange(9.0)[:1], np.ones((1, 1)), -0.0, -(2**63), False)],
)  # fmt: skip
def test_what_fits(way: Any, args: tuple[Any, ...]) -> None:
    a, m, s, n, flag = args
    out, *rest = way(*args)
    assert out.tolist() == [a[0] + a[-1] + m.sum() + s + n, float(flag)]
    assert [type(v) for v in rest] == [float, int, bool]
    assert repr(rest) == repr([float(s), n, flag])
    assert type(out) is np.ndarray and out.flags.writeable and out.flags.owndata


OTHERS = {
    "float32": (0, A.astype("f4")),
    "bytes swapped": (0, A.astype(">f8")),
    "integers": (0, np.arange(3)),
    "complex": (0, A.astype(complex)),
    "two axes": (0, M),
    "one axis": (1, A),
    "no axis": (0, np.array(1.0)),
    "with steps": (0, np.arange(6.0)[::2]),
    "backwards": (0, A[::-1]),
    "columns": (1, M.T),
    "read only": (0, frozen(A)),
    "unaligned": (0, np.frombuffer(bytearray(25), "u1")[1:].view("f8")),
    "a subclass": (0, A.view(Odd)),
    "a list": (0, [1.0, 2.0]),
    "None": (0, None),
    "an int": (2, 1),
    "a bool": (2, True),
    "a float32": (2, np.float32(1.0)),
    "a text": (2, "1.0"),
    "a float": (3, 1.0),
    "True": (3, True),
    "an int64": (3, np.int64(1)),
    "64 bits and one": (3, 2**63),
    "many bits": (3, -(2**200)),
    "1": (4, 1),
    "a NumPy bool": (4, np.True_),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_does_not_fit(way: Any, what: str) -> None:
    k, value = OTHERS[what]
    args = (*GOOD[:k], value, *GOOD[k + 1 :])
    assert way(*args) is NotImplemented
    assert way(*GOOD) is not NotImplemented  # no exception is left behind


MIXED = """
import numpy as np
def mixed(m, z, small, flag, s, n, k):
    big = np.zeros((2, 3, 40))
    big[1, 2, 3] = m[1, 0]
    ints = np.arange(n)
    moved = np.array(z[()] + 1.0)
    return (flag, big, small[0] < s, ints, s, moved, not flag, k, ints > 1, m.copy())
"""


def test_arguments_and_results_of_all_kinds() -> None:
    """One machine code is told of them; small results are copied, large ones keep their memory."""
    kinds = [Array("f8", 2), Array("f8", 0), Array("f4", 1), BOOL, FLOAT, INT, INT]
    m, z, small = np.arange(6.0).reshape(2, 3), np.array(2.5), np.array([0.5, 1.5], "f4")
    kernel = compile(MIXED, "mixed")
    kernel(m, z, small, True, 0.75, 3, -4)
    run = direct(kernel, [Var(kind) for kind in kinds])
    for flag, s, n, k in ((True, 0.75, 3, -4), (False, 0.25, 0, 2**62)):
        big, ints = np.zeros((2, 3, 40)), np.arange(n)
        big[1, 2, 3] = m[1, 0]
        expected = (flag, big, 0.5 < s, ints, s, np.array(3.5), not flag, k, ints > 1, m)
        got = run(m, z, small, flag, s, n, k)
        assert [type(x) for x in got] == [type(x) for x in expected]
        for x, y in zip(got, expected, strict=True):
            np.testing.assert_array_equal(x, y)
            assert not isinstance(y, np.ndarray) or (x.dtype, x.shape) == (y.dtype, y.shape)
    assert run(m, z, small.astype("f8"), True, 0.75, 3, -4) is NotImplemented
    outs = [np.empty((2, 3, 40)), np.empty(3, int), np.empty(()), np.empty((2, 3))]
    got = run(m, z, small, True, 0.75, 3, -4, *outs)
    assert all(got[k] is out for k, out in zip((1, 3, 5, 9), outs, strict=True))
    assert outs[1].tolist() == [0, 1, 2]
    outs[1] = np.empty(4, int)  # doesn't fit: all are new
    got = run(m, z, small, True, 0.75, 3, -4, *outs)
    assert not any(got[k] is out for k, out in zip((1, 3, 5, 9), outs, strict=True))
    assert got[3].tolist() == [0, 1, 2]


def test_another_number_of_arguments(way: Any) -> None:
    assert way(*GOOD[:-1]) is NotImplemented and way(*GOOD, 1.0) is NotImplemented
    assert way() is NotImplemented


def test_nothing_is_kept(way: Any, counted: None) -> None:
    a, m, big = np.arange(4.0), np.ones((2, 2)), 2**70
    watched = (a, m, big, a.dtype, np.ndarray, NotImplemented, None)
    gc.collect()
    before = [sys.getrefcount(v) for v in watched], rtsys.get_allocation_stats()
    for _ in range(100):
        way(a, m, 0.5, 7, True)
        way(a, m, 0.5, big, True)
        way(a, m.T, 0.5, 7, True)
    gc.collect()
    after = [sys.getrefcount(v) for v in watched], rtsys.get_allocation_stats()
    assert after[0] == before[0]
    made = [now - then for now, then in zip(after[1], before[1], strict=True)]
    assert made == [100] * 4  # arrays of results: allocated, freed, and numba's headers of them


def test_results_live_on(way: Any) -> None:
    out = way(np.arange(3.0), M, 0.5, 7, True)[0]
    gc.collect()
    view = out[1:]
    del out
    gc.collect()
    assert view.tolist() == [1.0]


def test_an_exception_of_the_kernel(counted: None) -> None:
    def checked(x: Any) -> Any:
        assert x[0] > 0.0, "x must be positive"
        return np.sum(x * x)

    g = jit_grad(checked)
    x = np.array([1.0, 2.0])
    g(x)
    gc.collect()  # of what tracing and compiling have left
    before = sys.getrefcount(x), rtsys.get_allocation_stats()
    for _ in range(10):
        with pytest.raises(AssertionError, match="x must be positive"):
            g(-x)
    gc.collect()
    after = sys.getrefcount(x), rtsys.get_allocation_stats()
    assert after[0] == before[0]
    assert after[1].alloc - before[1].alloc == after[1].free - before[1].free


def test_calls_find_their_way() -> None:
    """Through the entry, everything that fits some kernel gets its own result."""
    def f(x: Any, s: Any) -> Any:
        return np.sum(x * x) * s

    g = jit_grad(f)
    x = np.arange(1.0, 5.0)
    for given in (x, x, x[::2], x[::-1], frozen(x), x.astype("f4"), x, np.ones((2, 2)),
                  np.asfortranarray(np.ones((2, 3))), x):  # fmt: skip
        for s in (2.0, np.float64(2.0), 2, True, np.float32(2.0), 2.0):
            out = g(given, s)
            np.testing.assert_array_equal(out, 2.0 * np.asarray(given) * s)
            assert out.dtype == given.dtype


def test_an_int_that_is_data() -> None:
    def f(x: float, n: int) -> float:
        return x * n

    g = jit(f)
    for n in (3, 5, 7, 2**62, 9):
        assert g(0.5, n) == 0.5 * n
    with pytest.raises(OverflowError):
        g(0.5, 2**64)
    assert g(0.5, 11) == 5.5


def test_functions_of_a_kernel_keep_hold_of_no_array(counted: None) -> None:
    """Parameters are borrowed: they are not counted, whoever is done with them."""

    def down(a: Any, out: Any, k: int) -> Any:
        if k == 0:
            return a[0]
        out[k] = a[k] + down(a, out, k - 1)
        return out[k] * 2.0

    def f(a: Any) -> Any:
        out = np.zeros(len(a))
        return down(a, out, len(a) - 1) + out[1]

    g = jit_grad(f)
    a = np.arange(1.0, 7.0)
    g(a)
    gc.collect()  # of what tracing and compiling have left
    before, references = rtsys.get_allocation_stats(), sys.getrefcount(a)
    for _ in range(100):
        g(a)
    gc.collect()
    after = rtsys.get_allocation_stats()
    assert sys.getrefcount(a) == references
    assert after.alloc - before.alloc == after.free - before.free > 0
