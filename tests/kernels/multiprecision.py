"""Derivatives of the kernels' objectives to forty digits, without differentiating anything by hand.

The very source of an objective runs with its modules `math` and `np` replaced by versions that
compute with mpmath's numbers. At fifty digits a central difference is right to more than thirty.
"""

import importlib.util
from types import ModuleType
from typing import Any

import mpmath
import numpy as np

from kernels import load

DIGITS = 50
STEP = mpmath.mpf(10) ** -16


class Math:
    """The functions of `math` that objectives use."""

    pi = np.pi  # programs see the double, so the truth must be about the double
    sqrt, exp, log = mpmath.sqrt, mpmath.exp, mpmath.log
    sin, cos, tanh, erf = mpmath.sin, mpmath.cos, mpmath.tanh, mpmath.erf
    lgamma = mpmath.loggamma


def _elementwise(function: Any, arity: int = 1) -> Any:
    ufunc = np.frompyfunc(function, arity, 1)
    return staticmethod(lambda *args: ufunc(*args))


class Numpy:
    """NumPy with new arrays, and functions that object arrays lack, in multiprecision."""

    exp, log, tanh = (_elementwise(f) for f in (mpmath.exp, mpmath.log, mpmath.tanh))
    logaddexp = _elementwise(lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b)), 2)

    @staticmethod
    def zeros(shape: Any) -> Any:
        return np.full(shape, mpmath.mpf(0), dtype=object)

    @staticmethod
    def zeros_like(a: Any) -> Any:
        return Numpy.zeros(a.shape)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _module(name: str) -> ModuleType:
    """A second copy of a kernel's module, whose functions compute in multiprecision."""
    spec = importlib.util.find_spec(f"kernels.{name}")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.np = Numpy()
    module.math = Math
    return module


def _exact(argument: Any) -> Any:
    """The same number or array in multiprecision; integers stay what they are."""
    if np.asarray(argument).dtype.kind in "iu":
        return argument
    if isinstance(argument, np.ndarray):
        return np.frompyfunc(mpmath.mpf, 1, 1)(argument)
    return mpmath.mpf(argument)


def truth(name: str, args: tuple[Any, ...]) -> tuple[float, list[Any]]:
    """Value and gradients, one for each differentiated argument, correct to double precision."""
    argnums = load(name).argnums
    objective = _module(name).objective
    with mpmath.workdps(DIGITS):
        exact = [_exact(a) for a in args]
        value = float(objective(*exact))
        grads = []
        for position in (argnums,) if isinstance(argnums, int) else argnums:
            original = exact[position]
            grad = np.empty(np.shape(original))
            for index in np.ndindex(grad.shape):
                sides = []
                for sign in (1, -1):
                    moved = np.array(original, dtype=object)
                    moved[index] = moved[index] + sign * STEP
                    exact[position] = moved if grad.ndim else moved[()]
                    sides.append(objective(*exact))
                grad[index] = float((sides[0] - sides[1]) / (2 * STEP))
            exact[position] = original
            grads.append(grad)
    return value, grads
