"""What can a `for` loop run over, and is its length known?

`sequence(x)` gives a `Counted`, whose items are found by number, where the length is traced (or
where x is a range or an array, so that the loop may become one of the tape); anything else is
iterated as Python does.  `enumerate`, `zip` and `reversed` of such things are such things.
"""

from __future__ import annotations

import gc
import inspect
import itertools
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import CellType, GeneratorType
from typing import Any
from weakref import WeakKeyDictionary

from jitad.errors import JitadError, JitadTypeError, JitadValueError
from jitad.plain import as_written as plain
from jitad.tape.build import Leaf
from jitad.tape.types import Scalar, type_of_constant
from jitad.trace.containers.steady import CHANGING, Steady, changing, steady
from jitad.trace.containers.stretch import stretched
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.chosen import each
from jitad.values.complexes.number import Complex, parts, together
from jitad.values.indexing import parse
from jitad.values.journal import active, made, record
from jitad.values.kind import fail, require
from jitad.values.number import Number, bind
from jitad.values.numpy.structured import Structured
from jitad.values.ranges import Range, length, relied
from jitad.values.stale import check_thing
from jitad.values.views import Range as Slice


@dataclass(eq=False)
class Counted:
    """`count` items, number k being item(k); `bounds` is the range that the index runs over."""

    count: Any
    item: Callable[[Any], Any]
    bounds: tuple[Any, Any, Any]  # start, stop, step
    begun: Any = None  # has it been gone over?  None: it is no iterator, and that may be done again
    ended: Callable[[Any], None] = lambda early: None  # asks for what must hold at the end
    changes: Callable[[], None] = lambda: None  # called where a list gets longer or shorter

    @property
    def static(self) -> Iterable[Any] | None:
        """The items one by one, as they are when their turn comes; None for a traced length."""
        return None if isinstance(self.count, Leaf) else map(self.item, range(self.count))

    def rest(self) -> Counted:
        """All but the first, by number."""
        count = self.count - 1
        return Counted(count, lambda k: self.item(k + 1), (0, count, 1), None, self.ended)

    def __iter__(self) -> Any:
        self.begin()
        return self.each()

    def each(self) -> Any:
        items = self.static
        if items is not None:
            return iter(items)
        return map(self.item, range(relied(self.count, "the length of what is iterated")))

    def begin(self) -> None:
        """It is gone over now.  What is left of it afterwards, is not kept."""
        if self.begun is None:
            return
        if self.begun is not False:
            raise fail(JitadError, "an enumerate, zip or reversed is gone over twice",
                       "Make a list of it first.")  # fmt: skip

        def assign(value: Any) -> None:
            self.begun = value

        record(self, "begun", False, lambda: self.begun, assign)
        self.begun = True


def by_number(count: Any, item: Callable[[Any], Any], *over: Counted) -> Counted:
    def ended(early: Any) -> None:
        for s in over:
            s.ended(early)

    out = Counted(count, item, (0, count, 1), False, ended)
    for s in over:
        s.changes = lambda: out.changes()
    made(out)
    return out


def sequence(x: Any) -> Counted | None:
    """x as items that are found by number, or None."""
    match x:
        case Counted():
            return x
        case range():
            return _range(x.start, x.stop, x.step)
        case Range(start, stop, step):
            return _range(start, stop, step)
        case ArrayHandle() | Complex() | Structured():
            if not x.shape:
                raise TypeError("iteration over a 0-d array")
            return Counted(x.shape[0], x.row, (0, x.shape[0], 1))
        case list() | tuple() if (stretch := stretched(x)) is not None:
            from jitad.trace.containers import lists  # which loops

            item, ended = lists.items_of(x, lambda: out.changes())
            out = Counted(stretch.count, item, (0, stretch.count, 1), None, ended)
            return out
    return None


def begun(x: Any) -> Counted | None:
    """The same, to be gone over now."""
    counted = sequence(x)
    if counted is not None:
        counted.begin()
    return counted


def _range(start: Any, stop: Any, step: Any) -> Counted:
    if any(isinstance(v, Number) for v in (start, stop, step)):
        count = length(start, stop, step)
    else:
        count = len(range(start, stop, step))

    def item(k: Any) -> Any:
        return extents.add(start, extents.mul(k, step))

    return Counted(count, item, (start, stop, step))


def enumerate_(x: Any, start: Any = 0) -> Any:
    changes, as_written = changing()
    if as_written is not None and isinstance(x, list):
        return as_written(plain.enumerated, x, start)
    s = sequence(x.whole() if type(x) is Together and _is_fresh(x) else x)
    if s is None:
        return made_of(enumerate(steady(x, changes), start), x)
    s.begin()
    out = by_number(s.count, lambda k: (extents.add(k, start), s.item(k)), s)
    out.changes = changes
    return out


def part_of(s: Counted, part: slice) -> Counted:
    """Those of the items that `itertools.islice` takes."""
    changes, _ = changing()
    (entry,) = parse(part, (s.count,))
    assert isinstance(entry, Slice)
    s.begin()
    start, step = entry.start, entry.step
    out = by_number(entry.count, lambda k: s.item(extents.add(start, extents.mul(k, step))), s)
    out.changes = changes
    return out


class Backwards:
    """The items of a list or tuple from the last to the first, as `reversed` gives them."""

    called = "reversed"

    def __init__(self, items: Any) -> None:
        self.items, self.at = items, len(items) - 1

    def __iter__(self) -> Backwards:
        return self

    def __next__(self) -> Any:
        check_thing(self.items)
        stretch = stretched(self.items)
        if self.at < 0 or (stretch is None and self.at >= len(self.items)):
            self.at = -1  # what is appended later comes too late
            raise StopIteration
        self.at -= 1
        if stretch is None:
            return self.items[self.at + 1]
        from jitad.trace.containers import lists  # which loops

        there = bind("gt", stretch.count, self.at + 1)
        require(there, JitadError, CHANGING, "Loop over a copy: for x in list(xs).")
        return lists.read(self.items, self.at + 1)

    def __length_hint__(self) -> int:
        return self.at + 1

    def whole(self) -> Counted:
        """What is left of them, by number; none is left then."""
        items, last, n = self.items, self.at, len(self.items)
        self.at = -1

        def item(k: Any) -> Any:
            return pick(_as_long(items, n), extents.sub(last, k))

        return Counted(last + 1, item, (0, last + 1, 1))


def reversed_(x: Any) -> Any:
    s = sequence(x)
    if s is None:
        out = Backwards(x) if type(x) in (list, tuple) and active() is not None else reversed(x)
        made(out)
        return out
    last = extents.sub(s.count, 1)
    return by_number(s.count, lambda k: s.item(extents.sub(last, k)))


class Together:
    """What `zip` gives of things of known lengths whose items are found by number."""

    called = "zip"

    def __init__(self, counted: Counted) -> None:
        self.counted = counted
        self.rest: Any = None

    def __iter__(self) -> Together:
        return self

    def __next__(self) -> Any:
        if self.rest is None:
            self.rest = iter(self.counted)
        return next(self.rest)

    def whole(self) -> Any:
        """All of it, by number, if nothing was taken yet; whoever goes on with it afterwards, or in
        a loop over it, is told that he can't."""
        return self if self.rest is not None else self.counted


# what is gone over is among their attributes
SOURCES = frozenset({Counted, Steady, Backwards, Together})


def _is_fresh(x: Any) -> bool:
    journal = active()
    return journal is not None and journal.is_fresh(x)


def _together(parts: list[Any], xs: tuple[Any, ...], strict: bool) -> Together | None:
    """Only where a trace may make a loop of it."""
    if active() is None or not parts or any(p is None or type(p.count) is not int for p in parts):
        return None
    counts = [p.count for p in parts]
    if strict and len(set(counts)) > 1:
        return None
    for p in parts:
        p.begin()
    out = Together(by_number(min(counts), lambda k: tuple(p.item(k) for p in parts)))
    return made_of(out, *xs)


def zip_(*xs: Any, strict: bool = False) -> Any:
    changes, as_written = changing()
    if as_written is not None and not strict and any(isinstance(x, list) for x in xs):
        if all(isinstance(x, (list, tuple, ArrayHandle)) for x in xs):
            return as_written(plain.each_together, xs)
    parts = [sequence(x) for x in xs]
    if any(p is not None and p.static is None for p in parts):
        parts = [x.whole() if type(x) is Backwards else p for x, p in zip(xs, parts, strict=True)]
    lengths = any(p is not None and p.static is None for p in parts)
    if lengths and not strict:
        parts = [p if p is not None else _endless(x) for p, x in zip(parts, xs, strict=True)]
    iterators = any(p is None and _advances(x) for p, x in zip(parts, xs, strict=True))
    if (together := _together(parts, xs, strict)) is not None:
        return together
    if not lengths or iterators:  # beside an iterator, lengths are relied on
        given = [steady(x, changes) if p is None else p for x, p in zip(xs, parts, strict=True)]
        return made_of(zip(*given, strict=strict), *xs)
    known = [p if p is not None else listed(x) for p, x in zip(parts, xs, strict=True)]
    count, *others = (p.count for p in known if p.count is not None)
    for n in others:
        if strict:
            require(bind("eq", count, n), JitadValueError,
                    "zip() arguments have different lengths")  # fmt: skip
        count = extents.smallest(count, n)
    for p in known:
        p.begin()
    out = by_number(count, lambda k: tuple(p.item(k) for p in known), *known)
    out.changes = changes
    return out


# generators that never end, and what gives what they yield by number
ENDLESS: WeakKeyDictionary[Any, Callable[[], Callable[[Any], Any]]] = WeakKeyDictionary()


def _endless(x: Any) -> Counted | None:
    """What such a generator yields, of which nothing was taken yet; nothing can be taken after."""
    from jitad.trace.ongoing import current  # which knows of what is iterated

    trace = current()
    if not isinstance(x, GeneratorType) or x not in ENDLESS or trace is None:
        return None
    if inspect.getgeneratorstate(x) != inspect.GEN_CREATED or id(x) in trace.left:
        return None
    trace.left[id(x)] = x
    return Counted(None, ENDLESS[x](), (0, 0, 1))


def _advances(x: Any) -> bool:
    return hasattr(type(x), "__next__")  # a class, whose method may have made it, doesn't


def made_of(out: Any, *sources: Any) -> Any:
    """An iterator made just now, if advancing it advances nothing that was there before."""
    journal = active()
    if journal is not None:
        journal.iterated.note(sources)
    if journal is not None and all(journal.is_fresh(x) for x in sources if _advances(x)):
        made(out)
    return out


def leave(left: dict[int, Any], *things: Any) -> None:
    """A loop over them ends where the kernel decides: how far they got, and what they go over."""
    todo = [*things]
    while todo:
        x = todo.pop()
        if hasattr(type(x), "__next__") and id(x) not in left:
            left[id(x)] = x
            todo += iterators_in(x)


def iterators_in(x: Any) -> list[Any]:
    """Those that an iterator goes over, or a generator."""
    held = gc.get_referents(x)
    held += [y for c in held if isinstance(c, CellType) for y in gc.get_referents(c)]
    return [y for y in held if hasattr(type(y), "__next__")]


def go_on(left: dict[int, Any], x: Any) -> None:
    """What it would give next must be known."""
    if left and id(x) in left and hasattr(type(x), "__next__"):
        what = "a generator" if isinstance(x, GeneratorType) else "an iterator"
        raise fail(JitadError, f"{what} can't go on after a loop that a traced condition left",
                   "Make a list of it first.")  # fmt: skip


def listed(x: Any) -> Counted:
    """A Python sequence beside one of traced length: its items are chosen by a traced number."""
    items = x if type(x) is list else list(x)
    n = len(items)

    def item(k: Any) -> Any:
        return pick(_as_long(items, n), k)

    def ended(early: Any) -> None:
        if early is not True:
            _as_long(items, n)

    return Counted(n, item, (0, n, 1), None, ended)


def numbered(n: int, of_each: Callable[[Callable[[Any], Any]], Any]) -> Counted:
    """The n items of a list that is one of several: what is read is read `of_each` of them."""
    def ended(early: Any) -> None:
        if early is not True:
            of_each(lambda x: bool(_as_long(x, n)))

    return Counted(n, lambda k: of_each(lambda x: pick(_as_long(x, n), k)), (0, n, 1), None, ended)


def _as_long(items: Any, n: int) -> Any:
    """The items as they are now; there must be as many as there were, and Python know them."""
    check_thing(items)
    if stretched(items) is not None or len(items) != n:
        raise fail(JitadError, CHANGING, "Loop over a copy: for x in list(xs).")
    return items


def pick(items: Any, k: Any) -> Any:
    """items[k] for a traced k, which is in range."""
    if not isinstance(k, Leaf):
        return items[k]
    arrays = {getattr(v, "ndim", 0) for v in items}
    if any(isinstance(v, (Complex, complex)) for v in items) and len(arrays) == 1:
        split = [parts(v) for v in items]
        return together(*(pick([0.0 if p[n] is None else p[n] for p in split], k) for n in (0, 1)))
    numbers = all(isinstance(v, (Number, int, float)) for v in items)
    if not numbers:
        return _any_of(items, k)
    if len(items) == 1:
        return items[0]
    if any(isinstance(v, Number) for v in items):
        out = bind("load", bind("pack", *items), k)
    else:
        import numpy as np

        out = ArrayHandle(np.array(items)).row(k)
    python = all(_type(v).py for v in items)
    return bind("cast", out, dtype=out.type.dtype, py=True) if python else out


def table(items: Any) -> Counted | None:
    """Numbers of one type, or tuples of such, as items that are found by number."""
    if not isinstance(items, (list, tuple)) or not _is_uniform(items):
        return None
    return Counted(len(items), lambda k: _row(items, k), (0, len(items), 1))


def is_table(x: Any, stops: Any) -> bool:
    """May it be read as a whole before the loop that is over it, which may stop early?"""
    if type(x) in _COMBINED:
        return not stops
    return type(x) in (list, tuple) and _is_uniform(x)


def read(x: Any) -> Any:
    """What may be read before the loop that is over it, to be looked at as often as one likes."""
    return list(x) if type(x) in _COMBINED else x


# iterators that have read what they combine when they were made
_COMBINED = (itertools.product, itertools.permutations, itertools.combinations,
             itertools.combinations_with_replacement)  # fmt: skip


def _is_uniform(items: Any) -> bool:
    if not items:
        return False
    if isinstance(items[0], tuple):
        kind, length = type(items[0]), len(items[0])
        alike = all(type(v) is kind and len(v) == length for v in items)
        return alike and all(_is_uniform([v[j] for v in items]) for j in range(length))
    if not all(isinstance(v, (Leaf, int, float)) for v in items):
        return False
    types = {_type(v) for v in items}
    return len(types) == 1 and isinstance(types.pop(), Scalar)


def _type(number: Any) -> Any:
    return number.type if isinstance(number, Leaf) else type_of_constant(number)


def _row(items: Any, k: Any) -> Any:
    """items[k], of items as they are now."""
    check_thing(items)
    first = items[0]
    if isinstance(k, int) or not isinstance(first, tuple):
        return pick(items, k)
    parts = [_row([v[j] for v in items], k) for j in range(len(first))]
    return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)


MOST_THINGS = 64  # that a traced number chooses from


def _any_of(items: Any, k: Leaf) -> Any:
    from jitad.trace.joins.selected import fork
    from jitad.trace.ongoing import current  # which knows of what is iterated

    trace = current()
    if not items or len(items) > MOST_THINGS or (trace is not None and trace.counts_out(k)):
        raise fail(JitadTypeError, "a traced number can't become an index of a Python "
                   f"{type(items).__name__} of {len(items)} elements that are no numbers",
                   "Make it an array, or loop over it directly.")  # fmt: skip
    flags = [bind("eq", k, j) for j in range(len(items) - 1)]
    return each(fork, flags, items, lambda x: x)


# those that want an int of Python's, and nothing that becomes one
_COUNTING = (deque, itertools.permutations)


def with_ints(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What such a function is called with; NumPy's and SciPy's own look at the ints they get."""
    home = (getattr(f, "__module__", None) or "").partition(".")[0]
    if home not in ("numpy", "scipy") and not any(f is g for g in _COUNTING):
        return args, kwargs
    return tuple(map(_known, args)), {k: _known(a) for k, a in kwargs.items()}


def _known(value: Any) -> Any:
    of_ints = isinstance(value, Leaf) and getattr(value.type, "dtype", "")[:1] == "i"
    return int(value) if of_ints else value
