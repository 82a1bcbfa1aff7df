"""What does a sparse Jacobian or Hessian cost, beside one that is written by hand?

    python -m benchmarks.bench_sparse            # all subjects
    python -m benchmarks.bench_sparse rosenbrock

Both give the entries in CSR order for a pattern that is known (`whole`: jitad's call that makes a
SciPy array, the opponent making one in the same way).  What is compared takes turns; ratios are
medians of those within the rounds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import sparse_by_hand as hand
from benchmarks.timing import interleaved, ratio, readable
from jitad import sparse_hessian, sparse_jacobian
from kernels import ba


def rosenbrock(x: Any) -> float:
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def rosenbrock_by_slices(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def surface(u: Any) -> float:
    """The area over a grid: the objective of the minimal surface, a nonlinear elliptic PDE."""
    n, m = u.shape
    hh = 1.0 / ((n - 1) * (m - 1))
    total = 0.0
    for i in range(n - 1):
        for j in range(m - 1):
            total += np.sqrt(hh + (u[i + 1, j] - u[i, j]) ** 2 + (u[i, j + 1] - u[i, j]) ** 2)
    return total


def surface_by_slices(u: Any) -> Any:
    n, m = u.shape
    here = u[:-1, :-1]
    hh = 1.0 / ((n - 1) * (m - 1))
    return np.sum(np.sqrt(hh + (u[1:, :-1] - here) ** 2 + (u[:-1, 1:] - here) ** 2))


Subject = tuple[Any, tuple[Any, ...], Callable[..., Any]]


def subjects() -> dict[str, Subject]:
    x = np.linspace(-1.0, 1.0, 100_000)
    u = np.random.default_rng(0).normal(size=(300, 300))
    jacobian = sparse_jacobian(ba.residuals, (0, 1, 2))
    out: dict[str, Subject] = {
        "ba": (jacobian, ba.inputs({"n": 49, "m": 7_776, "p": 31_843}), hand.ba_jacobian),
        "ba small": (jacobian, ba.inputs({"n": 10, "m": 200, "p": 1_000}), hand.ba_jacobian),
    }
    for f in (rosenbrock, rosenbrock_by_slices):
        out[f.__name__] = sparse_hessian(f), (x,), hand.rosenbrock_hessian
    for g in (surface, surface_by_slices):
        out[g.__name__] = sparse_hessian(g), (u,), hand.surface_hessian
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("subjects", nargs="*")
    given = parser.parse_args()
    print(f"{'subject':22}{'first':>9}{'entries':>10}{'by hand':>10}  entries / by hand    whole")
    for name, (j, args, by_hand) in subjects().items():
        if given.subjects and name not in given.subjects:
            continue
        start = time.perf_counter()
        p = j.pattern(*args)
        j(*args)
        first = time.perf_counter() - start
        found, expected = j.entries(*args), by_hand(*args)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())

        def whole(p: Any = p, f: Any = by_hand, args: Any = args) -> Any:
            return sparse.csr_array((f(*args), p.indices.copy(), p.indptr.copy()), shape=p.shape)

        times = interleaved({
            "entries": lambda j=j, args=args: j.entries(*args),
            "by hand": lambda f=by_hand, args=args: f(*args),
            "whole": lambda j=j, args=args: j(*args),
            "whole by hand": whole,
        })  # fmt: skip
        r = ratio(times["entries"], times["by hand"])
        w = ratio(times["whole"], times["whole by hand"])
        medians = (readable(float(np.median(times[k]))) for k in ("entries", "by hand"))
        print(f"{name:22}{first:7.1f} s", *(f"{m:>9}" for m in medians),
              f"  {r.median:.2f} ({r.low:.2f} to {r.high:.2f})  {w.median:.2f}",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
