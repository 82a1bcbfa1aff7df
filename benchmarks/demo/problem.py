"""What does the demo need to know of a model to fit it, check it and time it?"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Problem:
    """An objective with data and start, and the gradient an expert would write for it."""

    name: str
    objective: Callable[..., float]  # plain Python and NumPy: objective(x, *args)
    gradient: Callable[..., tuple[float, np.ndarray]]  # written by hand with Numba
    start: np.ndarray
    args: tuple
    complex_safe: bool  # may x be complex? then the gradient can be checked to the last digits
    verdict: Callable[[np.ndarray], tuple[str, bool]]  # what the fit found, and is it sensible?
