"""Which comparisons does Python make that no code of the user's shows?

Those of a dataclass are generated: its fields are compared like tuples.  Methods of lists compare
elements.  Both are done by functions written in Python, which are traced (`as_written`).
"""

from __future__ import annotations

import dataclasses
from functools import cache
from types import FunctionType
from typing import Any

from jitad.plain import as_written
from jitad.trace.around.telling import is_outside
from jitad.trace.containers.listed import listed
from jitad.trace.joins.unset import is_among, is_optional
from jitad.trace.joins.which import may_be_another
from jitad.trace.ongoing import current
from jitad.values.journal import is_held
from jitad.values.number import Number

_COMPARISONS = ("__eq__", "__lt__", "__le__", "__gt__", "__ge__")


def is_generated(f: FunctionType) -> bool:
    return f.__code__.co_filename.startswith("<string>") and f.__name__.startswith("__")


def generated(cls: type, name: str, found: Any) -> FunctionType | None:
    """The comparison that `dataclass` has made, if this is one."""
    if name not in _COMPARISONS or not isinstance(found, FunctionType) or not is_generated(found):
        return None
    return _comparison(cls, name, found)


@cache
def _comparison(cls: type, name: str, found: FunctionType) -> FunctionType | None:
    owner = next((k for k in cls.__mro__ if k.__dict__.get(name) is found), None)
    if owner is None or "__dataclass_fields__" not in owner.__dict__:
        return None
    fields = [f.name for f in dataclasses.fields(owner) if f.compare]
    out: FunctionType = as_written.comparison(fields, name)
    return out


def compares(container: Any, name: str, args: tuple[Any, ...]) -> bool:
    """Does a method of a list or tuple look for what a traced number may be equal to?"""
    return (
        name in ("index", "count", "remove") and len(args) == 1
        and isinstance(container, (list, tuple))
        and any(map(looks_into, (*args, *container)))
    )  # fmt: skip


def looks_into(value: Any) -> bool:
    """Must code of the tracer's compare it, as it is a traced number or holds one?

    So it must where a condition has chosen what it is.
    """
    if isinstance(value, (tuple, list)):
        return any(map(looks_into, value))
    if is_among((value,)) or is_optional(value) or listed(value) is not None:
        return True
    if isinstance(type(value).__eq__, FunctionType) and not isinstance(value, Number):
        return True  # the user's, or a dataclass's
    if isinstance(value, Number) or is_held(value) or may_be_another(value):
        return True
    return is_outside(current(), value)
