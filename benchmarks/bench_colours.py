"""What does acyclic colouring save over star colouring, and what does it lose?

    python -m benchmarks.bench_colours

First the numbers of colours for some patterns; then Hessians computed by directions: the time of
the entries by acyclic colouring over that by star colouring, in time of the processor, and the
largest difference between the two, relative to the entry.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.bench_sparse import surface
from benchmarks.timing import interleaved, ratio
from jitad import sparse_hessian
from jitad.operators.compression import Compression
from jitad.sparsity.colouring import by_columns, by_substitution, symmetric


def patterns() -> dict[str, Any]:
    rng = np.random.default_rng(0)

    def band(n: int, width: int) -> Any:
        return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= width

    def grid(n: int, reach: int, corners: bool) -> Any:
        i, j = np.divmod(np.arange(n * n), n)
        di, dj = (np.abs(np.subtract.outer(k, k)) for k in (i, j))
        return (np.maximum(di, dj) if corners else di + dj) <= reach

    def random(n: int, degree: int) -> Any:
        a = rng.random((n, n)) < degree / (2 * n)
        return a | a.T | np.eye(n, dtype=bool)

    return {
        "band of 7": band(1000, 3),
        "grid, 5 points": grid(30, 1, False),
        "grid, 9 points": grid(30, 1, True),
        "grid, 13 points": grid(30, 2, False),
        "random, 5 a row": random(1000, 4),
        "random, 11 a row": random(1000, 10),
    }


def products(x: Any) -> Any:
    return np.sum(x[3:] * x[2:-1] * np.sin(x[1:-2]) * x[:-3])


def main() -> None:
    print(f"{'pattern':20}{'columns':>9}{'star':>6}{'acyclic':>9}")
    for name, dense in patterns().items():
        p = sparse.csr_array(dense)
        counts = [plan(p).count for plan in (by_columns, symmetric, by_substitution)]
        print(f"{name:20}{counts[0]:9}{counts[1]:6}{counts[2]:9}")
    rng = np.random.default_rng(0)
    subjects = {
        "surface": (surface, rng.normal(size=(100, 100))),
        "products": (products, rng.normal(size=10_000)),
        "products, from 1e-4 to 1e4": (products, 10.0 ** rng.uniform(-4, 4, 10_000)),
    }
    print(f"\n{'Hessian':30}{'star':>6}{'acyclic':>9}  time    difference")
    for name, (f, x) in subjects.items():
        pattern = sparse_hessian(f).pattern(x)
        ways = {c: Compression(f, 0, True, c).plan(pattern, (x,)) for c in ("star", "acyclic")}
        star, acyclic = (way.entries((x,)) for way in ways.values())
        times = interleaved(
            {c: lambda w=way, x=x: w.entries((x,)) for c, way in ways.items()},
            clock=time.process_time,
        )
        there = star != 0.0
        off = np.max(np.abs(acyclic - star)[there] / np.abs(star)[there])
        counts = [way.sweeps for way in ways.values()]
        print(f"{name:30}{counts[0]:6}{counts[1]:9}  "
              f"{ratio(times['acyclic'], times['star']).median:.2f}    {off:.0e}")  # fmt: skip


if __name__ == "__main__":
    main()
