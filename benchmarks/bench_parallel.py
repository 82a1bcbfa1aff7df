"""What do more threads gain?  Gradients with `parallel=True`, beside one thread and `prange`.

    python -m benchmarks.bench_parallel
    python -m benchmarks.bench_parallel --kernels gmm ba --size medium --threads 1 2
    python -m benchmarks.bench_parallel --gradbench             # derivatives of GradBench's evals

For each kernel: the gradient on one thread (compiled without `parallel`), and with it on each
number of threads, taking turns; what is printed are medians of the ratios within a round.  Two
kernels have a gradient written by hand with Numba's `prange` beside them (`--by-hand`).  The
machine must be idle: a thread that waits for a core looks like one that gains nothing.
"""

from __future__ import annotations

import argparse
import importlib
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
from numba import njit, prange

from benchmarks.gradbench.compare import DERIVATIVES
from benchmarks.gradbench.data import workload
from benchmarks.gradbench.evals import evals
from benchmarks.gradbench.larger import larger
from benchmarks.subjects import check_same
from benchmarks.timing import interleaved, ratio
from jitad import jit_value_and_grad, set_num_threads
from jitad.calls.compiled import Compiled
from jitad.structures import flatten
from kernels.common import SUMS, Array

EVALS = ("gmm", "ba", "lstm", "kmeans", "llsq", "lse", "det", "ode")
KERNELS = ("black_scholes", "gmm", "ba", "nbody", "heat", "rosenbrock", "logsumexp")


@njit(parallel=True, error_model="numpy", fastmath=SUMS)
def black_scholes(
    spot: Array, strike: Array, vol: Array, maturity: Array, weight: Array, rate: float
) -> tuple[float, tuple[Array, Array, float]]:
    n = len(spot)
    delta, vega = np.empty(n), np.empty(n)
    value, rho = 0.0, 0.0
    half_root, density = math.sqrt(0.5), 1.0 / math.sqrt(2.0 * math.pi)
    for i in prange(n):
        root = math.sqrt(maturity[i])
        spread = vol[i] * root
        drift = (rate + 0.5 * vol[i] * vol[i]) * maturity[i]
        d1 = (math.log(spot[i] / strike[i]) + drift) / spread
        n1 = 0.5 + 0.5 * math.erf(d1 * half_root)
        n2 = 0.5 + 0.5 * math.erf((d1 - spread) * half_root)
        cash = strike[i] * math.exp(-rate * maturity[i]) * n2
        value += weight[i] * (spot[i] * n1 - cash)
        delta[i] = weight[i] * n1
        vega[i] = weight[i] * spot[i] * root * density * math.exp(-0.5 * d1 * d1)
        rho += weight[i] * maturity[i] * cash
    return value, (delta, vega, rho)


@njit(parallel=True, error_model="numpy", fastmath=SUMS)
def rosenbrock(x: Array) -> tuple[float, Array]:
    """A gather: each element of the gradient from the two terms that it is in."""
    n = len(x)
    g = np.empty(n)
    value = 0.0
    for i in prange(n):
        slope = 0.0
        if i < n - 1:
            rest = x[i + 1] - x[i] * x[i]
            value += 100.0 * rest * rest + (1.0 - x[i]) * (1.0 - x[i])
            slope += -400.0 * x[i] * rest - 2.0 * (1.0 - x[i])
        if i > 0:
            slope += 200.0 * (x[i] - x[i - 1] * x[i - 1])
        g[i] = slope
    return value, g


BY_HAND = {"black_scholes": black_scholes, "rosenbrock": rosenbrock}


def _with(threads: int, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    set_num_threads(threads)
    return function(*args)


def _numba(threads: int, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    numba.set_num_threads(threads)
    return function(*args)


def kernel(name: str, size: str) -> tuple[Any, Any, tuple[Any, ...]]:
    """The gradient without threads and with, and arguments."""
    module = importlib.import_module(f"kernels.{name}")
    one = jit_value_and_grad(module.objective, module.ARGNUMS)
    many = jit_value_and_grad(module.objective, module.ARGNUMS, parallel=True)
    return one, many, module.inputs(size)


def of_gradbench(name: str, size: str) -> tuple[Any, Any, tuple[Any, ...]]:
    f = evals()[name][DERIVATIVES[name]]
    args = f.arguments(larger(name) if size == "large" else workload(name, size)[0])
    return f.run, Compiled(f.run.f, parallel=True), args  # type: ignore[attr-defined]


def measure(
    name: str, size: str, subject: tuple[Any, Any, tuple[Any, ...]], counts: list[int],
    seconds: float, by_hand: bool,
) -> None:  # fmt: skip
    one, many, args = subject
    first = []
    for g in (one, many):
        start = time.process_time()
        g(*args)
        first.append(time.process_time() - start)
    wanted = one(*args)
    calls: dict[str, Callable[[], object]] = {"one": partial(one, *args)}
    for n in counts:
        _check(_with(n, many, args), wanted)
        calls[f"{n}"] = partial(_with, n, many, args)
        if by_hand and name in BY_HAND and n <= numba.config.NUMBA_NUM_THREADS:
            check_same(_numba(n, BY_HAND[name], args), wanted)
            calls[f"prange {n}"] = partial(_numba, n, BY_HAND[name], args)
    times = interleaved(calls, rounds=25, seconds=seconds)
    said = [f"{1e3 * np.median(times['one']):9.3f} ms"]
    for key in list(calls)[1:]:
        said.append(f"{key}: {ratio(times['one'], times[key]).median:5.2f} x")
    divided = many.source.count("spread(")
    print(f"{name:15}{size:8}{'; '.join(said)}; {divided} loops divided; "
          f"first call {first[0]:.1f}, {first[1]:.1f} s", flush=True)  # fmt: skip


def _check(found: Any, wanted: Any) -> None:
    for a, b in zip(flatten(found)[0], flatten(wanted)[0], strict=True):
        scale = np.max(np.abs(b), initial=0.0)
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10 * float(scale))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", nargs="*", default=list(KERNELS))
    parser.add_argument("--gradbench", nargs="*", choices=EVALS)
    parser.add_argument("--size", default="large")
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--by-hand", action="store_true")
    options = parser.parse_args()
    print("how many times as fast as on one thread, by the number of threads")
    if options.gradbench is None:
        chosen = [(name, kernel(name, options.size)) for name in options.kernels]
    else:
        names = options.gradbench or EVALS
        chosen = [(name, of_gradbench(name, options.size)) for name in names]
    for name, subject in chosen:
        measure(name, options.size, subject, options.threads, options.seconds, options.by_hand)


if __name__ == "__main__":
    main()
