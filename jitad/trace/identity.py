"""What do `is` and `match` say of traced values?

Identity and class are what a stand-in does not share with the value that it stands for.  `c is
True` is asked of the value; a `match` that would look at the class of a number is refused.
"""

from __future__ import annotations

import ast
from typing import Any

from jitad.errors import JitadTypeError
from jitad.tape.build import Leaf
from jitad.tape.types import BOOL, INT
from jitad.values.number import Number, bind

_MODULES = ("np", "numpy", "numbers")  # whose classes are classes of numbers
_CLASSES = ("bool", "complex", "float", "int")


def Is(a: Any, b: Any) -> Any:
    """`a is b`; Python's bools are two objects, so there it is equality."""
    if (isinstance(a, Leaf) or isinstance(b, Leaf)) and _is_bool(a) and _is_bool(b):
        return bind("eq", a, b)
    return a is b


def IsNot(a: Any, b: Any) -> Any:
    same = Is(a, b)
    return bind("logical_not", same) if isinstance(same, Leaf) else not same


def _is_bool(a: Any) -> bool:
    return a.type == BOOL if isinstance(a, Leaf) else isinstance(a, bool)


def asks_for_class(cases: list[ast.match_case]) -> bool:
    """Does one of the patterns look at the class of a number, or for True or False itself?"""
    for node in (n for c in cases for n in ast.walk(c.pattern)):
        match node:
            case ast.MatchSingleton(value=bool()):
                return True
            case ast.MatchClass(cls=ast.Name(id=name)) if name in _CLASSES:
                return True
            case ast.MatchClass(cls=ast.Attribute(value=ast.Name(id=name))) if name in _MODULES:
                return True
    return False


def matched(subject: Any) -> Any:
    """The subject of a `match` with such patterns; an int is relied on to be what it is."""
    if isinstance(subject, Leaf) and subject.type == INT:
        return subject.known("the subject of this match")
    if _holds_number(subject, set()):
        raise JitadTypeError(
            "True, False and classes of numbers can't be matched with a traced number", None,
            "Use if and elif.",
        )  # fmt: skip
    return subject


def _holds_number(value: Any, seen: set[int]) -> bool:
    if isinstance(value, Number):
        return True
    if id(value) in seen:
        return False
    seen.add(id(value))
    match value:
        case tuple() | list():
            inside = list(value)
        case dict():
            inside = list(value.values())
        case _:
            inside = list(getattr(value, "__dict__", {}).values())
    return any(_holds_number(x, seen) for x in inside)
