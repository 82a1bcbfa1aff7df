"""How fast are jitad's derivatives beside those written by hand in C++?

Both are called by turns; each line has the medians, the quartiles of the ratio within a round, the
ratio of the fastest calls, which other work on the machine disturbs least, the first call with
nothing known of the types (tracing and compiling, if the disk cache is empty), the time over that
of the function itself, compiled by jitad, too, the largest difference of the results over their
largest number, and the memory that a call touches at its peak, beyond what was held before it. The
loop of calls is Python for jitad, C++ for the other; both allocate their results. Times are the
processor's, which other programs on the machine add less to.

    python -m benchmarks.gradbench --compare [eval ...] [--sizes small medium] [--seconds 1]
    python -m benchmarks.gradbench --compare [eval ...] --large         # several times medium
"""

from __future__ import annotations

import argparse
import json
import time
from math import exp, inf, log
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gradbench.cpp import by_hand, compiler
from benchmarks.gradbench.data import SIZES, error, workload
from benchmarks.gradbench.evals import evals
from benchmarks.gradbench.larger import larger
from benchmarks.gradbench.protocol import Function
from benchmarks.report.memory import peak_of
from benchmarks.timing import interleaved, ratio, readable

DERIVATIVES = {
    "gmm": "jacobian", "ba": "jacobian", "ht": "jacobian", "lstm": "jacobian", "kmeans": "dir",
    "llsq": "gradient", "lse": "gradient", "det": "gradient", "ode": "gradient",
}  # fmt: skip
"""Of `particle` and `saddle`, all four functions, which are derivatives all of them."""

OUT = Path(__file__).resolve().parents[1] / "out"


def flat(result: Any) -> tuple[Any, ...]:
    """The results as the arrays and numbers that C++ gives."""
    if isinstance(result, tuple) and all(isinstance(r, np.ndarray) for r in result):
        return result
    return (np.ravel(result) if isinstance(result, (list, tuple)) else result,)


def compare(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gradbench --compare")
    parser.add_argument("evals", nargs="*")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["small", "medium"])
    parser.add_argument("--large", action="store_const", dest="sizes", const=["large"])
    parser.add_argument("--seconds", type=float, default=1.0)
    chosen = parser.parse_args(arguments)
    if compiler() is None:
        raise SystemExit("the opponent needs g++")
    print(f"{'eval':<9}{'function':<10}{'size':<8}{'jitad':>9}{'C++':>9}  {'ratio (quartiles)':<20}"
          f"{'fastest':>9}{'first call':>11}{'/ primal':>9}  {'difference':>10}"
          f"  {'peak MiB':>8} (C++)")  # fmt: skip
    found: list[dict[str, Any]] = []
    for name in chosen.evals or list(evals()):
        functions = evals()[name]
        one = DERIVATIVES.get(name)
        for size in chosen.sizes if one or "large" not in chosen.sizes else []:
            for function in [one] if one else [] if name == "hello" else list(functions):
                primal = next(iter(functions.values())) if one else None
                figures = line(name, function, size, functions[function], primal, chosen.seconds)
                found.append({"eval": name, "function": function, "size": size, **figures})
    if found:
        mean, best = (exp(sum(log(f[k]) for f in found) / len(found)) for k in ("ratio", "fastest"))
        print(f"geometric mean of {len(found)} ratios: {mean:.2f}, of the fastest: {best:.2f}")
        OUT.mkdir(exist_ok=True)
        name = "gradbench-large" if chosen.sizes == ["large"] else "gradbench"
        (OUT / f"{name}.json").write_text(json.dumps(found, indent=1))


def line(
    name: str, function: str, size: str, f: Function, primal: Function | None, seconds: float
) -> dict[str, float | None]:
    """The ratio of times, by the median and by the fastest calls; that to the function's own."""
    args = f.arguments(larger(name) if size == "large" else workload(name, size)[0])
    begin = time.perf_counter()
    like = flat(f.run(*args))
    first = time.perf_counter() - begin
    hand = by_hand(name, args)(like)
    # to call it by ctypes, and to look at the clock there, takes microseconds: the loop is in C++
    count = max(1, int(1e-3 / min(hand.seconds(1) for _ in range(3))))
    pairs = zip(hand.results, like, strict=True)
    difference = max((error(np.asarray(a), np.asarray(b)) for a, b in pairs), default=inf)
    subjects = {"jitad": lambda: f.run(*args), "C++": lambda: hand.seconds(count)}
    if primal is not None:
        primal.run(*args)
        subjects["primal"] = lambda: primal.run(*args)
    times = interleaved(subjects, 25, seconds, time.process_time)
    times["C++"] /= count
    r = ratio(times["jitad"], times["C++"])
    best = float(min(times["jitad"]) / min(times["C++"]))
    over = ratio(times["jitad"], times["primal"]).median if primal is not None else None
    memory = [peak_of(call) / 2**20 for call in (lambda: f.run(*args), lambda: hand.seconds(1))]
    print(f"{name:<9}{function:<10}{size:<8}{readable(np.median(times['jitad'])):>9}"
          f"{readable(np.median(times['C++'])):>9}  {r.median:5.2f} ({r.low:.2f} to {r.high:.2f}) "
          f"{best:>9.2f}{readable(first):>11}"
          f"{'-' if over is None else f'{over:.2f}':>9}  {difference:>10.1e}  {memory[0]:>8.2f} "
          f"({memory[1]:.2f})", flush=True)  # fmt: skip
    return {"ratio": r.median, "fastest": best, "primal": over}
