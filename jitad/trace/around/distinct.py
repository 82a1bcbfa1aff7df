"""Which things from outside must be two things in other calls, too, or share no memory?

A trace knows by their paths which are one; `is`, `id`, sets, and keys without a hash of their own
ask which are not, and a write to one of them must not be a write to another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from jitad.errors import JitadError
from jitad.runtime.aliases import pairs_of
from jitad.tape.types import Array
from jitad.trace.around.captures import Captures
from jitad.trace.around.paths import Guard, Input, Path, Root, shared
from jitad.values.array import ArrayHandle
from jitad.values.memory import share_memory

if TYPE_CHECKING:
    from jitad.trace.context import Trace


def two(captures: Captures, a: Any, b: Any) -> None:
    """It was said that these are not one."""
    one, other = captures.path_of(a), captures.path_of(b)
    if one is not None and other is not None:
        captures.guards.append(Guard(one, "apart", other))


def written(captures: Captures, thing: Any) -> None:
    """What was written must go on to be another object than those known by other paths."""
    path = captures.path_of(thing)
    for known, other in captures.known():
        if path is not None and known is not thing and type(known) is type(thing):
            captures.guards.append(Guard(path, "apart", other))


def key(captures: Captures, thing: Any, among: Any = ()) -> None:
    """It is a key, or looked for `among` keys, by which thing it is, or its `id` was asked for."""
    path = captures.path_of(thing)
    if path is None or isinstance(thing, (type, ModuleType)):
        return
    captures.keys.setdefault(id(thing), path)
    for other in among:
        if other is thing:
            captures.guards.append(Guard(path, "is", thing))
        elif type(other) is type(thing):
            captures.keys.setdefault(id(other), captures.path_of(other) or Path(Root(other)))


def keys_differ(captures: Captures) -> None:
    """One guard for all of the keys."""
    if len(captures.keys) > 1:
        first, *others = captures.keys.values()
        captures.guards.append(Guard(first, "distinct", tuple(others)))


def scratched(
    trace: Trace, args: Sequence[Any], inside: Sequence[Any], taken: Sequence[tuple[Any, Any]]
) -> None:
    """What a derivative in the trace has written to, which ends here, and drops the writes.

    `args` are its arguments, `inside` is what the function had in their place, and `taken` are
    pairs of their leaves.
    """
    journal, captures = trace.journal, trace.captures
    by_reference = {id(w.target) for w in journal.written() if w.slot != "_lost"}
    captures.scratch |= {id(w.target): w.target for w in journal.written() if w.slot == "content"}
    written = {id(w.target) for w in journal.frames[-1].values()}
    pairs = [(getattr(a, "roots", (a,)), a, b) for a, b in pairs_of(args, inside, taken)]
    times = Counter(id(r) for roots, _, _ in pairs for r in roots)
    for its_roots, given, own in pairs:
        if own is given:
            continue
        roots = {id(r): r for r in its_roots}
        by_itself = id(own) in written
        twice = any(times[r] > 1 for r in roots)
        if (by_itself and twice) or not roots.keys().isdisjoint(by_reference):
            raise JitadError(
                f"an argument ({type(given).__name__}) that is written in a derivative is, or "
                "shares memory with, another one that the function was given", trace.builder.pos,
                "Pass a copy of one of them.",
            )  # fmt: skip
        captures.scratch.update(roots if by_itself else {})


def memories_differ(captures: Captures, given: Sequence[Input]) -> None:
    """What a derivative writes to must share no memory with another array that is read.

    The writes are not made in the end, and what other names would show of them is not seen.
    `given` are the arrays and numbers of the arguments.
    """
    inputs = [i.path for i in (*given, *captures.inputs) if isinstance(i.type, Array)]
    inputs = [p for p in inputs if p.steps or not isinstance(p.root, Root)]  # not the trace's own
    for k, handle in captures.scratch.items():
        path = captures.path_of(handle)
        if path is None:
            continue
        for j, (other, array) in captures.handles.items() if k in captures.handles else ():
            if j != k and share_memory(captures.handles[k][1], array):
                raise shared(path, other, captures.builder.pos)
        others, kind = inputs, "disjoint"
        if not isinstance(handle, ArrayHandle):
            others, kind = [p for t, p in captures.known() if type(t) is type(handle)], "alone"
        if others := [p for p in others if p != path]:
            captures.guards.append(Guard(path, kind, tuple(others)))
