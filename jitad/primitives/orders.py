"""In what order are the elements of an array, and where in an order does a number belong?

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
