"""What becomes of the functions of scipy.integrate that integrate samples?"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.broadcast import elementwise, shape_of
from jitad.values.kind import fail, require
from jitad.values.number import Number
from jitad.values.numpy.reductions import one_axis
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
    axis = one_axis(axis, y.ndim)
    if x is None:
        return moveaxis(y, axis, -1), dx, axis
    x = handle(x)
    steps = call(np.diff, x if x.ndim == 1 else moveaxis(x, axis, -1), axis=-1)
    return moveaxis(y, axis, -1), steps, axis


@replaces(scipy.integrate.cumulative_trapezoid)
def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1,
                         initial: Any = None) -> Any:  # fmt: skip
    y, steps, axis = _last(y, x, dx, axis)
    extents.require_at_least(y.shape[-1], 1, "At least one point is required along `axis`.")
    areas = mul(mul(steps, add(y[..., 1:], y[..., :-1])), 0.5)
    total = call(np.cumsum, areas, axis=-1)
    if initial is not None:
        if initial != 0:
            raise fail(JitadValueError, "`initial` must be `None` or `0`.")
        total = call(np.concatenate, [call(np.zeros_like, total[..., :1]), total], axis=-1)
    return moveaxis(total, -1, axis)


def _count(y: Any, name: str) -> int:
    """How many samples there are, which must be known."""
    n = y.shape[-1]
    if isinstance(n, Number):
        n = n.known(f"the number of samples of {name}")  # type: ignore[attr-defined]
    return int(n)


@replaces(scipy.integrate.simpson)
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """Parabolas through three samples each; an odd last interval as Cartwright has it."""
    y, steps, axis = _last(y, x, dx, axis)
    n = _count(y, "simpson")
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


@replaces(scipy.integrate.cumulative_simpson)
def cumulative_simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1,
                       initial: Any = None) -> Any:  # fmt: skip
    """Each interval by the parabola that begins with it, or ends, by turns."""
    y, steps, axis = _last(y, x, dx, axis)
    n = _count(y, "cumulative_simpson")
    if n < 3:
        raise fail(JitadTypeError, "cumulative_simpson is supported for three samples or more")
    if x is None:
        if shape_of(dx):
            raise fail(JitadTypeError, "dx= of cumulative_simpson must be a number here")
        steps = mul(dx, call(np.ones, n - 1))
    else:
        message = "Input x must be strictly increasing."
        require(call(np.all, call(np.greater, steps, 0.0)), JitadValueError, message)
    ahead, behind = _by_parabolas(y, steps), _by_parabolas(y[..., ::-1], steps[..., ::-1])
    behind = behind[..., ::-1]
    parts = [(ahead if k % 2 == 0 and k < n - 2 else behind)[..., k if k % 2 == 0 and k < n - 2
             else k - 1] for k in range(n - 1)]  # fmt: skip
    total = call(np.cumsum, call(np.stack, parts, axis=-1), axis=-1)
    if initial is not None:
        total = add(total, initial)
        first = add(call(np.zeros_like, total[..., :1]), initial)
        total = call(np.concatenate, [first, total], axis=-1)
    return moveaxis(total, -1, axis)


def _by_parabolas(y: Any, steps: Any) -> Any:
    """Over the first of each two intervals, by the parabola over both."""
    a, b = steps[..., :-1], steps[..., 1:]
    share, ratio = div(a, add(a, b)), div(a, b)
    both = mul(share, ratio)
    inner = add(mul(sub(3.0, share), y[..., :-2]), mul(add(add(3.0, both), share), y[..., 1:-1]))
    return mul(div(a, 6.0), sub(inner, mul(both, y[..., 2:])))


@replaces(scipy.integrate.romb)
def romb(y: Any, dx: Any = 1.0, axis: int = -1, show: bool = False) -> Any:
    """Trapezoids of all widths, extrapolated."""
    y = _last(y, None, dx, axis)[0].astype(float)
    intervals = _count(y, "romb") - 1
    levels = intervals.bit_length() - 1
    if show or intervals != 1 << levels:
        raise fail(JitadValueError, "Number of samples must be one plus a non-negative power of 2.")
    row: list[Any] = []
    for k in range(levels + 1):
        step = intervals >> k
        ends = mul(0.5, add(y[..., 0], y[..., -1]))
        inside = call(np.sum, y[..., step:-1:step], axis=-1) if k else 0.0
        new = [mul(mul(dx, float(step)), add(ends, inside))]
        for j, before in enumerate(row):
            new.append(add(new[j], div(sub(new[j], before), 4.0 ** (j + 1) - 1.0)))
        row = new
    return row[-1]
