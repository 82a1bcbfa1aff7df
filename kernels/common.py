"""What the kernels' files share: the array type and the look-up of a size."""

from typing import Any, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Dims = dict[str, int]

# The flags of every hand-written derivative that sums: `reassoc` lets a sum run in vector lanes,
# as NumPy's own sums do, and `contract` allows fused multiply-add, as gcc does by default.
# Nothing here branches on a rounding error. No flag assumes that NaN or infinity are absent.
# They also have `error_model="numpy"`: the test for a division by zero that Python's model puts
# before each division keeps the loop around it out of lanes (a factor of four in nbody).
SUMS = {"reassoc", "contract"}

Size = TypeVar("Size", int, dict[str, int])


def pick(size: Any, sizes: dict[str, Size]) -> Size:
    """The size meant by `size`: a key of `sizes`, or a value like its values."""
    return sizes[size] if isinstance(size, str) else size


def by_hand(function: Any) -> Any:
    """Numba with the flags above, compiled when first called and kept on disk."""
    return njit(cache=True, error_model="numpy", fastmath=SUMS)(function)
