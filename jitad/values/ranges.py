"""What is `range(...)` of bounds that are traced?

Its length, its items and what it contains are computed; a loop over it becomes one of the tape.
Where Python needs the items themselves (`list`, `tuple`, unpacking), its length is relied on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jitad.errors import JitadError, JitadIndexError, JitadTypeError, JitadValueError
from jitad.immutable import immutable
from jitad.tape.build import Leaf
from jitad.values import extents
from jitad.values.indexing import slice_range
from jitad.values.kind import fail, require
from jitad.values.number import bind
from jitad.values.registry import replaces

MANY = 20_000  # items that are written out one by one


@immutable(slots=True, eq=False)
class Range:
    """A `range` with a traced bound."""

    start: Any
    stop: Any
    step: Any

    @property
    def count(self) -> Any:
        """How many items there are; negative means none."""
        return length(self.start, self.stop, self.step)

    def item(self, k: Any) -> Any:
        return extents.add(self.start, extents.mul(k, self.step))

    def size(self) -> Any:
        """What `len` gives."""
        return bind("maximum", self.count, 0) if isinstance(self.count, Leaf) else self.count

    def __iter__(self) -> Iterator[Any]:
        return map(self.item, range(relied(self.count, "the length of a range")))

    def __len__(self) -> int:
        return max(relied(self.count, "the length of a range"), 0)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            part = slice_range(k, self.size())
            step = extents.mul(self.step, part.step)
            stop = extents.add(first := self.item(part.start), extents.mul(part.count, step))
            return Range(first, stop, step)
        k, n = extents.as_int(k, "the index of a range"), self.size()
        at = bind("where", bind("lt", k, 0), bind("add", k, n), k)
        inside = bind("logical_and", bind("ge", at, 0), bind("lt", at, n))
        require(inside, JitadIndexError, "range object index out of range")
        return self.item(at)

    def holds(self, x: Any) -> Any:
        """What `x in` it gives, for an int."""
        before = extents.sub(x, self.start)
        k = bind("floordiv", before, self.step)
        met = bind("eq", bind("mul", k, self.step), before)
        inside = bind("logical_and", bind("ge", k, 0), bind("lt", k, self.size()))
        return bind("logical_and", met, inside)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise fail(JitadTypeError, "a range of traced length can't become an array",
                   "Use np.arange.")  # fmt: skip

    def __repr__(self) -> str:
        return "<range of traced bounds>"

    def __str__(self) -> str:
        raise fail(JitadTypeError, "a range of traced bounds can't become a text")


@replaces(range)
def range_(*bounds: Any) -> Any:
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return Range(*(extents.as_int(x, "a bound of range()") for x in (start, stop, step)))


def length(start: Any, stop: Any, step: Any) -> Any:
    """How many numbers a range has; negative means none."""
    if isinstance(step, Leaf):
        require(bind("ne", step, 0), JitadValueError, "range() arg 3 must not be zero")
        up = bind("floordiv", extents.sub(extents.add(extents.sub(stop, start), step), 1), step)
        down = bind("floordiv", extents.add(extents.add(extents.sub(stop, start), step), 1), step)
        return bind("where", bind("gt", step, 0), up, down)
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    distance = extents.sub(stop, start) if step > 0 else extents.sub(start, stop)
    size = abs(step)
    return extents.floordiv(extents.add(distance, size - 1), size)


def relied(count: Any, what: str) -> int:
    """The number of items, which a kernel for this number is made for."""
    if not isinstance(count, Leaf):
        return int(count)
    known: int = count.known(what)
    if known > MANY:
        raise fail(JitadError, f"{known} items are too many to trace one by one",
                   "Loop over range() or an array with a for statement.")  # fmt: skip
    return known
