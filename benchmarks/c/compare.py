"""Time the hand-written Numba gradients against C: `python -m benchmarks.c.compare [kernel ...]`.

Both run the same algorithm in a loop of their own language, by turns, so that neither pays for
Python and both meet the same weather; the table gives medians. One core.

How to read it. `Numba/C` should be below 1.2 at medium and large sizes; on an AMD Zen 4 with gcc
12.2 and Numba 0.68 it was 0.68 to 1.12, logsumexp the highest (its search for the maximum takes
twice C's time). At small sizes it is up to 3: Numba's calls allocate their results, 15 ns each
there, and C's are given them. `Numba/C+mvec` is another question: what plain Numba forgoes by
calling exp, log, erf and tanh one number at a time. An engine that uses vector functions beats the
hand-written Numba by that factor for that reason alone. (`nan` where glibc has no vector erf.)
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: one core each

import sys
from collections.abc import Callable
from math import nan
from statistics import median
from time import perf_counter
from typing import Any

from numba import njit

from benchmarks.c import has_vector_math, timer_c
from kernels import KERNELS, Kernel

ROUNDS = 15
ROUND_SECONDS = 0.02


def timer_numba(kernel: Kernel, args: tuple[Any, ...]) -> Callable[[int], float]:
    """Seconds a call takes, from a compiled loop of that many calls."""
    gradient = kernel.gradient

    @njit
    def loop(args: Any, repeats: int) -> float:
        total = 0.0
        for _ in range(repeats):
            total += gradient(*args)[0]  # used, so that no call can be dropped
        return total

    loop(args, 1)

    def timer(repeats: int) -> float:
        begin = perf_counter()
        loop(args, repeats)
        return (perf_counter() - begin) / repeats

    return timer


def compare(kernel: Kernel, size: str) -> list[float]:
    """Median seconds a call: Numba, C, and C with vector mathematics."""
    args = kernel.inputs(size)
    timers = [timer_numba(kernel, args), timer_c(kernel.name, args)]
    if has_vector_math():
        timers.append(timer_c(kernel.name, args, vector_math=True))
    repeats = [max(1, int(ROUND_SECONDS / max(timer(1), timer(2)))) for timer in timers]
    times: list[list[float]] = [[] for _ in timers]
    for _ in range(ROUNDS):
        for timer, count, series in zip(timers, repeats, times):
            series.append(timer(count))
    return [median(series) for series in times]


def main(names: list[str]) -> None:
    columns = ("Numba µs", "C µs", "C+mvec µs", "Numba/C", "Numba/C+mvec")
    print(f"{'kernel':<14} {'size':<6}", *(f"{column:>12}" for column in columns))
    for name in names or KERNELS:
        for size in ("small", "medium", "large"):
            numba, c, mvec = (*compare(KERNELS[name], size), nan)[:3]
            micro = (f"{1e6 * t:>12.2f}" for t in (numba, c, mvec))
            print(f"{name:<14} {size:<6}", *micro, f"{numba / c:>12.2f} {numba / mvec:>12.2f}")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
