"""What do objects of the user's give where a function asks them for a number, an array, or items?

CPython and NumPy call their methods (`__float__`, `__index__`, `__array__`, ...); were those run as
they are, what they read would be baked into the kernel.  Here they are called through the hook.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from jitad.trace.around.telling import is_outside
from jitad.trace.around.unseen import unseen
from jitad.trace.calls import call, special
from jitad.trace.context import Trace

_OF_ITEMS = (math.dist, math.fsum, math.prod)
_FLOATS = (np.float64, np.float32)
_COMPUTING = ("numpy", "scipy")


def given(trace: Trace | None, f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a function that is not the user's, with what such objects give."""
    home = (getattr(f, "__module__", None) or "").partition(".")[0]
    if home == "math" or any(f is kind for kind in _FLOATS):
        how = "__iter__" if any(f is g for g in _OF_ITEMS) else "__float__"
        return tuple(_converted(list if how == "__iter__" else float, how, a) for a in args)
    if trace is None:
        return args
    if f is range:
        return tuple(_converted(operator.index, "__index__", a) for a in args)
    if (f is any or f is all) and type(args[0]) in (list, tuple):
        return ([_converted(bool, "__bool__", _converted(bool, "__len__", v)) for v in args[0]],)
    if home == "statistics":
        return tuple(_converted(list, "__iter__", a) for a in args)
    if home in _COMPUTING or isinstance(f, np.ufunc):
        return tuple(_array(trace, f, a) for a in args)
    return args


def _converted(kind: Any, how: str, value: Any) -> Any:
    return value if special(value, how) is None else call(kind, value)


def _array(trace: Trace, f: Any, value: Any) -> Any:
    if special(value, "__array__") is not None:
        return call(np.asarray, value)
    if not is_outside(trace, value) or callable(value):
        return value
    raise unseen(getattr(f, "__name__", str(f)), value)
