"""How does compiled code reach into Numba's arrays, and make new ones?"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import callconv, cgutils
from numba.np import numpy_support

from jitad.emit.numba_private.declarations import Attributes, declare
from jitad.emit.numba_private.on_stack import serving


class Parts:
    """The parts of an array's structure, taken out where they are asked for."""

    def __init__(self, context: Any, builder: Any, type: Any, value: Any) -> None:
        self._at, self._builder = context.data_model_manager[type].get_field_position, builder
        self._value = value

    @property
    def data(self) -> Any:
        return self._builder.extract_value(self._value, self._at("data"))

    @property
    def owner(self) -> list[Any]:
        return [self._builder.extract_value(self._value, self._at(name))
                for name in ("meminfo", "parent")]  # fmt: skip

    def extent(self, axis: int) -> Any:
        return self._builder.extract_value(self._value, [self._at("shape"), axis])

    def stride(self, axis: int) -> Any:
        return self._builder.extract_value(self._value, [self._at("strides"), axis])


def _address(builder: Any, a: Any, array: Parts, index: list[Any]) -> Any:
    """A pointer to an element; no intermediate result overflows, by the contract."""
    strict = ["nsw"]
    if a.layout == "C":
        place = index[0]
        for k, i in enumerate(index[1:], 1):
            place = builder.add(builder.mul(place, array.extent(k), flags=strict), i, flags=strict)
        return builder.gep(array.data, [place], inbounds=True)
    place = ir.Constant(ir.IntType(64), 0)
    for k, i in enumerate(index):
        place = builder.add(place, builder.mul(i, array.stride(k), flags=strict), flags=strict)
    byte, data = ir.IntType(8).as_pointer(), array.data
    at = builder.gep(builder.bitcast(data, byte), [place], inbounds=True)
    return builder.bitcast(at, data.type)


def reach(context: Any, builder: Any, a: Any, value: Any, index: list[Any]) -> Any:
    """A pointer to an element whose indices are in bounds and not negative, and its alignment."""
    pointer = _address(builder, a, Parts(context, builder, a, value), index)
    return pointer, None if a.aligned else 1


# A function that returns its first operand, under a name that means nothing to LLVM; declared to
# give a pointer that nothing else holds, it tells LLVM that a new array overlaps no other.  (The
# allocator can't say so: Numba reads the data pointer back from the memory of its header.)
_FRESH = "jitad_fresh"
llvm.add_symbol(_FRESH, ctypes.cast(ctypes.memmove, ctypes.c_void_p).value)


def _fresh(builder: Any, data: Any) -> Any:
    size = ir.IntType(64)
    fnty = ir.FunctionType(data.type, [data.type, data.type, size])
    function = declare(builder.module, fnty, _FRESH, ("nounwind", "willreturn", "memory(none)"))
    function.return_value.add_attribute("noalias")
    out = builder.call(function, [data, data, ir.Constant(size, 0)])
    # The array is freed by way of its header.  LLVM has to know that such a call may reach it, or
    # else reads of it move behind the call, where another array may have the memory.
    none = ir.FunctionType(ir.VoidType(), [out.type])
    builder.asm(none, "", "r", [out], side_effect=True)
    return out


@cache
def _itemsize(element: Any) -> int:
    """The bytes of a number; LLVM would parse a module to tell."""
    return int(numpy_support.as_dtype(element).itemsize)


class Made(NamedTuple):
    """A C-contiguous array: its structure, and what was put in there."""

    value: Any
    data: Any
    nitems: Any
    itemsize: Any


def _made(
    context: Any, builder: Any, type: Any, data: Any, extents: list[Any], meminfo: Any = None,
    parent: Any = None,
) -> Made:  # fmt: skip
    """The structure of a C-contiguous array."""
    model, word = context.data_model_manager[type], ir.IntType(64)
    itemsize = ir.Constant(word, _itemsize(type.dtype))
    out = ir.Constant(context.get_value_type(type), None)
    place = model.get_field_position
    data = builder.bitcast(data, out.type.elements[place("data")])
    strides: list[Any] = [itemsize]
    for n in reversed(extents[1:]):
        strides.insert(0, builder.mul(strides[0], n, flags=["nsw"]))
    count: Any = ir.Constant(word, 1)
    for k, n in enumerate(extents):
        count = n if k == 0 else builder.mul(count, n, flags=["nsw"])
        out = builder.insert_value(out, n, [place("shape"), k])
        out = builder.insert_value(out, strides[k], [place("strides"), k])
    given = {"data": data, "nitems": count, "itemsize": itemsize, "meminfo": meminfo,
             "parent": parent}  # fmt: skip
    for name, value in given.items():
        if value is not None:
            out = builder.insert_value(out, value, place(name))
    return Made(out, data, count, itemsize)


def new_array(
    context: Any, builder: Any, type: Any, extents: list[Any], prepare: Callable[..., None]
) -> Made:
    """A fresh C-contiguous array; `prepare(builder, data, bytes)` is written where it is made.

    The memory comes from a function of the module, which is not inlined: what can go wrong there
    takes much more code than a kernel's loops.
    """
    word, conv = ir.IntType(64), context.call_conv
    errors_ = conv._get_excinfo_argument(builder.function)
    itemsize = ir.Constant(word, _itemsize(type.dtype))
    given = [errors_, itemsize, *extents]
    owned = _memory(context, builder.module, errors_.type, len(extents), prepare)
    frame = serving()
    if frame is None:
        meminfo = found = builder.call(owned, given)
    else:
        found, meminfo = frame.memory(context, builder, owned, given)
    with builder.if_then(cgutils.is_null(builder, found), likely=False):
        conv._return_errcode_raw(builder, callconv.RETCODE_USEREXC)
    data = context.nrt.meminfo_data(builder, meminfo) if frame is None else found
    return _made(context, builder, type, _fresh(builder, data), extents, meminfo)


def _memory(
    context: Any, module: Any, errors_: Any, ndim: int, prepare: Callable[..., None]
) -> Any:
    """The function that gives what owns memory for an array of so many axes."""
    word, byte = ir.IntType(64), ir.IntType(8).as_pointer()
    name = f"jitad_memory_{ndim}"
    if name not in module.globals:
        fnty = ir.FunctionType(byte, [errors_, word, *[word] * ndim])
        function = ir.Function(module, fnty, name)
        function.linkage = "internal"
        function.attributes = Attributes(["noinline", "nounwind"])
        function.return_value.add_attribute("noalias")
        _write_memory(context, function, prepare)
    return module.globals[name]


def _write_memory(context: Any, function: Any, prepare: Callable[..., None]) -> None:
    """The function that gives memory, or null and says why."""
    b = ir.IRBuilder(function.append_basic_block("entry"))
    api = context.get_python_api(b)
    place, total, *extents = function.args
    word, none = ir.IntType(64), ir.Constant(function.type.pointee.return_type, None)

    def unless(wrong: Any, exception: type, *args: str) -> None:
        with b.if_then(wrong, likely=False):
            b.store(api.serialize_object((exception, args, None)), place)
            b.ret(none)

    negative = too_big = ir.Constant(ir.IntType(1), 0)
    for n in extents:
        negative = b.or_(negative, b.icmp_signed("<", n, word(0)))
        product = b.smul_with_overflow(total, n)
        total = b.extract_value(product, 0)
        too_big = b.or_(too_big, b.extract_value(product, 1))
    unless(negative, ValueError, "negative dimensions are not allowed")
    unless(too_big, ValueError, "array is too big")
    meminfo = context.nrt.meminfo_alloc_aligned_unchecked(b, total, 64)
    unless(cgutils.is_null(b, meminfo), MemoryError, "Allocation failed")
    prepare(b, context.nrt.meminfo_data(b, meminfo), total)
    b.ret(meminfo)


def stack_array(context: Any, builder: Any, type: Any, extents: list[int]) -> Any:
    """An array in the stack frame of the function that is compiled: it owns no memory."""
    element = context.get_data_type(type.dtype)
    data = cgutils.alloca_once(builder, ir.ArrayType(element, math.prod(extents)))
    dims = [ir.Constant(ir.IntType(64), n) for n in extents]
    return _made(context, builder, type, data, dims).value


def contiguous(context: Any, builder: Any, type: Any, wanted: Any, value: Any) -> Any:
    """The array itself under the wanted type if it is C-contiguous and aligned, else a copy."""
    if type.layout == "C" and type.aligned:
        context.nrt.incref(builder, type, value)
        return value
    copy = np.copy if type.layout == "C" else np.ascontiguousarray
    return context.compile_internal(builder, lambda a: copy(a), wanted(type), [value])


def run_of(
    context: Any, builder: Any, a: Any, value: Any, kind: Any, index: list[Any], count: Any
) -> Any:
    """Elements that follow each other in a C-contiguous array, as an array in the same memory."""
    array = Parts(context, builder, a, value)
    place = _address(builder, a, array, index)
    out = _made(context, builder, kind, place, [count], *array.owner).value
    context.nrt.incref(builder, kind, out)
    return out


def clear(builder: Any, array: Any) -> None:
    """Set every byte to zero."""
    size = builder.mul(array.itemsize, array.nitems)
    cgutils.memset(builder, array.data, size, 0)


def copy(builder: Any, to: Any, source: Any) -> None:
    """Set the first bytes of an array to those of another."""
    cgutils.raw_memcpy(builder, to.data, source.data, source.nitems, source.itemsize)
