"""Which lists become ones of rows where a long loop counts in them, or goes over them?

Lists of floats, of lists of as many floats, and of things that the trace has made, dicts or objects
of one class, which hold the same numbers.  Written out, the loop would be long; over rows it can be
rolled.  They become such before the outermost loop that would be long (`Unrolled.give_rows`).
"""

from __future__ import annotations

from operator import is_
from typing import Any

from jitad.errors import JitadError, JitadTypeError
from jitad.tape.build import Leaf
from jitad.trace.containers import lists
from jitad.trace.containers.grown import element
from jitad.trace.containers.iterables import (
    Counted,
    Together,
    enumerate_,
    leave,
    zip_,
)
from jitad.trace.containers.steady import Steady
from jitad.trace.containers.stretch import stretched
from jitad.trace.containers.writing import kind_of
from jitad.trace.containers.writtenback import MOVED, are_two, is_mutable
from jitad.trace.joins.forms import Record
from jitad.trace.joins.join import signature
from jitad.trace.joins.mismatch import Mismatch
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.ongoing import current
from jitad.values import extents
from jitad.values.indexing import parse
from jitad.values.kind import fail, type_of
from jitad.values.stale import check_thing
from jitad.values.views import Range

# -- lists that a loop counts in ------------------------------------------------------------------


def want_rows(owner: Any, index: Leaf, reading: bool = False) -> bool:
    """Where a long loop counts in such lists, these become ones of rows before it begins.

    Numbers are read without: they are picked from the list as it is.
    """
    trace = current()
    if trace is None or type(owner) is not list or not trace.counts_out_at_length(index):
        return False
    counted = is_table(owner) if reading else are_floats(owner)
    if counted or are_things(owner):
        want(owner)
        return True
    return False


def want(owner: list[Any]) -> None:
    """It is to be one of rows, here or before the loops around that would be long."""
    trace = current()
    assert trace is not None
    around = trace.at_length[-1:]
    if not all(trace.journal.made_since(owner, frame) for _, frame in around):
        trace.wanted.append(owner)
        raise fail(JitadTypeError, "a traced number can't become an index of this list")
    into_rows(owner)  # an iteration has made it


def into_rows(target: list[Any]) -> None:
    """A list of numbers or of things, or of lists of numbers at every depth."""
    if stretched(target) is None and (trace := current()) is not None:
        trace.in_rows = True
        trace.needless |= trace.insight.long  # which may be written out, should that not do
        for inner in target:
            if type(inner) is list:
                into_rows(inner)
        lists.become_rows(target)


def is_table(owner: list[Any]) -> bool:
    """A list of lists of the same number of floats."""
    return bool(owner) and type(owner[0]) is list and are_floats(owner)


def are_floats(owner: list[Any]) -> bool:
    """Floats, or lists of the same number of them: other kinds would become floats, too."""
    inner = [v for v in owner if type(v) is list]
    if inner:
        return len({*map(len, inner)}) == 1 and len(inner) == len(owner) and all(
            map(are_floats, inner))  # fmt: skip
    return all(isinstance(v, (float, Leaf)) and type_of(v).dtype == "f8" for v in owner)


# -- lists that a loop goes over ------------------------------------------------------------------


def are_things(owner: Any) -> bool:
    """Dicts, or objects of one class, made here, each once, whose numbers are of the same types."""
    trace = current()
    if trace is None or type(owner) is not list or len(owner) < 2:
        return False
    kind = type(owner[0])
    if kind is not dict and (kind_of(owner[0]) is not None or kind.__module__ == "builtins"):
        return False
    if {*map(type, owner)} != {kind} or len({*map(id, owner)}) != len(owner):
        return False
    if not all(map(trace.journal.is_made, owner)):
        return False
    try:
        forms = [element(snapshot(v)) for v in owner]
    except Mismatch:
        return False
    return isinstance(forms[0], Record) and len({signature(f, {}) for f in forms}) == 1


def get_part(owner: Any, index: slice, *around: Any) -> Any:
    """owner[a:b] for a loop alone, or for one of these functions that a loop is over."""
    from jitad.trace.containers.keyed import as_index  # which asks here
    from jitad.trace.places import get_item

    trace = current()
    alone = all(f in (enumerate, zip) for f in around)
    if trace is None or not alone or type(owner) is not list:
        return get_item(owner, index)
    stretch = stretched(owner)
    if stretch is not None and is_mutable(stretch.element):
        return view(owner, as_index(owner, index))
    out = get_item(owner, index)
    if type(out) is list and stretched(out) is None:
        trace.slices[id(out)] = out, owner, index
    return out


def view(owner: list[Any], index: slice) -> Counted:
    """Part of a list, for a loop over it.  Its elements are those of the list, at their places."""
    trace, stretch = current(), stretched(owner)
    assert trace is not None and stretch is not None
    (entry,) = parse(index, (stretch.count,))
    assert isinstance(entry, Range)
    before = len(trace.moves)

    def stays() -> None:
        """A slice has what was there when it was made."""
        if not all(are_two(trace, x, owner) for x in trace.moves[before:]):
            raise fail(JitadError, MOVED, "Loop over a copy: for x in list(xs[a:b]).")

    def item(k: Any) -> Any:
        check_thing(owner)
        stays()
        return lists.read(owner, extents.add(entry.start, extents.mul(k, entry.step)))

    def ended(early: Any) -> None:
        if early is not True:
            stays()

    return Counted(entry.count, item, (0, entry.count, 1), None, ended)


def gone_over(iterable: Any) -> list[list[Any]]:
    """The lists of things that a loop is over, itself or by `enumerate` or `zip`."""
    return [x for x in _parts(iterable) if isinstance(x, list) and are_things(x)]


def _parts(iterable: Any) -> list[Any]:
    if type(iterable) not in (enumerate, zip):
        return [iterable]
    given = iterable.__reduce__()[1]
    inside = given[:1] if type(iterable) is enumerate else given
    return [x.items if type(x) is Steady and not x.at else x for x in inside]


def _sliced(part: Any) -> tuple[list[Any], slice] | None:
    """The list that things are a slice of, as it is now."""
    trace = current()
    found = trace.slices.get(id(part)) if trace is not None else None
    if found is None or stretched(found[1]) is not None:
        return None
    _, owner, index = found
    now = owner[index]
    return (owner, index) if len(now) == len(part) and all(map(is_, now, part)) else None


def in_rows(iterable: Any) -> Any:
    """What the loop is over, with such lists as ones of rows; anything else is what it is."""
    found = gone_over(iterable)
    if not found:
        return iterable
    slices = {id(x): s for x in found if (s := _sliced(x)) is not None}
    for x in found:
        owner, _ = slices.get(id(x), (x, None))
        if stretched(owner) is None:
            want(owner)
    parts = [view(*slices[id(x)]) if id(x) in slices else x for x in _parts(iterable)]
    if type(iterable) not in (enumerate, zip):
        return parts[0]
    if (trace := current()) is not None:
        leave(trace.left, iterable)  # it is not gone over itself
    _, given, *strict = iterable.__reduce__()
    if type(iterable) is enumerate:
        return enumerate_(parts[0], given[1])
    together = zip_(*parts, strict=bool(strict))
    return together.whole() if type(together) is Together else together
