"""What of the user's objects does a function touch while it is differentiated eagerly?

It runs with tagged numbers, and what it writes to things outside (a list, an attribute, a global)
may hold them.  When the outermost derivative returns, every place that was written gets the plain
value.  Arrays from outside become handles, which copy before they write: a derivative changes no
array of its caller's (see `values/borrowed.py`).
"""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType, TracebackType
from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadRecursionError
from jitad.plain.fields import Fields
from jitad.room import Room
from jitad.runtime import aliases, leaves
from jitad.runtime.tags import alive
from jitad.structured import array_of, field_names, has_fields, layout_of
from jitad.structures import as_pythons, identity
from jitad.trace.around.containers import elements, refill
from jitad.values import borrowed
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex, plain
from jitad.values.journal import MISSING, Write
from jitad.values.memory import share_memory
from jitad.values.number import Number
from jitad.values.numpy.structured import Element, Structured, of_parts
from jitad.values.registry import lend
from jitad.values.stand_ins import adopt
from jitad.where import caller, innermost


class _Thread(threading.local):
    """The places written, and the arrays met, by the derivative that this thread computes."""

    depth = 0
    copying = 0  # how many of those around change no array
    lasting = 0  # how many of them give something that goes on to read arrays

    def __init__(self) -> None:
        self.written: dict[Any, tuple[object, Callable[[], Any], Callable[[Any], None]]] = {}
        self.containers: dict[int, Any] = {}
        self.arrays: dict[int, tuple[np.ndarray[Any, Any], ArrayHandle]] = {}
        self.structured: dict[int, tuple[Any, Any]] = {}  # arrays with fields, as a derivative's
        self.numbas: dict[int, tuple[Any, Any, Any]] = {}  # what Numba holds, as Python's; before
        self.changed: set[int] = set()  # handles that were written
        self.noted: list[dict[Any, Write]] = []  # what was written since, for those who ask


_here = _Thread()


class Outside:
    """Around every eager application of a derivative operator.

    Without `copies`, around a function that runs in place of a kernel: it writes to arrays.
    `lasts`: there is a pullback in the end, for which arrays must stay as they are now.
    """

    def __init__(self, copies: bool = True, lasts: bool = False) -> None:
        self.copies, self.lasts, self.room = copies, lasts, Room()

    def __enter__(self) -> None:
        self.room.__enter__()
        _here.depth += 1
        _here.copying += self.copies
        _here.lasting += self.lasts
        if self.copies:
            borrowed.begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        where: TracebackType | None,
    ) -> None:  # fmt: skip
        self.room.__exit__(kind, error, where)
        _here.depth -= 1
        _here.copying -= self.copies
        _here.lasting -= self.lasts
        given: list[Any] = []
        met = list(_here.arrays.values())
        if self.copies:
            ended, given = borrowed.end()
            _here.changed |= ended & {id(h) for _, h in met}
        changed = _here.changed
        if not _here.copying:
            fields = list(_here.structured.values())
            _here.arrays, _here.changed, _here.structured = {}, set(), {}
            _make_plain(met, fields)
        if not _here.copying and changed and error is None:
            _check_disjoint(met, changed)
        if error is None:
            aliases.check(given, met, changed)
        if not _here.depth and isinstance(error, RecursionError):
            if not isinstance(error, JitadError):
                raise JitadRecursionError(
                    "more calls are inside each other than there is room for", innermost(where),
                    "If it is a recursion that ends, write it as a loop.",
                ) from None  # fmt: skip


def _make_plain(
    met: list[tuple[np.ndarray[Any, Any], ArrayHandle]], structured: list[tuple[Any, Any]]
) -> None:
    """The places that were written hold plain values from now on, and arrays from outside these."""
    written, containers, numbas = _here.written, _here.containers, _here.numbas
    _here.written, _here.containers, _here.numbas = {}, {}, {}
    plainly = _Plain([*met, *structured])
    for _, read, assign in written.values():
        value = read()
        now = value if value is MISSING else plainly(value)
        if now is not value:
            assign(now)
    for container in containers.values():
        plainly(container)
    for thing, python, before in numbas.values():
        if isinstance(python, Fields):
            for name, value in vars(python).items():
                if value is not vars(before)[name]:
                    read, assign = partial(getattr, thing, name), partial(setattr, thing, name)
                    _remember(thing, ("attr", name), read, assign)
                    assign(plainly(value))
        elif [*map(id, elements(python))] != [*map(id, elements(before))]:
            read, assign = partial(as_pythons, thing), partial(refill, thing)
            _remember(thing, "items", read, assign)
            refill(thing, plainly(python))


def _check_disjoint(
    arrays: list[tuple[np.ndarray[Any, Any], ArrayHandle]], changed: set[int]
) -> None:
    """What was written shares no memory with another array that was met, which has not seen it."""
    for array, handle in arrays:
        others = [a for a, h in arrays if h is not handle] if id(handle) in changed else []
        if any(share_memory(array, other) for other in others):
            raise JitadError(
                "an array that is written in a derivative shares memory with another one", caller(),
                "Copy one of them, or make the view of the other inside the function.",
            )  # fmt: skip


def differentiates() -> bool:
    """Is this thread inside of a derivative that is computed eagerly?"""
    return _here.copying > 0


def note(
    target: object, slot: Any, read: Callable[[], Any], assign: Callable[[Any], None]
) -> None:
    """A place (an attribute, a cell, a global) is about to be written."""
    _remember(target, slot, read, assign)
    if _here.depth:
        _here.written.setdefault((id(target), slot), (target, read, assign))


def note_place(
    target: object, slot: Any, read: Callable[[], Any], assign: Callable[[Any], None]
) -> None:
    """The same, of one that never holds what is differentiated."""
    _remember(target, slot, read, assign)


def note_container(container: Any) -> None:
    """A container of Python's is about to be written."""
    read, assign = partial(copy.copy, container), partial(refill, container)
    _remember(container, "items", read, assign)
    if _here.depth:
        _here.containers.setdefault(id(container), container)


def _remember(
    target: Any, slot: Any, read: Callable[[], Any], assign: Callable[[Any], None]
) -> None:
    place = identity(target), slot
    for noted in _here.noted:
        if place not in noted:
            noted[place] = Write(target, slot, read(), read, assign)


def noted_things() -> list[Any]:
    """What holds the places that were written, for this file alone."""
    return [_here.written, _here.containers, _here.numbas, _here.noted]


@contextmanager
def noting() -> Iterator[dict[Any, Write]]:
    """Gives all places that are written meanwhile, in the order of their first writes."""
    noted: dict[Any, Write] = {}
    _here.noted.append(noted)
    try:
        yield noted
    finally:
        _here.noted[:] = [n for n in _here.noted if n is not noted]


def met(value: Any) -> Any:
    """A value from outside, as the function sees it."""
    if _here.copying and has_fields(value):
        known = _here.structured.get(id(value))
        if known is None:
            kind = layout_of(value)
            parts = [met(value[n]) for n in field_names(kind.dtype)]
            known = _here.structured[id(value)] = (value, of_parts(parts, kind))
        return known[1]
    if type(value) is not np.ndarray:
        if not _here.copying:
            return value
        if (python := as_pythons(value)) is None:
            return adopt(value)
        own = (value, python, copy.copy(python))
        return _here.numbas.setdefault(identity(value), own)[1]
    if not _here.copying or value.dtype.kind not in "biuf":
        return value
    array = _here.arrays.get(id(value))
    if array is None:
        now = np.array(value) if _here.lasting else value
        array = _here.arrays[id(value)] = (value, ArrayHandle(now))
        array[1].born = 0  # it was there before all derivatives
    return array[1]


def as_numpys_own(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments, if this is a call of NumPy's or SciPy's where nothing is differentiated; else
    None.

    Then it runs as it is: it may write to an array from outside, or what it gives may be a view of
    it, to which a function writes that runs in place of a kernel.
    """
    if _here.copying:
        return None
    owner = getattr(f, "__self__", f)  # of the method of a ufunc
    owner = f if isinstance(owner, ModuleType) else owner  # which a builtin function has
    module = getattr(owner, "__module__", None) or ""
    if not isinstance(owner, np.ufunc) and module.partition(".")[0] not in ("numpy", "scipy"):
        return None
    first = kwargs.get("out") if kwargs.get("out") is not None else args[0] if args else None
    if isinstance(first, np.ndarray):  # beside it handles are only read
        args, kwargs = tuple(map(lend, args)), {k: lend(v) for k, v in kwargs.items()}
    if all(map(_numpy_knows, args)) and all(map(_numpy_knows, kwargs.values())):
        return args, kwargs
    return None


def _numpy_knows(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_numpy_knows, value))
    if type(value) is dict:
        return all(map(_numpy_knows, value.values()))
    return value is None or value is Ellipsis or isinstance(value, _PLAIN)


_PLAIN = (np.ndarray, np.generic, np.dtype, bool, int, float, complex, str, slice, range, type,
          memoryview)  # fmt: skip


def check_writable(target: Any) -> None:
    """Only handles may be written: another array is a caller's."""
    if _here.copying and isinstance(target, np.ndarray):
        raise JitadError(
            "an array made outside is written here, which a derivative doesn't do", None,
            "Copy it first: np.array(a).",
        )  # fmt: skip


class _Plain:
    """Values without tags; lists and dicts are changed in place, arrays from outside are these."""

    def __init__(self, met: list[tuple[Any, Any]]) -> None:
        self.done: dict[int, Any] = {id(handle): array for array, handle in met}
        self.kept: list[Any] = [met]  # whose ids stand there

    def __call__(self, value: Any) -> Any:
        if isinstance(value, Number):
            return leaves.leave(alive(value))
        if id(value) in self.done:
            return self.done[id(value)]
        out = value
        if isinstance(value, (list, deque, dict)):
            self.note(value, value)  # which may hold itself
        match value:
            case ArrayHandle():
                out = leaves.leave(alive(leaves.content(value)))
            case Complex():
                out = plain(self(value.re), self(value.im))
            case Structured() | Element():
                out = array_of([self(p) for p in value.parts], value.layout)
            case list():
                value[:] = [self(v) for v in value]
            case deque():
                for k, v in enumerate(value):
                    value[k] = self(v)
            case dict():
                for key, v in list(value.items()):
                    now = self(v)
                    if now is not v:
                        value[key] = now
            case tuple():
                parts = [self(v) for v in value]
                if any(p is not v for p, v in zip(parts, value, strict=True)):
                    out = tuple.__new__(type(value), parts)
            case _:
                return value
        self.note(value, out)
        return out

    def note(self, value: Any, out: Any) -> None:
        self.done[id(value)] = out
        self.kept.append(value)
