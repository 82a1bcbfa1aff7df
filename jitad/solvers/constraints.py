"""What are the constraints of `minimize`: numbers that are to be zero, and others that are not to
be negative?
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize as so

from jitad.errors import JitadTypeError, JitadValueError
from jitad.solvers.entered import of_arguments
from jitad.trace.around.telling import is_outside
from jitad.trace.ongoing import current
from jitad.values.active import any_traced
from jitad.values.kind import fail
from jitad.values.registry import call

Function = Callable[..., Any]
_RANGES = (so.LinearConstraint, so.NonlinearConstraint)


def parted(constraints: Any) -> tuple[list[Function], list[Function]]:
    """Functions whose values are zero, and others whose values are not negative."""
    alone = isinstance(constraints, (dict, *_RANGES))
    zero: list[Function] = []
    above: list[Function] = []
    for c in (constraints,) if alone else constraints:
        if isinstance(c, dict):
            f = of_arguments(c["fun"], c.get("args", ()))
            kind = str(c["type"]).lower()
            if kind not in ("eq", "ineq"):
                raise fail(JitadValueError, f"Unknown constraint type '{c['type']}'.")
            (zero if kind == "eq" else above).append(f)
        elif isinstance(c, _RANGES):
            if is_outside(current(), c):
                raise fail(JitadTypeError, f"a {type(c).__name__} that was made outside of the "
                           "function is not seen to change by a kernel",
                           "Make it inside, or give a dict with type and fun.")  # fmt: skip
            _between(c, zero, above)
        else:
            raise fail(JitadTypeError, f"{type(c).__name__} as a constraint is not supported on "
                       "traced or differentiated values", "Give dicts with type and fun.")
    return zero, above


def _between(c: Any, zero: list[Function], above: list[Function]) -> None:
    """Values between limits, which are plain: each is equal, or on one or two sides."""
    if any_traced((c.lb, c.ub)):
        raise fail(JitadTypeError, "limits of a constraint that are traced are not supported",
                   "Give dicts with type and fun.")  # fmt: skip
    f = of_arguments(c.fun, ()) if hasattr(c, "fun") else lambda x: call(np.matmul, c.A, x)
    low, high = np.broadcast_arrays(np.atleast_1d(c.lb), np.atleast_1d(c.ub))
    both = low == high
    sides = (both, zero, low, 1.0), (~both & (low > -np.inf), above, low, 1.0), (
        ~both & (high < np.inf), above, high, -1.0)  # fmt: skip
    for where, into, limit, sign in sides:
        if where.any():
            k = slice(None) if low.size == 1 else np.flatnonzero(where)  # one limit is that of all
            into.append(functools.partial(_beyond, f, k, limit[k], sign))


def _beyond(f: Function, k: Any, limit: Any, sign: float, x: Any) -> Any:
    return call(np.multiply, sign, call(np.subtract, call(np.reshape, f(x), -1)[k], limit))


def together(functions: list[Function]) -> Function:
    """The values of all in one vector."""

    def values(x: Any) -> Any:
        parts = [call(np.reshape, call(np.asarray, f(x), float), -1) for f in functions]
        return call(np.concatenate, parts) if parts else call(np.zeros, 0)

    return values
