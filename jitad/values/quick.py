"""Which elementwise operations of the eager engine need no look at what their operands can be?

Those on roots of plain extents: most of them.  A program of small arrays spends its time here.
"""

from __future__ import annotations

from typing import Any

from jitad.primitives import Primitive
from jitad.values.array import ArrayHandle
from jitad.values.number import NO_PARAMS, Number, apply


def quickly(row: Primitive, args: tuple[Any, ...]) -> Any:
    """An elementwise primitive in the usual case of the eager engine; None in any other.

    The usual case: arrays of equal plain extents, one of them tagged, and scalars.  `elementwise`
    gives the same for it, after looking for all that operands can be.
    """
    found = lent(args)
    if found is None:
        return None
    contents, shapes = found
    if len(shapes) > 1 and shapes[0] != shapes[-1]:  # no elementwise primitive takes three
        return None
    return ArrayHandle(apply(row, contents, NO_PARAMS))


def lent(args: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[tuple[int, ...]]] | None:
    """Contents of operands, at least one of them tagged, and the plain extents of the arrays.

    None where there is a tape, a view, or anything else than arrays with axes and scalars.
    """
    tagged, contents, shapes = False, [], []
    for a in args:
        if type(a) is ArrayHandle:
            if a._parent is not None or a._lost or a._choice is not None:
                return None
            content = base = a._content
            while isinstance(base, Number):
                if not base.tag:
                    return None
                base = base.primal  # type: ignore[attr-defined]
                tagged = True
            shapes.append(getattr(base, "shape", ()))
            contents.append(content)
        elif type(a) is float or type(a) is int:
            contents.append(a)
        elif isinstance(a, Number) and a.tag and not getattr(a, "shape", ()):
            contents.append(a)
        else:
            return None
    if not tagged or not shapes or () in shapes:
        return None
    for a in args:
        if type(a) is ArrayHandle:
            a._owned = False
    return tuple(contents), shapes


ArrayHandle.quickly = staticmethod(quickly)
