"""How does a process find what an earlier one has traced, without tracing it again?

By two questions.  A file is named by the function's own code, the types of the arguments, and all
that the engine is.  It says of a few traces where the inputs of their kernels are found, and what
the world around the function was (`world.py`); where that is the same now, what the trace had is
put together again: the kernel's source, inputs, guards, the form of the result.  Guards are looked
at once more; the tape waits on disk until somebody asks for it.  Arguments are numbers, texts,
arrays, containers of Python's, NamedTuples and dataclasses; what else holds anything but these is
not kept: such functions are traced in each process.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import sys
from collections.abc import Callable, Sequence
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from jitad.calls.arguments import key_of
from jitad.calls.world import Unstated, World, content, source
from jitad.emit import cachefiles
from jitad.emit.kernel import Kernel
from jitad.emit.owncode import digest, packages
from jitad.emit.surroundings import surroundings
from jitad.late import Late
from jitad.structured import TRACED, Layout, WithFields
from jitad.structures import Structure
from jitad.tape.ir import Block, Tape, Var, walk
from jitad.tape.types import INT
from jitad.trace.around.paths import Guard, Input, Path, Root
from jitad.trace.around.rows import is_content
from jitad.trace.joins.forms import Form, Handle, Keep, Number, Record
from jitad.trace.joins.state import Num, Obj, Rec
from jitad.trace.output import Output, has_fields
from jitad.trace.syntax.source import nested_codes
from jitad.trace.traced import Room, Traced

MOST = 8  # traces in one file
_KEPT = (int, bool, float, str, type(None), Layout)
_LEAVES = (float, int, bool, str, np.ndarray)
_NODES = (tuple, list, dict, complex, WithFields, type(None))


class Recalled:
    """What an earlier process left of a trace."""

    def __init__(self, traced: Traced, kernel: Kernel, threads: int | None, tape: bytes) -> None:
        self.traced, self.kernel, self.threads, self.tape = traced, kernel, threads, tape


def name_of(
    function: Any, leaves: Sequence[Any], structure: Structure, *options: Any
) -> str | None:
    """The name of the file for calls like this one; None where there can't be one."""
    plain = all(type(x) in _LEAVES or isinstance(x, np.number) for x in leaves)
    if cachefiles.folder() is None or not plain or not _is_usual(structure):
        return None
    ones = [tuple(n == 1 for n in x.shape) if isinstance(x, np.ndarray) else () for x in leaves]
    words = [surroundings(), _engine(), repr(structure), repr(list(map(key_of, leaves)))]
    words += [repr(ones), repr(options), repr(np.geterr()), _version("scipy")]
    try:
        words += map(_described, _kinds(structure))
        while not isinstance(function, FunctionType):
            words.append(f"{function.operator} {function.manner}")
            function = function.f
        words += source(function)
        for code in nested_codes(function.__code__):
            words += content(code)
    except (Unstated, AttributeError):
        return None
    return f"jitad_trace_{hashlib.sha256(chr(0).join(words).encode()).hexdigest()}.trace"


def _is_usual(s: Structure) -> bool:
    if s.kind is None:
        return True
    keys = all(type(k) in (int, str) for k in s.keys)
    return keys and (s.kind in _NODES or has_fields(s.kind)) and all(map(_is_usual, s.children))


class _Class:
    """That of an argument, or of a part of one: the user's, so told by its place."""

    def __init__(self, number: int) -> None:
        self.number = number


def _kinds(structure: Structure) -> list[type]:
    """The classes of the user's in it, always in the same order."""
    found: list[type] = []
    todo = [structure]
    while todo:
        s = todo.pop()
        if s.kind is not None and s.kind not in _NODES:
            found.append(s.kind)
        todo += s.children
    return found


def _described(kind: type) -> str:
    """What a class has, and what its methods do: those that dataclasses make are not run by traces.

    Of methods that are, the world must tell (`Traced.ran`), and a constant that is read is guarded.
    """
    words = []
    for c in kind.__mro__:
        if type(c) is not type:
            raise Unstated("a metaclass")
        words.append(f"class {c.__module__} {c.__qualname__}")
        for name, value in sorted(vars(c).items()):
            words.append(f"{name} {type(value).__qualname__}")
            for f in _methods(value):
                words += (word for code in nested_codes(f.__code__) for word in content(code))
    return "\n".join(words)


def _methods(value: Any) -> list[FunctionType]:
    found = [value]
    if isinstance(value, (classmethod, staticmethod)):
        found = [value.__func__]
    elif isinstance(value, property):
        found = [value.fget, value.fset, value.fdel]
    return [f for f in found if isinstance(f, FunctionType)]


@cache
def _engine() -> str:
    return digest(*packages())


def _version(library: str) -> str:
    """Of a library that is imported; without it, none of its functions is met."""
    return str(getattr(sys.modules.get(library), "__version__", ""))


# -- finding --------------------------------------------------------------------------------------


def found(
    name: str, structure: Structure, before: set[Any], function: Any, args: Any, kwargs: Any
) -> Recalled | None:
    """A trace that was kept under this name and would be the same now; none found `before`."""
    folder = cachefiles.folder()
    kept = cachefiles.unseal(cachefiles.read(folder / name)) if folder is not None else None
    if kept is None:
        return None
    for inputs, expected, rest in pickle.loads(kept):
        if (which := hashlib.sha256(rest).digest()) in before:
            continue
        try:
            world = World(function, inputs)
            if world.digest != expected:
                continue
            recalled = _again(rest, structure, world, function, args, kwargs)
        except Exception:  # whatever is wrong with it, to trace is right
            continue
        if recalled is not None:
            before.add(which)
            return recalled
    return None


def _again(
    rest: bytes, structure: Structure, world: World, function: Any, args: Any, kwargs: Any
) -> Recalled | None:
    (name, pos, params, results, inputs, captures, guards, output, relied, rooms, source, threads,
     tape) = pickle.loads(rest)  # fmt: skip

    def given(i: tuple[Any, ...]) -> Input:
        at, kind, var = i
        return Input(at if isinstance(at, Path) else Path(Root(at[1]), at[2]), kind, var)

    def guard(g: tuple[Any, ...]) -> Guard:
        at, kind, expected = g
        path = _there(at, world)
        match kind:
            case "code":
                expected = path.get(function, args, kwargs).__code__
            case "is" | "unchanged":
                expected = path.get(function, args, kwargs)
            case "type" if expected is None:
                expected = type(path.get(function, args, kwargs))
            case "same" | "apart":
                expected = _there(expected, world)
        return Guard(path, kind, expected)

    if any(path.get(function, args, kwargs) != value for path, value in relied):
        return None
    _complete(output.form, _kinds(structure))
    traced = Traced(
        Tape(name, Block(params, [], results), pos), tuple(map(given, inputs)),
        tuple(map(given, captures)), tuple(map(guard, guards)), output, (), {}, relied, rooms,
    )  # fmt: skip
    if traced.missed(function, args, kwargs):
        return None
    return Recalled(traced, Kernel(*source), threads, tape)


def tape_of(kept: bytes) -> Tape:
    """The whole tape; its variables count as made here, in their order."""
    tape: Tape = pickle.loads(kept)
    met: dict[Var, None] = {}
    for t in (tape, *tape.functions.values()):
        made = [*t.body.params]
        for e in walk(t.body):
            made += [*e.outs, *(v for b in e.blocks for v in b.params)]
        for v in made:
            met.update(dict.fromkeys((v, *(d for d in v.shape if isinstance(d, Var)))))
    for v in sorted(met, key=lambda v: v.serial):
        v.serial = Var(INT).serial
    return tape


# -- keeping --------------------------------------------------------------------------------------


def keep(
    name: str, structure: Structure, traced: Traced, kernel: Kernel, threads: int | None,
    function: Any, args: Any, kwargs: Any,
) -> set[bytes]:  # fmt: skip
    """Write down what a trace has given, if that can be told; what `found` notes of it then."""
    folder = cachefiles.folder()
    if folder is None:
        return set()
    try:
        entry = _entry(structure, traced, kernel, threads, function, args, kwargs)
    except Exception:  # it can't be told, or not be written down
        return set()
    before = cachefiles.unseal(cachefiles.read(folder / name))
    others = pickle.loads(before) if before is not None else []
    others = [e for e in others if e[:2] != entry[:2] or e[2] != entry[2]]
    content = pickle.dumps([entry, *others][:MOST])
    cachefiles.write(folder / name, cachefiles.seal(content))
    return {hashlib.sha256(entry[2]).digest()}


def _entry(
    structure: Structure, traced: Traced, kernel: Kernel, threads: int | None, function: Any,
    args: Any, kwargs: Any,
) -> tuple[Any, ...]:  # fmt: skip
    if traced.commits or traced.guessed or traced.new_keys:
        raise Unstated("writes, functions of Python's, new keys")
    if traced.output.there:
        raise Unstated("a thing from outside is returned")
    paths = tuple(c.path for c in traced.captures if not _is_made(c.path))
    if any(path.root != "function" for path in paths):
        raise Unstated("an input that is found from elsewhere")
    if traced.missed(function, args, kwargs):
        raise Unstated("it has changed meanwhile")
    world = World(function, paths)
    if World(function, paths).digest != world.digest or traced.missed(function, args, kwargs):
        raise Unstated("it changes")
    if not all(map(world.is_told, traced.ran)):
        raise Unstated("something that was run")
    for e in (e for t in (traced.tape, *traced.tape.functions.values()) for e in walk(t.body)):
        if any(isinstance(p, Late) for p in e.params.values()):
            raise Unstated("something made in Python")
    tape = traced.tape
    guards = tuple(_guard(g, world, function) for g in traced.guards)
    form = _form(traced.output.form, {}, _kinds(structure))
    rest = (
        tape.name, tape.pos, tape.body.params, [_result(a) for a in tape.body.results],
        tuple(map(_input, traced.inputs)), tuple(map(_input, traced.captures)), guards,
        Output(form, traced.output.first, traced.output.count),
        traced.relied, traced.rooms, (kernel.source, kernel.name, kernel.brief), threads,
        _dumped(tape),
    )  # fmt: skip
    return paths, world.digest, _dumped(rest)


def _result(a: Any) -> Var:
    return Var(a.type)


def _is_made(path: Path) -> bool:
    """Is it an array that the trace has made, or how long a list may get?"""
    root = path.root
    return isinstance(root, Root) and (
        type(root.thing) is Room or (type(root.thing) is np.ndarray and not path.steps)
    )


def _input(i: Input) -> tuple[Any, ...]:
    path = ("made", i.path.root.thing, i.path.steps) if _is_made(i.path) else i.path
    return path, i.type, i.var


def _guard(g: Guard, world: World, function: Any) -> tuple[Any, ...]:
    of_argument = isinstance(g.path.root, tuple)
    if not of_argument and g.kind != "missing" and not world.covers(g.path, function):
        raise Unstated(f"{g.path}")
    path, expected = _known(g.path, world), g.expected
    match g.kind:
        case "code" | "is" | "unchanged" if not of_argument:
            expected = None
        case "type" if expected.__module__ != "builtins":
            if of_argument:
                raise Unstated("a class")
            expected = None
        case "same" | "apart":
            expected = _known(expected, world)
        case "rows" if is_content(expected):
            pass
        case "value" | "type" | "dtype" | "keys" | "fields" | "order":
            pass
        case "disjoint" | "alone" if all(isinstance(p.root, tuple) for p in (g.path, *expected)):
            pass
        case "missing" if g.path.steps[-1][0] == "global":
            pass  # a builtin
        case _:
            raise Unstated(g.kind)
    return path, g.kind, expected


def _known(path: Path, world: World) -> tuple[Any, ...]:
    """A path whose root is told by its number in the world."""
    if not isinstance(path.root, Root):
        return path.root, path.steps
    number = world.numbers.get(id(path.root.thing), -1)
    if number < 0:
        raise Unstated("something that no path leads to")
    return number, path.steps


def _there(at: tuple[Any, ...], world: World) -> Path:
    root, steps = at
    return Path(Root(world.things[root]) if type(root) is int else root, steps)


def _form(f: Form, seen: dict[int, Form], classes: list[type]) -> Form:
    """The form of a result, without the things that it was found from."""
    if id(f) in seen:
        return seen[id(f)]
    out: Form
    match f:
        case Number():
            out = Number(f.type)
        case Handle():
            out = Handle(f.type, (), ())
        case Record(Rec(value, keys)) if type(value) in (tuple, list, dict):
            kind: Callable[[], Any] = type(value)
            out = Record(Rec(kind(), keys, ()), tuple(_form(p, seen, classes) for p in f.parts))
        case Record(Rec(value, keys)) if type(value) in classes:
            place = _Class(classes.index(type(value)))
            out = Record(Rec(place, keys, ()), tuple(_form(p, seen, classes) for p in f.parts))
        case Record(Rec(value, keys)) if type(value) in TRACED:
            bare = type(value)((), value.layout)
            out = Record(Rec(bare, keys, ()), tuple(_form(p, seen, classes) for p in f.parts))
        case Keep(Num(value) | Obj(value)) if type(value) in _KEPT:
            out = Keep(Obj(value))
        case _:
            raise Unstated("the form of the result")
    seen[id(f)] = out
    return out


def _complete(f: Form, classes: list[type]) -> None:
    """The form of a result, with classes that are told by their places among the arguments."""
    if isinstance(f, Record):
        if isinstance(f.of.value, _Class):
            kind = classes[f.of.value.number]
            f.of.value = tuple.__new__(kind) if issubclass(kind, tuple) else object.__new__(kind)
        for p in f.parts:
            _complete(p, classes)


class _Pickler(pickle.Pickler):
    """Of what is the engine's own, Python's or NumPy's, and no code."""

    def reducer_override(self, thing: Any) -> Any:
        own = thing if isinstance(thing, (type, FunctionType, BuiltinFunctionType)) else type(thing)
        root = (own.__module__ or "builtins").partition(".")[0]
        if root not in ("jitad", "numpy", "builtins", "_codecs") or isinstance(thing, Late):
            raise Unstated(f"a {type(thing).__name__}")
        return NotImplemented


def _dumped(value: Any) -> bytes:
    out = io.BytesIO()
    _Pickler(out, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return out.getvalue()

