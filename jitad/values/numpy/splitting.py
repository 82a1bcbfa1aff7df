"""What becomes of NumPy's functions that take arrays apart?  All parts are views."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from jitad.errors import JitadExtentError, JitadValueError, JitadZeroDivisionError
from jitad.values.array import ArrayHandle
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.numpy.rearranging import along
from jitad.values.numpy.reductions import one_axis
from jitad.values.numpy.shaping import handle
from jitad.values.registry import replaces


def _split(a: Any, sections: Any, axis: int, equal: bool) -> list[ArrayHandle]:
    a = handle(a)
    axis = one_axis(axis, a.ndim)
    given = sections.peek() if isinstance(sections, ArrayHandle) else sections
    if isinstance(given, (list, tuple, np.ndarray)):
        cuts = [0, *given, a.shape[axis]]
        return [a[along(axis, slice(i, j))] for i, j in pairwise(cuts)]
    parts = int(given)
    if equal and not parts:
        raise fail(JitadZeroDivisionError, "integer modulo by zero")
    if parts <= 0:
        raise fail(JitadValueError, "number sections must be larger than 0.")
    length = a.shape[axis]
    n = int(a._static(length, "the length of what is split into equal parts"))
    if equal and n % parts:  # or one that was taken to be that of another operand, but is 1
        kind = JitadExtentError if isinstance(length, Number) else JitadValueError
        raise fail(kind, "array split does not result in an equal division")
    sizes = [n // parts + (k < n % parts) for k in range(parts)]
    starts = [sum(sizes[:k]) for k in range(parts)]
    return [a[along(axis, slice(i, i + m))] for i, m in zip(starts, sizes, strict=True)]


@replaces(np.split, plain=False)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ArrayHandle]:
    return _split(ary, indices_or_sections, axis, True)


@replaces(np.array_split, plain=False)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ArrayHandle]:
    return _split(ary, indices_or_sections, axis, False)


@replaces(np.hsplit, plain=False)
def hsplit(ary: Any, indices_or_sections: Any) -> list[ArrayHandle]:
    return _split(ary, indices_or_sections, 0 if handle(ary).ndim == 1 else 1, True)


@replaces(np.vsplit, plain=False)
def vsplit(ary: Any, indices_or_sections: Any) -> list[ArrayHandle]:
    return _split(ary, indices_or_sections, 0, True)


@replaces(np.dsplit, plain=False)
def dsplit(ary: Any, indices_or_sections: Any) -> list[ArrayHandle]:
    return _split(ary, indices_or_sections, 2, True)


@replaces(np.unstack, plain=False)
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    x = handle(x)
    axis = one_axis(axis, x.ndim)
    n = x._static(x.shape[axis], "the length of what is unstacked")
    return tuple(x[along(axis, k)] for k in range(n))
