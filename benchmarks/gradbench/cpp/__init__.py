"""The derivatives of GradBench's evals by hand, in C++, compiled on first use; called by ctypes.

The flags are GradBench's own: `-O3 -march=native`, no `-ffast-math`.
"""

import ctypes
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.built import built

HERE = Path(__file__).parent
FLAGS = ("-O3", "-march=native", "-std=c++17")


def compiler() -> str | None:
    """The C++ compiler's path, or None: everything here needs one."""
    return shutil.which("g++")


@cache
def library(name: str) -> ctypes.CDLL:
    """The compiled `name`.cpp, taken from the cache when neither it nor the machine has changed."""
    gcc = compiler()
    if gcc is None:
        raise RuntimeError(f"no g++ on the path, so {name}.cpp cannot be compiled")
    headers = sorted(HERE.glob("*.hpp"))
    loaded = built(gcc, HERE / f"{name}.cpp", f"gradbench-{name}", headers, FLAGS)
    loaded.time_derivative.restype = ctypes.c_double
    return loaded


class ByHand:
    """The derivative in C++ at these arguments, with results like those of jitad."""

    def __init__(self, name: str, args: tuple[Any, ...], like: tuple[Any, ...]) -> None:
        self.function = library(name).time_derivative
        # Kept as attributes: C++ gets their addresses, which do not keep them alive.
        self.arrays = [_array(a) for a in args]
        self.results = [np.empty(np.shape(r), np.asarray(r).dtype) for r in like]
        dims = [n for a in args for n in np.shape(a)]
        self.given = (
            (ctypes.c_void_p * len(args))(*(a.ctypes.data for a in self.arrays)),
            (ctypes.c_int64 * max(len(dims), 1))(*dims),
            (ctypes.c_void_p * len(like))(*(r.ctypes.data for r in self.results)),
            (ctypes.c_int64 * len(like))(*(r.nbytes for r in self.results)),
            ctypes.c_int64(len(like)),
        )

    def seconds(self, repeats: int) -> float:
        """What so many calls take, the loop being in C++; afterwards `results` are there."""
        return float(self.function(*self.given, ctypes.c_int64(repeats)))


def by_hand(name: str, args: tuple[Any, ...]) -> Callable[[tuple[Any, ...]], ByHand]:
    """For these arguments of an eval's derivative in Python, and for results like these."""
    if name == "ht":
        theta, *us, model, correspondences, points = args
        shares = us or [np.empty((0, 2))]
        args = (len(us), theta, *shares, *model, correspondences, points)
    return lambda like: ByHand(name, args, like)


def _array(argument: Any) -> Any:
    a = np.asarray(argument)
    return np.ascontiguousarray(a, dtype=np.int64 if a.dtype.kind in "iub" else np.float64)
