"""What does a function close over, and how is it made again with other values inside?

Where two paths of a program choose between functions of one code, that is a choice between what
they close over; the derivative by a function is that by what it closes over.
"""

from __future__ import annotations

import copy
import functools
from types import CellType, FunctionType
from typing import Any

from jitad.errors import JitadTypeError
from jitad.immutable import immutable
from jitad.where import caller


def names(f: Any) -> tuple[str, ...]:
    """The variables that a function closes over (but for itself); none of a library's function."""
    match f:
        case FunctionType():
            cells = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
            return tuple(n for n, c in cells if not n.startswith("_j") and _is_filled(c, f))
        case functools.partial():
            return ("func", "args", "keywords")[: 3 if f.keywords else 2]
    return getattr(type(f), "closes_over", ())


def _is_filled(c: CellType, f: FunctionType) -> bool:
    """Does a cell hold something else than the function itself?"""
    try:
        return c.cell_contents is not f
    except ValueError:
        return False


def cell(f: FunctionType, name: Any) -> CellType | None:
    """The cell of one of these variables; None of a default, which is the function's own."""
    if isinstance(name, Default):
        return None
    return f.__closure__[f.__code__.co_freevars.index(name)]  # type: ignore[index]


@immutable
class Default:
    """Which default value of a parameter: its number, or its name if it is keyword-only."""

    key: Any

    def of(self, f: FunctionType) -> Any:
        given: Any = f.__defaults__ if isinstance(self.key, int) else f.__kwdefaults__
        return given[self.key]


def defaults(f: Any) -> tuple[Default, ...]:
    """The default values that may be computed ones; not ints, strings and the like."""
    if not isinstance(f, FunctionType):
        return ()
    keys = (*range(len(f.__defaults__ or ())), *(f.__kwdefaults__ or ()))
    return tuple(d for d in map(Default, keys) if not isinstance(d.of(f), _STATIC))


_STATIC = (int, str, bytes, type, type(None), FunctionType)


def content(f: Any, name: Any) -> Any:
    """What one of these variables, or a default, holds now."""
    if isinstance(name, Default):
        return name.of(f)
    return cell(f, name).cell_contents if isinstance(f, FunctionType) else getattr(f, name)  # type: ignore[union-attr]


def kind(f: Any) -> Any:
    """Equal for functions that differ in nothing but what they close over."""
    if isinstance(f, FunctionType):
        return f.__code__
    return type(f), getattr(f, "manner", None)


def again(f: Any, values: dict[Any, Any]) -> Any:
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
            given = [values.get(Default(k), v) for k, v in enumerate(f.__defaults__ or ())]
            by_name = {k: values.get(Default(k), v) for k, v in (f.__kwdefaults__ or {}).items()}
            out = FunctionType(
                f.__code__, f.__globals__, f.__name__, tuple(given) or None, tuple(cells)
            )
            out.__kwdefaults__, out.__qualname__ = by_name or None, f.__qualname__
            out.__module__, out.__doc__ = f.__module__, f.__doc__
            own.cell_contents = out
            return out
        case functools.partial():
            parts = {n: values.get(n, getattr(f, n)) for n in names(f)}
            return functools.partial(parts["func"], *parts["args"], **parts.get("keywords", {}))
    out = copy.copy(f)
    if out is f:  # what a `__copy__` of its class says; it is not ours to be changed
        raise JitadTypeError(
            f"there can't be another {type(f).__name__}: copying it gives itself", caller(),
            "Pass the numbers in it as arguments, or see register_structure.",
        )  # fmt: skip
    for name, value in values.items():
        object.__setattr__(out, name, value)
    return out


def _is_in(c: CellType, f: FunctionType) -> bool:
    try:
        return c.cell_contents is f
    except ValueError:
        return False


def is_function(leaf: Any) -> bool:
    """True of functions whose variables can be looked at, and of those that have none."""
    if not callable(leaf) or isinstance(leaf, type):
        return False
    return isinstance(leaf, (FunctionType, functools.partial, *BUILTIN)) or bool(names(leaf))


BUILTIN = (type(len), type(str.join))
