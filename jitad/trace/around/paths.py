"""Where is a thing found again at the next call, and is it as it was?

A `Path` leads from a function, or from its arguments, to a thing; an `Input` is a number or an
array at the end of one, a `Guard` says what else is relied on there.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from types import CellType, FunctionType
from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.immutable import immutable
from jitad.structured import is_like
from jitad.structures import identity, is_one, registered
from jitad.tape.ir import Pos, Var
from jitad.tape.types import Array, Scalar, type_of_constant
from jitad.trace.around.objects import is_as_it_was
from jitad.trace.around.rows import column, kind_of
from jitad.values.memory import is_as_needed, share_memory

PLAIN_ARRAYS = (np.ndarray, np.memmap)  # other kinds of array have arithmetic of their own


@immutable(slots=True)
class Path:
    """`steps` from a root: ("attr", name), ("item", key), ("cell", name), ("global", name),
    ("call", name of a method without arguments)."""

    root: Any  # "function", ("arg", position), ("kwarg", name), or Root(object)
    steps: tuple[tuple[str, Any], ...] = ()

    def then(self, kind: str, key: Any) -> Path:
        return Path(self.root, (*self.steps, (kind, key)))

    def get(self, function: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What is there now."""
        match self.root:
            case "function":
                at = function
            case ("arg", k):
                at = args[k]
            case ("kwarg", name):
                at = (kwargs or {})[name]
            case Root(thing):
                at = thing
        for kind, key in self.steps:
            at = _step(at, kind, key)
        return at

    def __str__(self) -> str:
        text = ""
        for kind, key in self.steps:  # as the code says it that reads it
            match kind:
                case "attr":
                    text += f".{key}"
                case "item" | "part":
                    text += f"[{key!r}]"
                case "global" | "cell":
                    text = str(key)
                case _:
                    text += f" {kind} {key}"
        match self.root:
            case ("arg", k):
                return f"argument {k}{text}"
            case ("kwarg", name):
                return f"argument {name}{text}"
        return text.strip().lstrip(".") or "the function"


@immutable(slots=True, eq=False)
class Root:
    """An object that no path leads to, itself."""

    thing: Any


def _step(at: Any, kind: str, key: Any) -> Any:
    match kind:
        case "attr":
            return getattr(at, key)
        case "item":
            return at[key]
        case "cell":
            return cell_of(at, key).cell_contents
        case "global":
            return at.__globals__[key]
        case "default":
            return at.__defaults__[key]
        case "kwdefault":
            return at.__kwdefaults__[key]
        case "part":
            return part_of(at, key)
        case "call":
            return getattr(at, key)()
        case "column":
            return column(at, key)
    raise AssertionError(kind)


def as_number(value: Any) -> Any:
    """An array without axes as the number that it is; a container stays, so that it is written."""
    return value[()] if isinstance(value, np.ndarray) and not value.ndim else value


def part_of(value: Any, k: int) -> Any:
    """A part of an instance of a registered class."""
    return registered(type(value)).parts(value)[0][k]  # type: ignore[union-attr]


def cell_of(f: FunctionType, name: str) -> CellType:
    return f.__closure__[f.__code__.co_freevars.index(name)]  # type: ignore[index]


@immutable(eq=False)
class Input:
    """A parameter of the tape, from an argument or captured: `get` gives its present value."""

    path: Path
    type: Scalar | Array
    var: Var

    def get(self, function: Any, args: Any = (), kwargs: Any = None) -> Any:
        now = self.path.get(function, args, kwargs)
        return as_number(now) if isinstance(self.type, Scalar) else now


@immutable(eq=False)
class Guard:
    """Something static that the trace relies on."""

    path: Path
    # "value", "code", "is", "unchanged", "type", "dtype", "same", "apart", "keys", "missing",
    # "rows", "fields", "content", "order", "disjoint", "alone", "distinct", "gives"
    kind: str
    expected: Any  # "same", "apart": another thing's path; "disjoint" to "distinct": others' paths

    def holds(self, function: Any, args: Any = (), kwargs: Any = None) -> bool:
        others = {"same": (self.expected,), "apart": (self.expected,),
                  **dict.fromkeys(("disjoint", "alone", "distinct"), self.expected)}  # fmt: skip
        try:
            now = self.path.get(function, args, kwargs)
            found = [p.get(function, args, kwargs) for p in others.get(self.kind, ())]
        except (AttributeError, LookupError, ValueError, TypeError):
            return self.kind == "missing"
        match self.kind:
            case "value":
                now = as_number(now)
                same = type(now) is type(self.expected) and bool(now == self.expected)
                return same and (now != 0 or str(now) == str(self.expected))  # zeros have signs
            case "code":
                return getattr(now, "__code__", None) is self.expected
            case "is":
                return now is self.expected
            case "gives":  # a function that keeps its results
                args, kwargs, out = self.expected
                return is_as_it_was(now(*args, **kwargs), out)
            case "unchanged":
                return is_as_it_was(now, self.expected)
            case "type":
                return type(now) is self.expected
            case "dtype":
                return of_type(now, self.expected)
            case "same" | "apart":
                return is_one(now, found[0]) == (self.kind == "same")
            case "distinct":
                return len({identity(x) for x in (now, *found)}) == len(found) + 1
            case "disjoint":
                return not any(share_memory(now, a) for a in found)
            case "alone":
                return not any(is_one(now, thing) for thing in found)
            case "keys":
                return type(now) is self.expected[0] and shape_of(now) == self.expected
            case "rows":
                return kind_of(now) == self.expected
            case "fields":
                return is_like(now, self.expected)
            case "order":
                return is_as_needed(now, self.expected)
            case "content":
                there = self.expected
                of_kind = of_type(now, Array(there.dtype.str[1:], there.ndim))
                return of_kind and np.array_equal(now, there)
        return False


def of_type(value: Any, expected: Scalar | Array) -> bool:
    """True of a number or an array whose type is the one that the tape was made for."""
    if isinstance(expected, Array):
        if type(value) not in PLAIN_ARRAYS or value.ndim != expected.ndim:
            return False
        return bool(value.dtype == np.dtype(expected.dtype))
    if isinstance(value, Enum) or (type(value) is int and not -(2**63) <= value < 2**63):
        return False
    try:
        return type_of_constant(as_number(value)) == expected
    except TypeError:
        return False


def shape_of(container: Any) -> tuple[Any, ...]:
    kind = type(container)
    return kind, tuple(container) if by_keys(kind) else len(container)


def by_keys(kind: type) -> bool:
    """Is it a class of dicts, of Python's or of Numba's?"""
    return not issubclass(kind, (list, tuple)) and hasattr(kind, "keys")


def overlap(
    guards: Sequence[Guard], function: Any, args: Any, kwargs: Any
) -> JitadError | None:
    """What is the matter where what derivatives write is something else of this call, too, or
    shares memory with it."""
    for g in guards:
        if g.kind in ("disjoint", "alone"):
            thing = g.path.get(function, args, kwargs)
            common = share_memory if g.kind == "disjoint" else is_one
            for other in g.expected:
                if common(thing, other.get(function, args, kwargs)):
                    return shared(g.path, other, None)
    return None


def twice(guards: Sequence[Guard], function: Any, args: Any, kwargs: Any) -> JitadError | None:
    """What is the matter where two arguments are one, and the function asks whether they are."""
    for g in guards:
        if g.kind != "apart" or not isinstance(g.path.root, tuple):
            continue
        if isinstance(g.expected.root, tuple):
            one, other = (p.get(function, args, kwargs) for p in (g.path, g.expected))
            if is_one(one, other):
                return JitadError(
                    f"{g.path} and {g.expected} are one and the same, and `is` asks for that, or a "
                    "set, or a dict", None, "Pass a copy of one of them.",
                )  # fmt: skip
    return None


def shared(path: Path, other: Path, pos: Pos | None) -> JitadError:
    return JitadError(
        f"{path} is written in a derivative, and shares memory with {other}", pos,
        "Copy one of them, or make the view of the other inside the function.",
    )  # fmt: skip
