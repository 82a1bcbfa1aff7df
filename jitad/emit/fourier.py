"""How are Fourier transforms computed in compiled code?

By the loops of NumPy's own transforms (pocketfft), called without entering Python.  A universal
function of NumPy's C interface keeps the addresses of its loops, one a type; these take the rows
of a matrix of complex numbers and a factor for each.

Source: Reinecke, pocketfft; the structure `PyUFuncObject` of NumPy's C-API.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import overload
from numpy.fft import _pocketfft_umath as transforms  # type: ignore[attr-defined]

from jitad.emit import numba_private
from jitad.primitives import TABLE

_OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}


class _Ufunc(ctypes.Structure):
    """The head of a `PyUFuncObject`."""

    _fields_ = [
        ("head", ctypes.c_byte * object.__basicsize__),
        ("nin", ctypes.c_int), ("nout", ctypes.c_int), ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("loops", ctypes.POINTER(ctypes.c_void_p)), ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
    ]  # fmt: skip


def _loop(ufunc: np.ufunc, kind: str) -> tuple[int, int]:
    """The addresses of the loop for a type of numbers, and of what it is handed besides."""
    seen = _Ufunc.from_address(id(ufunc))
    if (seen.nin, seen.nout, seen.ntypes) != (ufunc.nin, ufunc.nout, ufunc.ntypes):
        raise ImportError(f"NumPy {np.__version__} keeps its functions in another way")
    k = ufunc.types.index(kind)
    return int(seen.loops[k] or 0), int(seen.data[k] or 0)


def _rows(name: str) -> Any:
    """name(x, factor, out): the transforms of the rows of x, whose last axis has the parts."""
    for letter, kind in (("d", "Dd->D"), ("s", "Ff->F")):  # at import: code on disk refers to them
        address, data = _loop(getattr(transforms, name), kind)
        llvm.add_symbol(f"jitad_{letter}{name}", address)
        llvm.add_symbol(f"jitad_{letter}{name}_data", data)

    def routine(*args: Any) -> None:
        raise NotImplementedError(f"{name} of rows is for compiled code")

    routine.__name__, routine.__module__ = f"{name}_rows", __name__
    setattr(sys.modules[__name__], routine.__name__, routine)

    def typer(x: Any, factor: Any, out: Any) -> Any:
        return types.none(x, factor, out)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(64)
        arrays = [
            context.make_array(t)(context, builder, v) for t, v in zip(sig.args, args, strict=True)
        ]
        rows, n = (builder.extract_value(arrays[0].shape, k) for k in (0, 1))
        narrow = sig.args[0].dtype == types.float32
        size, zero = ir.Constant(word, 8 if narrow else 16), ir.Constant(word, 0)
        row = builder.mul(n, size)
        given = [
            _table(builder, byte, [builder.bitcast(a.data, byte) for a in arrays]),
            _table(builder, word, [rows, n, n]),
            _table(builder, word, [row, zero, row, size, size]),
        ]
        symbol = f"jitad_{'s' if narrow else 'd'}{name}"
        known = builder.module.globals
        more = known.get(symbol + "_data") or ir.GlobalVariable(
            builder.module, ir.IntType(8), symbol + "_data")  # fmt: skip
        kinds = [byte.as_pointer(), word.as_pointer(), word.as_pointer(), byte]
        function = numba_private.declare(
            builder.module, ir.FunctionType(ir.VoidType(), kinds), symbol, ("nounwind",)
        )
        builder.call(function, [*given, more])
        return context.get_dummy_value()

    numba_private.define(routine, typer, lower)
    return routine


def _table(builder: Any, kind: Any, values: list[Any]) -> Any:
    """An array of these values, in the stack frame of the function."""
    with builder.goto_entry_block():
        at = builder.alloca(ir.ArrayType(kind, len(values)))
    for k, v in enumerate(values):
        zero = ir.Constant(ir.IntType(32), 0)
        builder.store(v, builder.gep(at, [zero, ir.Constant(ir.IntType(32), k)]))
    return builder.bitcast(at, kind.as_pointer())


fft_rows, ifft_rows = _rows("fft"), _rows("ifft")


def dft(x: Any, inverse: bool) -> Any:
    return TABLE["dft"].evaluate(x, inverse=inverse)


@overload(dft, jit_options=_OPTIONS)
def _dft(x, inverse):  # type: ignore[no-untyped-def]
    if not isinstance(x, types.Array) or x.ndim != 3:
        return None

    def implementation(x, inverse):  # type: ignore[no-untyped-def]
        factor = np.ones(1, x.dtype)
        out = np.empty(x.shape, x.dtype)
        if x.size:
            if inverse:
                ifft_rows(x, factor, out)
            else:
                fft_rows(x, factor, out)
        return out

    return implementation
