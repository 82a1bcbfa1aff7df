"""What kind of value does a tape variable hold?

Three kinds: a scalar, an array, a stack of records.  Sizes are not part of a type: the extents of
an array are integer values of the tape (`Var.shape`), so that a new length never means a new type.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from jitad.immutable import immutable

_kinds: dict[tuple[Any, ...], Any] = {}


def _once(*kind: Any) -> Any:
    """The one object of this class and content; the class fills it in."""
    known = _kinds.get(kind)
    return known if known is not None else _kinds.setdefault(kind, object.__new__(kind[0]))


@immutable(slots=True, eq=False)
class Scalar:
    """A number; `dtype` is NumPy's short code ('f8', 'f4', 'i8', 'b1', ...).

    `py` tells a Python number from a NumPy one: they divide by zero, overflow and promote
    differently.  There is one object of each kind, so that passes compare kinds by identity.
    """

    dtype: str
    py: bool = False

    def __new__(cls, dtype: str, py: bool = False) -> Scalar:
        return _once(cls, dtype, py)

    def __reduce__(self) -> tuple[Any, ...]:
        return Scalar, (self.dtype, self.py)

    def __str__(self) -> str:
        return self.dtype + ("" if not self.py else "p")


@immutable(slots=True, eq=False)
class Array:
    """An immutable version of an array with `ndim` axes.  There is one object of each kind."""

    dtype: str
    ndim: int

    def __new__(cls, dtype: str, ndim: int) -> Array:
        return _once(cls, dtype, ndim)

    def __reduce__(self) -> tuple[Any, ...]:
        return Array, (self.dtype, self.ndim)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(':' * self.ndim)}]"


@immutable(slots=True)
class Stack:
    """A last-in-first-out store of equal records: what a forward sweep keeps for the reverse."""

    element: Scalar | Array

    def __str__(self) -> str:
        return f"stack<{self.element}>"


Type = Scalar | Array | Stack

# What tapes compute with; complex numbers are two of these.
DTYPES = frozenset(("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1"))
COMPLEX_DTYPES = frozenset(("c16", "c8"))

FLOAT = Scalar("f8")
INT = Scalar("i8", py=True)
BOOL = Scalar("b1", py=True)


def is_float(t: Type) -> bool:
    """True where a derivative may be other than zero (stacks: by their element)."""
    if isinstance(t, Stack):
        return is_float(t.element)
    return t.dtype[0] in "fc"


def element(t: Scalar | Array) -> Scalar:
    """The type of one element of an array (a scalar is its own element)."""
    return Scalar(t.dtype) if isinstance(t, Array) else t


def named(t: Scalar | Array) -> str:
    """What the user calls a value of this type."""
    if isinstance(t, Array):
        return f"an array of {np.dtype(t.dtype)}"
    if not t.py:
        return f"a NumPy {np.dtype(t.dtype)}"
    return {"f": "a float", "i": "an int", "b": "a bool", "c": "a complex"}[t.dtype[0]]


def type_of_constant(value: object) -> Scalar:
    """The type of a Python or NumPy number."""
    if isinstance(value, np.generic):
        return Scalar(value.dtype.str[1:])
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT
    if isinstance(value, float):
        return Scalar("f8", py=True)
    if isinstance(value, complex):
        return Scalar("c16", py=True)
    raise TypeError(f"no tape type for a {type(value).__name__}")


@cache
def promote(*types: Scalar | Array) -> tuple[str, bool]:
    """(dtype, py) of an arithmetic result, as NumPy 2 promotes: Python numbers are weak."""
    strong = [t.dtype for t in types if not (isinstance(t, Scalar) and t.py)]
    weak = [t.dtype for t in types if isinstance(t, Scalar) and t.py]
    if not strong:
        return max(weak, key=lambda d: "bifc".index(d[0])), True
    out = np.result_type(*(np.dtype(d) for d in strong))
    for d in weak:
        stand_in = {"b": False, "i": 0, "f": 0.0, "c": 0j}[d[0]]
        out = np.result_type(out, stand_in)
    return out.str[1:], False
