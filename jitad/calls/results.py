"""What expression makes a result from the tuple that a kernel gives?"""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from jitad.structured import TRACED, array_of, field_names
from jitad.structures import is_plain_dataclass
from jitad.trace.joins.forms import Form, Handle, Keep, Number, Record
from jitad.trace.joins.state import CONTENT, Num, Obj
from jitad.trace.output import There, has_fields, instance, scalar_class

if TYPE_CHECKING:
    from jitad.calls.entries import Source


def result_expression(form: Form, s: Source | None = None) -> str | None:
    """The expression that makes a result from the kernel's tuple `r`.

    None where it takes more than an expression; without a source it may be made of tuples only.
    """
    count = itertools.count()
    arrays: dict[int, str] = {}  # one array may be in several places
    nodes: set[int] = set()

    def as_given(f: Number | Handle) -> str:
        kind, given = scalar_class(f), f"r[{next(count)}]"
        return given if s is None or kind is None else f"{s.name('kind', kind)}({given})"

    def build(f: Form) -> str | None:
        match f:
            case Number():
                return as_given(f)
            case Handle():
                if id(f) not in arrays:
                    arrays[id(f)] = as_given(f)
                return arrays[id(f)]
            case There(path=path):
                return None if s is None else s.at(path)
            case Keep(Num(value) | Obj(value)) if s is not None:
                return s.name("kept", value)
            case Record(of) if id(f) not in nodes:
                nodes.add(id(f))
                parts = [build(p) for p in f.parts]
                kind = type(of.value)
                if any(p is None for p in parts):
                    return None
                if kind is tuple:
                    return _tuple(parts)
                if kind is list:
                    return None if s is None else f"[{', '.join(map(str, parts))}]"
                if kind is dict:
                    return None if s is None else _dict(of.keys, parts, s)
                return _of_class(f, parts, s)
        return None

    return build(form)


def _tuple(parts: list[str | None]) -> str:
    return f"({''.join(f'{p}, ' for p in parts)})"


def _dict(keys: tuple[Any, ...], parts: list[str | None], s: Source) -> str:
    items = zip((s.name("key", k) for k in keys), parts, strict=True)
    return f"{{{', '.join(f'{k}: {p}' for k, p in items)}}}"


def _of_class(f: Record, parts: list[str | None], s: Source | None) -> str | None:
    """The expression for what is no tuple, list or dict of Python's itself."""
    of, kind = f.of, type(f.of.value)
    if s is not None and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return f"{s.name('new', tuple.__new__)}({s.name('kind', kind)}, {_tuple(parts)})"
    if s is not None and has_fields(kind):
        return f"{s.name('made', instance)}({s.name('kind', kind)}, {_fields(of.keys, parts)})"
    if s is not None and kind in TRACED:
        layout = of.value.layout
        if not all(n in field_names(layout.dtype) for n in layout.dtype.names):
            return None  # which is refused
        return f"{s.name('whole', array_of)}({parts[0]}, {s.name('layout', layout)})"
    from jitad.trace.containers.stretch import Stretch  # not needed for what is found on disk
    from jitad.trace.remade import made_of
    from jitad.values.complexes.number import Complex, plain

    if kind is Complex:
        if s is not None:
            return f"{s.name('plain', plain)}({parts[0]}, {parts[1]})"
        scalar = all(isinstance(p, Number) for p in f.parts)
        return f"complex({parts[0]}, {parts[1]})" if scalar else None
    if s is None or issubclass(kind, defaultdict) or kind is Stretch or CONTENT in of.keys:
        return None
    if issubclass(kind, dict):
        return f"{s.name('kind', kind)}({_dict(of.keys, parts, s)})"
    if is_plain_dataclass(kind):
        return f"{s.name('made', made_of)}({s.name('kind', kind)}, {_fields(of.keys, parts)})"
    return None


def _fields(keys: tuple[Any, ...], parts: list[str | None]) -> str:
    return f"{{{', '.join(f'{k!r}: {p}' for k, p in zip(keys, parts, strict=True))}}}"
