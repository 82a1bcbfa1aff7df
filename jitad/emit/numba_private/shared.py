"""How is code that a function needs in several places written once, and called?

A row of layers that Python wrote out has the same loops for each, but for the arrays they reach;
and a product of matrices is a page of instructions around one call of BLAS.  LLVM's time grows with
what it is given.  So such code becomes a function of the module, in the convention of the function
around it, which has the same place for exceptions: where it fails, its caller fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from jitad.emit.numba_private.arrays import Parts, _made

_BYTE, _CODE = ir.IntType(8), ir.IntType(32)


def can_be_handed(kind: Any) -> bool:
    """Does `shared` take operands of this type?  Numbers, and arrays of them."""
    if isinstance(kind, types.Array):
        return isinstance(kind.dtype, (types.Number, types.Boolean))
    return isinstance(kind, (types.Number, types.Boolean))


@dataclass
class Shared:
    """A function of the module, and what it gives."""

    function: Any
    result: Any = None  # its type, once it is known
    calls: int = 0
    complete: bool = False  # or is it being written, and calls itself?

    @property
    def fails(self) -> bool:
        ends = sum(isinstance(x.terminator, ir.Ret) for x in self.function.blocks)
        return ends > 1 or not self.complete


def declared(
    context: Any, around: Any, operands: Sequence[tuple[Any, Any]], alone: Iterable[int]
) -> tuple[Any, list[Any]]:
    """A function for operands (value, type) like these, and the values they have in it; the builder
    is at its beginning.  `alone`: arrays that no other one overlaps."""
    given = [_parts(context, around, *x) for x in operands]
    module, conv = around.module, context.call_conv
    place = conv._get_excinfo_argument(around.function).type
    kinds = [v.type for parts in given for v in parts]
    fnty = ir.FunctionType(_CODE, [_BYTE.as_pointer(), place, *kinds])
    function = ir.Function(module, fnty, module.get_unique_name("jitad_shared"))
    function.linkage = "internal"
    for attribute in ("noinline", "nounwind"):
        function.attributes.add(attribute)
    b = ir.IRBuilder(function.append_basic_block("entry"))
    values, rest = [], list(function.args[2:])
    for k, ((_, kind), parts) in enumerate(zip(operands, given, strict=True)):
        own, rest = rest[: len(parts)], rest[len(parts) :]
        if k in alone:
            own[_DATA].add_attribute("noalias")
        values.append(_whole(context, b, kind, own))
    first = function.append_basic_block("body")
    b.branch(first)
    b.position_at_end(first)
    return b, values


_DATA = 2  # which of the parts of an array its data are


def _parts(context: Any, b: Any, value: Any, kind: Any) -> list[Any]:
    """What is handed over of a value."""
    if not isinstance(kind, types.Array):
        return [value]
    array = Parts(context, b, kind, value)
    axes = range(kind.ndim)
    strides = [] if kind.layout == "C" else [array.stride(k) for k in axes]
    return [*array.owner, array.data, *(array.extent(k) for k in axes), *strides]


def _whole(context: Any, b: Any, kind: Any, parts: list[Any]) -> Any:
    """The value that has these parts."""
    if not isinstance(kind, types.Array):
        return parts[0]
    extents, strides = parts[3 : 3 + kind.ndim], parts[3 + kind.ndim :]
    out = _made(context, b, kind, parts[_DATA], extents, *parts[:_DATA]).value
    place = context.data_model_manager[kind].get_field_position("strides")
    for k, stride in enumerate(strides):
        out = b.insert_value(out, stride, [place, k])
    return out


def called(
    context: Any, b: Any, of: Shared, operands: Sequence[tuple[Any, Any]],
    failing: Callable[[], Any],
) -> Any:  # fmt: skip
    """The value that a call gives; `failing()`: the block where the caller goes if it fails."""
    of.calls += 1
    kind = context.get_return_type(of.result)
    out = cgutils.alloca_once(b, kind)
    place = context.call_conv._get_excinfo_argument(b.function)
    parts = [v for x in operands for v in _parts(context, b, *x)]
    code = b.call(of.function, [b.bitcast(out, _BYTE.as_pointer()), place, *parts])
    if of.fails:
        after = b.append_basic_block("after")
        branch = b.cbranch(b.icmp_signed("==", code, _CODE(0)), after, failing())
        branch.set_weights([99, 1])
        b.position_at_end(after)
    return context.get_returned_value(b, of.result, b.load(out))
