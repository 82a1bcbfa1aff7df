"""Time the hand-written Numba gradients against C: `python -m benchmarks.c.compare [kernel ...]`.

Both run in a loop of their own language, by turns, so that neither pays for Python and both meet
the same weather; the table gives medians. Numba's calls allocate their results, C's are given them.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: one core each

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from numba import njit

from benchmarks.c import timer_c
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


def compare(kernel: Kernel, size: str) -> tuple[float, float]:
    """Median seconds a call of the Numba and of the C gradient."""
    args = kernel.inputs(size)
    timers = (timer_numba(kernel, args), timer_c(kernel.name, args))
    repeats = [max(1, int(ROUND_SECONDS / max(timer(1), timer(2)))) for timer in timers]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for timer, count, series in zip(timers, repeats, times):
            series.append(timer(count))
    return median(times[0]), median(times[1])


def main(names: list[str]) -> None:
    print(f"{'kernel':<14} {'size':<7} {'Numba µs':>10} {'C µs':>10} {'ratio':>6}")
    for name in names or KERNELS:
        for size in ("small", "medium", "large"):
            ours, theirs = compare(KERNELS[name], size)
            ratio = ours / theirs
            print(f"{name:<14} {size:<7} {1e6 * ours:>10.2f} {1e6 * theirs:>10.2f} {ratio:>6.2f}")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
