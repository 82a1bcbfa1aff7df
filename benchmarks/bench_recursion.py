"""What does the gradient of a recursion cost, beside one written by hand for Numba?

    python -m benchmarks.bench_recursion [rounds]

The determinant by expansion along the first row, minors and all, of 5 by 5 to 10 by 10 matrices
(`kernels/gradbench/det.py`). By hand it is the recursion that any reverse sweep comes to: handed
the sensitivity of its result, a call adds to the gradient what its entries contribute, and gives
the value back. Calls take turns; medians of rounds.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from jitad import jit, jit_grad
from kernels.gradbench import det

SIZES = range(5, 11)


@njit
def minor(a: Any, n: int, row: int, after: Any, seed: float, gradient: Any) -> float:
    """The minor, and its derivatives times the seed added to the gradient."""
    if row == n - 1:
        gradient[row * n + after[n]] += seed
        return a[row * n + after[n]]
    total, sign, before = 0.0, 1.0, n
    while after[before] != n:
        column = after[before]
        after[before] = after[column]
        entry = sign * a[row * n + column]
        value = minor(a, n, row + 1, after, seed * entry, gradient)
        gradient[row * n + column] += seed * sign * value
        total += entry * value
        after[before] = column
        sign, before = -sign, column
    return total


@njit
def by_hand(a: Any, n: int) -> Any:
    after = np.arange(1, n + 2)
    after[n] = 0
    gradient = np.zeros_like(a)
    minor(a, n, 0, after, 1.0, gradient)
    return gradient


def seconds(f: Callable[..., Any], args: tuple[Any, ...], least: float = 2e-3) -> float:
    """The time of a call, of as many as take a while."""
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            f(*args)
        took = time.perf_counter() - start
        if took > least:
            return took / count
        count *= 2


def main(rounds: int) -> None:
    function, gradient = jit(det.objective), jit_grad(det.objective)
    print(f"{'size':>7} {'by hand':>10} {'jitad':>10} {'ratio':>6} {'over the function':>18}")
    for n in SIZES:
        args = (np.random.default_rng(n).normal(size=n * n), n)
        assert np.allclose(gradient(*args), by_hand(*args))
        times = [[seconds(f, args) for f in (by_hand, gradient, function)] for _ in range(rounds)]
        hand, ours, primal = (statistics.median(column) for column in zip(*times, strict=True))
        ratio = statistics.median(t[1] / t[0] for t in times)
        print(f"{n:>3} x {n:<2} {hand * 1e6:8.1f} us {ours * 1e6:7.1f} us {ratio:6.2f} "
              f"{ours / primal:18.2f}")  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
