"""What does a function close over, and how is it made again with other values inside?

The derivative with respect to a function is that with respect to what it closes over: a *record*
of sensitivities by the names of its closed-over variables (Pearlmutter & Siskind, *Reverse-mode AD
in a functional framework*, ACM TOPLAS 30 (2008)).  `opened` makes functions in a value nodes of
its structure, whose children are those variables; `unflatten` then gives functions of the same
code with the new values.  Where two paths of a program choose between functions of one code, that
is a choice between what they close over.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any

from jitad.errors import JitadError
from jitad.structures import Structure, flatten, register_structure, unflatten

Read = Callable[[Any, str], Any]


def names(f: Any) -> tuple[str, ...]:
    """The variables that a function closes over (but for itself); none of a library's function."""
    match f:
        case FunctionType():
            cells = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
            return tuple(n for n, c in cells if not n.startswith("_j") and _is_filled(c, f))
        case functools.partial():
            return ("func", "args", "keywords")
    return getattr(type(f), "closes_over", ())


def _is_filled(c: CellType, f: FunctionType) -> bool:
    """Does a cell hold something else than the function itself?"""
    try:
        return c.cell_contents is not f
    except ValueError:
        return False


def cell(f: FunctionType, name: str) -> CellType:
    return f.__closure__[f.__code__.co_freevars.index(name)]  # type: ignore[index]


def content(f: Any, name: str) -> Any:
    """What one of these variables holds now."""
    return cell(f, name).cell_contents if isinstance(f, FunctionType) else getattr(f, name)


def kind(f: Any) -> Any:
    """The same object for functions that differ in nothing but what they close over."""
    return f.__code__ if isinstance(f, FunctionType) else type(f)


def again(f: Any, values: dict[str, Any]) -> Any:
    """A function of the same code that closes over these values; a recursive one calls itself.

    A value that is a cell is shared with whoever else has it.
    """
    match f:
        case FunctionType():
            own = CellType()
            cells = []
            for name, c in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
                itself = not name.startswith("_j") and name not in values and _is_in(c, f)
                new = values.get(name, own if itself else c)
                cells.append(new if isinstance(new, CellType) else CellType(new))
            out = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, tuple(cells))
            out.__kwdefaults__, out.__qualname__ = f.__kwdefaults__, f.__qualname__
            out.__module__, out.__doc__ = f.__module__, f.__doc__
            own.cell_contents = out
            return out
        case functools.partial():
            parts = {n: values.get(n, getattr(f, n)) for n in names(f)}
            return functools.partial(parts["func"], *parts["args"], **parts["keywords"])
    out = copy.copy(f)
    for name, value in values.items():
        setattr(out, name, value)
    return out


def _is_in(c: CellType, f: FunctionType) -> bool:
    try:
        return c.cell_contents is f
    except ValueError:
        return False


# -- as nodes of a structure ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Closure:
    """A function with those of its variables that hold numbers."""

    function: Any
    values: dict[str, Any]


register_structure(
    Closure,
    lambda c: (tuple(c.values.values()), (c.function, tuple(c.values))),
    lambda parts, of: again(of[0], dict(zip(of[1], parts, strict=True))),  # type: ignore[index]
)


def opened(
    value: Any, is_real: Callable[[Any], bool], read: Read = content, around: tuple[Any, ...] = ()
) -> Any:
    """The value with its functions as `Closure` nodes; `read` looks at their variables."""
    flat, structure = flatten(value)
    if not any(map(is_function, flat)):
        return value

    def node(f: Any) -> Any:
        if not is_function(f):
            return f
        if any(f is g for g in around):
            raise JitadError(
                "a derivative with respect to functions that call each other", None,
                "Pass the numbers that they close over as arguments.",
            )  # fmt: skip
        values = {name: opened(read(f, name), is_real, read, (*around, f)) for name in names(f)}
        return Closure(f, {n: v for n, v in values.items() if any(map(is_real, flatten(v)[0]))})

    return unflatten(structure, map(node, flat))


def is_function(leaf: Any) -> bool:
    """True of functions whose variables can be looked at, and of those that have none."""
    if not callable(leaf) or isinstance(leaf, type):
        return False
    return isinstance(leaf, (FunctionType, functools.partial, *_BUILTIN)) or bool(names(leaf))


_BUILTIN = (type(len), type(str.join))


def record(structure: Structure) -> Structure:
    """The structure of sensitivities: a dict by name in the place of a function."""
    children = tuple(map(record, structure.children))
    if structure.kind is Closure:
        extra: Any = structure.extra
        return Structure(dict, extra[1], children)
    return Structure(structure.kind, structure.keys, children, structure.extra)


def has_function(structure: Structure) -> bool:
    """True where a function, with numbers in it or not, is among the parts."""
    return structure.kind is Closure or any(map(has_function, structure.children))
