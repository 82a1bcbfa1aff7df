"""What are the derivative rules of matrix functions made of?

Operations `o` over whatever the leaves are: triangles, diagonals, symmetric parts.  What is left
out of a triangle is zero by choice, never by multiplication: it may have been infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives.table import Inferred, dtype_of
from jitad.tape.ir import Atom
from jitad.tape.types import Array, Scalar


def turn(o: Any, a: Any) -> Any:
    return o.transpose(a, perm=(1, 0))


def index(o: Any, a: Any, axis: int) -> Any:
    """The index along an axis, everywhere."""
    n, m = a.shape
    return o.broadcast(o.iota(a.shape[axis], dtype="i8"), n, m, axes=(axis,))


def lower_part(o: Any, a: Any, strict: bool = False) -> Any:
    """The lower triangle; the rest is zero, also where it was infinite."""
    inside = (o.gt if strict else o.ge)(index(o, a, 0), index(o, a, 1))
    return o.where(inside, a, 0.0)


def on_diagonal(o: Any, v: Any) -> Any:
    n = v.shape[0]
    whole = o.broadcast(v, n, n, axes=(0,))
    return o.where(o.eq(index(o, whole, 0), index(o, whole, 1)), whole, 0.0)


def rows_of(o: Any, v: Any, n: Any) -> Any:
    """The vector as each of n rows."""
    return o.broadcast(v, n, v.shape[0], axes=(1,))


def half(o: Any, a: Any) -> Any:
    """The lower triangle with half of the diagonal."""
    i, j = index(o, a, 0), index(o, a, 1)
    return o.where(o.gt(i, j), a, o.where(o.eq(i, j), 0.5 * a, 0.0))


def mirrored(o: Any, a: Any) -> Any:
    """The symmetric matrix that has a's lower triangle."""
    i, j = index(o, a, 0), index(o, a, 1)
    return o.where(o.ge(i, j), a, turn(o, a))


def folded(o: Any, g: Any) -> Any:
    """The transpose of `mirrored`: what is above the diagonal is added below it."""
    i, j = index(o, g, 0), index(o, g, 1)
    return o.where(o.gt(i, j), g + turn(o, g), o.where(o.eq(i, j), g, 0.0))


def like_operand(k: int) -> Any:
    """The type rule of a result with the extents of operand k."""
    return lambda *ins, **_: ((ins[k].type, ins[k].shape),)


def array(dtype: str, *shape: Any) -> Inferred:
    return ((Array(dtype, len(shape)), shape),)


def fortran(name: str, a: Any) -> Any:
    """LAPACK's function of this name for the array's type."""
    from scipy.linalg import lapack  # slow to import

    return getattr(lapack, ("s" if a.dtype == np.float32 else "d") + name)


def scalar_of(a: Atom, *_: Atom, **__: Any) -> Inferred:
    return ((Scalar(a.type.dtype), ()),)  # type: ignore[union-attr]


def eye(o: Any, a: Any) -> Any:
    return on_diagonal(o, o.full(1.0, a.shape[0], dtype=dtype_of(a)))


def total(o: Any, a: Any) -> Any:
    return o.sum(a, axes=(0, 1))
