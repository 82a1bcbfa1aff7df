"""Arrays in kernels: truth is NumPy."""

import numpy as np
import pytest

from jitad.emit import native

HEAD = "from jitad.emit.preamble import *\n\n"


def test_elements_of_every_layout():
    text = HEAD + """
def f(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            store(out, load(a, i, j) * 2, i, j)
            accum(out, 1, i, j)
"""
    f = native.compile(text, "f")
    base = np.arange(48.0).reshape(6, 8)
    for dtype in (np.float64, np.float32, np.int64):
        for a in (base, np.asfortranarray(base), base[::2, ::-1], base.T, base[1:, 2:5]):
            a = a.astype(dtype, copy=dtype != np.float64)
            out = np.zeros((a.shape[1], a.shape[0]), dtype).T
            f(a, out)
            np.testing.assert_array_equal(out, 2 * a + 1)


def test_bools_and_read_only_operands():
    f = native.compile(HEAD + "def f(a, i): return load(a, i)\n", "f")
    a = np.array([True, False])
    a.flags.writeable = False
    assert f(a, 0) is True and f(a, 1) is False
    write = native.compile(HEAD + "def g(a): store(a, 1.0, 0)\n", "g")
    read_only = np.zeros(2)
    read_only.flags.writeable = False
    with pytest.raises(Exception, match="store"):
        write(read_only)


def test_new_arrays():
    text = HEAD + """
def f(n, m):
    a = zeros(float64, n, m)
    b = empty(float32, n)
    c = zeros(bool_, n)
    t = local(float64, 3)
    for k in range(3):
        store(t, k, k)
    for i in range(n):
        store(b, load(t, 1) + load(t, 2), i)
    return a, b, c
"""
    f = native.compile(text, "f")
    a, b, c = f(4, 5)
    assert a.shape == (4, 5) and a.flags.c_contiguous and not a.any()
    assert b.dtype == np.float32 and (b == 3.0).all() and c.dtype == bool and not c.any()
    assert f(0, 5)[0].shape == (0, 5)
    with pytest.raises(ValueError, match="negative"):
        f(2, -1)
    with pytest.raises(ValueError, match="too big"):
        f(2**40, 2**40)
    plain = f.py_func(4, 5)
    np.testing.assert_array_equal(plain[0], a)


def test_results_own_their_memory():
    text = HEAD + """
def f(n, v):
    a = zeros(float64, n)
    a[0] = v
    b = empty(float64, n)
    b[:] = a
    return a, b
"""
    f = native.compile(text, "f")
    kept = [f(1000, float(k)) for k in range(200)]
    assert all(a[0] == b[0] == k for k, (a, b) in enumerate(kept))


def test_a_fresh_array_needs_no_overlap_check():
    # The load of x[0] may leave the loop only if LLVM knows that stores to g don't change it.
    text = HEAD + """
def f(x, n):
    g = empty(float64, n)
    for i in range(n):
        store(g, load(x, 0) * 3.0, i)
    return g
"""
    f = native.compile(text, "f")
    np.testing.assert_array_equal(f(np.array([2.0]), 5), np.full(5, 6.0))
    code = f.inspect_llvm(f.signatures[0])
    assert "vector.memcheck" not in code


STENCIL = HEAD + """
def f(x, n):
    g = empty(float64, n)
    for i in range(n - 2):
        k = i + 1
        g[i] = load(x, i) - 2.0 * load(x, k) * load(x, k) + load(x, i + 2)
    return g
"""
ROWS = HEAD + """
def f(x, n):
    g = empty(float64, n, n)
    for i in range(n):
        for j in range(n - 2):
            g[i, j] = (load(x, i, j) - load(x, i, j + 1)) * load(x, i, j + 2)
    return g
"""
RECURRENCE = HEAD + """
def f(x, n):
    for i in range(1, n - 1):
        store(x, 0.5 * (load(x, i - 1) + load(x, i + 1)), i)
    return x
"""


@pytest.mark.parametrize("text", [STENCIL, ROWS])
def test_vectors_of_neighbours_are_read_where_they_lie(text: str) -> None:
    # Handed from one iteration to the next they would be shuffled together.
    f = native.compile(text, "f")
    rng = np.random.default_rng(0)
    x = rng.normal(size=37 if text == STENCIL else (37, 37))
    if text == STENCIL:
        wanted = x[:-2] - 2.0 * x[1:-1] ** 2 + x[2:]
    else:
        wanted = (x[:, :-2] - x[:, 1:-1]) * x[:, 2:]
    np.testing.assert_allclose(f(x, 37)[..., :-2], wanted, rtol=1e-14, atol=1e-15)
    code = f.inspect_llvm(f.signatures[0])
    assert "vector.body" in code and "vector.recur" not in code


def test_what_a_loop_hands_on_by_memory_stays_in_a_register() -> None:
    f = native.compile(RECURRENCE, "f")
    x = np.random.default_rng(0).normal(size=20)
    wanted = f.py_func(x.copy(), 20)
    np.testing.assert_allclose(f(x, 20), wanted, rtol=1e-14)
    assert 'asm "", "=r,0"' not in f.inspect_llvm(f.signatures[0])
