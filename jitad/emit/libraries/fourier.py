"""How are Fourier transforms computed in compiled code?

By the loops of NumPy's own transforms (pocketfft), called without entering Python.  A universal
function of NumPy's C interface keeps the addresses of its loops, one a type; these take the rows
of a matrix and a factor for each.

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
    return int(seen.loops[k] or 0), int(seen.data[k] or 0) if seen.data else 0


def _rows(name: str, wide: str = "Dd->D") -> Any:
    """name(x, factor, out): the transforms of the rows of x; complex numbers have a last axis."""
    narrowed = wide.replace("D", "F").replace("d", "f")
    for letter, kind in (("d", wide), ("s", narrowed)):  # at import: code on disk refers to them
        address, data = _loop(getattr(transforms, name), kind)
        llvm.add_symbol(f"jitad_{letter}{name}", address)
        if data:
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
        narrow, zero = sig.args[0].dtype == types.float32, ir.Constant(word, 0)
        rows = builder.extract_value(arrays[0].shape, 0)
        lengths = [builder.extract_value(arrays[k].shape, 1) for k in (0, 2)]
        sizes = [ir.Constant(word, (4 if narrow else 8) * (sig.args[k].ndim - 1)) for k in (0, 2)]
        first, last = (builder.mul(n, s) for n, s in zip(lengths, sizes, strict=True))
        given = [
            _table(builder, byte, [builder.bitcast(a.data, byte) for a in arrays]),
            _table(builder, word, [rows, *lengths]),
            _table(builder, word, [first, zero, last, *sizes]),
        ]
        symbol = f"jitad_{'s' if narrow else 'd'}{name}"
        known = builder.module.globals
        more = known.get(symbol + "_data") or ir.GlobalVariable(
            builder.module, ir.IntType(8), symbol + "_data") if data else byte(None)  # fmt: skip
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


fft_rows, ifft_rows, irfft_rows = _rows("fft"), _rows("ifft"), _rows("irfft", "Dd->d")
rfft_n_even_rows, rfft_n_odd_rows = (_rows(f"rfft_n_{n}", "dd->D") for n in ("even", "odd"))


def dft(x: Any, inverse: bool) -> Any:
    return TABLE["dft"].evaluate(x, inverse=inverse)


@overload(dft, jit_options=_OPTIONS)
def _dft(x, inverse):  # type: ignore[no-untyped-def]
    if not isinstance(x, types.Array) or x.ndim < 2:
        return None

    def implementation(x, inverse):  # type: ignore[no-untyped-def]
        factor = np.ones(1, x.dtype)
        out = np.empty(x.shape, x.dtype)
        if x.size:
            rows = x.size // (2 * x.shape[-2]), x.shape[-2], 2
            if inverse:
                ifft_rows(x.reshape(rows), factor, out.reshape(rows))
            else:
                fft_rows(x.reshape(rows), factor, out.reshape(rows))
        return out

    return implementation


def rdft(x: Any, half: Any) -> Any:
    return TABLE["rdft"].evaluate(x, half)


@overload(rdft, jit_options=_OPTIONS)
def _rdft(x, half):  # type: ignore[no-untyped-def]
    if not isinstance(x, types.Array):
        return None

    def implementation(x, half):  # type: ignore[no-untyped-def]
        factor = np.ones(1, x.dtype)
        out = np.empty((*x.shape[:-1], half, 2), x.dtype)
        if x.size:
            count = x.size // x.shape[-1]
            signals, spectra = x.reshape((count, x.shape[-1])), out.reshape((count, half, 2))
            if x.shape[-1] % 2:
                rfft_n_odd_rows(signals, factor, spectra)
            else:
                rfft_n_even_rows(signals, factor, spectra)
        return out

    return implementation


def irdft(z: Any, n: Any) -> Any:
    return TABLE["irdft"].evaluate(z, n)


@overload(irdft, jit_options=_OPTIONS)
def _irdft(z, n):  # type: ignore[no-untyped-def]
    if not isinstance(z, types.Array) or z.ndim < 2:
        return None

    def implementation(z, n):  # type: ignore[no-untyped-def]
        factor = np.ones(1, z.dtype)
        out = np.empty((*z.shape[:-2], n), z.dtype)
        if z.size:
            count = out.size // n
            irfft_rows(z.reshape((count, z.shape[-2], 2)), factor, out.reshape((count, n)))
        return out

    return implementation
