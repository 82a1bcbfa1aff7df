"""How are matrices multiplied in compiled code?  By BLAS, called where SciPy hands it out.

`times(a, b, out)` is `np.dot(a, b, out)` for operands of one or two axes that are contiguous along
their rows or their columns.  Numba's `np.dot` comes to the same routines, by way of a dozen
functions that it has to compile first.  BLAS stores columns: what has rows is turned to it.

`gram(a, out)` is the lower triangle of `np.dot(a.T, a, out)`, which takes half the time; of small
matrices all of it, since the routine for one half begins with as much as a whole product of 20 by
20 takes (OpenBLAS's for Haswell, Zen and Skylake-X, measured: 1.0 to 4 times as fast up to here).
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types

from jitad.emit import numba_private
from jitad.emit.libraries import addresses

_cython_blas = addresses.alone("scipy.linalg", "cython_blas")
for _name in ("gemm", "gemv", "syrk"):  # at import: code on disk refers to them
    for _letter in "ds":
        llvm.add_symbol(f"jitad_{_letter}{_name}",
                        addresses.capsule_address(_cython_blas, _letter + _name))  # fmt: skip

_SMALL = 16384  # products of numbers
_WORD, _INT, _BYTE = ir.IntType(64), ir.IntType(32), ir.IntType(8)


def times(a: Any, b: Any, out: Any) -> None:
    """A vector may lie in a longer one, whose rest is left alone."""
    np.dot(a, b, out if out.ndim > 1 else out[: len(a) if b.ndim == 1 else b.shape[1]])


def gram(a: Any, out: Any) -> None:
    np.dot(a.T, a, out)


def _type(a: Any, b: Any, out: Any) -> Any:
    if not all(isinstance(t, types.Array) and t.layout in "CF" for t in (a, b, out)):
        return None
    known = {a.dtype, b.dtype, out.dtype} in ({types.float64}, {types.float32})
    return types.none(a, b, out) if known and out.ndim == a.ndim + b.ndim - 2 > 0 else None


class _Call:
    """One call of a routine, which takes everything by address."""

    def __init__(self, context: Any, builder: Any, types_: Any, values: Any) -> None:
        self.context, self.b, self.types = context, builder, types_
        self.arrays = [
            context.make_array(t)(context, builder, v) for t, v in zip(types_, values, strict=True)
        ]
        self.narrow = types_[0].dtype == types.float32

    def extent(self, k: int, axis: int) -> Any:
        return self.b.extract_value(self.arrays[k].shape, axis)

    def data(self, k: int) -> Any:
        return self.b.bitcast(self.arrays[k].data, _BYTE.as_pointer())

    def rows(self, k: int) -> bool:
        """Are rows neighbours in memory?  To BLAS the matrix then is its transpose."""
        return bool(self.types[k].layout == "C")

    def leading(self, k: int) -> Any:
        """The distance of neighbours along the other axis."""
        n = self.extent(k, 1 if self.rows(k) else 0)
        least = _WORD(1)
        return self.b.select(self.b.icmp_signed("<", n, least), least, n)

    def make(self, name: str, *args: Any) -> None:
        kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer()] * len(args))
        symbol = f"jitad_{'s' if self.narrow else 'd'}{name}"
        routine = numba_private.declare(self.b.module, kind, symbol, ("nounwind",))
        self.b.call(routine, [self.address(x) for x in args])

    def address(self, x: Any) -> Any:
        b = self.b
        if isinstance(x, str):
            x = _BYTE(ord(x))
        elif isinstance(x, float):
            x = (ir.FloatType() if self.narrow else ir.DoubleType())(x)
        elif isinstance(x, int):
            x = _INT(x)
        elif isinstance(x.type, ir.PointerType):
            return x
        elif x.type == _WORD:
            too_big = b.icmp_signed(">", x, _WORD(2**31 - 1))
            with b.if_then(too_big, likely=False):
                self.context.call_conv.return_user_exc(
                    b, ValueError, ("a matrix of 2**31 rows or columns is multiplied",)
                )
            x = b.trunc(x, _INT)
        with b.goto_entry_block():
            at = b.alloca(x.type)
        b.store(x, at)
        return b.bitcast(at, _BYTE.as_pointer())


def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    call = _Call(context, builder, sig.args, args)
    left, right, _ = sig.args
    if left.ndim == right.ndim == 2:  # out' = b' a'
        turned = ("N" if call.rows(1) else "T", "N" if call.rows(0) else "T")
        m, k, n = call.extent(0, 0), call.extent(0, 1), call.extent(1, 1)
        call.make("gemm", *turned, n, m, k, 1.0, call.data(1), call.leading(1), call.data(0),
                  call.leading(0), 0.0, call.data(2), call.leading(2))  # fmt: skip
        return context.get_dummy_value()
    matrix, vector = (0, 1) if left.ndim == 2 else (1, 0)
    # a routine that has nothing to add up would leave the result as it is
    with builder.if_then(builder.icmp_signed("==", call.extent(vector, 0), _WORD(0))):
        numba_private.clear(builder, call.arrays[2])
    rows, columns = call.extent(matrix, 0), call.extent(matrix, 1)
    if call.rows(matrix):
        rows, columns = columns, rows
    turned_ = call.rows(matrix) == (matrix == 0)
    call.make("gemv", "T" if turned_ else "N", rows, columns, 1.0, call.data(matrix),
              call.leading(matrix), call.data(vector), 1, 0.0, call.data(2), 1)  # fmt: skip
    return context.get_dummy_value()


def _type_gram(a: Any, out: Any) -> Any:
    sig = _type(a, a, out)
    square = sig is not None and a.ndim == 2 and out.layout == "C"
    return types.none(a, out) if square else None


def _lower_gram(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    call = _Call(context, builder, sig.args, args)
    k, n = call.extent(0, 0), call.extent(0, 1)
    turned = ("N", "T") if call.rows(0) else ("T", "N")
    products = builder.mul(builder.mul(n, n), k)
    small = builder.icmp_unsigned("<=", products, _WORD(_SMALL))
    with builder.if_else(small) as (whole, half):
        with whole:
            call.make("gemm", *turned, n, n, k, 1.0, call.data(0), call.leading(0), call.data(0),
                      call.leading(0), 0.0, call.data(1), call.leading(1))  # fmt: skip
        with half:
            call.make("syrk", "U", turned[0], n, k, 1.0, call.data(0), call.leading(0), 0.0,
                      call.data(1), call.leading(1))  # fmt: skip
    return context.get_dummy_value()


numba_private.define(times, _type, _lower)
numba_private.define(gram, _type_gram, _lower_gram)
