"""How is one use of a library function described, for the tests and for the coverage page?

`add("numpy.kron", f, *args)` notes a function `f` of its array arguments that calls `numpy.kron`.
The truth is `f` itself on ndarrays (values) and extrapolated differences of it (derivatives).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """One use.  `zero`: its derivative is zero.  `native`: also compiled.  `order`: to check."""

    covers: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    zero: bool = False
    native: bool = False
    order: int = 2
    rtol: float = 1e-6
    narrow: bool | None = True  # float32 in gives what NumPy gives; False: roughly; None: does not
    compiled: str = "tape"  # the engine beside the eager one: "native" where a tape takes long

    def __str__(self) -> str:
        return self.covers


CASES: list[Case] = []


def add(covers: str, function: Callable[..., Any], *args: Any, **how: Any) -> None:
    CASES.append(Case(covers, function, args, **how))


Draw = Callable[..., np.ndarray]


def draws(seed: int) -> tuple[Draw, Draw]:
    """(distinct numbers well apart from zero, numbers of either sign) of a module's own."""
    random = np.random.default_rng(seed)

    def positive(*shape: int, low: float = 0.2, high: float = 1.8) -> np.ndarray:
        return random.uniform(low, high, shape)

    def normal(*shape: int) -> np.ndarray:
        return random.normal(size=shape)

    return positive, normal
