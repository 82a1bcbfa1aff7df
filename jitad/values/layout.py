"""How do the elements of an array lie in memory, and does NumPy reshape it by a view?

Where extents are plain this is asked of NumPy itself, of an ndarray that lies as the array does.
Contents of a tape are taken to be in C order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jitad.values.extents import Int
from jitad.values.number import Number
from jitad.values.views import Shown, Window

if TYPE_CHECKING:
    from jitad.values.array import ArrayHandle


def gives_view(a: ArrayHandle, shape: tuple[Int, ...]) -> bool:
    """Is `a.reshape(shape)` a view of a?"""
    plain = None if any(isinstance(n, Number) for n in shape) else _laid_out(a)
    if isinstance(plain, np.ndarray) and plain.size:
        return bool(np.shares_memory(plain, plain.reshape(shape)))
    if sum(not isinstance(n, int) or n != 1 for n in a.shape) < 2:
        return not isinstance(a._view, Shown)  # of one axis, whatever its steps are
    return contiguous(a)


def contiguous(a: ArrayHandle) -> bool:
    """True where the elements lie one after the other in memory, in C order."""
    if a.concrete:
        plain = a.peek()
        return not isinstance(plain, np.ndarray) or bool(plain.flags.c_contiguous)
    if a._choice is not None:
        return all(map(contiguous, a._choice.among))
    if isinstance(a._view, Window):
        assert a._parent is not None
        return contiguous(a._parent) and a._view.contiguous(a._parent.shape)
    return not isinstance(a._view, Shown)


def _laid_out(a: ArrayHandle) -> Any:
    """An ndarray that lies in memory as this one does; None on a tape, and of what is shown."""
    if a._parent is None:
        content = a._content
        while isinstance(content, Number) and content.tag:
            content = content.primal  # type: ignore[attr-defined]
        return content if isinstance(content, np.ndarray) else None
    parent, view = _laid_out(a._parent), a._view
    if parent is None or view is None or view.traced or isinstance(view, Shown):
        return None
    return view.read(parent)
