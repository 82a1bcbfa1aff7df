"""How are several callables timed fairly on a noisy machine?

They take turns. A round calls each of them, in an order that changes, for about as long; whatever
slows the machine down for a while then slows all of them, and the ratio *within* a round stays
true. What is reported of many rounds is the median, with quartiles beside it.
"""

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

BATCH_SECONDS = 2e-3  # a batch this long drowns the clock's resolution


@dataclass(frozen=True)
class Quartiles:
    """The median of a sample and the quartiles around it."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, sample: np.ndarray) -> "Quartiles":
        return cls(*(float(q) for q in np.percentile(sample, (25, 50, 75))))


def interleaved(
    functions: Mapping[str, Callable[[], object]], rounds: int = 15, seconds: float = 2.0,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Seconds a call of each function, one number a round.

    Every function must have been called before, so that nothing compiles here. ``seconds`` bounds
    the whole measurement softly: after it no new round starts, once there have been three.
    `clock`: `time.process_time` counts what the processor did, on machines that others use, too.
    """
    calls = {name: batch_size(function, clock) for name, function in functions.items()}
    names = list(functions)
    samples: dict[str, list[float]] = {name: [] for name in names}
    deadline = time.perf_counter() + seconds
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            if turn >= 3 and time.perf_counter() > deadline:
                break
            shift = turn % len(names)
            for name in names[shift:] + names[:shift]:
                spent = batch(functions[name], calls[name], clock)
                samples[name].append(spent / calls[name])
    finally:
        if collecting:
            gc.enable()
    return {name: np.array(times) for name, times in samples.items()}


def batch(
    function: Callable[[], object], calls: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds that this many calls take."""
    start = clock()
    for _ in range(calls):
        function()
    return clock() - start


def batch_size(
    function: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> int:
    """How many calls make a batch that is long enough to time, by the clock that will time it.

    By another, a call during which something else ran would be a batch of its own.
    """
    calls = 1
    while (spent := batch(function, calls, clock)) < BATCH_SECONDS:
        growth = BATCH_SECONDS / max(spent, 1e-9)
        calls = max(2 * calls, min(int(calls * growth) + 1, 100 * calls))
    return calls


def ratio(above: np.ndarray, below: np.ndarray) -> Quartiles:
    """Quartiles of one series over another, round by round."""
    return Quartiles.of(above / below)


def readable(seconds: float) -> str:
    """A time in the unit in which it has one to three digits before the point."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
