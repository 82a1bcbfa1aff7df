"""What is known of a value while index sets are propagated: a number, or which inputs it hangs on?

A loop is run for all its iterations at once.  An iteration is a *lane*; loops and branches inside
have lanes of their own, at the next level, each with a parent.  A value of a level has one number
(or array) for each of its lanes; one of level 0 is the same for all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from jitad.errors import JitadError
from jitad.immutable import immutable

Rows = Any  # a sparse matrix of bools, one row an element; None where no element has an input

MOST = 300_000_000  # elements of all lanes of one array


@immutable
class Known:
    """Ints and bools that no float decides: lanes first, then the axes."""

    data: np.ndarray[Any, Any]
    level: int = 0


@immutable
class Sets:
    """The inputs that each element of a number or array may depend on.

    `shared`: an array that the lanes of a loop write to together.
    """

    rows: Rows
    shape: tuple[int, ...] = ()
    level: int = 0
    shared: bool = False

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


@immutable
class Pile:
    """A stack of records: each of them, or (in a loop run at once) all of them joined."""

    records: tuple[Any, ...] = ()
    joined: Any = None


Value = Known | Sets | Pile


def known(x: Any) -> Known:
    return Known(np.asarray(x)[None])


def matrix(at: Any, of: Any, shape: tuple[int, int]) -> Rows:
    """True at these places."""
    ones = np.ones(len(at), bool)
    return sparse.csr_array((ones, (at, of)), shape=shape)


def union(p: Rows, q: Rows) -> Rows:
    if p is None or q is None:
        return p if q is None else q
    return p + q


class Lanes:
    """How many lanes each level has, and the parent of each."""

    def __init__(self) -> None:
        self.counts = [1]
        self.parents: list[Any] = [np.zeros(1, np.int64)]

    @property
    def level(self) -> int:
        return len(self.counts) - 1

    def push(self, parent: Any) -> None:
        self.counts.append(len(parent))
        self.parents.append(parent)

    def pop(self) -> None:
        self.counts.pop()
        self.parents.pop()

    def ancestor(self, level: int, of: int) -> Any:
        """For each lane at level `of` its lane at a level further out."""
        at = np.arange(self.counts[of])
        for k in range(of, level, -1):
            at = self.parents[k][at]
        return at

    def fits(self, size: int) -> bool:
        return self.counts[-1] * size <= MOST

    def raised(self, v: Value, level: int) -> Any:
        """The value with lanes of a deeper level."""
        if isinstance(v, Pile) or v.level >= level:
            return v
        at = self.ancestor(v.level, level)
        if isinstance(v, Known):
            return Known(v.data[at], level)
        if v.rows is None:
            return replace(v, level=level, shared=False)
        if not self.fits(v.size):
            raise JitadError("the index sets of an array in a loop need too much memory", None,
                             "Give the pattern yourself (pattern=...).")  # fmt: skip
        index = (at[:, None] * v.size + np.arange(v.size)).ravel()
        return Sets(v.rows[index], v.shape, level)

    def gathered(self, v: Sets, level: int) -> Rows:
        """For each element at a level further out the union over the lanes that come from it."""
        if v.rows is None:
            return None
        if v.level <= level:
            return self.raised(v, level).rows
        at = self.ancestor(level, v.level)
        to = (at[:, None] * v.size + np.arange(v.size)).ravel()
        join = matrix(to, np.arange(len(to)), (self.counts[level] * v.size, len(to)))
        return join @ v.rows
