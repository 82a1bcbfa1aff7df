"""Which variable, global or attribute is about to be written, and how would that be undone?

A note in the journal, or of the eager engine (`around/outside.py`), before the write itself.
"""

from __future__ import annotations

import inspect
import sys
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any

from jitad.errors import JitadError
from jitad.trace.around import modules, outside
from jitad.trace.joins.unset import OrDefault
from jitad.trace.ongoing import current
from jitad.values.array import ArrayHandle
from jitad.values.journal import MISSING, check_free, record
from jitad.values.kind import fail
from jitad.values.number import Number


def note_global(name: str) -> None:
    module = sys._getframe(1).f_globals

    def assign(value: Any) -> None:
        if value is MISSING:
            module.pop(name, None)
        else:
            module[name] = value

    def read() -> Any:
        return module.get(name, MISSING)

    _note_place(module, ("global", name), read, assign, ("global", name))


def own(variables: FunctionType) -> None:
    """A call begins, whose variables these are: they stay in these cells, whoever reads them."""
    trace = current()
    if trace is not None:
        for cell in variables.__closure__ or ():
            trace.journal.made(cell)


def note_cell(variable: FunctionType) -> None:
    """A variable in a cell is about to be written."""
    (cell,), (name,) = variable.__closure__ or (), variable.__code__.co_freevars

    def read() -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            return MISSING

    trace = current()
    if trace is not None and id(cell) in trace.parted:
        raise JitadError(
            "a variable is written after a branch or loop chose between functions that read it",
            trace.builder.pos, "Pass the value to the function as an argument.",
        )  # fmt: skip

    def assign(value: Any) -> None:
        if value is MISSING:
            del cell.cell_contents
        else:
            cell.cell_contents = value

    _note_place(cell, ("cell", name), read, assign, None)


def _note_place(
    target: Any, slot: Any, read: Any, assign: Any, step: Any, default: Any = MISSING
) -> None:
    """A place is about to be written; if it is outside, its old value becomes the trace's.

    Where paths meet, a place that has no value of its own has the default.
    """
    trace = current()
    if trace is None:
        outside.note(target, slot, read, assign)
        return
    path = trace.captures.path_of(target)
    if path is not None and not trace.journal.touched(target, slot):
        trace.captures.replace(path if step is None else path.then(*step), read, assign)

    record(target, slot, read(), read if default is MISSING else OrDefault(read, default), assign)


def note_attr(owner: Any, name: str) -> None:
    if isinstance(owner, (Number, ArrayHandle)):
        return
    if name in ("__class__", "__code__") and current() is not None:
        raise fail(JitadError, f"{name} is written here, by which a trace knows what a thing is",
                   "Make another object, or choose between two functions.")  # fmt: skip
    check_free(owner)
    if isinstance(owner, (type, ModuleType)) and (trace := current()) is not None:
        modules.is_librarys(trace, owner)  # found again as itself
    # not in a slot, nor in the object itself, as its `__dict__` is
    inside = not hasattr(inspect.getattr_static(type(owner), name, None), "__set__")

    def read() -> Any:
        found = getattr(owner, "__dict__", None) if inside else None
        return getattr(owner, name, MISSING) if found is None else found.get(name, MISSING)

    def assign(value: Any) -> None:
        given = () if value is MISSING else (value,)
        with suppress(AttributeError):  # what Python refused to write, it need not take back
            (object.__setattr__ if given else object.__delattr__)(owner, name, *given)

    if isinstance(owner, (type, ModuleType)):
        def assign(value: Any) -> None:
            if value is not MISSING:
                setattr(owner, name, value)
            elif name in vars(owner):  # else the function itself has deleted it
                delattr(owner, name)

    shared = getattr(type(owner), name, MISSING)  # `total = 0.0` in the class
    default = shared if isinstance(shared, (bool, int, float, str, type(None))) else MISSING
    _note_place(owner, ("attr", name), read, assign, ("attr", name), default)
