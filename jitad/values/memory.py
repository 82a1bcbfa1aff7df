"""How does an array of NumPy's lie in memory?"""

from __future__ import annotations

from typing import Any

import numpy as np


def is_as_needed(a: np.ndarray[Any, Any], need: str) -> bool:
    """"whole": in C order, without gaps; "ascending": see `ascending`."""
    return bool(a.flags.c_contiguous) if need == "whole" else ascending(a)


def ascending(a: np.ndarray[Any, Any]) -> bool:
    """Does no axis go in larger steps than one before it?"""
    steps = [abs(s) for s, n in zip(a.strides, a.shape, strict=True) if n != 1]
    return steps == sorted(steps, reverse=True)


def share_memory(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, 10_000)  # type: ignore[arg-type]  # NumPy's stub knows -1, 0
    except np.exceptions.TooHardError:
        return True
