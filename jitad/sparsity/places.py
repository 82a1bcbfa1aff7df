"""Where among the entries of a sparse matrix do the terms have their places that a tape computes?

The tape of the places (`local.places`) has told for each term the cell that it is added to and the
input that it belongs to.  Rows are the cells that the result is made of.  From this come the
pattern, and a layout: for each site of the tape the place of each term in each iteration.  As a
rule the place grows evenly from iteration to iteration; then a few numbers say it all.  Otherwise
there is a table; and where places grow evenly in all iterations but those at the border (of a
grid, say), the numbers serve for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from jitad.immutable import immutable
from jitad.tape.types import Array

_WRITTEN = 64  # numbers up to this size are part of the kernel
_NEAR = 16  # so near are the beginnings of sites that have to do with each other
_LAYERS = 3  # of a border

Ints = np.ndarray[Any, Any]


class NotLocal(Exception):
    """The entries of this Jacobian can't be computed in passing."""


@immutable
class Number:
    """A number of a layout: element `at` of its numbers (None: nothing) plus `value`."""

    value: int
    at: int | None = None


@immutable
class Site:
    """Where the terms of one site go.

    Term k has its place at first[k], and so much further by `strides` in each iteration of the
    loops around it and for each element along the axes.  Or it is so far (`columns`) behind what a
    column of a table says, which is complemented where the first of several terms goes there;
    but in a box of iterations `inner` tells the places.
    """

    stored: tuple[bool, ...]  # of each term: no other has these places, or none before
    first: tuple[Number, ...] = ()
    strides: tuple[Number, ...] = ()
    table: int | None = None
    columns: tuple[tuple[int, int], ...] = ()  # of each term the column, and the distance
    inner: Site | None = None
    box: tuple[tuple[Number, Number], ...] = ()  # along each axis: from the one, below the other

    @property
    def width(self) -> int:
        return 1 + max(c for c, _ in self.columns)


@immutable
class Layout:
    """Parameters: numbers, the first being how many entries are made, and tables."""

    sites: tuple[Site, ...]
    numbers: tuple[int, ...]
    tables: tuple[Ints, ...]
    covered: bool  # each entry has a term
    zero: bool  # entries must be zero at first

    @property
    def types(self) -> list[Array]:
        return [Array("i8", 1), *(Array(t.dtype.str[1:], 1) for t in self.tables)]

    @cached_property
    def arrays(self) -> list[Ints]:
        return [np.array(self.numbers, np.int64), *self.tables]


@immutable
class Terms:
    """Row and column of each term of the sites, -1 for those that go nowhere; axes: the loops and
    those of an array, then the terms."""

    rows: tuple[Ints, ...]
    columns: tuple[Ints, ...]
    batches: tuple[int, ...]  # sites of one batch take turns in each iteration
    shape: tuple[int, int]

    @cached_property
    def keys(self) -> tuple[Ints, ...]:
        n = self.shape[1]
        return tuple(
            np.where((r >= 0) & (c >= 0), r * n + c, -1)
            for r, c in zip(self.rows, self.columns, strict=True)
        )

    def pattern(self) -> Any:
        """Where there are terms, as a CSR array of bools."""
        m, n = self.shape
        keys = np.unique(np.concatenate([k.ravel() for k in self.keys] or [np.zeros(0, np.int64)]))
        keys = keys[np.searchsorted(keys, 0) :]
        rows, columns = np.divmod(keys, max(n, 1))
        starts = np.searchsorted(rows, np.arange(m + 1))
        return sparse.csr_array((np.ones(len(keys), bool), columns, starts), shape=(m, n))


def _near(n: int, numbers: list[int]) -> Number | None:
    """In terms of a number that is there already: what is next to each other can be seen to be."""
    for k, other in enumerate(numbers[1:], 1):
        if abs(n - other) <= _NEAR:
            return Number(n - other, k)
    return None


def terms(found: Sequence[Ints], n: int) -> Terms:
    """From what the tape of the places gives."""
    cells, *rest = found
    m = len(cells)
    rows, columns, batches = [], [], []
    used = [cells, *rest[1::3]]
    row_of = np.full(max((int(c.max(initial=0)) for c in used), default=0) + 1, -1)
    row_of[cells] = np.arange(m)
    if not np.array_equal(row_of[cells[cells > 0]], np.flatnonzero(cells > 0)):
        raise NotLocal("a number goes to several rows")
    row_of[0] = -1
    for extents, to, by in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        batch, depth, count, *shape = map(int, extents)
        batches.append(batch)
        loops, axes = shape[:depth], shape[depth:]
        rows.append(np.broadcast_to(row_of[to].reshape(*shape, 1), (*shape, count)))
        columns.append(np.moveaxis(by.reshape(*loops, count, *axes), depth, -1))
    return Terms(tuple(rows), tuple(columns), tuple(batches), (m, n))


def layout(terms: Terms, pattern: Any) -> Layout:
    """The places of the terms among the entries of a CSR array; others go to one behind them."""
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    known = rows * pattern.shape[1] + pattern.indices
    nowhere = len(known)
    places = []
    for keys in terms.keys:
        at = np.searchsorted(known, keys)
        there = np.zeros(at.shape, bool)
        if nowhere:
            there = known[np.minimum(at, nowhere - 1)] == keys
        places.append(np.where(there, at, nowhere))
    hits = np.zeros(nowhere + 1, np.int64)
    for p in places:
        hits += np.bincount(p.ravel(), minlength=nowhere + 1)
    numbers = [nowhere + bool(hits[nowhere])]
    covered = bool((hits[:nowhere] > 0).all())
    alone = [tuple((hits[p] == 1).all(axis=tuple(range(p.ndim - 1))).tolist()) for p in places]
    even = [_even(p, a, numbers) if not (p == nowhere).any() else None
            for p, a in zip(places, alone, strict=True)]  # fmt: skip
    tables: list[Ints] = []
    sites: list[Site | None] = list(even)
    batches = {b: [k for k, of in enumerate(terms.batches) if of == b] for b in terms.batches}
    meetings = np.zeros(nowhere + 1, np.int64)  # how many batches write there
    for mine in batches.values():
        meetings[np.unique(np.concatenate([places[k].ravel() for k in mine]))] += 1
    zero = bool((meetings > 1).any())
    for mine in batches.values():
        if all(even[k] is not None for k in mine):
            zero |= not all(all(alone[k]) for k in mine)
            continue
        # what may meet in a place is in tables
        mine = [k for k in mine if even[k] is None or not all(alone[k])]
        firsts = _first(places, alone, mine, meetings == 1)
        box = _inside(firsts)
        limits = () if box is None else tuple(
            (Number(a), _number(b, numbers)) for a, b in zip(*box, strict=True))  # fmt: skip
        for k, table in zip(mine, firsts, strict=True):
            inner = None if box is None else _inner(table, alone[k], box, numbers)
            is_first = (table < 0).all(axis=tuple(range(table.ndim - 1)))
            stored = tuple((is_first | np.array(alone[k], bool)).tolist())
            table = np.where(is_first, places[k], table)
            columns, table = _narrowed(table, places[k], stored)
            sites[k] = Site(stored, (), (), 1 + len(tables), columns, inner, limits)
            tables.append(table.ravel().astype(np.int32 if nowhere < 2**31 - 1 else np.int64))
    return Layout(tuple(s for s in sites if s), tuple(numbers), tuple(tables), covered, zero)


def _first(
    places: list[Ints], alone: list[tuple[bool, ...]], mine: list[int], known: Ints
) -> list[Ints]:
    """The places of a batch, complemented where the first of the terms that may meet goes there
    (and `known` says that no other batch writes there)."""
    ends = np.cumsum([places[k].shape[-1] for k in mine])[:-1]
    every = np.concatenate([places[k] for k in mine], axis=-1)  # in the order of writing
    shared = ~np.array([a for k in mine for a in alone[k]])
    flat = every[..., shared].ravel()
    _, first = np.unique(flat, return_index=True)
    first = first[known[flat[first]]]
    flat[first] = ~flat[first]
    every[..., shared] = flat.reshape(every[..., shared].shape)
    return np.split(every, ends, axis=-1)


def _narrowed(
    table: Ints, places: Ints, stored: tuple[bool, ...]
) -> tuple[tuple[tuple[int, int], ...], Ints]:
    """A table without the columns of terms that are always as far behind another."""
    kept: list[int] = []
    columns = []
    for k in sorted(range(len(stored)), key=lambda k: stored[k]):
        for c, leader in enumerate(kept) if stored[k] else ():
            distance = places[..., k] - places[..., leader]
            d = int(distance.flat[0]) if distance.size else 0
            if abs(d) <= _WRITTEN and (distance == d).all():
                columns.append((k, (c, d)))
                break
        else:
            columns.append((k, (len(kept), 0)))
            kept.append(k)
    return tuple(x for _, x in sorted(columns)), table[..., kept]


def _even(p: Ints, alone: tuple[bool, ...], numbers: list[int]) -> Site | None:
    """A site without a table, if places grow evenly along all axes but that of the terms."""
    *shape, count = p.shape
    if not p.size:
        return Site(alone, (Number(0),) * count, (Number(0),) * len(shape))
    origin = (0,) * len(shape)
    steps = _steps(p, origin)
    if steps is None or not np.array_equal(_evenly(p, origin, steps), p):
        return None
    return _told(p[origin], steps, alone, numbers)


def _steps(p: Ints, at: tuple[int, ...]) -> list[int] | None:
    """How far places move along each axis, if all terms do alike."""
    steps = []
    for axis, n in enumerate(p.shape[:-1]):
        next_ = list(at)
        next_[axis] += at[axis] + 1 < n
        moved = p[tuple(next_)] - p[at]
        if len(moved) and (moved != moved[0]).any():
            return None
        steps.append(int(moved[0]) if len(moved) else 0)
    return steps


def _evenly(p: Ints, at: tuple[int, ...], steps: list[int]) -> Ints:
    """The places, if they moved everywhere as they do there."""
    out = p[at]
    for axis, (n, step) in enumerate(zip(p.shape, steps, strict=False)):
        along = np.arange(n).reshape((n,) + (1,) * (p.ndim - 1 - axis))
        out = out + (along - at[axis]) * step
    return np.broadcast_to(out, p.shape)


def _told(first: Ints, steps: list[int], stored: tuple[bool, ...], numbers: list[int]) -> Site:
    """A site whose terms go to places that begin with these and grow by steps."""
    begin = int(first[0]) if len(first) else 0
    start = _near(begin, numbers) or _number(begin, numbers)
    firsts = []
    for x in first.tolist():
        near = abs(x - begin) <= _WRITTEN
        firsts.append(Number(start.value + x - begin, start.at) if near else _number(x, numbers))
    strides = []
    for k, s in enumerate(steps):
        is_written = k == len(steps) - 1 and abs(s) <= _WRITTEN
        strides.append(Number(s) if is_written else _number(s, numbers))
    return Site(stored, tuple(firsts), tuple(strides))


def _number(n: int, numbers: list[int]) -> Number:
    if n not in numbers[1:]:
        numbers.append(n)
    return Number(0, numbers.index(n, 1))


# -- all iterations but those at the border -------------------------------------------------------


def _inside(tables: list[Ints]) -> tuple[list[int], list[int]] | None:
    """The first and the last but one index along each axis of a box in which places grow evenly,
    and the same terms come first; if there is one that leaves out a few layers at most."""
    shape = tables[0].shape[:-1]
    if not shape or min(shape) <= 2 * _LAYERS:
        return None
    centre = tuple(n // 2 for n in shape)
    good = np.ones(shape, bool)
    for table in tables:
        p = np.where(table < 0, ~table, table)
        steps = _steps(p, centre)
        if steps is None:
            return None
        good &= (p == _evenly(p, centre, steps)).all(-1)
        good &= ((table < 0) == (table[centre] < 0)).all(-1)
    low, high = [0] * len(shape), list(shape)
    while not good[tuple(slice(a, b) for a, b in zip(low, high, strict=True))].all():
        bad = {}
        for axis, n in enumerate(shape):
            for end in (low, high):
                layer = [slice(a, b) for a, b in zip(low, high, strict=True)]
                at = end[axis] - (end is high)
                layer[axis] = slice(at, at + 1)
                left = _LAYERS - (low[axis] if end is low else n - high[axis])
                if left > 0:
                    bad[axis, end is low] = float((~good[tuple(layer)]).mean())
        if not bad or not max(bad.values()):
            return None
        axis, is_low = max(bad, key=lambda k: bad[k])
        if is_low:
            low[axis] += 1
        else:
            high[axis] -= 1
    return low, high


def _inner(
    table: Ints, alone: tuple[bool, ...], box: tuple[list[int], list[int]], numbers: list[int]
) -> Site:
    """The site in the box, in which places grow evenly."""
    p = np.where(table < 0, ~table, table)
    corner = tuple(box[0])
    steps = _steps(p[tuple(slice(a, b) for a, b in zip(*box, strict=True))], (0,) * len(corner))
    assert steps is not None
    first = p[corner] - sum(a * s for a, s in zip(corner, steps, strict=True))
    stored = tuple(((table[corner] < 0) | np.array(alone, bool)).tolist())
    return _told(first, steps, stored, numbers)
