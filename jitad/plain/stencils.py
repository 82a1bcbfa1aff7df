"""What does a function that `numba.stencil` has made compute?  Plain Python, rewritten as user code
is.

Its kernel, at each element whose neighbours are all there; indices are relative to that element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Near:
    """An array as the kernel sees it at an element."""

    def __init__(self, array: Any, at: tuple[Any, ...]) -> None:
        self.array = array
        self.at = at

    def __getitem__(self, index: Any) -> Any:
        if type(index) is not tuple:
            return self.array[_moved(index, self.at[0])]
        return self.array[tuple(_moved(i, k) for i, k in zip(index, self.at, strict=True))]


def _moved(index: Any, by: Any) -> Any:
    return slice(index.start + by, index.stop + by) if type(index) is slice else index + by


def along(kernel: Callable[..., Any], relative: tuple[bool, ...], given: tuple[Any, ...], out: Any,
          first: tuple[int, ...], last: tuple[int, ...], at: tuple[Any, ...]) -> None:  # fmt: skip
    """The results from this element on, along the axes that are left, into `out`."""
    axis, shape = len(at), given[0].shape
    if axis == len(shape):
        seen = [Near(a, at) if near else a for a, near in zip(given, relative, strict=True)]
        out[at] = kernel(*seen)
        return
    for i in range(first[axis], shape[axis] - last[axis]):
        along(kernel, relative, given, out, first, last, (*at, i))
