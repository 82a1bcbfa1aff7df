"""What becomes of `scipy.special.lambertw`?

On its two real branches it is computed by Halley's iteration, which is differentiated: once it has
converged, each further step has one more derivative right.  Beginnings: Corless et al., *On the
Lambert W function* (1996), (4.11) and (4.22).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sp

from jitad.errors import JitadError, JitadTypeError
from jitad.values.broadcast import as_operand, elementwise, shape_of
from jitad.values.complexes.number import Complex
from jitad.values.kind import fail, require
from jitad.values.numpy.ufuncs import where
from jitad.values.registry import call, replaces

_STEPS = 9  # at most five until it has converged


def _beside_branch(x: Any, side: float) -> Any:
    """The first terms of the series about -1/e, where the branches meet."""
    p = side * call(np.sqrt, call(np.maximum, 2.0 * (math.e * x + 1.0), 0.0))
    return -1.0 + p - p * p / 3.0 + 11.0 / 72.0 * p * p * p


def _far_out(x: Any) -> Any:
    first = call(np.log, x)
    second = call(np.log, first)
    return first - second + second / first


def _upper(x: Any) -> Any:
    small, large = call(np.less, x, -0.25), call(np.greater, x, math.e)
    inner = call(np.log1p, where(small, 0.0, where(large, 0.0, x)))
    middle = inner * (1.0 - call(np.log1p, inner) / (2.0 + inner))
    near = _beside_branch(where(small, x, 0.0), 1.0)
    return where(small, near, where(large, _far_out(where(large, x, 3.0)), middle))


def _lower(x: Any) -> Any:
    small = call(np.less, x, -0.25)
    first = call(np.log, -where(small, -0.1, x))
    second = call(np.log, -first)
    near = _beside_branch(where(small, x, 0.0), -1.0)
    return where(small, near, first - second + second / first)


@replaces(sp.lambertw)
def lambertw(z: Any, k: Any = 0, tol: float = 1e-8) -> Any:
    """As a complex number, whose imaginary part is zero: of real numbers on the real branches."""
    x, k = as_operand(z), int(k)
    x = elementwise("cast", x, dtype="f8")
    if k not in (0, -1):
        raise fail(JitadTypeError, f"branch {k} of lambertw is complex: not supported here")
    ends = call(np.less, x, 0.0) if k else True
    inside = call(np.logical_and, call(np.greater_equal, x, -math.exp(-1.0)), ends)
    known = call(np.logical_or, inside, call(np.isnan, x))
    real = "[-1/e, 0)" if k else "[-1/e, inf)"
    require(call(np.all, known), JitadError, f"branch {k} of lambertw is complex at a number "
            f"outside of {real}: not supported here")  # fmt: skip
    endless = call(np.equal, x, math.inf)
    x = where(endless, 1.0, x)
    w = (_lower if k else _upper)(x)
    for _ in range(_STEPS):
        e = call(np.exp, w)
        f, above = w * e - x, w + 1.0
        met = call(np.equal, above, 0.0)  # the branch point itself
        above = where(met, 1.0, above)
        w = w - where(met, 0.0, f) / (e * above - (above + 1.0) * f / (2.0 * above))
    w = where(endless, math.inf, w)
    return Complex(w, call(np.zeros_like, w) if shape_of(w) else 0.0 * w)
