"""How is a Python value made of results of the tape?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jitad.errors import JitadError
from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Atom
from jitad.trace.join import Form, Handle, Keep, Maybe, Number, Record, Unifier, _container, extract
from jitad.trace.snapshot import Arr, Num, Per, Rec, Snapshot
from jitad.trace.texts import Text
from jitad.trace.unset import UNSET


@dataclass(frozen=True, eq=False)
class Output:
    """How a Python value is made of results of the tape."""

    form: Form
    first: int
    count: int

    def rebuild(self, flat: Sequence[Any]) -> Any:
        """The value, given all results of the tape as plain numbers and arrays."""
        supply = iter(flat[self.first : self.first + self.count])
        return _assemble(self.form, supply, {})


def output_of(builder: Builder, s: Snapshot, outputs: list[Atom]) -> Output:
    first = len(outputs)
    form = result_form(s)
    extract(builder, form, s, outputs)
    return Output(form, first, len(outputs) - first)


def result_form(s: Snapshot, seen: dict[int, Form] | None = None) -> Form:
    """Numbers that are traced, floats and arrays are results; the rest is static."""
    seen = {} if seen is None else seen
    if id(s) in seen:
        return seen[id(s)]
    out: Form
    match s:
        case Num(value) if isinstance(value, (Leaf, float)) or hasattr(value, "ndim"):
            out = Unifier().alone(s, "")
        case Arr():
            out = Unifier().alone(s, "")
        case Rec():
            out = seen[id(s)] = Record(s, ())
            out.parts = tuple(result_form(p, seen) for p in s.parts)
        case Per(_, part) if part is not None:
            out = Maybe(result_form(part, seen), s.name)
        case Per():
            raise JitadError("a value that is bound on some paths only is stored or returned")
        case _:
            out = Keep(s)
    seen[id(s)] = out
    return out


def _assemble(f: Form, supply: Any, made: dict[int, Any]) -> Any:
    if id(f) in made:
        return made[id(f)]
    match f:
        case Number() | Handle():
            out = next(supply)
        case Record():
            out = _container(f, [_assemble(p, supply, made) for p in f.parts])
            if type(out) is Text:
                out = str(out)
        case Maybe(part):
            flag = next(supply)
            out = _assemble(part, supply, made)
            out = out if flag else UNSET
        case Keep(s):
            out = s.value  # type: ignore[union-attr]
        case _:
            raise AssertionError(f)
    made[id(f)] = out
    return out
