"""How do results get into arrays that the caller gives (`out=`)?

`places` says where in `out` the arrays of a result go; where the kernel's direct way can copy to
all of them, the entry hands them over (`entries.python_entry`).  `write` does the same for any
result, and says what is the matter where that can't be done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.structures import children_of, rebuilt
from jitad.trace.joins.forms import Form, Handle, Number, Record


def wants(f: Any) -> bool:
    """Is `out=` an argument of the function itself?"""
    import inspect

    at = f
    while hasattr(at, "operator") and hasattr(at, "f"):
        at = at.f
    try:
        parameters = inspect.signature(at).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.name == "out" or p.kind is p.VAR_KEYWORD for p in parameters)


def places(form: Form, text: str, named: Callable[[str, Any], str]) -> list[str] | None:
    """Expressions for the arrays of `out`, in the order of the result's; None if it isn't plain.

    `text` evaluates to `out`; `named` gives an object a name in expressions.
    """
    found: list[str] = []
    seen: set[int] = set()

    def walk(f: Form, at: str) -> bool:
        match f:
            case Number():
                return True
            case Handle():
                if id(f) in seen:
                    return False
                seen.add(id(f))
                found.append(at)
                return True
            case Record(of):
                kind = type(of.value)
                if id(f) in seen:
                    return False
                seen.add(id(f))
                if issubclass(kind, (tuple, list)):
                    inner = [f"{at}[{k}]" for k in range(len(f.parts))]
                elif issubclass(kind, dict):
                    inner = [f"{at}[{named('key', k)}]" for k in of.keys]
                elif is_dataclass(kind) and {x.name for x in fields(kind)}.issuperset(of.keys):
                    inner = [f"{at}.{k}" for k in of.keys]
                else:
                    return False
                return all(map(walk, f.parts, inner))
        return False

    return found if walk(form, text) and found else None


def write(result: Any, out: Any, where: str = "out") -> Any:
    """The result with the caller's arrays for its own, which are copied to them."""
    todo: list[tuple[str, Any, Any]] = []
    whole = _match(result, out, where, todo)
    for k, (at, array, _) in enumerate(todo):
        for other, before, _ in todo[:k]:
            if np.shares_memory(array, before):
                raise JitadValueError(f"{at} shares memory with {other}", None,
                                      "Give an array of its own for each.")  # fmt: skip
    for _, array, value in todo:
        array[...] = value
    return whole


def _match(result: Any, out: Any, at: str, todo: list[tuple[str, Any, Any]]) -> Any:
    if isinstance(result, np.ndarray):
        _check(result, out, at)
        todo.append((at, out, result))
        return out
    children = children_of(result)
    if children is None:
        return result
    keys, parts = children
    given = children_of(out)
    if type(out) is not type(result) or given is None or given[0] != keys:
        raise JitadTypeError(f"{at} is not like the result, a {type(result).__name__}", None,
                             "Give out= the structure that a call without it gives.")  # fmt: skip
    inner = [_match(r, o, f"{at}[{k!r}]", todo) for k, r, o in zip(keys, parts, given[1],
                                                                    strict=True)]  # fmt: skip
    return rebuilt(result, tuple(inner))


def _check(result: np.ndarray[Any, Any], out: Any, at: str) -> None:
    if not isinstance(out, np.ndarray):
        raise JitadTypeError(f"{at} is a {type(out).__name__}, the result an array", None,
                             "Give an array of the result's shape.")  # fmt: skip
    if out.shape != result.shape:
        raise JitadValueError(f"{at} has shape {out.shape}, the result {result.shape}", None,
                              "Give an array of the result's shape.")  # fmt: skip
    if not out.flags.writeable:
        raise JitadValueError(f"{at} is read-only", None, "Give an array that can be written.")
    if out.dtype != result.dtype:
        raise JitadTypeError(f"{at} is an array of {out.dtype}, the result one of {result.dtype}",
                             None, f"Give an array of {result.dtype}.")  # fmt: skip
