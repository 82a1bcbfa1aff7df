"""Which calls come to their kernel without any Python, and what do they rely on?

Those whose arguments are the kernel's, in its order, before what it takes from around the function,
and whose results are what the user gets.  What the entry looks up, functions and modules mostly,
is to be the very object that it was when the shortcut was made; where it isn't, the entry decides.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from jitad.calls.entries import (
    Source,
    direct_results,
    is_constant,
    is_fixed,
    parameters,
)
from jitad.calls.results import result_expression
from jitad.emit import native
from jitad.structures import Structure
from jitad.tape.types import Array, Scalar, Type
from jitad.trace.around.paths import Guard, Path, Root, cell_of
from jitad.trace.traced import Traced

_VALUES = (int, float, str, bytes, bool, type(None))  # the same object is the same value


def shortcut(
    traced: Traced, kernel: Any, function: Any, structure: Structure, leaves: list[Any],
    general: Callable[..., Any], into: str | None,
) -> Any:  # fmt: skip
    """A builtin function for calls like this one, or None; all others it hands to `general`.

    `into`: what `out=` is for, "all" of the result or the "gradient" of two; None: it is no word of
    ours.
    """
    known = _known(traced, function, structure, leaves, into)
    if known is None:
        return None
    params = traced.tape.body.params
    return native.shortcut(kernel, params, known.relied, general, traced.misses, known.form,
                           known.given)  # fmt: skip


def bound(
    traced: Traced, kernel: Any, function: Any, structure: Structure, leaves: list[Any],
    general: Callable[[], Any], into: str | None, out: Any,
) -> Any:  # fmt: skip
    """A builtin function for this very call, or None; it takes nothing.

    `into`: what `out` is for; None: nothing is given.
    """
    known = _known(traced, function, structure, leaves, into)
    targets = [] if into is None or known is None else _taken_apart(known.given, out)
    if known is None or targets is None or (into is not None and not targets):
        return None
    whole = (*leaves, *map(_now, known.relied.reads), *targets)
    return native.shortcut(kernel, traced.tape.body.params, known.relied, general, traced.misses,
                           known.form, known.given, whole)  # fmt: skip


def _taken_apart(form: native.Form, out: Any) -> list[Any] | None:
    """The arrays of `out=` in their order; None if it isn't of this form."""
    if form is False:
        return []
    if form is None:
        return [out]
    if form is True or type(out) is not tuple or len(out) != len(form):
        return None
    parts = [_taken_apart(f, x) for f, x in zip(form, out, strict=True)]
    return None if None in parts else [a for part in parts for a in part or ()]


def _now(read: tuple[Any, Any]) -> Any:
    """What the kernel takes beside the arguments."""
    owner, key = read
    if key is native.IN_CELL:
        return owner.cell_contents
    return owner if key is native.ITSELF else owner[key]


class _Known(NamedTuple):
    """What a call relies on, and how results are put together and taken apart."""

    relied: native.Relied
    form: native.Form
    given: native.Form


def _known(
    traced: Traced, function: Any, structure: Structure, leaves: list[Any], into: str | None
) -> _Known | None:
    """None if it takes Python to find out."""
    positional, named = structure.children
    plain = all(s.kind is None for s in positional.children) and not named.keys
    arguments = [Path(("arg", k)) for k in range(len(leaves))]
    captured = [c.path for c in traced.captures]
    if not plain or traced.commits or parameters(traced) != [*arguments, *captured]:
        return None
    arrays = [isinstance(t, Array) for t in direct_results(traced)]
    form = form_of(result_expression(traced.output.form, Source(function)), len(arrays))
    if form is False:
        return None
    given: native.Form = False
    if into is not None:
        given = marked(form, iter(arrays))
        if into == "gradient":
            given = given[1] if isinstance(given, tuple) and given[0] is False else False
    found = _Found(function)
    try:
        for guard in traced.guards:
            if guard.kind == "code" or not is_fixed(guard.path, function):
                found.rely(guard)
        for path in captured:
            found.read(path)
    except (_Dynamic, AttributeError, LookupError, ValueError, TypeError):
        return None
    classes = [*map(type, leaves), *(_class_of(c.type) for c in traced.captures)]
    return _Known(found.relied(classes), form, given)


def form_of(whole: str | None, count: int) -> native.Form:
    """How a result is put together of so many, if that is tuples of each in turn; else False."""
    if whole is None or _RESULT.sub("", whole).strip("(), "):
        return False
    if [int(k) for k in _RESULT.findall(whole)] != list(range(count)):
        return False
    form: native.Form = ast.literal_eval(_RESULT.sub("None", whole))
    return form


_RESULT = re.compile(r"r\[(\d+)\]")


def marked(form: native.Form, arrays: Iterator[bool]) -> native.Form:
    """The form with False for results that are no arrays."""
    if isinstance(form, tuple):
        return tuple([marked(part, arrays) for part in form])
    return None if next(arrays) else False


def _class_of(t: Type) -> type:
    assert isinstance(t, (Array, Scalar))
    if isinstance(t, Scalar) and t.py:
        return {"f": float, "i": int, "b": bool}[t.dtype[0]]
    return np.dtype(t.dtype).type


class _Found:
    """What was found on the way to what a trace relies on."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.functions: dict[int, Any] = {}
        self.items: dict[tuple[int, str], Any] = {}
        self.cells: dict[int, Any] = {}
        self.reads: list[tuple[Any, Any]] = []

    def relied(self, classes: list[type]) -> native.Relied:
        functions, items, cells = self.functions, self.items, self.cells
        return native.Relied(classes, list(functions.values()), list(items.values()),
                             list(cells.values()), self.reads)  # fmt: skip

    def rely(self, guard: Guard) -> None:
        """The guard holds as long as what is found now is found again."""
        if guard.kind == "dtype":
            return  # of what is read, whose class is looked at
        if guard.kind == "missing" and guard.path.steps[-1][0] == "global":
            *around, (_, key) = guard.path.steps
            space = self.follow(Path(guard.path.root, tuple(around))).__globals__
            self.items[id(space), key] = (space, key, native.NOT_THERE)
            return
        now = self.follow(guard.path)
        if guard.kind == "code" and isinstance(now, FunctionType):
            self.keep(now)
        elif guard.kind not in ("is", "unchanged") and not (
            guard.kind == "value" and type(now) in _VALUES
        ):
            raise _Dynamic
        if not guard.holds(self.function):
            raise _Dynamic

    def read(self, path: Path) -> None:
        """What is there is an argument of the kernel: it may be another one each time."""
        *steps, (kind, key) = path.steps
        owner = self.follow(Path(path.root, tuple(steps)))
        match kind:
            case "cell":
                self.reads.append((cell_of(owner, key), native.IN_CELL))
            case "global":
                self.reads.append((owner.__globals__, key))
            case "attr" if type(owner) is ModuleType:
                self.reads.append((vars(owner), key))
            case "default":
                self.keep(owner)
                self.reads.append((owner.__defaults__[key], native.ITSELF))
            case _:
                raise _Dynamic

    def follow(self, path: Path) -> Any:
        match path.root:
            case "function":
                at = self.function
            case Root(thing):
                at = thing
            case _:
                raise _Dynamic
        for kind, key in path.steps:
            if is_constant(at, kind, key):
                at = getattr(at, key)
            elif kind == "cell" and isinstance(at, FunctionType):
                cell = cell_of(at, key)
                at = cell.cell_contents
                self.cells[id(cell)] = (cell, at)
            elif kind == "global" and isinstance(at, FunctionType):
                at = self.item(at.__globals__, key)
            elif kind == "attr" and type(at) is ModuleType:
                at = self.item(vars(at), key)
            elif kind == "default" and isinstance(at, FunctionType):
                self.keep(at)
                at = at.__defaults__[key]  # type: ignore[index]
            else:
                raise _Dynamic
        return at

    def item(self, space: dict[str, Any], key: str) -> Any:
        self.items[id(space), key] = (space, key, space[key])
        return space[key]

    def keep(self, f: FunctionType) -> None:
        self.functions[id(f)] = (f, f.__code__, f.__defaults__)


class _Dynamic(Exception):
    """It takes more than to look whether an object is the same."""
