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
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call


def of_numba(stencil: Any) -> Callable[..., Any]:
    """The function of arrays, in which the first one's shape is the result's."""

    def apply(*args: Any, out: Any = None, **others: Any) -> Any:
        if others or not args or not is_array(args[0]):
            raise fail(JitadTypeError, "a stencil is called with arrays, numbers and out= here")
        given = tuple(handle(a) if is_array(a) else a for a in args)
        kinds = tuple((a.ndim, a.dtype.str) if is_array(a) else None for a in given)
        made = stencil_of(stencil, kinds)
        if out is None:
            out = call(np.full, given[0].shape, made.border or 0, dtype=made.dtype)
        elif made.border is not None:
            hooks.set_item(made.border, out, ...)
        relative = tuple(near and k is not None for near, k in zip(made.near, kinds, strict=True))
        hooks.call(along, made.kernel, relative, given, out, made.first, made.last, ())
        return out

    return apply
