"""How is what a kernel gives put together to what the user gets?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from types import MemberDescriptorType
from typing import Any

import numpy as np

from jitad.immutable import immutable
from jitad.structures import is_plain_dataclass, registered
from jitad.tape.types import Array
from jitad.trace.around.paths import Path
from jitad.trace.joins.forms import Form, Handle, Keep, Number, Record
from jitad.trace.joins.state import Rec


@immutable(slots=True, eq=False)
class There(Keep):
    """A thing from outside, which stays itself: what it holds is written to it, if anything is."""

    path: Path


@immutable(eq=False)
class Output:
    """How a Python value is made of results of the tape, and of things that are there."""

    form: Form
    first: int
    count: int
    there: tuple[There, ...] = ()

    def rebuild(
        self, flat: Sequence[Any], function: Any = None, args: Any = (), kwargs: Any = None,
        made: dict[int, Any] | None = None,
    ) -> Any:  # fmt: skip
        """The value, given all results of the tape as plain numbers and arrays.

        `made`: by the ids of their forms, the things that other outputs of the call have in common
        with it; what it makes is noted there.
        """
        supply = iter(flat[self.first : self.first + self.count])
        made = {} if made is None else made
        for f in self.there:
            made[id(f)] = f.path.get(function, args, kwargs)
        return assemble(self.form, supply, made)


def scalar_class(f: Number | Handle) -> type | None:
    """The class of NumPy scalars that have no equal in Python, which is what kernels return."""
    t = f.type
    number = t.ndim == 0 if isinstance(t, Array) else not t.py  # an array without axes is one
    return np.dtype(t.dtype).type if number and t.dtype not in ("f8", "i8", "b1") else None


def assemble(f: Form, supply: Iterator[Any], made: dict[int, Any]) -> Any:
    """The value of this form, of the next numbers and arrays of `supply`.

    `made`: what there is already, by the ids of its forms.
    """
    if id(f) in made:
        return made[id(f)]
    out: Any
    match f:
        case Number() | Handle():
            kind = scalar_class(f)
            out = next(supply) if kind is None else kind(next(supply))
        case Keep(s):
            out = s.value  # type: ignore[union-attr]
        case Record(Rec(value, keys)) if _is_plain(f):
            out = _whole(type(value), keys, [assemble(p, supply, made) for p in f.parts])
        case _:
            from jitad.trace.remade import remade  # not needed for what is found on disk

            out = remade(f, supply, made)
    made[id(f)] = out
    return out


def _is_plain(f: Record) -> bool:
    """Is it a container whose parts are all there, and are what they are for Python?"""
    if type(f.of.value) is dict and not all(type(k) in (str, int) for k in f.of.keys):
        return False
    return _is_whole(f.of.value) and all(
        _is_whole(p.of.value) if isinstance(p, Record) else type(p) in _THERE for p in f.parts
    )


def _is_whole(value: Any) -> bool:
    return type(value) in _CONTAINERS or has_fields(type(value))


_CONTAINERS = (tuple, list, dict)
_THERE = (Number, Handle, Keep)


def has_fields(kind: type) -> bool:
    """Is it a NamedTuple or dataclass of the user's, and nothing more?"""
    named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    ours = kind.__module__.startswith("jitad.")
    return (named or is_plain_dataclass(kind)) and not ours and registered(kind) is None


def _whole(kind: type, keys: tuple[Any, ...], parts: list[Any]) -> Any:
    if kind is dict:
        return dict(zip(keys, parts, strict=True))
    if kind in _CONTAINERS:
        return kind(parts)
    if issubclass(kind, tuple):
        return tuple.__new__(kind, parts)
    return instance(kind, dict(zip(keys, parts, strict=True)))


def instance(kind: type, fields: dict[str, Any]) -> Any:
    """An object with these attributes; its constructor is not called."""
    out: Any = object.__new__(kind)
    if not (slots := _slots(kind)):
        out.__dict__.update(fields)  # past descriptors of the same name
        return out
    for k, v in fields.items():
        if k in slots:
            object.__setattr__(out, k, v)
        else:
            out.__dict__[k] = v
    return out


@cache
def _slots(kind: type) -> frozenset[str]:
    found = (vars(c).items() for c in kind.__mro__)
    return frozenset(k for of in found for k, v in of if isinstance(v, MemberDescriptorType))
