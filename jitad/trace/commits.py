"""Which writes outlive a call, and how are they made?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jitad.tape.ir import Atom
from jitad.trace.around import distinct
from jitad.trace.around.containers import refill
from jitad.trace.around.paths import Path, cell_of
from jitad.trace.context import Trace
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.joins.unset import UNSET
from jitad.trace.output import Output
from jitad.trace.results import around, output_of
from jitad.values.journal import MISSING


@dataclass(frozen=True, eq=False)
class Commit:
    """A write that outlives the call: see `Traced.commit`."""

    path: Path  # of what is written to
    slot: Any  # "content", "items", "appended", ("cell", name), ("attr", name), ("global", name)
    output: Output | None  # None: the thing is deleted

    def prepared(
        self, flat: Sequence[Any], function: Any, args: Any = (), kwargs: Any = None
    ) -> tuple[Any, Any]:
        """What is written to, and what is written."""
        value: Any = MISSING
        if self.output is not None:
            value = self.output.rebuild(flat, function, args, kwargs)
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
                elif hasattr(target, name):
                    delattr(target, name)
            case ("global", name):
                module = target.__globals__
                if value is MISSING:
                    module.pop(name, None)
                else:
                    module[name] = value


def commits_of(running: Trace, outputs: list[Atom]) -> list[Commit]:
    """Writes to things that are found from outside."""
    commits: list[Commit] = []
    writes = list(running.journal.frames[-1].values())
    whole = {id(w.target) for w in writes if w.slot == "items"}
    for w in writes:
        path = running.captures.path_of(w.target)
        if path is None or (w.slot == "appended" and id(w.target) in whole):
            continue
        if w.slot == "_lost":
            running.refuse_lost(w.target)
        distinct.written(running.captures, w.target)
        value = w.read()
        if value is MISSING:
            commits.append(Commit(path, w.slot, None))
            continue
        found = around(running.captures, w.target)
        output = output_of(running.builder, snapshot(value), outputs, found)
        commits.append(Commit(path, w.slot, output))
    return commits
