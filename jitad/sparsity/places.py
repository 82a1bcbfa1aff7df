"""Where among the entries of a sparse matrix do the terms have their places that a tape computes?

The tape of the places (`local.places`) has told for each term the cell that it is added to and the
input that it belongs to.  Rows are the cells that the result is made of.  From this come the
pattern, and a layout: for each site of the tape the place of each term in each iteration.  As a rule
the place grows evenly from iteration to iteration; then a few numbers say it all.  Otherwise there
is a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from jitad.tape.types import Array

_WRITTEN = 64  # numbers up to this size are part of the kernel
_NEAR = 16  # so near are the beginnings of sites that have to do with each other

Ints = np.ndarray[Any, Any]


class NotLocal(Exception):
    """The entries of this Jacobian can't be computed in passing."""


@dataclass(frozen=True)
class Number:
    """A number of a layout: element `at` of its numbers (None: nothing) plus `value`."""

    value: int
    at: int | None = None


@dataclass(frozen=True)
class Site:
    """Where the terms of one site go.

    Term k of an array's element e has its place at first[k] + e * step, and so much further by
    `strides` in each iteration of the loops around it; or all of that is in a table.
    """

    alone: bool  # no other term has these places
    first: tuple[Number, ...] = ()
    strides: tuple[Number, ...] = ()
    step: Number = Number(0)
    table: int | None = None


@dataclass(frozen=True)
class Layout:
    """Parameters: numbers, the first being how many entries are made, and tables."""

    sites: tuple[Site, ...]
    numbers: tuple[int, ...]
    tables: tuple[Ints, ...]

    @property
    def types(self) -> list[Array]:
        return [Array("i8", 1), *(Array(t.dtype.str[1:], 1) for t in self.tables)]

    @cached_property
    def arrays(self) -> list[Ints]:
        return [np.array(self.numbers, np.int64), *self.tables]


@dataclass(frozen=True)
class Terms:
    """Row and column of each term of the sites, -1 for those that go nowhere; axes: the loops,
    the term, the element."""

    rows: tuple[Ints, ...]
    columns: tuple[Ints, ...]
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
    rows, columns = [], []
    used = [cells, *rest[1::3]]
    row_of = np.full(max((int(c.max(initial=0)) for c in used), default=0) + 1, -1)
    row_of[cells] = np.arange(m)
    if not np.array_equal(row_of[cells[cells > 0]], np.flatnonzero(cells > 0)):
        raise NotLocal("a number goes to several rows")
    row_of[0] = -1
    for extents, to, by in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        *loops, size, count = map(int, extents)
        shape = (*loops, count, size)
        rows.append(np.broadcast_to(row_of[to].reshape(*loops, 1, size), shape))
        columns.append(by.reshape(shape))
    return Terms(tuple(rows), tuple(columns), (m, n))


def layout(terms: Terms, pattern: Any) -> Layout:
    """The places of the terms among the entries of a CSR array; others go to one behind them."""
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    known = rows * pattern.shape[1] + pattern.indices
    nowhere = len(known)
    places = []
    for keys in terms.keys:
        at = np.searchsorted(known, keys)
        there = known[np.minimum(at, nowhere - 1)] == keys if nowhere else np.zeros(at.shape, bool)
        places.append(np.where(there, at, nowhere))
    hits = np.zeros(nowhere + 1, np.int64)
    for p in places:
        hits += np.bincount(p.ravel(), minlength=nowhere + 1)
    numbers = [nowhere + bool(hits[nowhere])]
    hits[nowhere] = 1
    tables: list[Ints] = []
    sites = []
    for p in places:
        alone = bool((hits[p] == 1).all())
        site = _even(p, alone, numbers) if not (p == nowhere).any() else None
        if site is None:
            site = Site(alone, table=1 + len(tables))
            tables.append(p.ravel().astype(np.int32 if nowhere < 2**31 - 1 else np.int64))
        sites.append(site)
    return Layout(tuple(sites), tuple(numbers), tuple(tables))


def _even(p: Ints, alone: bool, numbers: list[int]) -> Site | None:
    """A site without a table, if places grow evenly along all axes but that of the terms."""
    *loops, count, size = p.shape
    if not p.size:
        return Site(alone, (Number(0),) * count, (Number(0),) * len(loops))
    first = p[(0,) * len(loops)][:, 0]
    expected = np.arange(size) * (int(p[(0,) * len(loops)][0, 1]) - int(first[0])
                                  if size > 1 else 0) + first[:, None]  # fmt: skip
    steps = []
    for axis, n in enumerate(loops):
        here = [0] * len(loops)
        here[axis] = min(1, n - 1)
        steps.append(int(p[tuple(here)][0, 0]) - int(first[0]))
        along = np.arange(n).reshape((n,) + (1,) * (len(loops) - axis - 1 + 2))
        expected = expected + along * steps[-1]
    if not np.array_equal(np.broadcast_to(expected, p.shape), p):
        return None

    def number(n: int, written: bool) -> Number:
        if written and abs(n) <= _WRITTEN:
            return Number(n)
        numbers.append(n)
        return Number(0, len(numbers) - 1)

    start = _near(int(first[0]), numbers) or number(int(first[0]), False)
    firsts = []
    for x in first.tolist():
        near = abs(x - first[0]) <= _WRITTEN
        firsts.append(Number(start.value + int(x - first[0]), start.at) if near
                      else number(x, False))  # fmt: skip
    within = size > 1
    step = number(int(expected.reshape(-1, count, size)[0, 0, 1] - first[0]), True) if (
        within) else Number(1)  # fmt: skip
    strides = [number(s, not within and k == len(steps) - 1) for k, s in enumerate(steps)]
    return Site(alone, tuple(firsts), tuple(strides), step)
