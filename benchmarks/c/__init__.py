"""The kernels' gradients in C, compiled on first use and called through ctypes.

They answer whether the hand-written Numba gradients are as fast as C; `compare` prints the table.
The flags are those of a careful user: all of the machine, no `-ffast-math`. As gcc sets by itself,
multiply and add may fuse; sums run in lanes where the source says so (`-fopenmp-simd`), and square
roots because nobody reads errno (`-fno-math-errno`; Numba never sets it). With `vector_math` exp,
log, erf and tanh run in lanes, too (glibc's libmvec), which plain Numba cannot.
"""

import ctypes
import platform
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address
from numpy.typing import NDArray

from benchmarks.built import built
from kernels import load

HERE = Path(__file__).parent
FLAGS = ("-O3", "-march=native", "-fopenmp-simd", "-fno-math-errno", "-std=gnu11")
VECTOR_MATH = ("-DVECTOR_MATH",)


def compiler() -> str | None:
    """The C compiler's path, or None: everything here needs one."""
    return shutil.which("gcc")


def has_vector_math() -> bool:
    """Whether glibc is one whose libmvec has all that `vector_math` asks for (erf is from 2.35)."""
    name, version = platform.libc_ver()
    recent = name == "glibc" and tuple(int(n) for n in version.split(".")[:2]) >= (2, 35)
    return recent and platform.machine() == "x86_64"


@cache
def library(name: str, vector_math: bool = False) -> ctypes.CDLL:
    """The compiled `name`.c, taken from the cache when neither it nor the flags have changed."""
    gcc = compiler()
    if gcc is None:
        raise RuntimeError(f"no gcc on the path, so the C gradient {name!r} cannot be compiled")
    flags = (*FLAGS, *VECTOR_MATH) if vector_math else FLAGS
    libraries = ("-lmvec", "-lm") if vector_math else ("-lm",)
    loaded = built(gcc, HERE / f"{name}.c", name, [HERE / "kernel.h"], flags, libraries)
    loaded.gradient.restype = ctypes.c_double
    loaded.time_gradient.restype = ctypes.c_double
    if hasattr(loaded, "dgemm"):
        address = get_cython_function_address("scipy.linalg.cython_blas", "dgemm")
        ctypes.c_void_p.in_dll(loaded, "dgemm").value = address
    return loaded


class Call:
    """Arguments of a gradient turned into what C takes, with room for the results."""

    def __init__(self, name: str, args: tuple[Any, ...]) -> None:
        argnums = load(name).argnums
        self.single = isinstance(argnums, int)
        wanted = (argnums,) if isinstance(argnums, int) else argnums
        # Kept as attributes: C gets their addresses, which do not keep them alive.
        self.arrays: list[NDArray[Any]] = [np.ascontiguousarray(a, dtype=_dtype(a)) for a in args]
        self.results = [np.empty(np.shape(args[i])) for i in wanted]
        dims = [n for a in args for n in np.shape(a)]
        self.c_args = (
            (ctypes.c_void_p * len(args))(*(a.ctypes.data for a in self.arrays)),
            (ctypes.c_int64 * max(len(dims), 1))(*dims),
            (ctypes.c_void_p * len(self.results))(*(r.ctypes.data for r in self.results)),
        )

    def gradient(self) -> Any:
        """The results in the form in which the kernel's own `gradient` returns them."""
        grads = tuple(r if r.ndim else float(r) for r in self.results)
        return grads[0] if self.single else grads


def _dtype(argument: Any) -> type:
    return np.int64 if np.asarray(argument).dtype.kind in "iu" else np.float64


def c_gradient(name: str, vector_math: bool = False) -> Callable[..., tuple[float, Any]]:
    """The C gradient as a Python function with the arguments and results of the Numba one."""
    function = library(name, vector_math).gradient

    def gradient(*args: Any) -> tuple[float, Any]:
        call = Call(name, args)
        value = function(*call.c_args)
        return value, call.gradient()

    return gradient


def time_c(name: str, args: tuple[Any, ...], repeats: int, vector_math: bool = False) -> float:
    """Seconds a call of the C gradient takes, the loop of `repeats` calls being in C too."""
    return timer_c(name, args, vector_math)(repeats)


def timer_c(name: str, args: tuple[Any, ...], vector_math: bool = False) -> Callable[[int], float]:
    """`time_c` with the arguments converted beforehand, for measuring by turns."""
    call = Call(name, args)
    function = library(name, vector_math).time_gradient
    return lambda repeats: function(*call.c_args, ctypes.c_int64(repeats)) / repeats
