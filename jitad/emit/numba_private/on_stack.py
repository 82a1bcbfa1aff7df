"""How does an array that is small and soon forgotten get memory without the allocator?

What nobody sees after a function has ended lies in its stack frame: there is one room, which arrays
are given in turn, as they are made.  What is returned lies in the frame of the caller, if that says
that it copies results.  Where a room is used up, and for what is not small, there is the allocator.
To take and give back memory there costs as much as some fifty operations on elements: half of the
time of a kernel of ten elements.

An array in a frame has no owner: to count references to it does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from jitad.emit.numba_private.layout import SMALL

IN_FRAME = "_in_frame"  # how the names of functions end that give such memory
_ROOM = 1 << 14  # bytes of a frame
_MOST = 1 << 12  # of an array: the time that its elements take is more than the allocator's
_LINE = 64  # where arrays begin, as the allocator's do

_WORD, _BYTE = ir.IntType(64), ir.IntType(8).as_pointer()
_BEFORE = ir.LiteralStructType([_BYTE, _WORD])  # memory that an array had before, and its size

# Numba's callers clear the place for results.  One that copies them from memory of its own says so
# there, and where that is; it may be below others on the stack, so it has less of it.
_FOR_RESULTS = ir.LiteralStructType([_WORD, _BYTE])
_SIGN = _WORD(0x6A6974616420726D)
_ROOM_FOR_RESULTS = 1 << 12
NO_OFFER = _WORD(0)  # what anyone else says there


class Frame:
    """A room for arrays of one function: in its frame, or the caller's for results."""

    def __init__(self, builder: Any, results: bool) -> None:
        with builder.goto_entry_block():
            self._top, self._owner = builder.alloca(_WORD), builder.alloca(_BYTE)
            builder.store(_WORD(0), self._top)
            self._room = _offered(builder) if results else _own(builder, _ROOM)
        self._sizes = (_ROOM_FOR_RESULTS, SMALL) if results else (_ROOM, _MOST)
        self._again = False

    @contextmanager
    def serving(self, again: bool) -> Iterator[None]:
        """New arrays are made here.  `again`: in each iteration of a loop, in place of the one
        before, which nobody sees any more.  Runs under Numba's compiler lock."""
        self._again = again
        _serving.append(self)
        try:
            yield
        finally:
            _serving.pop()

    def memory(self, context: Any, builder: Any, owned: Any, given: list[Any]) -> tuple[Any, Any]:
        """The data of an array and its owner; `owned(*given)` is the allocator's for the same."""
        before = ir.Constant(_BEFORE.as_pointer(), None)
        if self._again:
            with builder.goto_entry_block():
                before = builder.alloca(_BEFORE)
                builder.store(ir.Constant(_BEFORE, None), before)
        places = [self._room, self._top, self._owner, before, *map(_WORD, self._sizes)]
        data = builder.call(_function(context, owned), [*given, *places])
        return data, builder.load(self._owner)


def _own(b: Any, size: int) -> Any:
    room = b.alloca(ir.ArrayType(ir.IntType(8), size))
    room.align = _LINE
    return b.bitcast(room, _BYTE)


def _offered(b: Any) -> Any:
    """The caller's room for results, or null."""
    said = b.bitcast(b.function.args[0], _FOR_RESULTS.as_pointer())
    sign, room = (b.load(cgutils.gep_inbounds(b, said, 0, k)) for k in range(2))
    return b.select(b.icmp_unsigned("==", sign, _SIGN), room, ir.Constant(_BYTE, None))


def offer(b: Any, results: Any) -> None:
    """Say at the place for results that they are copied from memory of this function."""
    said = b.bitcast(results, _FOR_RESULTS.as_pointer())
    with b.goto_entry_block():
        room = _own(b, _ROOM_FOR_RESULTS)
    for k, x in enumerate((_SIGN, room)):
        b.store(x, cgutils.gep_inbounds(b, said, 0, k))


_serving: list[Frame] = []


def serving() -> Frame | None:
    """The frame where new arrays are made now, if it is one."""
    return _serving[-1] if _serving else None


def _function(context: Any, owned: Any) -> Any:
    """A function of the module: the arguments of `owned`, and the places of a frame."""
    module, name = owned.module, f"{owned.name}{IN_FRAME}"
    if name not in module.globals:
        places = [_BYTE, _WORD.as_pointer(), _BYTE.as_pointer(), _BEFORE.as_pointer(), _WORD, _WORD]
        fnty = ir.FunctionType(_BYTE, [*(a.type for a in owned.args), *places])
        function = ir.Function(module, fnty, name)
        function.linkage = "internal"
        for attribute in ("noinline", "nounwind"):
            function.attributes.add(attribute)
        _write(context, function, owned)
    return module.globals[name]


def _write(context: Any, function: Any, owned: Any) -> None:
    b = ir.IRBuilder(function.append_basic_block("entry"))
    *given, room, top, owner, before, end, most = function.args
    _, total, *extents = given
    fits: Any = cgutils.is_not_null(b, room)
    for n in extents:  # as long as it fits, no product overflows
        total = b.mul(total, n)
        for x in (n, total):
            fits = b.and_(fits, b.icmp_unsigned("<=", x, most))
    b.store(ir.Constant(_BYTE, None), owner)
    with b.if_then(fits, likely=True):
        taken, wanted = b.load(top), cgutils.alloca_once_value(b, total)
        again = cgutils.is_not_null(b, before)
        with b.if_then(again):
            size = b.load(cgutils.gep_inbounds(b, before, 0, 1))
            data = b.load(cgutils.gep_inbounds(b, before, 0, 0))
            with b.if_then(b.and_(cgutils.is_not_null(b, data),
                                  b.icmp_unsigned("<=", total, size))):  # fmt: skip
                b.ret(data)
            more = b.shl(size, _WORD(1))  # an array that grows from one iteration to the next
            b.store(b.select(b.icmp_unsigned("<", total, more), more, total), wanted)
        size = b.load(wanted)
        with b.if_then(b.icmp_signed("<=", b.add(taken, size), end), likely=True):
            data = b.gep(room, [taken])
            up = b.add(size, _WORD(_LINE - 1))
            b.store(b.add(taken, b.and_(up, _WORD(-_LINE))), top)
            with b.if_then(again):
                b.store(data, cgutils.gep_inbounds(b, before, 0, 0))
                b.store(size, cgutils.gep_inbounds(b, before, 0, 1))
            b.ret(data)
    meminfo = b.call(owned, given)
    with b.if_then(cgutils.is_null(b, meminfo), likely=False):
        b.ret(meminfo)
    b.store(meminfo, owner)
    b.ret(context.nrt.meminfo_data(b, meminfo))
