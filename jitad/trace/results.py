"""How is a Python value made of results of the tape?"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Set
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadTypeError
from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Atom
from jitad.tape.types import DTYPES
from jitad.trace.around.captures import Captures
from jitad.trace.around.paths import Path, Root
from jitad.trace.containers.iterables import Counted
from jitad.trace.containers.steady import Steady
from jitad.trace.containers.stretch import stretched
from jitad.trace.context import Trace
from jitad.trace.joins.forms import Form, Keep, Maybe, OneOf, Record
from jitad.trace.joins.join import extract
from jitad.trace.joins.selected import key, things
from jitad.trace.joins.snapshot import snapshot, things_within
from jitad.trace.joins.state import Arr, Num, Obj, Per, Rec, Sel, Snapshot
from jitad.trace.joins.unify import Unifier
from jitad.trace.output import Output, There
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
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


PathOf = Callable[[Any], Path | None]


class Leaving:
    """What leaves a kernel with one call: a thing that is found in several places is one."""

    def __init__(self) -> None:
        self.snapshots: dict[int, Snapshot] = {}
        self.forms: dict[Any, Form] = {}
        self.extracted: set[int] = set()
        self.kept: list[Any] = []  # whose ids stand in these

    def extract(
        self, b: Builder, value: Any, outputs: list[Atom], path_of: PathOf | None = None
    ) -> Form:
        """The form of the value, and what it is made of, as far as that is new, among `outputs`."""
        s = snapshot(value, self.snapshots)
        form = result_form(s, self.forms, path_of)
        self.kept.append(s)
        extract(b, form, s, outputs, self.extracted)
        return form


def output_of(
    builder: Builder, value: Any, outputs: list[Atom], path_of: PathOf | None = None,
    leaving: Leaving | None = None,
) -> Output:  # fmt: skip
    """`path_of`: where things are found that stay what they are."""
    leaving = leaving or Leaving()
    first, known = len(outputs), {*map(id, leaving.forms.values())}
    form = leaving.extract(builder, value, outputs, path_of)
    _check_kept(builder, form, set())
    there = tuple(
        f for f in leaving.forms.values() if isinstance(f, There) and id(f) not in known
    )
    return Output(form, first, len(outputs) - first, there)


def _check_kept(
    builder: Builder, form: Form, seen: set[int], above: tuple[Form, ...] = ()
) -> None:
    """What is handed over as it is must not hold a value of the trace inside; nothing, itself."""
    if any(form is f for f in above):
        raise JitadTypeError(
            "an object or list that holds itself leaves the compiled function", builder.pos,
            "Let it hold the number of the other thing in a list.",
        )  # fmt: skip
    if id(form) in seen:
        return
    seen.add(id(form))
    above = (*above, form)
    match form:
        case There():
            pass
        case Record(Rec(value)) if isinstance(value, (Range, Counted, Steady)):
            _refuse(builder, value)
        case Record():
            for p in form.parts:
                _check_kept(builder, p, seen, above)
        case OneOf(parts=parts):
            for p in parts:
                _check_kept(builder, p, seen, above)
        case Maybe(part):
            _check_kept(builder, part, seen, above)
        case Keep(Obj(value)) if _holds_traced(value):
            _refuse(builder, value)


def _refuse(builder: Builder, value: Any) -> None:
    names: dict[type, str] = {Range: "range", Counted: "sequence", Steady: Steady.called}
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


def there_before(trace: Trace, args: Any, made: Set[int]) -> Callable[[Any], PathOf]:
    """The same of each target, in a derivative's block: what was made before it stays itself, too.

    Not so its arguments, if they are written: those are the derivative's own.  `made`: the ids of
    what was made for the block, and is of its parameters.
    """
    journal = trace.journal
    written = {key for key, slot in journal.frames[-1] if slot == "content"}
    own = made | (written and written & {id(x) for x in things_within(args, False)})
    # of a list whose length only the kernel knows, its arrays are what it holds
    lists = (stretched(w.target) for w in journal.written() if w.slot == "items")
    own |= {id(s) for stretch in lists if stretch is not None for s in stretch.stores}

    def path_of(target: Any, thing: Any) -> Path | None:
        if thing is target or id(thing) in own:
            return None
        if journal.is_made(thing) and not journal.is_fresh(thing):
            return _ITSELF
        return trace.captures.path_of(thing)

    return lambda target: functools.partial(path_of, target)


_ITSELF = Path(Root(None))


def handed_on(captures: Captures) -> PathOf:
    """Where a thing is found that is returned as it is: a function, with what it closes over.

    So is a list or tuple of a class of the user's, to which no trace writes.
    """
    return lambda thing: captures.path_of(thing) if _is_handed_on(thing) else None


def _is_handed_on(thing: Any) -> bool:
    of_class = isinstance(thing, (list, tuple)) and type(thing) not in (list, tuple)
    return isinstance(thing, _HANDED_ON) or (of_class and not hasattr(thing, "_fields"))


_HANDED_ON = (FunctionType, MethodType, functools.partial, set)


def _path_of(s: Snapshot, path_of: PathOf) -> Path | None:
    """Where the thing is found that a snapshot is of."""
    if isinstance(s, Rec) and type(s.value) is Complex:  # whose parts are registered
        paths = [path_of(s.value.re), path_of(s.value.im)]
        if any(p is _ITSELF for p in paths):
            return None
        whole = [Path(p.root, p.steps[:-1]) for p in paths if p is not None and p.steps]
        names = [p.steps[-1] for p in paths if p is not None and p.steps]
        is_one = names == [("attr", "real"), ("attr", "imag")] and whole[0] == whole[1]
        return whole[0] if is_one else None
    return path_of(s.value) if isinstance(s, (Arr, Rec, Obj)) else None


def result_form(
    s: Snapshot, seen: dict[Any, Form] | None = None, path_of: PathOf | None = None
) -> Form:
    """Numbers that are traced, floats and arrays are results; the rest is static."""
    seen = {} if seen is None else seen
    if path_of is not None and (path := _path_of(s, path_of)) is not None:
        return seen.setdefault((id(s), There), Keep(s) if path is _ITSELF else There(s, path))
    if id(s) in seen:
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
