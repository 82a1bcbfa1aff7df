"""What does a column of a Jacobian cost, beside one sweep of forward mode in one direction?

    python -m benchmarks.bench_jacobians                   # at the width that is built in
    python -m benchmarks.bench_jacobians --widths 1 4 8    # directions a sweep, compared

Subjects: the residuals of a bundle adjustment by the cameras and by the points, and a
loop from R^100 to R^100 whose state goes on from step to step.  What is compared takes turns
(`timing.interleaved`); ratios are medians of those within the rounds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import jitad
from benchmarks.timing import interleaved, ratio, readable
from jitad.operators import blocks
from kernels import ba


def filtered(x: Any) -> Any:
    """A recurrence: each element of the result depends on all elements before it."""
    out = np.zeros(len(x))
    s = 0.0
    for i in range(len(x)):
        s = 0.5 * s + np.sin(x[i]) * np.exp(-x[0] * x[i])
        out[i] = s / (1.0 + s * s)
    return out


def neighbours(x: Any) -> Any:
    """No recurrence: each element of the result depends on two."""
    out = np.zeros(len(x))
    for i in range(len(x) - 1):
        out[i] = np.exp(-x[i]) * x[i + 1] + np.sin(x[i] * x[i + 1])
    return out


def reprojections(cams: Any, points: Any, weights: Any, feats: Any, obs: Any) -> Any:
    return ba.residuals(cams, points, weights, feats, obs)[0]


def subjects() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...], int]]:
    """Function, arguments, and which argument the Jacobian is by."""
    adjustment = ba.inputs({"n": 8, "m": 24, "p": 120})
    return {
        "ba by cameras": (reprojections, adjustment, 0),
        "ba by points": (reprojections, adjustment, 1),
        "recurrence": (filtered, (np.linspace(0.1, 1.0, 100),), 0),
        "neighbours": (neighbours, (np.linspace(0.1, 1.0, 100),), 0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--widths", type=int, nargs="*", default=[blocks.WIDTH])
    given = parser.parse_args()
    print(f"{'subject':15}{'width':>6}{'compile':>10}{'sweep':>10}{'column':>10}  column / sweep")
    for name, (f, args, k) in subjects().items():
        sweep = jitad.jit(lambda x, t, f=f, args=args, k=k: jitad.jvp(
            lambda y: f(*args[:k], y, *args[k + 1 :]), (x,), (t,)))  # fmt: skip
        direction = np.ones_like(args[k])
        sweep(args[k], direction)
        for width in given.widths:
            blocks.WIDTH = width
            jacobian = jitad.jit(jitad.jacfwd(f, k))
            start = time.perf_counter()
            jacobian(*args)
            compiled = time.perf_counter() - start
            times = interleaved({
                "column": lambda j=jacobian, args=args: j(*args),
                "sweep": lambda s=sweep, x=args[k], d=direction: s(x, d),
            }, clock=time.process_time)  # fmt: skip
            column = times["column"] / args[k].size
            r = ratio(column, times["sweep"])
            medians = (readable(float(np.median(t))) for t in (times["sweep"], column))
            print(f"{name:15}{width:6}{compiled:8.1f} s", *(f"{m:>9}" for m in medians),
                  f"  {r.median:.2f} ({r.low:.2f} to {r.high:.2f})", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
