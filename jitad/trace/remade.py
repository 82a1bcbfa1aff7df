"""How is what only a tracer knows, lists of unknown length say, put together of numbers?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jitad.structured import array_of, check_fields
from jitad.trace.containers.grown import variables
from jitad.trace.containers.listed import LISTED, again
from jitad.trace.containers.partial import DISORDER
from jitad.trace.containers.stretch import Stretch, stretched
from jitad.trace.containers.tabled import KINDS, TABLE, is_tabled
from jitad.trace.joins.forms import Form, Grown, Handle, Keep, Maybe, Number, OneOf, Record
from jitad.trace.joins.join import _container
from jitad.trace.joins.state import Rec
from jitad.trace.joins.unset import UNSET
from jitad.trace.output import assemble, instance, scalar_class
from jitad.trace.texts import Text
from jitad.values.complexes.number import Complex, plain
from jitad.values.numpy.structured import Element, Structured


def remade(f: Form, supply: Iterator[Any], made: dict[int, Any]) -> Any:
    """See `output.assemble`, which puts plain containers together."""
    out: Any
    match f:
        case Record(Rec(value, keys)) if keys in LISTED:
            out = again(value, assemble(f.parts[0], supply, made), keys[0], True)
        case Record():
            parts = [assemble(p, supply, made) for p in f.parts]
            out = _whole(_container(f, parts))
            for k, p in zip(f.of.keys, parts, strict=True):  # attributes of some paths only
                if p is UNSET and isinstance(k, str) and getattr(out, k, None) is UNSET:
                    object.__delattr__(out, k)
            stretch = stretched(out)
            if isinstance(out, tuple) and stretch is not None:
                out = tuple(expanded(stretch))
            elif stretch is not None:
                out[:] = expanded(stretch)
            if is_tabled(out):
                keys, values = out.pop(TABLE)
                out.update(zip(keys, values, strict=True))
            if type(out) in KINDS:  # what is there on some paths only
                for k in [k for k, v in out.items() if v is UNSET or k is DISORDER]:
                    del out[k]
        case OneOf(parts=parts):
            flags = [next(supply) for _ in parts[1:]]
            found = [assemble(p, supply, made) for p in parts]
            out = next((x for x, flag in zip(found, flags, strict=False) if flag), found[-1])
        case Maybe(part, _, none):
            flag = next(supply)
            out = assemble(part, supply, made)
            out = out if flag else None if none else UNSET
        case _:
            raise AssertionError(f)
    return out


def _whole(out: Any) -> Any:
    """What is of parts on a tape only is as Python has it."""
    if type(out) is Complex:
        return plain(out.re, out.im)
    if type(out) is Element:  # of an array that is NumPy's by now
        return out.of[out.key]
    if type(out) is Structured:
        check_fields(out.layout)
        return array_of(out.parts, out.layout)
    return str(out) if type(out) is Text else out


def made_of(kind: type, fields: dict[str, Any]) -> Any:
    """As `instance`, of the tracer's own classes too."""
    return _whole(instance(kind, fields))


def expanded(stretch: Stretch) -> list[Any]:
    """The elements, where all are plain numbers and arrays: those that a kernel gave."""
    return _elements(stretch.element, stretch.count, stretch.stores)


def _elements(element: Form, count: int, stores: Any) -> list[Any]:
    columns = [s[:count] for s in stores]
    lists: list[Any] = [c.tolist() if c.ndim == 1 else list(map(np.array, c)) for c in columns]

    if isinstance(element, Number) and scalar_class(element) is None:
        out: list[Any] = lists[0]
        return out

    def part(f: Form, values: Iterator[Any]) -> Any:
        match f:
            case Number():
                kind = scalar_class(f)
                return next(values) if kind is None else kind(next(values))
            case Handle():
                return next(values)
            case Record():
                return _whole(_container(f, [part(p, values) for p in f.parts]))
            case Maybe(inner):
                there = next(values)
                value = part(inner, values)
                return value if there else None
            case Grown(of, inner):
                number, held = next(values), [next(values) for _ in variables(inner)]
                return type(of.value)(_elements(inner, number, held))
            case OneOf(parts=parts):
                flags = [next(values) for _ in parts[1:]]
                found = [part(p, values) for p in parts]
                return next((x for x, is_it in zip(found, flags, strict=False) if is_it), found[-1])
            case Keep(s):
                return s.value  # type: ignore[union-attr]
        raise AssertionError(f)

    rows: Any = zip(*lists, strict=True) if lists else ((),) * count
    return [part(element, iter(row)) for row in rows]
