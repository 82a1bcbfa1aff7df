"""Kernels called through ctypes as C would call them."""

import ctypes

import numpy as np
import pytest
from numba import types

from jitad.emit import native
from jitad.errors import JitadTypeError

TEXT = """
from jitad.emit.preamble import empty, float64, load, store
from jitad.errors import JitadIndexError

def k(x, s):
    if s > 10.0:
        raise JitadIndexError("too far")
    g = empty(float64, x.shape[0])
    t = 0.0
    for i in range(x.shape[0]):
        store(g, load(x, i) * s, i)
        t += load(x, i)
    return t, (g, x.shape[0])
"""


def _pointer(a):
    return a.ctypes.data_as(ctypes.c_void_p)


def test_arguments_results_and_status():
    kernel = native.compile(TEXT, "k")
    signature = (types.float64[::1], types.float64)
    address = native.address(kernel, signature)
    assert native.address(kernel, signature) == address
    p, n, d = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    f = ctypes.CFUNCTYPE(ctypes.c_int32, p, n, d, p, p, n, p)(address)
    x, value, g, count = np.arange(4.0), np.zeros(1), np.full(4, 9.0), np.zeros(1, np.int64)
    assert f(_pointer(x), 4, 2.5, _pointer(value), _pointer(g), 4, _pointer(count)) == 0
    assert value[0] == 6.0 and count[0] == 4
    np.testing.assert_array_equal(g, 2.5 * x)
    assert f(_pointer(x), 4, 11.0, _pointer(value), _pointer(g), 4, _pointer(count)) == 1
    g[:] = 9.0
    assert f(_pointer(x), 4, 2.5, _pointer(value), _pointer(g), 3, _pointer(count)) == 2
    assert (g == 9.0).all()


def test_values_that_are_no_numbers_are_refused():
    kernel = native.compile("def f(x): return 'text'\n", "f")
    with pytest.raises(JitadTypeError, match="C"):
        native.address(kernel, (types.float64,))
