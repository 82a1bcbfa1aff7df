"""How is a value handed on where two paths meet, or where a loop comes round again?

Both values are taken apart (`snapshot`) as they are at the end of their path, because the writes
of a path are undone before the next one is traced.  `unify` gives the form that covers both.
`extract` gives the atoms of a snapshot in such a form, `build` makes the value again from the
joined variables.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from jitad import closures
from jitad.closures import is_function
from jitad.errors import JitadError
from jitad.tape.build import Builder, Leaf
from jitad.tape.copy import as_type
from jitad.tape.ir import Atom, lit
from jitad.tape.types import Array, Scalar, Type
from jitad.trace.around.objects import attributes
from jitad.trace.containers.listed import LISTED, again
from jitad.trace.containers.stretch import Stretch
from jitad.trace.containers.writing import fill, kind_of
from jitad.trace.joins.as_complex import array_as_complex, complex_of
from jitad.trace.joins.forms import (
    Form,
    Grown,
    Handle,
    Keep,
    Maybe,
    Number,
    OneOf,
    Record,
    Resized,
    Shown,
)
from jitad.trace.joins.snapshot import by_elements, by_keys
from jitad.trace.joins.state import CONTENT, Arr, Lost, Num, Obj, Per, Rec, Snapshot
from jitad.trace.joins.unify import check_read
from jitad.trace.joins.unset import UNSET, Perhaps
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.copies import note_copy
from jitad.values.kind import fail
from jitad.values.layout import is_one_of
from jitad.values.registry import call
from jitad.values.stale import refuse_stale


def extract(
    b: Builder, f: Form, s: Snapshot | None, out: list[Atom], seen: set[int] | None = None
) -> list[Atom]:
    """The atoms of a snapshot in this form, in order; placeholders where s is None."""
    seen = set() if seen is None else seen
    if isinstance(f, (Handle, Resized, Record, Grown, Shown, OneOf)):
        if id(f) in seen:
            return out
        seen.add(id(f))
    match f:
        case Keep():
            pass
        case OneOf() | Shown():
            selected.extract(b, f, s, out, lambda p, part: _add(b, p, part, out, seen))
        case Maybe(part, _, none):
            match s:
                case Obj(None) if none:
                    out.append(lit(False))
                    extract(b, part, None, out, seen)
                case None | Per(_, None):
                    out.append(lit(False))
                    extract(b, part, None, out, seen)
                case Per(flag, inner, none=kind) if kind == none:
                    out.append(b.atom(flag))
                    extract(b, part, inner, out, seen)
                case _:
                    out.append(lit(True))
                    extract(b, part, s, out, seen)
        case Record():
            s = complex_of(s) if isinstance(s, Num) else s
            if isinstance(s, Arr):
                s = array_as_complex(s, lambda h: call(np.zeros_like, h))
            if f.of.keys in LISTED:
                s = by_elements(s)
            if isinstance(s, Rec):
                check_read(s)
            parts = s.parts if isinstance(s, Rec) else (None,) * len(f.parts)
            if isinstance(s, Rec) and isinstance(s.value, dict) and s.keys != f.of.keys:
                parts = by_keys(s, f.of.keys)
            for p, q in itertools.zip_longest(f.parts, parts):  # what was appended may be shorter
                extract(b, p, q, out, seen)
        case Grown():
            grown.extract(b, f, s, out)
        case Resized():
            resized.extract(b, f, s, out)
        case Number(Array()):
            assert isinstance(s, Num)
            out.append(b.atom(s.value))
        case Number(t):
            value = s.value if isinstance(s, Num) else 0
            out.append(as_type(b, b.atom(value), t))
        case Handle(t, shape):
            if isinstance(s, Arr):
                if isinstance(s.content, Lost):
                    refuse_stale(s.value, s.content.why)
                out.append(as_type(b, b.atom(s.content), _held(t)))
            elif not t.ndim:
                value = s.value if isinstance(s, Num) else 0.0
                out.append(as_type(b, b.atom(value), _held(t)))
            else:  # never read: an empty one will do where extents are free
                zero = lit(np.dtype(t.dtype).type(0))
                dims = shape or (lit(0),) * t.ndim
                out.append(b.emit("full", zero, *dims, dtype=t.dtype))
    return out


def _add(*args: Any) -> None:
    extract(*args)


def _held(t: Array) -> Type:
    """The type of an array's content: a number, if it has no axes."""
    return t if t.ndim else Scalar(t.dtype, False)


def kinds(f: Form, out: list[tuple[Type, tuple[Atom, ...]]], seen: set[int]) -> Any:
    """Type and extents of every variable that the form needs."""
    if isinstance(f, (Handle, Resized, Record, Grown, Shown, OneOf)):
        if id(f) in seen:
            return out
        seen.add(id(f))
    match f:
        case OneOf() | Shown():
            own, parts = selected.kinds(f)
            out += own
            for p in parts:
                kinds(p, out, seen)
        case Number(t, shape):
            out.append((t, shape))
        case Handle(t, shape):
            out.append((_held(t), shape))
        case Grown():
            out += grown.kinds_of(f)
        case Resized():
            out += resized.kinds_of(f)
        case Record():
            for p in f.parts:
                kinds(p, out, seen)
        case Maybe(part, _):
            out.append((Scalar("b1", True), ()))
            kinds(part, out, seen)
    return out


def given(name: str) -> str:
    """The name, if it is the user's and not the rewriting's."""
    return "" if name.startswith("_j") else name


def signature(f: Form, numbers: dict[int, int]) -> Any:
    """Equal for forms that need the same variables, aliases in the same places."""
    match f:
        case Keep():
            return "keep"
        case Number(t):
            return t
        case Maybe(part):
            return ("maybe", signature(part, numbers))
    if id(f) in numbers:
        return numbers[id(f)]
    numbers[id(f)] = len(numbers)
    if isinstance(f, Grown):
        return ("grown", f.room, f.spare is None, f.held, signature(f.element, {}))
    if isinstance(f, Handle):
        return (f.type, f.shape)
    if isinstance(f, Resized):
        return ("resized", f.type, f.hull, f.changing)
    if isinstance(f, Shown):
        return ("shown", *(signature(p, numbers) for p in (f.parent, *f.numbers)))
    if isinstance(f, OneOf):
        return ("one of", *selected.lasting(f), *(signature(p, numbers) for p in f.parts))
    ordered = f.of.keys if f.of.keys in LISTED else ()
    return (type(f.of.value), *ordered, *(signature(p, numbers) for p in f.parts))


def build(
    b: Builder, f: Form, atoms: Iterator[Atom], made: dict[int, Any], join: Any
) -> Any:
    """The value in this form, made of these variables; `join(new, sides)` hears of new handles."""
    if id(f) in made:
        return made[id(f)]
    out: Any
    match f:
        case Keep(s):
            out = _rebuilt(s)
        case Number():
            out = b.leaf(next(atoms))
        case Handle(of=of, or_number=or_number):
            content = b.leaf(next(atoms))
            out = ArrayHandle(content, or_number=or_number)
            is_one_of(out, of)
            join(out, of)
        case Resized(of=of):
            out = resized.build(b, f, atoms)
            join(out, of)
        case Maybe(part, name, none):
            flag = b.leaf(next(atoms))
            value = build(b, part, atoms, made, join)
            if isinstance(flag, Leaf):
                out = Perhaps(flag, value, name, none)
            else:
                out = value if flag else None if none else UNSET
        case Grown():
            out = grown.build(b, f, atoms, join)
        case OneOf() | Shown():
            out = selected.build(b, f, atoms, lambda p: build(b, p, atoms, made, join))
        case Record():
            out = _container(f, [build(b, p, atoms, made, join) for p in f.parts])
            if isinstance(out, tuple):
                note_copy(out)  # of one of those that paths have
            elif not isinstance(out, (Stretch, Complex)) and not is_function(out):
                join(out, f.sides or (f.of.value,))  # only one path may have it
    made[id(f)] = out
    return out


def _rebuilt(s: Snapshot) -> Any:
    if isinstance(s, Per):
        return UNSET if s.part is None else Perhaps(s.flag, _rebuilt(s.part), s.name, s.none)
    return s.value


def _container(f: Record, parts: list[Any]) -> Any:
    value = f.of.value
    kind = type(value)
    if f.of.keys[:1] == (CONTENT,):
        return _derived(kind, value, f.of.keys[1:], parts)
    if isinstance(value, tuple):
        return tuple.__new__(kind, parts)  # the class's own may take other things
    if isinstance(value, list):
        return kind(parts) if kind is list else _made_elsewhere(value, parts)
    if f.of.keys in LISTED:
        of_list = f.parts[0]
        known = isinstance(of_list, Record) and all(isinstance(p, Keep) for p in of_list.parts)
        return again(value, parts[0], f.of.keys[0], known)
    if isinstance(value, deque):
        return kind(parts, value.maxlen)
    if isinstance(value, Stretch):
        return value.with_parts(parts)
    if isinstance(value, defaultdict):
        return kind(value.default_factory, zip(f.of.keys, parts, strict=True))
    if isinstance(value, Counter):
        return kind(dict(zip(f.of.keys, parts, strict=True)))
    if isinstance(value, dict):
        return kind(zip(f.of.keys, parts, strict=True))
    if is_function(value):
        return closures.again(value, dict(zip(f.of.keys, parts, strict=True)))
    if issubclass(kind, BaseException):
        given = dict(zip(f.of.keys, parts, strict=True))
        args = given.pop("args")
        error = kind.__new__(kind, *args)
        builtin: Any = next(k for k in kind.__mro__ if k.__module__ == "builtins")
        builtin.__init__(error, *args)  # which keeps some of them: the value of a StopIteration
        error.args = args
        error.__dict__.update(given)
        return error
    out: Any = SimpleNamespace() if kind is SimpleNamespace else object.__new__(kind)
    own = getattr(value, "__dict__", ())
    for k, p in zip(f.of.keys, parts, strict=True):
        if k in own:  # past descriptors of the same name
            out.__dict__[k] = p
        else:
            object.__setattr__(out, k, p)
    return out


def _made_elsewhere(like: list[Any], parts: list[Any]) -> list[Any]:
    """A list of a class derived from Python's, of which only the elements are followed."""
    kind = type(like)
    if attributes(like):
        raise fail(
            JitadError, f"a {kind.__name__} made elsewhere, with attributes of its own, is copied "
            "or is one of two here", "Use a list, or pass what is needed of it.",
        )  # fmt: skip
    out: list[Any] = list.__new__(kind)
    list.extend(out, parts)
    return out


def _derived(kind: Any, like: Any, names: tuple[str, ...], parts: list[Any]) -> Any:
    """A container of a class derived from Python's, whose own methods may take other things."""
    content, *held = parts
    if isinstance(like, tuple):
        out: Any = tuple.__new__(kind, content)
    else:
        out = kind_of(like).__new__(kind)
        if isinstance(like, deque):
            deque.__init__(out, maxlen=like.maxlen)
        elif isinstance(like, defaultdict):
            out.default_factory = like.default_factory
        fill(out, content)
    for name, value in zip(names, held, strict=True):
        object.__setattr__(out, name, value)
    return out


from jitad.trace.containers import grown  # noqa: E402  which are made of these forms
from jitad.trace.joins import resized, selected  # noqa: E402  which are made of these forms
