"""What is said where two values have no common form?"""

from __future__ import annotations

from enum import Enum
from types import FunctionType
from typing import Any

import numpy as np

from jitad.closures import is_function
from jitad.errors import JitadError, UnknownDepthError
from jitad.tape.build import Leaf
from jitad.tape.types import Array, named, type_of_constant
from jitad.trace.containers.listed import SETS
from jitad.trace.joins.forms import Form, contains_itself
from jitad.trace.joins.snapshot import stretch_of
from jitad.trace.joins.state import Arr, Num, Obj, Per, Rec, Sel, Snapshot
from jitad.values.complexes.number import Complex


class Mismatch(Exception):
    """Two values have no common form; the text says what they are."""

    functions = False  # because they are functions, made in different ways
    endless = False  # because what is made anew of such a thing has no end
    remedy = "Give it the same kind of value on every path, or decide on something static."


def check_end(form: Form) -> None:
    """A thing that points back at itself can't be made anew."""
    if contains_itself(form):
        out = Mismatch("a thing that may be a part of itself")
        out.endless = True
        raise out


def mismatch(a: Snapshot, b: Snapshot, text: str) -> Mismatch:
    out = Mismatch(text)
    out.functions = _has_function(a) or _has_function(b)
    return out


def _has_function(s: Snapshot) -> bool:
    match s:
        case Obj(v):
            return callable(v) and not isinstance(v, type)
        case Rec(v, _, parts):
            of_list = isinstance(v, (list, tuple)) and any(map(_has_function, parts))
            return is_function(v) or of_list
        case Per(_, part):
            return part is not None and _has_function(part)
        case Sel(parts=parts):
            return any(map(_has_function, parts))
    return False


def scalar(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return Array(x.dtype.str[1:], x.ndim)
    return x.type if isinstance(x, Leaf) else type_of_constant(x)


def describe(s: Snapshot) -> str:
    match s:
        case Num(x):
            return named(scalar(x)) if isinstance(x, Leaf) else repr(x)
        case Arr(h, _):
            return f"an array of {np.dtype(h.type.dtype)} with {axes(h.type.ndim)}"
        case Rec(Complex() as z):
            return f"an array of {z.dtype}" if z.shape else "a complex"
        case Rec() if stretch_of(s) is not None:
            return "a list whose length depends on traced values"
        case Rec(v) if type(v) in SETS:
            return f"a {type(v).__name__}"
        case Rec(v, _, _) if not is_function(v):
            return f"a {type(v).__name__} of {len(s.keys)}"
        case Sel(parts=parts):
            return either(*parts)
        case Per(_, part, none=True):
            return f"{describe(part)} or None"  # type: ignore[arg-type]
        case Per():
            return "nothing"
        case Obj(v) | Rec(v):
            # One that is written in Python may want to know numbers.
            known = isinstance(v, Enum) or type(v).__module__.startswith("jitad.")
            written = isinstance(type(v).__repr__, FunctionType) and not known
            text = "" if written else repr(v)
            return text if text and len(text) < 40 else f"a {type(v).__name__}"


def axes(n: int) -> str:
    return "1 axis" if n == 1 else f"{n} axes"


def either(*snapshots: Snapshot) -> str:
    """What is one of several things."""
    found = " or ".join(map(describe, snapshots)).split(" or ")
    return " or ".join(dict.fromkeys(found))


_INSIDE = {"_jv": "the value returned", "_jout": "what a comprehension or generator gives"}


def explain(
    name: str, e: Mismatch, pos: Any, where: str, places: frozenset[Any] = frozenset()
) -> JitadError:
    """`places`: of the conditions around, on which the matter depends as well."""
    what = _INSIDE.get(name, name or "an attribute or item")
    if e.functions:
        return UnknownDepthError(
            f"{what} is {e} {where}: how functions nest depends on numbers", pos,
            "Let it depend on ints, or allow the eager engine (fallback=True).", places | {pos},
        )  # fmt: skip
    return JitadError(f"{what} is {e} {where}", pos, e.remedy)
