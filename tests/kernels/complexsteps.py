"""Gradients by complex steps of the programs in `kernels.arrays` and `kernels.fresh` themselves.

The very source of an objective runs with a `np` whose new arrays are complex; the imaginary part
of f(x + ih), h tiny, is h times the derivative to all digits (Squire & Trapp 1998).
"""

import importlib.util
import math
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from kernels import load, module_of

STEP = 1e-30


class Numpy:
    """NumPy with new arrays of complex numbers, and without conjugates in the deviation."""

    @staticmethod
    def zeros(shape: Any) -> Any:
        return np.zeros(shape, complex)

    empty = zeros

    @staticmethod
    def ones(shape: Any) -> Any:
        return np.ones(shape, complex)

    @staticmethod
    def zeros_like(a: Any) -> Any:
        return np.zeros(a.shape, complex)

    empty_like = zeros_like

    @staticmethod
    def std(a: Any, axis: int) -> Any:
        return np.sqrt(np.mean((a - np.mean(a, axis=axis, keepdims=True)) ** 2, axis=axis))

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _module(name: str) -> ModuleType:
    """A second copy of a program's module, with those of helpers from beside it."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.np = Numpy()
    if hasattr(module, "math"):  # where a point lies in a table depends on no step
        module.math = SimpleNamespace(floor=lambda z: math.floor(z.real))
    for key, value in list(vars(module).items()):
        if isinstance(value, FunctionType) and value.__module__ not in (name, "kernels.common"):
            setattr(module, key, getattr(_module(value.__module__), key))
    return module


def truth(name: str, args: tuple[Any, ...]) -> tuple[float, list[Any]]:
    """Value and gradients, one for each differentiated argument."""
    argnums = load(name).argnums
    objective = _module(module_of(name)).objective
    grads = []
    for position in (argnums,) if isinstance(argnums, int) else argnums:
        grad = np.empty(np.shape(args[position]))
        for index in np.ndindex(grad.shape):
            moved = [np.array(a, complex) if np.asarray(a).dtype.kind == "f" else a for a in args]
            moved[position][index] += 1j * STEP
            moved = [a[()] if isinstance(a, np.ndarray) else a for a in moved]
            grad[index] = objective(*moved).imag / STEP
        grads.append(grad)
    return float(load(name).objective(*args)), grads
