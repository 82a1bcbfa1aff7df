"""What does the eager engine cost at every level of nesting?  Beside HIPS autograd.

    python -m benchmarks.bench_nesting             # ratios to autograd (extra `bench`)
    python -m benchmarks.bench_nesting --orders    # k-th derivatives: run time and compile time

Programs on scalars and small arrays, where the engine's own work is all that counts.  Level k is
the gradient of a scalar made of the gradient at level k - 1.  All that is compared takes turns
(`timing.interleaved`); a ratio is the median of those within the rounds.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import jitad
from benchmarks.timing import interleaved

Function = Callable[..., Any]


def polynomial(np: Any, x: Any) -> Any:
    """Scalars: nothing but + and *."""
    s = 1.0
    for _ in range(30):
        s = s * x + 0.5
    return s


def functions(np: Any, x: Any) -> Any:
    """Scalars: functions of the library."""
    s = x
    for _ in range(10):
        s = np.sin(s) * np.exp(-s * s) + x / (1.0 + s * s)
    return s


def vector(np: Any, x: Any) -> Any:
    """Arrays of ten elements: elementwise operations and a sum."""
    y = x
    for _ in range(5):
        y = np.tanh(y * 0.9 + x) - 0.1 * y * y
    return np.sum(y * y)


def network(np: Any, x: Any) -> Any:
    """A layer of a network: a product with a constant matrix, a slice, a sum."""
    y = x
    for _ in range(4):
        y = np.tanh(WEIGHTS @ y)
    return np.sum(y[1:] * y[:-1]) + np.sum(y)


RANDOM = np.random.default_rng(0)
WEIGHTS = RANDOM.standard_normal((10, 10)) / 3.0
PROGRAMS: dict[str, tuple[Function, Any]] = {
    "polynomial": (polynomial, 0.7),
    "functions": (functions, 0.7),
    "vector": (vector, np.linspace(0.1, 1.0, 10)),
    "network": (network, np.linspace(0.1, 1.0, 10)),
}


def nested(f: Function, grad: Function, np: Any, level: int, is_array: bool) -> Function:
    """The gradient, of a sum of the gradient, ..."""
    for _ in range(level - 1):
        f = summed(grad(f), np) if is_array else grad(f)
    return grad(f)


def summed(f: Function, np: Any) -> Function:
    return lambda x: np.sum(f(x))


def of(program: Function, np: Any) -> Function:
    return lambda x: program(np, x)


def subjects(name: str, level: int) -> dict[str, Callable[[], Any]]:
    """Calls of the nested gradient by each engine; they must agree."""
    import autograd
    import autograd.numpy as anp

    program, x = PROGRAMS[name]
    is_array = isinstance(x, np.ndarray)
    ours = nested(of(program, np), jitad.grad, np, level, is_array)
    theirs = nested(of(program, anp), autograd.grad, anp, level, is_array)
    np.testing.assert_allclose(ours(x), theirs(x), rtol=1e-9)
    return {"jitad": lambda: ours(x), "autograd": lambda: theirs(x)}


def ratios(levels: range, seconds: float) -> None:
    print("time of the eager gradient over autograd's, median (quartiles); below 1: faster")
    every = []
    for name in PROGRAMS:
        for level in levels:
            samples = interleaved(subjects(name, level), rounds=15, seconds=seconds)
            ratio = samples["jitad"] / samples["autograd"]
            low, median, high = np.percentile(ratio, (25, 50, 75))
            every.append(median)
            micro = 1e6 * np.median(samples["jitad"])
            spread = f"({low:.2f}-{high:.2f})"
            print(f"{name:12s} level {level}  {median:5.2f} {spread}  {micro:9.0f} us")
    print(f"geometric mean {math.exp(np.mean(np.log(every))):.2f}")


def loop(x: Any) -> Any:
    """A loop of a fixed number of iterations, for the k-th derivative."""
    s = x
    for i in range(20):
        s = 0.9 * s * (1.0 - s * 0.3) + x / (i + 2.0)
    return s


def orders(highest: int) -> None:
    """Compile time and run time of the k-th derivative, each as a multiple of the one before."""
    for name, f in {"sin": math.sin, "exp": math.exp, "loop": loop}.items():
        print(f"{name}: order, compile s (growth), run us (growth), operations in the source")
        before = (math.nan, math.nan)
        derived: Function = f
        for k in range(1, highest + 1):
            derived = jitad.derivative(derived)
            compiled = jitad.jit(derived)
            start = time.perf_counter()
            compiled(0.3)
            made = time.perf_counter() - start
            run = float(np.median(interleaved({"": lambda c=compiled: c(0.3)}, 7, 0.5)[""]))
            count = sum(compiled.source.count(f" {c} ") for c in "+-*/")
            print(f"  {k}  {made:6.2f} ({made / before[0]:4.1f})  "
                  f"{1e6 * run:8.2f} ({run / before[1]:4.1f})  {count}")  # fmt: skip
            before = (made, run)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--orders", action="store_true")
    parser.add_argument("--highest", type=int, default=6)
    parser.add_argument("--levels", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    if given.orders:
        orders(given.highest)
    else:
        ratios(range(1, given.levels + 1), given.seconds)
