"""Which writes outlive a call, and how are they made?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from jitad.errors import JitadError
from jitad.immutable import immutable
from jitad.tape.ir import Atom
from jitad.trace.around import distinct
from jitad.trace.around.containers import refill
from jitad.trace.around.paths import Path, cell_of
from jitad.trace.containers.stretch import stretched
from jitad.trace.context import Trace
from jitad.trace.joins.forms import Form, Keep, Maybe, Number, OneOf, Record
from jitad.trace.joins.unset import UNSET, OrDefault, Perhaps, of_its_own
from jitad.trace.output import Output
from jitad.trace.results import Leaving, around, output_of
from jitad.values.journal import MISSING, Write
from jitad.values.kind import fail


@immutable(eq=False)
class Commit:
    """A write that outlives the call: see `Traced.commit`."""

    path: Path  # of what is written to
    slot: Any  # "content", "items", "appended", ("cell", name), ("attr", name), ("global", name)
    output: Output | None  # None: the thing is deleted

    def after(self, count: int) -> Commit:
        """The same, where so many results of the tape stand before those of the commits."""
        if self.output is None:
            return self
        return replace(self, output=replace(self.output, first=self.output.first + count))

    def prepared(
        self, flat: Sequence[Any], function: Any, args: Any, kwargs: Any, made: dict[int, Any]
    ) -> tuple[Any, Any]:
        """What is written to, and what is written; `made`: see `Output.rebuild`."""
        value: Any = MISSING
        if self.output is not None:
            value = self.output.rebuild(flat, function, args, kwargs, made)
        path = self.path
        if isinstance(self.slot, tuple) and self.slot[0] == "cell":  # the function that has it
            path = Path(path.root, path.steps[:-1])
        return path.get(function, args, kwargs), MISSING if value is UNSET else value

    def apply(self, target: Any, value: Any) -> None:
        match self.slot:
            case ("cell", name):
                if value is not MISSING:
                    cell_of(target, name).cell_contents = value
            case "content":
                target[...] = value
            case "items":
                refill(target, value)
            case "appended":
                target.extend(v for v in value if v is not UNSET)
            case ("attr", name):
                if value is not MISSING:
                    setattr(target, name, value)
                else:
                    with suppress(AttributeError):  # which only its class has
                        delattr(target, name)
            case ("global", name):
                module = target.__globals__
                if value is MISSING:
                    module.pop(name, None)
                else:
                    module[name] = value


def commits_of(running: Trace, outputs: list[Atom], leaving: Leaving) -> list[Commit]:
    """Writes to things that are found from outside."""
    commits: list[Commit] = []
    writes = list(running.journal.frames[-1].values())
    whole = {id(w.target) for w in writes if w.slot == "items"}
    for w in writes:
        path = running.captures.path_of(w.target)
        if path is None or (w.slot == "appended" and id(w.target) in whole):
            continue
        running.may_be_copied(w.target)
        if w.slot == "_lost":
            running.refuse_lost(w.target)
        distinct.written(running.captures, w.target)
        value = of_its_own(w.read)
        if w.old is MISSING and _may_stay_away(w, value):
            running.captures.rely_on_none(_place(path, w))
        if value is MISSING:
            commits.append(Commit(path, w.slot, None))
            continue
        found = around(running.captures, w.target)
        if w.slot != "content":
            running.keep_outside(value)
        if w.slot == "items" and _holds_copies(value):
            raise fail(JitadError, f"{path} holds arrays, lists or objects, and only the kernel "
                       "knows how long it gets: it would hold copies afterwards",
                       "Append to it outside, or keep numbers in it.")  # fmt: skip
        output = output_of(running.builder, value, outputs, found, leaving)
        commits.append(Commit(path, w.slot, output))
    return commits


def _holds_copies(value: Any) -> bool:
    """Is it a list whose elements only the kernel can tell, which are more than numbers?"""
    stretch = stretched(value) if isinstance(value, list) else None
    return stretch is not None and not _is_value(stretch.element)


def _is_value(form: Form) -> bool:
    """Is one like another: a number, a tuple of such, or what is there anyway?"""
    match form:
        case Number() | Keep():
            return True
        case Record(of, parts):
            return isinstance(of.value, tuple) and all(map(_is_value, parts))
        case OneOf(_, parts):
            return all(map(_is_value, parts))
        case Maybe(part):
            return _is_value(part)
    return False


def _may_stay_away(w: Write, value: Any) -> bool:
    """Is nothing written on some path, where there was nothing before?"""
    if isinstance(w.read, OrDefault) and w.read.taken:
        return True
    return isinstance(value, Perhaps) and not value.none


def _place(path: Path, w: Write) -> Path:
    """Where what is written is found, if it is there."""
    kind, name = w.slot
    if kind == "cell":
        return path
    if kind == "attr" and hasattr(w.target, "__dict__"):
        return path.then("attr", "__dict__").then("item", name)
    return path.then(kind, name)
