"""How do kernels allocate arrays and reach their elements?

`load(a, *index)`, `store(a, value, *index)`, `accum(a, value, *index)` trust the index: it is
in bounds and not negative (checks come before, as equations of the tape).  Unlike `a[i]` there is
no code for negative indices, and LLVM is told that the address does not wrap, which is what keeps
loops vectorised where an index is computed.  `accum` adds in any order: the order in which
contributions reach an adjoint is the engine's own choice.

`empty(dtype, *extents)`, `zeros(dtype, *extents)` give a fresh C-contiguous array.  LLVM is told
that nothing else points to it: stores to it don't force loads from other arrays to be repeated,
and loops need no overlap check.  `local(dtype, *extents)`, extents literal, gives a small one on
the stack, uninitialised: it must not outlive the call.

`row_of(n, a, x, b, y, ...)` is the first of n places where a is x, b is y and so on; or -1.

`opaque(k)` is an integer of whose value LLVM knows nothing.
`grown(buffer, need)` gives the same numbers in a buffer of at least that and twice the length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from jitad.emit import numba_private, pages
from jitad.primitives import TABLE

Value = Any  # of LLVM
Type = Any  # of Numba

# -- plain Python ---------------------------------------------------------------------------------


def load(a: Any, *index: int) -> Any:
    return a[index]


def store(a: Any, value: Any, *index: int) -> None:
    a[index] = value


def accum(a: Any, value: Any, *index: int) -> None:
    a[index] += value


def row_of(n: int, *given: Any) -> Any:
    return TABLE["row_of"].evaluate(n, *given)


def opaque(k: int) -> int:
    return k


def empty(dtype: Any, *extents: int) -> Any:
    return np.empty(extents, dtype)


def zeros(dtype: Any, *extents: int) -> Any:
    return np.zeros(extents, dtype)


def local(dtype: Any, *extents: int) -> Any:
    return np.empty(extents, dtype)


def grown(buffer: Any, need: int) -> Any:
    out = np.empty(max(2 * len(buffer), need, 16), buffer.dtype)
    out[: len(buffer)] = buffer
    return out


# -- Numba: elements ------------------------------------------------------------------------------


def _reaches(a: Type, index: tuple[Type, ...]) -> bool:
    return (
        isinstance(a, types.Array)
        and a.ndim == len(index)
        and all(isinstance(i, (types.Integer, types.Boolean)) for i in index)
    )


def _type_load(a: Type, *index: Type) -> Any:
    return a.dtype(a, *([types.intp] * len(index))) if _reaches(a, index) else None


def _type_store(a: Type, value: Type, *index: Type) -> Any:
    if not _reaches(a, index) or not a.mutable:
        return None
    return types.none(a, a.dtype, *([types.intp] * len(index)))


def _lower_load(context: Any, builder: Any, sig: Any, args: Any) -> Value:
    a, (value, *index) = sig.args[0], args
    pointer, align = numba_private.reach(context, builder, a, value, index)
    return context.unpack_value(builder, a.dtype, pointer, align)


def _lower_store(context: Any, builder: Any, sig: Any, args: Any) -> Value:
    a, (value, element, *index) = sig.args[0], args
    pointer, align = numba_private.reach(context, builder, a, value, index)
    context.pack_value(builder, a.dtype, element, pointer, align)
    return context.get_dummy_value()


def _lower_accum(context: Any, builder: Any, sig: Any, args: Any) -> Value:
    a, (value, element, *index) = sig.args[0], args
    pointer, align = numba_private.reach(context, builder, a, value, index)
    old = context.unpack_value(builder, a.dtype, pointer, align)
    if isinstance(a.dtype, types.Float):
        new = builder.fadd(old, element, flags=numba_private.ANY_ORDER)
    else:
        new = builder.add(old, element)
    context.pack_value(builder, a.dtype, new, pointer, align)
    return context.get_dummy_value()


def _type_accum(a: Type, value: Type, *index: Type) -> Any:
    sig = _type_store(a, value, *index)
    number = sig is not None and isinstance(a.dtype, (types.Float, types.Integer))
    return sig if number else None


# -- Numba: positions -----------------------------------------------------------------------------


def _type_row_of(n: Type, *given: Type) -> Any:
    columns = given[::2]
    if not columns or not all(_reaches(a, (n,)) for a in columns):
        return None
    pairs = [t for a in columns for t in (a, a.dtype)]
    return types.intp(types.intp, *pairs) if len(pairs) == len(given) else None


def _lower_row_of(context: Any, builder: Any, sig: Any, args: Any) -> Value:
    n, *given = args
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("rows", "row", "found"))
    builder.branch(head)
    builder.position_at_end(head)
    k = builder.phi(n.type)
    k.add_incoming(n.type(0), before)
    builder.cbranch(builder.icmp_signed("<", k, n), body, after)
    builder.position_at_end(body)
    same: Any = ir.IntType(1)(1)
    for a, column, x in zip(sig.args[1::2], given[::2], given[1::2], strict=True):
        pointer, align = numba_private.reach(context, builder, a, column, [k])
        y = context.unpack_value(builder, a.dtype, pointer, align)
        is_float = isinstance(a.dtype, types.Float)
        equal = builder.fcmp_ordered if is_float else builder.icmp_signed
        same = builder.and_(same, equal("==", x, y))
    last = builder.block
    k.add_incoming(builder.add(k, n.type(1), flags=["nsw"]), last)
    builder.cbranch(same, after, head)
    builder.position_at_end(after)
    out = builder.phi(n.type)
    out.add_incoming(n.type(-1), head)
    out.add_incoming(k, last)
    return out


def _type_opaque(k: Type) -> Any:
    return types.intp(types.intp) if isinstance(k, types.Integer) else None


def _lower_opaque(context: Any, builder: Any, sig: Any, args: Any) -> Value:
    word = ir.IntType(64)
    return builder.asm(ir.FunctionType(word, [word]), "", "=r,0", args, side_effect=False)


# -- Numba: allocation ----------------------------------------------------------------------------


def _type_array(dtype: Type, *extents: Type) -> Any:
    if not extents or not all(isinstance(n, types.Integer) for n in extents):
        return None
    element = getattr(dtype, "instance_type", None) or getattr(dtype, "dtype", None)
    if not isinstance(element, types.Type):
        return None
    return types.Array(element, len(extents), "C")(dtype, *([types.intp] * len(extents)))


def _lower_empty(context: Any, builder: Any, sig: Any, args: Any) -> Value:
    return numba_private.new_array(
        context, builder, sig.return_type, args[1:], pages.advise
    ).value  # fmt: skip


def _lower_zeros(context: Any, builder: Any, sig: Any, args: Any) -> Value:
    array = numba_private.new_array(
        context, builder, sig.return_type, args[1:], pages.advise
    )  # fmt: skip
    numba_private.clear(builder, array)
    return array.value


def _type_local(dtype: Type, *extents: Type) -> Any:
    if not all(isinstance(n, types.IntegerLiteral) and n.literal_value > 0 for n in extents):
        return None
    sig = _type_array(dtype, *extents)
    return None if sig is None else sig.return_type(dtype, *extents)


def _lower_local(context: Any, builder: Any, sig: Any, args: Any) -> Value:
    extents = [n.literal_value for n in sig.args[1:]]
    return numba_private.stack_array(context, builder, sig.return_type, extents)


def _type_grown(buffer: Type, need: Type) -> Any:
    flat = isinstance(buffer, types.Array) and buffer.ndim == 1 and buffer.layout == "C"
    return buffer(buffer, types.intp) if flat and isinstance(need, types.Integer) else None


def _lower_grown(context: Any, builder: Any, sig: Any, args: Any) -> Value:
    old = context.make_array(sig.args[0])(context, builder, args[0])
    room = args[1]
    for least in (builder.shl(old.nitems, context.get_constant(types.intp, 1)),
                  context.get_constant(types.intp, 16)):  # fmt: skip
        room = builder.select(builder.icmp_signed("<", room, least), least, room)
    new = numba_private.new_array(context, builder, sig.return_type, [room], pages.advise)
    numba_private.copy(builder, new, old)
    return new.value


numba_private.define(load, _type_load, _lower_load)
numba_private.define(store, _type_store, _lower_store)
numba_private.define(accum, _type_accum, _lower_accum)
numba_private.define(row_of, _type_row_of, _lower_row_of)
numba_private.define(opaque, _type_opaque, _lower_opaque)
numba_private.define(empty, _type_array, _lower_empty)
numba_private.define(zeros, _type_array, _lower_zeros)
numba_private.define(local, _type_local, _lower_local)
numba_private.define(grown, _type_grown, _lower_grown)
