"""How does another library's eager gradient run on a kernel that was written for NumPy?

HIPS autograd differentiates functions that use *its* NumPy. So the objective is made again from
the same code, with ``np`` and ``math`` in its globals replaced; helpers it calls likewise. What
autograd does not know, such as assigning to an array's elements, then fails in autograd itself.
"""

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np


def autograd_gradient(objective: Callable, argnums: int | tuple[int, ...]) -> Callable:
    """The objective's gradient by HIPS autograd."""
    import autograd

    return autograd.grad(transplant(objective), argnums)


def transplant(function: Callable) -> Callable:
    """The function, seeing autograd's NumPy where it saw NumPy or math."""
    import autograd.numpy
    import autograd.scipy.special
    import scipy.special

    replaced: dict[int, Any] = {
        id(np): autograd.numpy,
        id(math): math_on(autograd.numpy),
        id(scipy.special): autograd.scipy.special,
    }
    worlds: dict[int, dict[str, Any]] = {}

    def convert(value: Any) -> Any:
        value = getattr(value, "py_func", value)
        if id(value) in replaced:
            return replaced[id(value)]
        if isinstance(value, np.ufunc):
            return getattr(autograd.numpy, value.__name__, value)
        if not isinstance(value, types.FunctionType) or not is_ours(value):
            return value
        world = worlds.get(id(value.__globals__))
        if world is None:
            world = worlds[id(value.__globals__)] = dict(value.__globals__)
            world.update({name: convert(item) for name, item in value.__globals__.items()})
        copy = types.FunctionType(
            value.__code__, world, value.__name__, value.__defaults__, value.__closure__
        )
        copy.__kwdefaults__ = value.__kwdefaults__
        return copy

    return convert(function)


def is_ours(function: types.FunctionType) -> bool:
    return function.__module__.partition(".")[0] in ("kernels", "benchmarks")


def math_on(numpy: Any) -> types.SimpleNamespace:
    """A stand-in for ``math``: functions of autograd's NumPy under the names they have there."""
    other_names = {"pow": "power", "acos": "arccos", "asin": "arcsin", "atan": "arctan"}
    known = {}
    for name in dir(math):
        match = getattr(numpy, other_names.get(name, name), None)
        known[name] = match if callable(match) else getattr(math, name)
    return types.SimpleNamespace(**known)
