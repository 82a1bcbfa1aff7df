"""How is a Python value made of results of the tape?"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadTypeError
from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Atom
from jitad.tape.types import DTYPES, Array
from jitad.trace.around.captures import Captures
from jitad.trace.around.paths import Path
from jitad.trace.containers.grown import variables
from jitad.trace.containers.iterables import Counted
from jitad.trace.containers.listed import LISTED, again
from jitad.trace.containers.partial import DISORDER
from jitad.trace.containers.stretch import Stretch, stretched
from jitad.trace.containers.tabled import KINDS, TABLE, is_tabled
from jitad.trace.joins.forms import Form, Grown, Handle, Keep, Maybe, Number, OneOf, Record
from jitad.trace.joins.join import _container, extract
from jitad.trace.joins.selected import key, things
from jitad.trace.joins.snapshot import Arr, Num, Obj, Per, Rec, Sel, Snapshot
from jitad.trace.joins.unify import Unifier
from jitad.trace.joins.unset import UNSET
from jitad.trace.texts import Text
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex, plain
from jitad.values.kind import is_number
from jitad.values.ranges import Range
from jitad.values.registry import call


def constant_tangent(leaf: Any) -> Any:
    """The tangent of a result that depends on nothing: of what is no number, the thing itself."""
    if isinstance(leaf, (ArrayHandle, np.ndarray)):
        return call(np.zeros_like, leaf)
    if isinstance(leaf, np.inexact):
        return type(leaf)(0.0)
    return 0.0 if is_number(leaf) else leaf


@dataclass(frozen=True, slots=True, eq=False)
class There(Keep):
    """A thing from outside, which stays itself: what it holds is written to it, if anything is."""

    path: Path


PathOf = Callable[[Any], Path | None]


@dataclass(frozen=True, eq=False)
class Output:
    """How a Python value is made of results of the tape, and of things that are there."""

    form: Form
    first: int
    count: int
    there: tuple[There, ...] = ()

    def rebuild(
        self, flat: Sequence[Any], function: Any = None, args: Any = (), kwargs: Any = None
    ) -> Any:
        """The value, given all results of the tape as plain numbers and arrays."""
        supply = iter(flat[self.first : self.first + self.count])
        made = {id(f): f.path.get(function, args, kwargs) for f in self.there}
        return _assemble(self.form, supply, made)


def output_of(
    builder: Builder, s: Snapshot, outputs: list[Atom], path_of: PathOf | None = None
) -> Output:
    """`path_of`: where things are found that stay what they are."""
    first = len(outputs)
    seen: dict[int, Form] = {}
    form = result_form(s, seen, path_of)
    extract(builder, form, s, outputs)
    _check_kept(builder, form, set())
    there = tuple(f for f in seen.values() if isinstance(f, There))
    return Output(form, first, len(outputs) - first, there)


def _check_kept(builder: Builder, form: Form, seen: set[int]) -> None:
    """What is handed over as it is must not hold a value of the trace inside."""
    if id(form) in seen:
        return
    seen.add(id(form))
    match form:
        case There():
            pass
        case Record(Rec(value)) if isinstance(value, (Range, Counted)):
            _refuse(builder, value)
        case Record():
            for p in form.parts:
                _check_kept(builder, p, seen)
        case OneOf(parts=parts):
            for p in parts:
                _check_kept(builder, p, seen)
        case Maybe(part):
            _check_kept(builder, part, seen)
        case Keep(Obj(value)) if _holds_traced(value):
            _refuse(builder, value)


def _refuse(builder: Builder, value: Any) -> None:
    names: dict[type, str] = {Range: "range", Counted: "sequence"}
    raise JitadTypeError(
        f"a {names.get(type(value), type(value).__name__)} that holds traced values leaves the "
        "compiled function", builder.pos,
        "Return numbers, arrays, and tuples, lists or dicts of them.",
    )  # fmt: skip


def _holds_traced(value: Any) -> bool:
    """Is a traced value, or an array of the trace's, found from here?"""
    todo, seen = [value], {id(value)}
    while todo and len(seen) < _MOST:
        at = todo.pop()
        if isinstance(at, (Leaf, ArrayHandle, Range, Counted)):
            return True
        if isinstance(at, FunctionType):
            found: list[Any] = [at.__closure__, at.__defaults__, at.__kwdefaults__]
        elif isinstance(at, (type, ModuleType, CodeType)) or type(at).__module__ == _COMPILED:
            continue
        else:
            found = gc.get_referents(at)
        todo += [x for x in found if id(x) not in seen]
        seen |= {id(x) for x in found}
    return False


_MOST = 10_000  # objects looked at
_COMPILED = "jitad.calls.compiled"  # whose tapes are another trace's


def around(captures: Captures, target: Any) -> PathOf:
    """Where a thing is found that is in what was written to the target, but not that itself."""
    return lambda thing: None if thing is target else captures.path_of(thing)


def handed_on(captures: Captures) -> PathOf:
    """Where a thing is found that is returned as it is: a function, with what it closes over."""
    return lambda thing: captures.path_of(thing) if isinstance(thing, _HANDED_ON) else None


_HANDED_ON = (FunctionType, MethodType, functools.partial, set)


def _path_of(s: Snapshot, path_of: PathOf) -> Path | None:
    """Where the thing is found that a snapshot is of."""
    if isinstance(s, Rec) and type(s.value) is Complex:  # whose parts are registered
        paths = [path_of(s.value.re), path_of(s.value.im)]
        whole = [Path(p.root, p.steps[:-1]) for p in paths if p is not None and p.steps]
        names = [p.steps[-1] for p in paths if p is not None and p.steps]
        is_one = names == [("attr", "real"), ("attr", "imag")] and whole[0] == whole[1]
        return whole[0] if is_one else None
    return path_of(s.value) if isinstance(s, (Arr, Rec, Obj)) else None


def result_form(
    s: Snapshot, seen: dict[int, Form] | None = None, path_of: PathOf | None = None
) -> Form:
    """Numbers that are traced, floats and arrays are results; the rest is static."""
    seen = {} if seen is None else seen
    if id(s) in seen:
        return seen[id(s)]
    if path_of is not None and (path := _path_of(s, path_of)) is not None:
        seen[id(s)] = There(s, path)
        return seen[id(s)]
    out: Form
    match s:
        case Num(complex() | np.complexfloating()):
            out = Keep(s)
        case Num(np.generic() as value) if value.dtype.str[1:] not in DTYPES:
            out = Keep(s)
        case Num(value) if isinstance(value, (Leaf, float)) or hasattr(value, "ndim"):
            out = Unifier().alone(s, "")
        case Arr():
            out = Unifier().alone(s, "")
        case Sel():
            parts = [result_form(t, seen, path_of) for t in things(s)]
            out = OneOf(list(map(key, things(s))), parts)
        case Rec():
            out = seen[id(s)] = Record(s, ())
            out.parts = tuple(result_form(p, seen, path_of) for p in s.parts)
        case Per(_, part) if part is not None:
            out = Maybe(result_form(part, seen, path_of), s.name, s.none)
        case Per():
            raise JitadError("a value that is bound on some paths only is stored or returned")
        case _:
            out = Keep(s)
    seen[id(s)] = out
    return out


def scalar_class(f: Number | Handle) -> type | None:
    """The class of NumPy scalars that have no equal in Python, which is what kernels return."""
    t = f.type
    number = t.ndim == 0 if isinstance(t, Array) else not t.py  # an array without axes is one
    return np.dtype(t.dtype).type if number and t.dtype not in ("f8", "i8", "b1") else None


def _assemble(f: Form, supply: Any, made: dict[int, Any]) -> Any:
    if id(f) in made:
        return made[id(f)]
    match f:
        case Number() | Handle():
            kind = scalar_class(f)
            out = next(supply) if kind is None else kind(next(supply))
        case Record(Rec(value, keys)) if keys in LISTED:
            out = again(value, _assemble(f.parts[0], supply, made), keys[0], True)
        case Record():
            out = _whole(_container(f, [_assemble(p, supply, made) for p in f.parts]))
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
            found = [_assemble(p, supply, made) for p in parts]
            out = next((x for x, flag in zip(found, flags, strict=False) if flag), found[-1])
        case Maybe(part, _, none):
            flag = next(supply)
            out = _assemble(part, supply, made)
            out = out if flag else None if none else UNSET
        case Keep(s):
            out = s.value  # type: ignore[union-attr]
        case _:
            raise AssertionError(f)
    made[id(f)] = out
    return out


def _whole(out: Any) -> Any:
    """What is of parts on a tape only is as Python has it."""
    if type(out) is Complex:
        return plain(out.re, out.im)
    return str(out) if type(out) is Text else out


def made_of(kind: type, fields: dict[str, Any]) -> Any:
    """An object with these attributes; its constructor is not called."""
    out: Any = object.__new__(kind)
    try:
        out.__dict__.update(fields)
    except AttributeError:  # it has slots
        for k, v in fields.items():
            object.__setattr__(out, k, v)
    return _whole(out)


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
