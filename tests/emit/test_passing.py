"""Do arrays in stack frames behave as those of the allocator?  Truth is plain Python and NumPy."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

from jitad import jit, jit_value_and_grad
from jitad.emit import native
from jitad.emit.numba_private import layout, on_stack
from jitad.emit.passing import Passing, Where
from jitad.tape.ir import Var
from jitad.tape.types import INT, Array

HEAD = "import numpy as np\nfrom jitad.emit.preamble import *\n\n"
BODY = """
def f(x, k):
    a = empty(np.float64, k)
    b = zeros(np.float64, k)
    c = empty(np.float64, k)
    d = c
    e = empty(np.float64, k)
    g = e.reshape((k, 1))
    out = zeros(np.float64, k)
    told = empty(np.float64, k)
    solved = empty(np.float64, k, k)
    kept = empty(np.float64, 0)
    for i in range(k):
        row = empty(np.float64, i)
        times(a, handed(b), out)
        if i > len(kept):
            kept = grown(kept, i)
        one = empty(np.float64, k)
        d, one = one, d
    y = solve(solved, a[0])
    if k > 3:
        raise ValueError(told)
    return (out, g, y)
"""


def test_who_sees_what() -> None:
    (tree,) = ast.parse(BODY).body
    assert isinstance(tree, ast.FunctionDef)
    known, made = Passing(tree), ast.Name("empty")
    passes, returned = Where(False, False), Where(True, False)
    outside = dict.fromkeys("abc", passes) | {"e": returned, "out": returned, "kept": passes}
    for name, where in (outside | dict.fromkeys(("told", "solved", "x"))).items():
        assert known.where(name, made, False) == where, name
    assert known.where("row", made, True) == Where(False, True)
    assert known.where("kept", ast.Name("grown"), True) == passes  # which reads the old one
    assert known.where("one", made, True) is None and known.where("out", made, True) is None
    assert known.where("a", ast.Name("solve"), False) is None
    (asks,) = ast.parse("def f():\n    a = empty(float64, 3)\n    b = ask('key', '')").body
    assert isinstance(asks, ast.FunctionDef) and Passing(asks).where("a", made, False) is None


@pytest.fixture
def counted() -> Iterator[None]:
    """Numba counts what it allocates."""
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


LOOPS = HEAD + """
def f(x, counts, n):
    total = zeros(np.float64, n)
    first = empty(np.float64, n)
    grows = empty(np.float64, 0)
    for i in range(n):
        first[i] = x[i]
    for i in range(counts.shape[0]):
        m = counts[i]
        row = empty(np.float64, m)
        pair = zeros(np.float64, m, 2)
        for j in range(m):
            row[j] = x[j] * (i + 1.0)
            pair[j, 1] = row[j] + 1.0
        if m > len(grows):
            grows = grown(grows, m)
        for j in range(m):
            total[j] += row[j] + pair[j, 0] + pair[j, 1] + first[j]
            grows[j] = row[j]
    for j in range(n):
        total[j] += grows[j] if j < len(grows) and j < counts[0] else 0.0
    return (total, first)
"""


def by_numpy(x: Any, counts: Any, n: int) -> Any:
    total, last = np.zeros(n), np.zeros(n)
    for i, m in enumerate(counts):
        row = x[:m] * (i + 1.0)
        total[:m] += 2.0 * row + 1.0 + x[:m]
        last[:m] = row
    total[: counts[0]] += last[: counts[0]]
    return total, x[:n].copy()


@pytest.mark.parametrize("n", [0, 1, 7, 127, 128, 129, 511, 512, 513, 2048, 5000])
def test_arrays_of_loops(n: int) -> None:
    """Growing, shrinking, alike; few and many; small and large: each row has its own elements."""
    f = native.compile(LOOPS, "f")
    x = np.random.default_rng(n).normal(size=n)
    for counts in ([n] * 3, [n, n // 2, 0, n], range(max(n - 300, 0), n + 1), [n // 3] * 50):
        many = np.array(list(counts)[::-1] if n % 2 else list(counts))
        results = [f(x, many, n) for _ in range(3)]
        for found in results:  # the first, too, is what it was
            for a, b in zip(found, by_numpy(x, many, n), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.skipif(not layout.ARRAYS_ARE_MADE, reason="objects are laid out otherwise")
def test_a_loop_has_the_same_memory_again(counted: None) -> None:
    """However many iterations there are: the room is not used up by them."""
    f = native.compile(LOOPS, "f")
    x, counts = np.arange(10.0), np.array([10, 3, 7] * 1000)
    f(x, counts, 10)
    params = [Var(Array("f8", 1)), Var(Array("i8", 1)), Var(INT)]
    way = native.direct(f, params)
    before = rtsys.get_allocation_stats()
    total, first = way(x, counts, 10)
    assert rtsys.get_allocation_stats() == before
    for a, b in zip((total, first), by_numpy(x, counts, 10), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_extents_that_are_none() -> None:
    f = native.compile(HEAD + "def f(n, m):\n    a = empty(np.float64, n, m)\n"
                       "    k = len(a)\n    return (1.0 * k, 2.0)\n", "f")  # fmt: skip
    assert f(3, 4) == (3.0, 2.0) and f(3, 0) == (3.0, 2.0)
    for n, m in ((-1, 3), (3, -1), (-1, -1)):
        with pytest.raises(ValueError, match="negative dimensions"):
            f(n, m)
    for n, m in ((2**40, 2**40), (2**32, 2**32), (2**62, 4)):
        with pytest.raises((ValueError, MemoryError)):
            f(n, m)


def network(w: Any, b: Any, x: Any, y: Any) -> Any:
    h = np.tanh(x @ w + b)
    error = h @ w - y
    return 0.5 * np.sum(error * error)


@pytest.mark.skipif(not layout.ARRAYS_ARE_MADE, reason="objects are laid out otherwise")
def test_a_small_call_needs_no_allocator(counted: None) -> None:
    """From Python; @njit callers get results of their own; what is large goes there as ever."""
    g = jit_value_and_grad(network, argnums=(0, 1))
    rng = np.random.default_rng(0)

    def allocations(k: int) -> int:
        given = [rng.normal(size=s) for s in ((k, k), k, (3, k), (3, k))]
        out = tuple(np.empty_like(a) for a in given[:2])
        plain = g(*given)
        g(*given, out=out)
        gc.collect()
        before = rtsys.get_allocation_stats()
        for _ in range(10):
            g(*given)
            g(*given, out=out)
        after = rtsys.get_allocation_stats()
        assert after.alloc - before.alloc == after.free - before.free
        for a, b in zip(plain[1], out, strict=True):
            assert np.array_equal(a, b)
        return after.alloc - before.alloc

    assert allocations(4) == 0 < allocations(70)


def test_results_for_compiled_callers_are_their_own() -> None:
    g = jit_value_and_grad(network, argnums=(0, 1))

    @njit
    def two(w, b, x, y):
        first = g(w, b, x, y)[1]
        second = g(2.0 * w, b, x, y)[1]
        return first, second, g(w, b, x, y)[1]

    rng = np.random.default_rng(1)
    given = [rng.normal(size=s) for s in ((4, 4), 4, (3, 4), (3, 4))]
    expected = g(*given)[1], g(2.0 * given[0], *given[1:])[1], g(*given)[1]
    for _ in range(3):
        for found, right in zip(two(*given), expected, strict=True):
            for a, b in zip(found, right, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-13)
                assert a.flags.owndata or a.base is not None


def test_results_are_kept_from_call_to_call() -> None:
    g = jit(lambda x: (x + 1.0, np.cumsum(x), x * 2.0))
    calls = [g(np.full(5, float(k))) for k in range(50)]
    g(np.ones(200)), g(np.ones(2000))
    for k, (a, b, c) in enumerate(calls):
        assert (a == k + 1.0).all() and (c == 2.0 * k).all()
        assert b.tolist() == [k * (j + 1.0) for j in range(5)]


def test_kernels_whose_results_do_not_fit_the_room() -> None:
    """More small results than there is room for: some have memory of their own."""
    count = on_stack._ROOM_FOR_RESULTS // layout.SMALL + 3
    names = [f"a{k}" for k in range(count)]
    lines = [f"    {n} = empty(np.float64, x.shape[0])\n" for n in names]
    lines += ["    for i in range(x.shape[0]):\n"]
    lines += [f"        {n}[i] = x[i] + {k}\n" for k, n in enumerate(names)]
    text = f"{HEAD}def f(x):\n{''.join(lines)}    return ({', '.join(names)})\n"
    f = native.compile(text, "f")
    f(np.ones(3))
    way = native.direct(f, [Var(Array("f8", 1))]) or f
    for size in (1, 100, 128, 129, 1000):
        x = np.arange(1.0 * size)
        first = way(x)
        for results in (way(x + 1.0), first):
            for k, a in enumerate(results):
                np.testing.assert_array_equal(a, x + k + (results is not first))
