"""Which elements of a derivative are zero because something else was chosen there?

A mask is true where a derivative may be other than zero: an array of bools, None for everywhere,
False for nowhere.  What is not known while the function runs, on a tape, is everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jitad.primitives import Primitive
from jitad.runtime.tagged import Tagged, shape_of


def taken(choice: Any, truth: bool = True) -> Any:
    """Where a condition has this truth, or a factor is not zero."""
    while isinstance(choice, Tagged):
        choice = choice.primal
    if isinstance(choice, np.ndarray) and choice.ndim:
        return (choice != 0) == truth
    if isinstance(choice, (bool, int, float, np.generic, np.ndarray)):
        return None if (choice != 0) == truth else False
    return None


def replaces(row: Primitive, result: Any, operands: Sequence[Any], params: dict[str, Any]) -> bool:
    """Is nothing left of the array that this is a store to?"""
    shape = shape_of(result)
    return (row.name == "store_slice" and params["kinds"] == "r" * len(shape)
            and list(operands) == [x for n in shape for x in (0, 1, n)])  # fmt: skip


def among(one: Any, mask: Any) -> Any:
    """Where both are."""
    if one is False or mask is False:
        return False
    if one is None or mask is None:
        return mask if one is None else one
    return one & mask if one.shape == mask.shape else one


def either(one: Any, mask: Any) -> Any:
    """Where one of two is."""
    if one is None or mask is None:
        return None
    if one is False or mask is False:
        return mask if one is False else one
    return one | mask if one.shape == mask.shape else None
