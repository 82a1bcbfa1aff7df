"""What can a list do whose length only the kernel knows?

The hooks ask here when they meet one (`stretched`).  It is indexed, sliced, iterated, appended to,
popped from, counted, added up, compared and made an array of, as Python's lists are; functions of
NumPy take it for an array.  What it is given to, see `listcalls.py`.
The rest is refused, or rather: where the loops that made the list
could be written out, so that its length is known, the trace starts anew and does so.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from types import CellType, FunctionType
from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadIndexError, JitadTypeError, JitadValueError, RoomMiss
from jitad.plain import as_written
from jitad.tape.build import Leaf
from jitad.tape.ir import lit
from jitad.trace.containers import writtenback
from jitad.trace.containers.elements import converted, read_row, write_row
from jitad.trace.containers.grown import cover, element, empty, fill, variables
from jitad.trace.containers.read_again import unchanged
from jitad.trace.containers.rows import row_of
from jitad.trace.containers.steady import CHANGING
from jitad.trace.containers.stretch import Stretch, stretched
from jitad.trace.containers.writing import note, writes
from jitad.trace.containers.writtenback import writing
from jitad.trace.context import Again, Trace
from jitad.trace.joins.forms import Form, Grown, Number, only_floats
from jitad.trace.joins.join import signature
from jitad.trace.joins.mismatch import Mismatch
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.joins.state import Rec, Snapshot
from jitad.trace.ongoing import current
from jitad.trace.rewrite import rewrite
from jitad.values import extents
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle
from jitad.values.indexing import parse
from jitad.values.journal import made
from jitad.values.kind import fail, require, type_of
from jitad.values.number import bind
from jitad.values.stale import check_thing
from jitad.values.views import Range, all_of

MORE = 8  # elements that a list gets room for where it is full


def refused(what: str) -> Exception:
    """For `raise`: what the list can't do; or the trace starts anew with loops written out."""
    trace = current()
    assert trace is not None
    insight = trace.insight
    if new := trace.needless - insight.written_out:
        raise Again(replace(insight, written_out=insight.written_out | new))
    return fail(
        JitadError, f"a list whose length depends on traced values can't be {what}",
        "Make it an array (np.array), or loop over it.",
    )


def run(f: Callable[..., Any], *args: Any) -> Any:
    """One of the functions of `as_written`, traced as if it stood where the user's code is."""
    twin, pos = rewrite(f), _trace().builder.pos
    if "_jS" not in twin.__code__.co_freevars:
        return twin(*args)
    at = twin.__code__.co_freevars.index("_jS")
    assert twin.__closure__ is not None and pos is not None
    sites = CellType([replace(s, pos=pos) for s in twin.__closure__[at].cell_contents])
    closure = (*twin.__closure__[:at], sites, *twin.__closure__[at + 1 :])
    return FunctionType(twin.__code__, twin.__globals__, f.__name__, None, closure)(*args)


def _trace() -> Trace:
    trace = current()
    if trace is None:
        raise JitadError("a traced list is used after its trace has ended")
    return trace


def _of(target: list[Any]) -> Stretch:
    out = stretched(target)
    assert out is not None
    return out


_OPERATORS = {"and": "and_", "or": "or_"}  # which are named otherwise

# -- elements -------------------------------------------------------------------------------------


def place(stretch: Stretch, index: Any, doing: str = "list index") -> Any:
    """An index of the user's as one that is there."""
    n = stretch.count
    k = extents.as_int(index, "the index of a list")
    if isinstance(k, Leaf):
        k = bind("where", bind("lt", k, 0), extents.add(k, n), k)
        inside = bind("logical_and", bind("ge", k, 0), bind("lt", k, n))
    elif k < 0:
        inside = bind("ge", n, -k)
        k = extents.add(n, k)
    else:
        inside = bind("gt", n, k)
    require(inside, JitadIndexError, f"{doing} out of range")
    return k


def get(target: list[Any], index: Any) -> Any:
    stretch = _of(target)
    if isinstance(index, slice):
        return sliced(target, index)
    return read(target, place(stretch, index))


def read(target: Any, k: Any) -> Any:
    """Element number k, and where it is."""
    out = read_row(_trace().builder, _of(target), k)
    writtenback.came_from(_trace(), out, target, k)
    return out


def items_of(
    target: Any, changes: Callable[[], None]
) -> tuple[Callable[[Any], Any], Callable[[Any], None]]:
    """The elements of an iteration, and what asks for the list to be as long as at its beginning,
    unless the iteration was left `early`.  If it may not be, `changes` may know another way."""
    count = _of(target).count

    def ended(early: Any) -> None:
        check_thing(target)
        stretch = stretched(target)
        same = stretch is not None and (
            extents.same(stretch.count, count) or bind("eq", stretch.count, count)
        )
        if same is not True and early is not True:
            changes()
            same = bind("logical_or", same, early) if early is not False else same
            require(same, JitadError, CHANGING, "Loop over a copy: for x in list(xs).")

    def item(k: Any) -> Any:
        ended(False)
        return read(target, k)

    return item, ended


def put(target: Any, index: Any, value: Any) -> None:
    """target[index] = value"""
    stretch = _of(target)
    if isinstance(target, tuple):
        raise TypeError("'tuple' object does not support item assignment")
    if isinstance(index, slice):
        start, count, step = _part(target, index)
        if step == 1:
            _put_slice(target, start, count, _once(target, value))
        else:
            run(as_written.put_steps, target, start, count, step, _once(target, value))
        return
    k = place(stretch, index, "list assignment index")
    writtenback.moved(_trace(), target)
    put_back(target, k, value)


def put_back(target: list[Any], k: Any, value: Any) -> None:
    """target[k] = value, for a place that is there."""
    stretch = _fitting(target, value)
    note(target)
    write_row(_trace().builder, stretch.element, snapshot(value), stretch.stores, k, target)


def put_changed(target: list[Any], k: Any, value: Any, before: Snapshot) -> list[bool]:
    """The same of an element that the rows hold as it was; which of its numbers still are that?"""
    was = _of(target)
    stretch, now = _fitting(target, value), snapshot(value)
    same = [*unchanged(stretch.element, now, before if stretch is was else None)]
    note(target)
    stores = [None if s else store for s, store in zip(same, stretch.stores, strict=True)]
    write_row(_trace().builder, stretch.element, now, stores, k, target)
    return same


def _part(target: Any, index: slice) -> tuple[Any, Any, Any]:
    """Where a slice starts, how many elements it has, and its step."""
    n = _of(target).count
    (entry,) = parse(index, (n,))
    assert isinstance(entry, Range)
    beyond = index.step is None or entry.step == 1  # it may start there, and then has none
    return extents.smallest(entry.start, n) if beyond else entry.start, entry.count, entry.step


def _once(target: Any, values: Any) -> Any:
    """What is assigned to a part of the list, should it be the list or an iterator."""
    return call_list(values) if values is target or hasattr(values, "__next__") else values


def call_list(values: Any) -> Any:
    from jitad.trace.calls import call  # which asks here first

    return call(list, values)


def _put_slice(target: list[Any], start: Any, count: Any, values: Any) -> None:
    """Other elements in the place of some."""
    writtenback.moved(_trace(), target)
    later = sliced(target, slice(extents.add(start, count), None))
    stretch = _of(target)
    note(target)
    target[0] = Stretch(start, stretch.stores, stretch.element, stretch.spare)
    extend(target, values)
    extend(target, later)


def become_rows(target: list[Any]) -> None:
    """A list of known length becomes one whose elements are found by traced numbers."""
    b, s = _trace().builder, snapshot(target)
    assert isinstance(s, Rec)
    n = len(target)
    require(n > 0, JitadIndexError, "list assignment index out of range")
    try:
        form = functools.reduce(cover, map(element, s.parts))
    except Mismatch as e:
        raise fail(JitadTypeError, f"this is {e}", "Give all elements one form.") from None
    if isinstance(form, Number):
        stores = [_packed(target, form.type.dtype)]
    else:
        stores = empty(b, Grown(s, form, lit(n), 0))
        for k, part in enumerate(s.parts):
            write_row(b, form, part, stores, k, target)
    note(target)
    target[:] = [Stretch(n, tuple(stores), form, 0)]


def _packed(numbers: list[Any], dtype: str) -> ArrayHandle:
    """An array of them, by as few equations as are not all alike."""
    known = [x for x in numbers if not isinstance(x, Leaf)]
    if len(known) <= len(numbers) // 2 or len({*map(repr, known)}) > 1:  # as 0.0 and -0.0 are
        return ArrayHandle(bind("pack", *numbers) if any_traced(numbers) else np.array(numbers))
    out = ArrayHandle(bind("full", np.dtype(dtype).type(known[0]), len(numbers), dtype=dtype))
    for k, x in enumerate(numbers):
        if isinstance(x, Leaf):
            out[k] = x
    return out


def _fitting(target: list[Any], value: Any) -> Stretch:
    """The list's content, after it was made such that it can hold the value, too."""
    stretch, b = _of(target), _trace().builder
    try:
        form = cover(stretch.element, given := element(snapshot(value)))
    except Mismatch as e:
        raise fail(JitadTypeError, f"this is {e}", "Give all elements one form.") from None
    if signature(given, {}) != signature(stretch.element, {}):
        _trace().come_apart(target)
    if _trace().in_rows and _are_others(given, stretch.element):
        insight = _trace().insight  # that it became one of rows was for speed only
        raise Again(replace(insight, written_out=insight.written_out | insight.long))
    if signature(form, {}) == signature(stretch.element, {}):
        return stretch
    room = stretch.room if stretch.stores else extents.add(stretch.count, MORE)  # no numbers as yet
    return _remade(target, form, b.atom(room), stretch.spare if stretch.stores else MORE)


def _are_others(given: Form, held: Form) -> bool:
    """Would numbers be of another type where they are held, as ints among floats are?"""
    if only_floats(held):
        return not only_floats(given)
    a, b = ([getattr(t, "dtype", t) for t, _ in variables(f)] for f in (given, held))
    return len(a) == len(b) and a != b


def _remade(target: list[Any], form: Any, room: Any, spare: int | None) -> Stretch:
    stretch, b = _of(target), _trace().builder
    stores = empty(b, Grown(Rec(target, (), ()), form, room, spare))
    contents = [s.content for s in stretch.stores]
    held = converted(b, stretch.element, form, contents, stretch.count)
    for h, c in zip(stores, held, strict=True):
        if c is not None:
            fill(h, c, stretch.count)
    note(target)
    target[0] = Stretch(stretch.count, tuple(stores), form, spare)
    return target[0]


def append(target: list[Any], value: Any) -> None:
    stretch, trace = _fitting(target, value), _trace()
    b = trace.builder
    spare = stretch.spare
    if spare is None:
        text = trace.room_message(b.atom(stretch.room))
        if text is not None:
            require(bind("lt", stretch.count, stretch.room), RoomMiss, text)
    elif spare == 0:
        spare = MORE
        room = b.atom(extents.add(stretch.room, MORE))
        stretch = _remade(target, stretch.element, room, spare)
    note(target)
    write_row(b, stretch.element, snapshot(value), stretch.stores, stretch.count, target)
    left = None if spare is None else spare - 1
    target[0] = Stretch(extents.add(stretch.count, 1), stretch.stores, stretch.element, left)


def pop(target: list[Any], index: Any = -1) -> Any:
    stretch, b = _of(target), _trace().builder
    if not stretch.stores or not isinstance(index, Leaf):
        require(bind("gt", stretch.count, 0), JitadIndexError, "pop from empty list")
    k = place(stretch, index, "pop index")
    writtenback.moved(_trace(), target)
    out = read_row(b, stretch, k)
    note(target)
    if isinstance(index, Leaf) or index != -1:
        rest = extents.sub(extents.sub(stretch.count, k), 1)
        for s in stretch.stores:
            all_but_first = all_of(s.shape).entries[1:]
            later = s._window((Range(extents.add(k, 1), 1, rest), *all_but_first))
            s._window((Range(k, 1, rest), *all_but_first)).assign(ArrayHandle(later.content))
    target[0] = Stretch(
        extents.sub(stretch.count, 1), stretch.stores, stretch.element, stretch.spare
    )
    return out


def extend(target: list[Any], values: Any) -> None:
    run(as_written.extend, target, copied(values) if values is target else values)


def clear(target: list[Any]) -> None:
    writtenback.moved(_trace(), target)
    note(target)
    target.clear()


def sort(target: list[Any], *, key: Any = None, reverse: Any = False) -> None:
    from jitad.trace.containers.listcalls import sorted_  # which makes a new list

    new = sorted_(target, key, reverse)
    writtenback.moved(_trace(), target)
    note(target)
    target[0] = new[0]


# -- whole lists ----------------------------------------------------------------------------------


def copied(target: Any) -> list[Any]:
    stretch = _of(target)
    return _new(stretch, lambda s: ArrayHandle(s.content), stretch.count, stretch.spare)


def frozen(target: Any) -> tuple[Any, ...]:
    """tuple(target)"""
    return tuple(copied(target)) if isinstance(target, list) else target


def _new(
    stretch: Stretch, part: Callable[[Any], Any], count: Any, spare: int | None
) -> list[Any]:
    if not isinstance(stretch.element, Number):
        writtenback.copied(_trace(), stretch.element)
    out = [Stretch(count, tuple(map(part, stretch.stores)), stretch.element, spare)]
    made(out)
    return out


def sliced(target: Any, index: slice) -> Any:
    """target[a:b:c], a new list or tuple."""
    stretch = _of(target)
    if not stretch.stores:
        raise refused("sliced, holding no numbers")
    (entry,) = parse(index, (stretch.count,))
    assert isinstance(entry, Range)

    def part(s: ArrayHandle) -> ArrayHandle:
        return ArrayHandle(s._window((entry, *all_of(s.shape).entries[1:])).content)

    out = _new(stretch, part, entry.count, 0)
    return out if isinstance(target, list) else tuple(out)


def around_star(target: list[Any], before: int, after: int) -> list[Any]:
    """What `a, *b, c = target` takes apart: the star makes a list of what lies between."""
    n = _of(target).count
    text = f"not enough values to unpack (expected at least {before + after})"
    require(bind("ge", n, before + after), JitadValueError, text)
    first = [get(target, k) for k in range(before)]
    last = [get(target, extents.sub(n, k)) for k in range(after, 0, -1)]
    (between,) = sliced(target, slice(before, extents.sub(n, after)))
    return [*first, between, *last]


def repeated(a: list[Any], n: Any) -> list[Any]:
    """A list as often as only the kernel knows."""
    if type_of(n).dtype[0] not in "iub":
        raise TypeError("can't multiply sequence by non-int of type 'float'")
    return run(as_written.repeated, a, n)


def binary(name: str, a: Any, b: Any) -> Any:
    """a + b and the like, of which one at least is such a list."""
    if isinstance(a, ArrayHandle) or isinstance(b, ArrayHandle):  # as NumPy takes lists
        from jitad.trace.containers.as_arrays import as_array  # which refuses as lists do

        x, y = (as_array(v) if stretched(v) is not None else v for v in (a, b))
        return getattr(operator, _OPERATORS.get(name, name))(x, y)
    both = type(a) is type(b)
    if name == "add" and both:
        out = run(as_written.chained, (a, b))
        return out if isinstance(a, list) else call_tuple(out)
    if name in ("eq", "ne") and both:
        equal = run(as_written.equal, a, b)
        if name == "eq":
            return equal
        return bind("logical_not", equal) if isinstance(equal, Leaf) else not equal
    if name in ("eq", "ne"):
        return name == "ne"
    if name == "mul" and (isinstance(a, int | Leaf) or isinstance(b, int | Leaf)):
        values, n = (b, a) if isinstance(a, int | Leaf) else (a, b)
        out = repeated(values, n)
        return out if isinstance(values, list) else call_tuple(out)
    raise refused(f"an operand of {name}")


def in_place(name: str, a: Any, b: Any) -> Any:
    """a += b for such lists."""
    if name == "add" and isinstance(a, tuple):
        return binary(name, a, b)
    if not isinstance(a, list) or name not in ("add", "mul"):
        raise refused(f"an operand of {name}")
    if name == "mul":
        run(as_written.repeat, a, extents.as_int(b, "what a list is multiplied by"))
    else:
        extend(a, b)
    return a


# -- calls ----------------------------------------------------------------------------------------

_METHODS: dict[str, Callable[..., Any]] = {
    "append": append, "pop": pop, "extend": extend, "clear": clear, "copy": copied,
    "sort": sort, "__getitem__": get, "__setitem__": put,
    "__len__": lambda target: _of(target).count,
    "__contains__": lambda target, value: contains(target, value),
}  # fmt: skip


def method(target: list[Any], name: str) -> Callable[..., Any]:
    """A method of the list or tuple, bound."""
    found = _METHODS.get(name)
    if found is None:
        if name not in _WRITTEN:
            raise refused(f"asked for .{name}")
        found = functools.partial(run, _WRITTEN[name])

    def bound(*args: Any, **kwargs: Any) -> Any:
        with writing(target) if writes(target, name) else nullcontext():
            return found(target, *args, **kwargs)

    return bound


# methods as one would write them
_WRITTEN: dict[str, Callable[..., Any]] = {
    "count": as_written.count, "index": as_written.index, "insert": as_written.insert,
    "reverse": as_written.reverse, "remove": as_written.remove,
}  # fmt: skip


def length(target: list[Any]) -> Any:
    return _of(target).count


def delete(target: list[Any], index: Any) -> None:
    if isinstance(index, slice):
        start, count, step = _part(target, index)
        if step != 1:
            raise refused("shortened by a slice with steps")
        _put_slice(target, start, count, [])
        return
    pop(target, index)


def call_tuple(values: Any) -> Any:
    return frozen(values) if stretched(values) is not None else tuple(values)


def contains(target: list[Any], value: Any) -> Any:
    at = row_of(target, value)
    return run(as_written.contains, target, value) if at is None else bind("ge", at, 0)
