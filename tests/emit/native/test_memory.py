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
