"""What becomes of a function that `numba.stencil` has made?

Its kernel runs at each element in turn (`plain/stencils.py`).  How far it reaches, and what it
gives, Numba says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.emit.numba_private import stencil_of
from jitad.errors import JitadTypeError
from jitad.plain.stencils import along
from jitad.runtime.leaves import is_array
from jitad.trace import hooks
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.numpy.shaping import handle
from jitad.values.python_functions import python_type
from jitad.values.registry import call


def of_numba(stencil: Any) -> Callable[..., Any]:
    """The function of arrays, in which the first one's shape is the result's."""

    def apply(*args: Any, out: Any = None, **others: Any) -> Any:
        given = tuple(handle(a) if is_array(a) else a for a in args)
        kinds = tuple(map(_kind, given))
        if others or not kinds or not isinstance(kinds[0], tuple):
            raise fail(JitadTypeError, "a stencil is called with arrays, numbers and out= here")
        made = stencil_of(stencil, kinds)
        if out is None:
            out = call(np.full, given[0].shape, made.border or 0, dtype=made.dtype)
        elif made.border is not None:
            hooks.set_item(made.border, out, ...)
        relative = tuple(near and isinstance(k, tuple)
                         for near, k in zip(made.near, kinds, strict=True))  # fmt: skip
        hooks.call(along, made.kernel, relative, given, out, made.first, made.last, ())
        return out

    return apply


def _kind(a: Any) -> Any:
    """Axes and dtype of an array, the class of a number."""
    if is_array(a):
        return a.ndim, a.dtype.str
    kind = python_type(a) if isinstance(a, Number) else type(a)
    if not issubclass(kind, (bool, int, float, np.generic)):
        raise fail(JitadTypeError, f"a stencil of a {kind.__name__} is not supported here",
                   "Give it arrays and numbers.")  # fmt: skip
    return kind
