"""Which columns can share a sweep?  Those that have no row in common, or whose entries can still be
told apart because the matrix is symmetric.

Columns of one colour are added up in one direction; each entry of the matrix must then be met
alone somewhere.  Sources: Gebremedhin, Manne & Pothen, *What color is your Jacobian?*, SIAM Review
47 (2005): greedy colouring of columns (algorithm 3.2), star colouring (algorithm 4.1); and
Gebremedhin, Tarafdar, Manne & Pothen, *New acyclic and star coloring algorithms with application
to computing Hessians*, SIAM J. Sci. Comput. 29 (2007): acyclic colouring, where entries are met
alone when others, which are known before, have been taken away.
"""

from __future__ import annotations

from collections import deque
from dataclasses import field
from typing import Any

import numpy as np
from scipy import sparse

from jitad.immutable import immutable

_FEW = 4  # colours: star colouring would hardly do with fewer


@immutable
class Plan:
    """Which direction each element belongs to, and where the entries are met.

    Entry e of the CSR array is element `at[e]` of the product with direction `of[e]`, the sum of
    the elements with that colour; once, for each pair of `taken` in turn, the first has been
    taken from the second (elements of all products, one after the other).
    """

    colours: np.ndarray[Any, Any]
    of: np.ndarray[Any, Any]
    at: np.ndarray[Any, Any]
    taken: np.ndarray[Any, Any] = field(default_factory=lambda: np.zeros((0, 2), np.int64))

    @property
    def count(self) -> int:
        return int(self.colours.max(initial=-1)) + 1


def by_columns(pattern: Any) -> Plan:
    """Directions for products with the matrix."""
    colours = greedy(pattern)
    rows, columns = _places(pattern)
    return Plan(colours, colours[columns], rows)


def by_rows(pattern: Any) -> Plan:
    """Directions for products with its transpose."""
    colours = greedy(sparse.csr_array(pattern.T))
    rows, columns = _places(pattern)
    return Plan(colours, colours[rows], columns)


def symmetric(pattern: Any) -> Plan:
    """Directions for products with a symmetric matrix, whose entries are met on either side."""
    plan = by_columns(pattern)
    if plan.count <= _FEW:
        return plan
    colours = star(pattern)
    if int(colours.max()) + 1 >= plan.count:
        return plan
    rows, columns = _places(pattern)
    count = int(colours.max()) + 1
    key = rows * count + colours[columns]
    _, back, times = np.unique(key, return_inverse=True, return_counts=True)
    alone = times[back] == 1  # no other entry of the row has the colour of this column
    at = np.where(alone, rows, columns)
    of = np.where(alone, colours[columns], colours[rows])
    return Plan(colours, of, at)


def by_substitution(pattern: Any) -> Plan:
    """The same with fewer directions, where most entries are differences."""
    plan = symmetric(pattern)
    colours = acyclic(pattern)
    count = int(colours.max(initial=-1)) + 1
    if count >= plan.count:
        return plan
    n = len(colours)
    rows, columns = _places(pattern)
    # (vertex, colour): the entries of the vertex by neighbours of this colour, which are a tree
    number = colours[columns] * n + rows
    off = rows != columns
    left = np.bincount(number[off], minlength=count * n)  # how many of them aren't known yet
    among = np.zeros(count * n, np.int64)  # and the sum of these neighbours
    np.add.at(among, number[off], columns[off])
    own = {}
    taken = []
    leaves = deque(np.flatnonzero(left == 1).tolist())
    while leaves:
        leaf = leaves.popleft()
        if left[leaf] != 1:  # the other end of an edge that is known
            continue
        v, w = leaf % n, int(among[leaf])
        other = int(colours[v]) * n + w
        own[min(v, w) * n + max(v, w)] = leaf
        taken.append((leaf, other))
        left[leaf] -= 1
        left[other] -= 1
        among[other] -= v
        if left[other] == 1:
            leaves.append(other)
    keys = (np.minimum(rows, columns) * n + np.maximum(rows, columns)).tolist()
    found = [own.get(key, k) for key, k in zip(keys, number.tolist(), strict=True)]
    of, at = np.divmod(np.array(found, np.int64), n)
    return Plan(colours, of, at, np.array(taken, np.int64).reshape(-1, 2))


def greedy(pattern: Any) -> np.ndarray[Any, Any]:
    """A colour for each column, such that columns of one colour have no row in common."""
    by_column = sparse.csc_array(pattern)
    starts, rows = by_column.indptr.tolist(), by_column.indices.tolist()
    used = [0] * pattern.shape[0]  # the colours that each row has met, a bit each
    out = np.zeros(pattern.shape[1], np.int64)
    for j in range(pattern.shape[1]):
        mine = rows[starts[j] : starts[j + 1]]
        taken = 0
        for r in mine:
            taken |= used[r]
        bit = ~taken & (taken + 1)
        for r in mine:
            used[r] |= bit
        out[j] = bit.bit_length() - 1
    return out


def _neighbours(pattern: Any) -> list[list[int]]:
    """For each vertex those that it shares an edge with, itself left out."""
    graph = sparse.csr_array(pattern)
    starts, ends = graph.indptr.tolist(), graph.indices.tolist()
    return [
        [w for w in ends[starts[v] : starts[v + 1]] if w != v] for v in range(graph.shape[0])
    ]


def star(pattern: Any) -> np.ndarray[Any, Any]:
    """A colour for each vertex, such that no path of four vertices has two colours only."""
    near = _neighbours(pattern)
    n = len(near)
    colour = [-1] * n
    for v in range(n):
        taken = set()
        for w in near[v]:
            if colour[w] >= 0:
                taken.add(colour[w])
            for x in near[w]:
                if x == v or colour[x] < 0:
                    continue
                if colour[w] < 0 or any(y != w and colour[y] == colour[w] for y in near[x]):
                    taken.add(colour[x])
        # a path v', v, w', x' whose inner vertices come first: two neighbours of one colour
        colour[v] = next(c for c in range(len(taken) + 1) if c not in taken)
    return np.array(colour, np.int64)


def acyclic(pattern: Any) -> np.ndarray[Any, Any]:
    """A colour for each vertex, such that those of two colours are a forest."""
    near = _neighbours(pattern)
    n = len(near)
    colour = [-1] * n
    parent: dict[tuple[int, int], tuple[int, int]] = {}  # edges of one tree have one root

    def tree(v: int, w: int) -> tuple[int, int]:
        e = (v, w) if v < w else (w, v)
        while parent[e] != e:
            parent[e] = e = parent[parent[e]]
        return e

    for v in range(n):
        before = [w for w in near[v] if colour[w] >= 0]
        taken = {colour[w] for w in before}
        through: dict[tuple[int, int], int] = {}  # by which neighbour v is joined to a tree
        for w in before:
            for x in near[w]:
                if colour[x] >= 0 and through.setdefault(tree(w, x), w) != w:
                    taken.add(colour[x])  # with this colour v would close a circle
        c = colour[v] = next(c for c in range(len(taken) + 1) if c not in taken)
        joined: dict[int, tuple[int, int]] = {}
        for w in before:
            e = (v, w) if v < w else (w, v)
            parent[e] = e
            parent[tree(v, w)] = tree(*joined.setdefault(colour[w], e))
            for x in near[w]:
                if x != v and colour[x] == c:
                    parent[tree(w, x)] = tree(v, w)
    return np.array(colour, np.int64)


def _places(pattern: Any) -> tuple[Any, Any]:
    """Rows and columns of the entries, in the order of the data."""
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    return rows, pattern.indices.astype(np.int64)

