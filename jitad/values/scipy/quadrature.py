"""What becomes of the functions of scipy.integrate that integrate samples?"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values.broadcast import elementwise, shape_of
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.numpy.reductions import axes_of
from jitad.values.numpy.shaping import handle, moveaxis
from jitad.values.numpy.ufuncs import add, div, mul, sub
from jitad.values.registry import call, replaces


@replaces(scipy.integrate.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = handle(y)
    found = call(np.trapezoid, y, x, dx, axis)
    return elementwise("cast", found, dtype=y.dtype.str[1:]) if y.dtype.kind == "f" else found


def _last(y: Any, x: Any, dx: Any, axis: int) -> tuple[Any, Any, int]:
    """The samples with their axis as the last; the steps between them."""
    y = handle(y)
    (axis,) = axes_of(axis, y.ndim)
    if x is None:
        return moveaxis(y, axis, -1), dx, axis
    x = handle(x)
    steps = call(np.diff, x if x.ndim == 1 else moveaxis(x, axis, -1), axis=-1)
    return moveaxis(y, axis, -1), steps, axis


@replaces(scipy.integrate.cumulative_trapezoid)
def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1,
                         initial: Any = None) -> Any:  # fmt: skip
    y, steps, axis = _last(y, x, dx, axis)
    areas = mul(mul(steps, add(y[..., 1:], y[..., :-1])), 0.5)
    total = call(np.cumsum, areas, axis=-1)
    if initial is not None:
        if initial != 0:
            raise fail(JitadValueError, "`initial` must be `None` or `0`.")
        total = call(np.concatenate, [call(np.zeros_like, total[..., :1]), total], axis=-1)
    return moveaxis(total, -1, axis)


@replaces(scipy.integrate.simpson)
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """Parabolas through three samples each; an odd last interval as Cartwright has it."""
    y, steps, axis = _last(y, x, dx, axis)
    n = y.shape[-1]
    if isinstance(n, Number):
        n = n.known("the number of samples of simpson")  # type: ignore[attr-defined]
    if n < 3:
        if n == 2:
            return mul(mul(steps if x is None else steps[..., 0], 0.5), add(y[..., 0], y[..., 1]))
        raise fail(JitadTypeError, "simpson is supported for two samples or more")
    if x is None:
        steps = mul(dx, call(np.ones, n - 1, dtype=y.dtype))
    else:
        steps = steps.astype(float)
    odd = n - 1 + n % 2  # samples that pairs of intervals cover
    h0, h1 = steps[..., 0 : odd - 1 : 2], steps[..., 1 : odd - 1 : 2]
    y0, y1, y2 = y[..., 0 : odd - 2 : 2], y[..., 1 : odd - 1 : 2], y[..., 2:odd:2]
    both, ratio = add(h0, h1), div(h0, h1)
    inner = add(mul(y0, sub(2.0, div(1.0, ratio))), mul(y2, sub(2.0, ratio)))
    middle = mul(y1, div(mul(both, both), mul(h0, h1)))
    total = call(np.sum, mul(div(both, 6.0), add(inner, middle)), axis=-1)
    if n % 2 == 0:
        steps = steps.astype(float)
        a, b = steps[..., -2], steps[..., -1]  # the step before, and that of the last interval
        last = div(add(mul(2.0, mul(b, b)), mul(3.0, mul(a, b))), mul(6.0, add(a, b)))
        inside = div(add(mul(b, b), mul(3.0, mul(a, b))), mul(6.0, a))
        first = div(mul(mul(b, b), b), mul(mul(6.0, a), add(a, b)))
        edge = sub(add(mul(last, y[..., -1]), mul(inside, y[..., -2])), mul(first, y[..., -3]))
        both = add(total, edge)
        total = both.astype(total.dtype) if shape_of(total) else both  # SciPy adds in place
    return total
