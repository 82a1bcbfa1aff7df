"""What does a call cost that has next to nothing to do?  ``python -m benchmarks.bench_calls``

Ten elements, with and without ``out=``, and structures; beside each a function that was written by
hand for Numba, with the arguments and results that Numba takes.  All take turns; medians in
microseconds of the processor's time, the cost of the loop taken off.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from benchmarks import timing
from jitad import jit_grad, jit_value_and_grad

X = np.linspace(0.0, 1.0, 10)
OUT = np.empty(10)


@dataclass
class Weights:
    w: Any
    b: Any


@njit
def hand_gradient(x):
    return 2.0 * x


@njit
def hand_into(x, out):
    for i in range(len(x)):
        out[i] = 2.0 * x[i]


@njit
def hand_number(x):
    return 3.0 * x * x


@njit
def hand_tuple(p):
    return 2.0 * p[1] * p[0], np.sum(p[0] ** 2)


def subjects() -> dict[str, tuple[Callable[[], Any], Callable[[], Any] | None]]:
    """Each beside its opponent, if there is one."""
    gradient, number = jit_grad(lambda x: np.sum(x * x)), jit_grad(lambda x: x * x * x)
    pair = jit_value_and_grad(lambda x: np.sum(x * x))
    in_tuple = jit_grad(lambda p: np.sum(p[0] ** 2) * p[1])
    in_dict = jit_grad(lambda p: np.sum(p["w"] ** 2) * p["b"])
    in_fields = jit_grad(lambda p: np.sum(p.w**2) * p.b)
    t, d, c = (X, 1.0), {"w": X, "b": 1.0}, Weights(X, 1.0)
    return {
        "a number": (lambda: number(2.0), lambda: hand_number(2.0)),
        "an array": (lambda: gradient(X), lambda: hand_gradient(X)),
        "an array, out=": (lambda: gradient(X, out=OUT), lambda: hand_into(X, OUT)),
        "value and array, out=": (lambda: pair(X, out=OUT), None),
        "an array, bound": (gradient.bound(X, out=OUT), lambda: hand_into(X, OUT)),
        "a tuple": (lambda: in_tuple(t), lambda: hand_tuple(t)),
        "a dict": (lambda: in_dict(d), None),
        "a dataclass": (lambda: in_fields(c), None),
    }  # fmt: skip


def main() -> None:
    found = subjects()
    flat = {f"{name}/{k}": f for name, both in found.items() for k, f in enumerate(both) if f}
    for f in flat.values():
        f()
        f()
    times = timing.interleaved({"nothing": lambda: None, **flat}, rounds=31, seconds=10.0,
                               clock=time.process_time)  # fmt: skip
    nothing = np.median(times["nothing"])
    print(f"{'µs a call':<24}{'jitad':>8}{'by hand':>9}{'ratio':>7}")
    for name in found:
        ours, hand = (
            float(np.median(times[key])) - nothing if key in times else None
            for key in (f"{name}/0", f"{name}/1")
        )
        beside = f"{hand * 1e6:>9.2f}{ours / hand:>7.2f}" if hand is not None else ""
        print(f"{name:<24}{ours * 1e6:>8.2f}{beside}")


if __name__ == "__main__":
    main()
