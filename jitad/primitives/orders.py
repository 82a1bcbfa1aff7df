"""In what order are the elements of an array, and where in an order, or among rows, is a number?

Indices, which have no derivative: a sorted array is the array taken at `argsort`.  Ties keep
their order; nan comes last, as in NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives.table import Inferred, Primitive, register
from jitad.tape.ir import Atom
from jitad.tape.types import Array, Scalar


def _argsort_infer(a: Atom) -> Inferred:
    return ((Array("i8", len(a.shape)), a.shape),)


def _searchsorted_infer(a: Atom, v: Atom, *, right: bool) -> Inferred:
    return ((Array("i8", len(v.shape)) if v.shape else Scalar("i8"), v.shape),)


def _searchsorted(a: Any, v: Any, *, right: bool) -> Any:
    return np.searchsorted(a, v, "right" if right else "left")


register(Primitive(  # along the last axis
    "argsort", lambda a: np.argsort(a, axis=-1, kind="stable"), _argsort_infer, dear=True,
    emit="argsort({0})",
))  # fmt: skip
register(Primitive(  # how many elements of the sorted a are less than v (right: at most v)
    "searchsorted", _searchsorted, _searchsorted_infer, dear=True,
    emit="searchsorted({0}, {1}, {right})",
))  # fmt: skip


def _row_of(n: Any, *given: Any) -> Any:
    for k in range(int(n)):
        if all(column[k] == x for column, x in zip(given[::2], given[1::2], strict=True)):
            return k
    return -1


def _row_of_infer(n: Atom, *given: Atom) -> Inferred:
    return ((Scalar("i8"), ()),)


register(Primitive(  # the first of n rows that equals some numbers: n, column, number, ...
    "row_of", _row_of, _row_of_infer, dear=True, emit="row_of({all})",
))  # fmt: skip
