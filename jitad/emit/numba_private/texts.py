"""How is LLVM code written as text?  As llvmlite does it, in half the time.

LLVM reads what a function consists of as text.  To llvmlite every kind of instruction tells it in
pieces, which are put together by rules for all of them; here the kinds that code is full of are
written at once.  The others, and those with something more to tell, write themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir


def _plain(i: Any) -> str:
    first, *others = i.operands
    flags = f" {' '.join(i.flags)}" if i.flags else ""
    kind = "double" if type(i.type) is ir.DoubleType else i.type
    if len(others) == 1:
        return f"  {_name(i)} = {i.opname}{flags} {kind} {_name(first)}, {_name(others[0])}\n"
    rest = "".join([f", {_name(v)}" for v in others])
    return f"  {_name(i)} = {i.opname}{flags} {kind} {_name(first)}{rest}\n"


def _compared(i: Any) -> str:
    x, y = i.operands
    flags = "".join([f" {flag}" for flag in i.flags])
    return (f"  {_name(i)} = {i.opname}{flags} {i.op} {x.type} {_name(x)}, "
            f"{_name(y)}\n")  # fmt: skip


def _load(i: Any) -> str:
    (place,) = i.operands
    align = "" if i.align is None else f", align {i.align}"
    return f"  {_name(i)} = load {i.type}, {_typed(place)}{align}\n"


def _store(i: Any) -> str:
    value, place = i.operands
    align = "" if i.align is None else f", align {i.align}"
    return f"  store {_typed(value)}, {_typed(place)}{align}\n"


def _address(i: Any) -> str:
    parts = "".join([f", {_typed(v)}" for v in (i.pointer, *i.indices)])
    inbounds = "inbounds " if i.inbounds else ""
    return f"  {_name(i)} = getelementptr {inbounds}{i.source_etype}{parts}\n"


def _branch(i: Any) -> str:
    parts = ", ".join([_typed(v) for v in i.operands])
    more = i._stringify_metadata(leading_comma=True) if i.metadata else ""
    return f"  {i.opname} {parts}{more}\n"


def _typed(v: Any) -> str:
    return f"{v.type} {_name(v)}"


def _name(v: Any) -> str:
    """How others refer to it.  Most are instructions, whose names are plain."""
    if type(v) is not ir.Instruction and not isinstance(v, ir.Instruction):
        return str(v.get_reference())
    name = v._name
    return str(v.get_reference()) if '"' in name or "\\" in name else f'%"{name}"'


_WRITTEN: dict[type, Callable[[Any], str]] = {
    ir.Instruction: _plain, ir.FCMPInstr: _compared, ir.ICMPInstr: _compared, ir.LoadInstr: _load,
    ir.StoreInstr: _store, ir.GEPInstr: _address,
}  # fmt: skip
_BRANCHES = (ir.Branch, ir.ConditionalBranch)


def _block(self: Any, out: list[str]) -> None:
    out.append(f"{self._format_name()}:\n")
    for i in self.instructions:
        kind = type(i)
        write = _WRITTEN.get(kind)
        if write is not None and not i.metadata:
            out.append(write(i))
        elif kind in _BRANCHES:
            out.append(_branch(i))
        else:
            out.append(f"  {i}\n")


@contextmanager
def written_at_once() -> Iterator[None]:
    """Write blocks in this way.  Runs under Numba's compiler lock."""
    before = ir.Block.descr
    ir.Block.descr = _block
    try:
        yield
    finally:
        ir.Block.descr = before
