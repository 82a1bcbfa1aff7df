"""What do gradients of long loops take with a limit on their memory, and what without?

    python -m benchmarks.bench_memory                      # all subjects, at some limits
    python -m benchmarks.bench_memory lorenz --mb 1 100    # one of them, at these, in MB

A million steps of the classical Runge-Kutta method for the Lorenz system, with a trip count that
is known and with one that isn't, and for a ring of coupled oscillators in an array; a field that
is overwritten in place. Peaks are those of one call above what the process held before, each
measured in a process of its own; times are ratios to the fully recorded gradient, which takes
turns with the others, and must come out the same.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.report.memory import peak_of
from benchmarks.timing import interleaved, ratio
from jitad import jit_grad

MB = 1_000_000


def _slope(x: float, y: float, z: float, p: Any) -> tuple[float, float, float]:
    return p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z


def _runge_kutta(x: float, y: float, z: float, p: Any, h: float) -> tuple[float, float, float]:
    kx, ky, kz = _slope(x, y, z, p)
    lx, ly, lz = _slope(x + 0.5 * h * kx, y + 0.5 * h * ky, z + 0.5 * h * kz, p)
    mx, my, mz = _slope(x + 0.5 * h * lx, y + 0.5 * h * ly, z + 0.5 * h * lz, p)
    nx, ny, nz = _slope(x + h * mx, y + h * my, z + h * mz, p)
    return (x + h / 6.0 * (kx + 2.0 * (lx + mx) + nx), y + h / 6.0 * (ky + 2.0 * (ly + my) + ny),
            z + h / 6.0 * (kz + 2.0 * (lz + mz) + nz))  # fmt: skip


def lorenz(p: Any, n: int) -> float:
    x, y, z = 1.0, 1.0, 1.0
    for _ in range(n):
        x, y, z = _runge_kutta(x, y, z, p, 1e-6)
    return x * x + y * y + z * z


def lorenz_until(p: Any, n: int) -> float:
    x, y, z, t = 1.0, 1.0, 1.0, 0.0
    while t < n * 1e-6:
        x, y, z = _runge_kutta(x, y, z, p, 1e-6)
        t += 1e-6
    return x * x + y * y + z * z


def _ring_slope(u: Any, w: float) -> Any:
    return w * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - np.sin(u)


def ring(u: Any, n: int) -> float:
    """Overdamped pendulums, each coupled to its neighbours."""
    h, w = 1e-5, 3.0
    for _ in range(n):
        k = _ring_slope(u, w)
        m = _ring_slope(u + 0.5 * h * k, w)
        q = _ring_slope(u + 0.5 * h * m, w)
        r = _ring_slope(u + h * q, w)
        u = u + h / 6.0 * (k + 2.0 * (m + q) + r)
    return np.sum(u * u)


def field(u: Any, n: int) -> float:
    """A nonlinear field, relaxed in place from one end to the other."""
    u = u.copy()
    for _ in range(n):
        for i in range(1, len(u) - 1):
            u[i] += 0.1 * (u[i + 1] - 2.0 * u[i] + u[i - 1]) - 0.01 * u[i] * u[i] * u[i]
    return np.sum(u * u)


LORENZ = np.array([10.0, 28.0, 8.0 / 3.0])
Subject = tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...], tuple[float, ...]]
SUBJECTS: dict[str, Subject] = {  # function, arguments, those to warm up with, limits in MB
    "lorenz": (lorenz, (LORENZ, 10**6), (LORENZ, 3), (0.1, 1, 10)),
    "lorenz until": (lorenz_until, (LORENZ, 10**6), (LORENZ, 3), (0.1, 1, 10)),
    "ring of 16": (ring, (np.linspace(0.0, 1.0, 16), 10**6),
                   (np.linspace(0.0, 1.0, 16), 3), (1, 10, 80)),
    "field of 100000": (field, (np.linspace(0.0, 1.0, 100_000), 300),
                        (np.linspace(0.0, 1.0, 100_000), 2), (8, 20, 80)),
}  # fmt: skip


def _peak(name: str, mb: float, out: Any) -> None:
    f, args, small, _ = SUBJECTS[name]
    g = jit_grad(f, memory=mb * MB)
    g(*small)
    out.put(peak_of(lambda: g(*args)))


def peak(name: str, mb: float) -> float:
    """MB at the peak of a call, in a process that has compiled before."""
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    child = context.Process(target=_peak, args=(name, mb, out))
    child.start()
    bytes_ = out.get()
    child.join()
    return float(bytes_) / MB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("subjects", nargs="*", help=", ".join(SUBJECTS))
    parser.add_argument("--mb", type=float, nargs="*")
    given = parser.parse_args()
    print(f"{'subject':17}{'limit':>10}{'compile':>10}{'peak':>10}{'time':>10}  time / recorded")
    for name in given.subjects or SUBJECTS:
        f, args, small, limits = SUBJECTS[name]
        gradients, compiled = {}, {}
        for mb in (math.inf, *(given.mb or limits)):
            gradients[mb] = jit_grad(f, memory=mb * MB)
            start = time.perf_counter()
            gradients[mb](*small)
            compiled[mb] = time.perf_counter() - start
        whole = gradients[math.inf](*args)
        for g in gradients.values():
            np.testing.assert_allclose(g(*args), whole, rtol=1e-12)
        calls = {str(mb): partial(g, *args) for mb, g in gradients.items()}
        times = interleaved(calls, 7, 20.0)
        for mb in gradients:
            r = ratio(times[str(mb)], times["inf"])
            print(f"{name:17}{mb:7} MB{compiled[mb]:8.1f} s{peak(name, mb):7.1f} MB"
                  f"{float(np.median(times[str(mb)])):8.2f} s"
                  f"  {r.median:.2f} ({r.low:.2f} to {r.high:.2f})", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
