"""What does SciPy find in data by comparing numbers: matches, peaks, regions, hulls, neighbours?

What is found are indices, whose derivative is zero: SciPy finds them, called back by kernels.  What
is computed with them (distances, areas, heights) is written out here, and has derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.operators.unknown import opaque


def answers(f: Callable[..., Any], like: Any) -> Callable[..., Any]:
    """f, called in Python; its results are ints and arrays of ints, like these."""
    return opaque(f, like=like)


def indices(axes: int = 1, dtype: Any = int) -> Any:
    """What shows that an array has indices in it."""
    return np.zeros((1,) * axes, dtype)
