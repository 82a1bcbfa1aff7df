"""Which part of its parent does a view show, and in what order?

Two maps, each of which can read a parent's content, write a new content through to it, and map
the index of one element:

* `Window`: a slice of the parent (in the form of the `slice` primitive), whose remaining axes are
  then permuted and interleaved with new ones.  A basic index of a window is again a window.
* `Reshaped`: the parent's elements in C order under other extents.

A third, `Shown`, is what functions read and write.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from jitad.immutable import immutable
from jitad.primitives.array import slice_key
from jitad.values import extents
from jitad.values.extents import Int
from jitad.values.number import Number, bind


@immutable(slots=True)
class At:
    """One index of an axis, already wrapped and checked; the axis goes."""

    index: Int


@immutable(slots=True)
class Range:
    """`count` indices of an axis, `step` apart."""

    start: Int
    step: int
    count: Int


@immutable(slots=True)
class New:
    """A new axis of extent 1."""


Entry = At | Range | New


@immutable(eq=False)
class Window:
    """One `At` or `Range` an axis of the parent; result axis k is range axes[k], or new (None)."""

    entries: tuple[At | Range, ...]
    axes: tuple[int | None, ...]

    @cached_property
    def ranges(self) -> list[Range]:
        return [e for e in self.entries if isinstance(e, Range)]

    @cached_property
    def shape(self) -> tuple[Int, ...]:
        ranges = self.ranges
        return tuple(1 if k is None else ranges[k].count for k in self.axes)

    @cached_property
    def kinds(self) -> str:
        return "".join("i" if isinstance(e, At) else "r" for e in self.entries)

    @cached_property
    def operands(self) -> tuple[Int, ...]:
        out: list[Int] = []
        for e in self.entries:
            out += [e.index] if isinstance(e, At) else [e.start, e.step, e.count]
        return tuple(out)

    @cached_property
    def traced(self) -> bool:
        return any(isinstance(x, Number) for x in self.operands)

    def whole(self, shape: tuple[Int, ...]) -> bool:
        """True where the slice takes all of a parent of this shape, in order."""
        return all(_full(e, n) for e, n in zip(self.entries, shape, strict=True))

    def equals(self, other: object) -> bool:
        if not isinstance(other, Window):
            return False
        mine, theirs = (self.kinds, self.axes), (other.kinds, other.axes)
        return mine == theirs and all(map(_identical, self.operands, other.operands))

    # -- content ----------------------------------------------------------------------------------

    def read(self, content: Any) -> Any:
        kept = [k for k in self.axes if k is not None]
        if isinstance(content, np.ndarray) and not self.traced:
            part = np.asarray(content[slice_key(self.kinds, self.operands)])
            key = tuple(np.newaxis if k is None else slice(None) for k in self.axes)
            out = part.transpose(kept)[key]
            return out if out.ndim else out[()]
        if not self.whole(content.shape):
            content = bind("slice", content, *self.operands, kinds=self.kinds)
        if kept != list(range(len(kept))):
            content = bind("transpose", content, perm=tuple(kept))
        if len(kept) == len(self.axes):
            return content
        if not kept:
            return bind("broadcast", content, *self.shape, axes=())
        return bind("reshape", content, *self.shape)

    def turn_back(self, value: Any) -> Any:
        """A content of this window's shape in the layout of the slice; scalars stay as they are."""
        if not len(getattr(value, "shape", ())):
            return value
        kept = [k for k in self.axes if k is not None]
        if len(kept) < len(self.axes):
            if not kept:
                return bind("load", value, *(0 for _ in self.axes))
            counts = (n for k, n in zip(self.axes, self.shape, strict=True) if k is not None)
            value = bind("reshape", value, *counts)
        if kept != list(range(len(kept))):
            perm = tuple(kept.index(k) for k in range(len(kept)))
            value = bind("transpose", value, perm=perm)
        return value

    def element(self, index: tuple[Int, ...]) -> tuple[Int, ...]:
        """The parent's index of one of this window's elements."""
        at = {k: i for k, i in zip(self.axes, index, strict=True) if k is not None}
        out: list[Int] = []
        k = 0
        for e in self.entries:
            if isinstance(e, At):
                out.append(e.index)
                continue
            out.append(extents.add(e.start, extents.mul(at[k], e.step)))
            k += 1
        return tuple(out)

    def compose(self, entries: tuple[Entry, ...]) -> Window | None:
        """This window indexed once more; None where a new axis is sliced to nothing."""
        ranges: list[At | Range] = list(self.ranges)
        axes: list[int | None] = []
        own = iter(self.axes)
        for entry in entries:
            if isinstance(entry, New):
                axes.append(None)
                continue
            k = next(own)
            if k is None:
                if isinstance(entry, Range):
                    if isinstance(entry.count, Number) or entry.count != 1:
                        return None
                    axes.append(None)
                continue
            base = ranges[k]
            assert isinstance(base, Range)
            match entry:
                case At(i):
                    ranges[k] = At(extents.add(base.start, extents.mul(i, base.step)))
                case Range(start, step, count):
                    first = extents.add(base.start, extents.mul(start, base.step))
                    ranges[k] = Range(first, base.step * step, count)
                    axes.append(k)
        kept = [k for k, e in enumerate(ranges) if isinstance(e, Range)]
        again = iter(ranges)
        merged = tuple(e if isinstance(e, At) else next(again) for e in self.entries)
        return Window(merged, tuple(None if k is None else kept.index(k) for k in axes))

    def contiguous(self, shape: tuple[Int, ...], ones: bool = False) -> bool | None:
        """Do the shown elements of a C-ordered parent lie one after the other, in order?

        None where a part of an axis may be all of it, which only the kernel knows.  `ones`: are all
        extents 1 that may be?
        """
        is_one: Callable[[Int], bool] = extents.may_be_one if ones else lambda n: _is(n, 1)
        ranges = self.ranges
        kept = [k for k in self.axes if k is not None and not is_one(ranges[k].count)]
        if kept != sorted(kept):
            return False
        found: bool | None = True
        free = True  # until the first axis of more than one element, the parent may be cut
        for e, n in zip(self.entries, shape, strict=True):
            one = isinstance(e, At) or is_one(e.count)
            if free:
                free = one
                if not one and (not isinstance(e, Range) or e.step != 1):
                    return False
            elif not _full(e, n) and not (one and is_one(n)):
                if not _may_be_full(e, n):
                    return False
                found = None
        return found


@immutable(slots=True, eq=False)
class Reshaped:
    """The parent's elements in C order, under these extents."""

    shape: tuple[Int, ...]

    traced = False

    def equals(self, other: object) -> bool:
        return (
            isinstance(other, Reshaped)
            and len(self.shape) == len(other.shape)
            and all(map(_identical, self.shape, other.shape))
        )

    def read(self, content: Any) -> Any:
        plain = not any(isinstance(n, Number) for n in self.shape)
        if isinstance(content, np.ndarray) and plain:
            return content.reshape(self.shape)
        return bind("reshape", content, *self.shape)

    def element(self, index: tuple[Int, ...], parent: tuple[Int, ...]) -> tuple[Int, ...]:
        flat: Int = 0
        for i, n in zip(index, self.shape, strict=True):
            flat = extents.add(extents.mul(flat, n), i) if not _is(flat, 0) else i
        out: list[Int] = []
        for axis in range(len(parent) - 1, 0, -1):
            out.append(extents.mod(flat, parent[axis]))
            flat = extents.floordiv(flat, parent[axis])
        return (flat, *reversed(out)) if parent else ()


@immutable(slots=True, eq=False)
class Shown:
    """What a function makes of the parent's present content and of its own shape.

    `put` makes of the parent's content and a new one for this what the parent is then; without it
    nobody may write here.
    """

    shape: tuple[Int, ...]
    make: Callable[[Any, tuple[Int, ...]], Any]
    put: Callable[[Any, Any], Any] | None = None

    traced = False

    def equals(self, other: object) -> bool:
        return self is other

    def read(self, content: Any) -> Any:
        return self.make(content, self.shape)


View = Window | Reshaped | Shown


def all_of(shape: tuple[Int, ...]) -> Window:
    """The window that shows everything as it is."""
    return Window(tuple(Range(0, 1, n) for n in shape), tuple(range(len(shape))))


def permuted(window: Window, perm: tuple[int, ...]) -> Window:
    return Window(window.entries, tuple(window.axes[k] for k in perm))


class Flat(Reshaped):
    """`a.flat`: what is taken of it is a copy."""

    __slots__ = ()


def _full(e: At | Range, n: Int) -> bool:
    return (
        isinstance(e, Range)
        and _is(e.start, 0)
        and e.step == 1
        and _identical(e.count, n)
    )


def _may_be_full(e: At | Range, n: Int) -> bool:
    if isinstance(e, At) or e.step != 1:  # extents that are not known are taken not to be 1
        return False
    if not isinstance(e.count, Number) and not isinstance(n, Number):
        return False
    # of `a[:, :2]` a guard says that there are more columns, if there are in this call
    return not extents.assume_at_least(n, extents.add(e.count, 1))


def _is(x: Int, value: int) -> bool:
    return not isinstance(x, Number) and x == value


def _identical(a: Int, b: Int) -> bool:
    if a is b:
        return True
    known: Callable[[Int, Int], bool] = extents.same
    return known(a, b)
