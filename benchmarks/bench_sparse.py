"""What does a sparse Jacobian or Hessian cost, beside one that is written by hand?

    python -m benchmarks.bench_sparse            # all subjects
    python -m benchmarks.bench_sparse rosenbrock

Both give the entries in CSR order for a pattern that is known (`whole`: jitad's call that makes a
SciPy array, the opponent making one in the same way).  What is compared takes turns, in time of the
processor; ratios are medians of those within the rounds.
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


def reaction_diffusion(u: Any) -> Any:
    """A residual whose border is held."""
    n, m = u.shape
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            if i == 0 or j == 0 or i == n - 1 or j == m - 1:
                out[i, j] = u[i, j]
            else:
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                out[i, j] = 0.1 * (around - 4.0 * u[i, j]) + u[i, j] - u[i, j] ** 3
    return out


def reaction_diffusion_by_slices(u: Any) -> Any:
    out, c = u.copy(), u[1:-1, 1:-1]
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    out[1:-1, 1:-1] = 0.1 * (around - 4.0 * c) + c - c**3
    return out


def band(x: Any) -> Any:
    """Residuals of three neighbours each."""
    out = np.zeros(len(x) - 2)
    for i in range(len(x) - 2):
        out[i] = np.exp(-x[i] * x[i + 1]) * x[i + 2]
    return out


def solid(u: Any) -> Any:
    """An energy in three dimensions: springs between neighbours, which nodes resist."""
    n, m, p = u.shape
    total = 0.0
    for i in range(n - 1):
        for j in range(m - 1):
            for k in range(p - 1):
                c = u[i, j, k]
                a, b, d = u[i + 1, j, k] - c, u[i, j + 1, k] - c, u[i, j, k + 1] - c
                total += 0.5 * (a * a + b * b + d * d) + 0.25 * c**4
    return total


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
        out[f"{f.__name__} small"] = sparse_hessian(f), (x[::10].copy(),), hand.rosenbrock_hessian
    for g in (surface, surface_by_slices):
        out[g.__name__] = sparse_hessian(g), (u,), hand.surface_hessian
    out["surface small"] = sparse_hessian(surface), (u[:30, :30].copy(),), hand.surface_hessian
    for r in (reaction_diffusion, reaction_diffusion_by_slices):
        out[r.__name__] = sparse_jacobian(r), (u,), hand.reaction_diffusion_jacobian
    out["band"] = sparse_jacobian(band), (u.ravel(),), hand.band_jacobian
    cube = u.ravel()[:64_000].reshape(40, 40, 40)
    out["solid"] = sparse_hessian(solid), (cube,), hand.solid_hessian
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("subjects", nargs="*")
    given = parser.parse_args()
    print(f"{'subject':30}{'first':>9}{'entries':>10}{'by hand':>10}  entries / by hand    whole")
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
        }, clock=time.process_time)  # fmt: skip
        r = ratio(times["entries"], times["by hand"])
        w = ratio(times["whole"], times["whole by hand"])
        medians = (readable(float(np.median(times[k]))) for k in ("entries", "by hand"))
        print(f"{name:30}{first:7.1f} s", *(f"{m:>9}" for m in medians),
              f"  {r.median:.2f} ({r.low:.2f} to {r.high:.2f})  {w.median:.2f}",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
