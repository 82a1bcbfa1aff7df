"""What becomes of the functions of scipy.stats that sum up a sample by its order, its powers or on
a circle, and of those that transform it?

As in `summaries`, nothing is said of missing values, which stay nan.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special
import scipy.stats as st

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.kind import fail
from jitad.values.number import Number
from jitad.values.numpy.reductions import one_axis
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces
from jitad.values.scipy.summaries import sample

Policy = str


def _floats(a: Any) -> Any:
    a = handle(a)
    return a if a.dtype.kind == "f" else a.astype(float)


@replaces(st.moment)
def moment(a: Any, order: Any = 1, axis: Any = 0, nan_policy: Policy = "propagate", *,
           center: Any = None, keepdims: bool = False) -> Any:  # fmt: skip
    a, axis, _ = sample(_floats(a), axis, nan_policy)
    if isinstance(order, (list, tuple, np.ndarray)):
        return call(np.stack, [moment(a, k, axis, center=center, keepdims=keepdims) for k in order])
    if center is None:
        center = call(np.mean, a, axis=axis, keepdims=True)
    order = int(order)  # a traced exponent would have a logarithm in its derivative
    return call(np.mean, call(np.power, a - center, order), axis=axis, keepdims=keepdims)


@replaces(st.variation)
def variation(a: Any, axis: Any = 0, nan_policy: Policy = "propagate", ddof: Any = 0, *,
              keepdims: bool = False) -> Any:  # fmt: skip
    a, axis, _ = sample(_floats(a), axis, nan_policy)
    spread = call(np.std, a, axis=axis, ddof=ddof, keepdims=keepdims)
    return spread / call(np.mean, a, axis=axis, keepdims=keepdims)


@replaces(st.gstd)
def gstd(a: Any, axis: Any = 0, ddof: Any = 1, *, keepdims: bool = False,
         nan_policy: Policy = "propagate") -> Any:  # fmt: skip
    a, axis, _ = sample(_floats(a), axis, nan_policy)
    return call(np.exp, call(np.std, call(np.log, a), axis=axis, ddof=ddof, keepdims=keepdims))


# -- by order -------------------------------------------------------------------------------------

_SCALES = {"normal": 2.0 * math.sqrt(2.0) * 0.4769362762044699}  # erfinv(1 / 2)


@replaces(st.iqr)
def iqr(x: Any, axis: Any = None, rng: Any = (25, 75), scale: Any = 1.0,
        nan_policy: Policy = "propagate", interpolation: str = "linear",
        keepdims: bool = False) -> Any:  # fmt: skip
    x, axis, _ = sample(_floats(x), axis, nan_policy)
    ends = (call(np.percentile, x, p, axis=axis, method=interpolation, keepdims=keepdims)
            for p in sorted(rng))  # fmt: skip
    low, high = ends
    return (high - low) / _SCALES.get(scale, scale) if scale != 1.0 else high - low


@replaces(st.median_abs_deviation)
def median_abs_deviation(x: Any, axis: Any = 0, center: Any = None, scale: Any = 1.0,
                         nan_policy: Policy = "propagate", *, keepdims: bool = False) -> Any:
    x, axis, _ = sample(_floats(x), axis, nan_policy)
    if center is None:
        away = x - call(np.median, x, axis=axis, keepdims=True)
    elif axis is None:
        away = x - center(x)
    else:
        away = x - call(np.expand_dims, center(x, axis=axis), axis)
    found = call(np.median, call(np.abs, away), axis=axis, keepdims=keepdims)
    return found / (0.6744897501960817 if scale == "normal" else scale) if scale != 1.0 else found


@replaces(st.trim_mean)
def trim_mean(a: Any, proportiontocut: Any, axis: Any = 0, *, nan_policy: Policy = "propagate",
              keepdims: bool = False) -> Any:  # fmt: skip
    a, axis, n = sample(_floats(a), axis, nan_policy)
    if axis is None:
        a, axis = call(np.ravel, a), 0
    if isinstance(proportiontocut, Number):
        raise fail(JitadTypeError, "the part that trim_mean cuts off must be known while tracing",
                   "Write it as a literal.")  # fmt: skip
    axis = one_axis(axis, a.ndim)
    cut = call(np.multiply, n, proportiontocut)
    cut = cut.astype(int) if hasattr(cut, "astype") else int(cut)
    moved = call(np.moveaxis, call(np.sort, a, axis=axis), axis, 0)
    found = call(np.mean, moved[cut : extents.sub(n, cut)], axis=0)
    return call(np.expand_dims, found, axis) if keepdims else found


_RANKS = ("average", "min", "max", "dense", "ordinal")


@replaces(st.rankdata)
def rankdata(a: Any, method: str = "average", *, axis: Any = None,
             nan_policy: Policy = "propagate") -> Any:  # fmt: skip
    """By counting how many are smaller, and how many are not larger: the derivative is zero."""
    if method not in _RANKS:
        raise fail(JitadValueError, f'unknown method "{method}"')
    a, axis, _ = sample(a, axis, nan_policy)
    if axis is None:
        a, axis = call(np.ravel, a), 0
    axis = one_axis(axis, a.ndim)
    a = call(np.moveaxis, a, axis, -1)
    if method == "ordinal":
        found = call(np.argsort, call(np.argsort, a, axis=-1, kind="stable"), axis=-1) + 1
    else:
        this, other = a[..., :, None], a[..., None, :]
        below, upto = call(np.less, other, this), call(np.less_equal, other, this)
        if method == "dense":  # only the first of equals counts
            first = call(np.triu, call(np.ones_like, upto), 1)
            again = call(np.any, call(np.equal, this, other) & first, axis=-2)
            below = below & ~again[..., None, :]
        low, high = call(np.sum, below, axis=-1) + 1, call(np.sum, upto, axis=-1)
        found = {"average": lambda: (low + high) / 2.0, "min": lambda: low, "max": lambda: high,
                 "dense": lambda: low}[method]()  # fmt: skip
    return call(np.moveaxis, found, -1, axis)


# -- on a circle ----------------------------------------------------------------------------------


def _resultant(samples: Any, high: Any, low: Any, axis: Any, nan_policy: Policy,
               keepdims: bool) -> tuple[Any, Any, Any]:  # fmt: skip
    """The mean of the points on the circle, and how much of it an angle is."""
    x, axis, _ = sample(_floats(samples), axis, nan_policy)
    part = (high - low) / (2.0 * math.pi)
    angles = (x - low) / part
    sine, cosine = (call(np.mean, call(f, angles), axis=axis, keepdims=keepdims)
                    for f in (np.sin, np.cos))  # fmt: skip
    return sine, cosine, part


def _length(sine: Any, cosine: Any) -> Any:
    """One at most, whatever rounding makes of it."""
    return call(np.minimum, call(np.hypot, sine, cosine), 1.0)


@replaces(st.circmean)
def circmean(samples: Any, high: Any = 2 * math.pi, low: Any = 0, axis: Any = None,
             nan_policy: Policy = "propagate", *, keepdims: bool = False) -> Any:  # fmt: skip
    sine, cosine, part = _resultant(samples, high, low, axis, nan_policy, keepdims)
    turned = call(np.arctan2, sine, cosine) * part
    return call(np.mod, turned, high - low) + low


@replaces(st.circvar)
def circvar(samples: Any, high: Any = 2 * math.pi, low: Any = 0, axis: Any = None,
            nan_policy: Policy = "propagate", *, keepdims: bool = False) -> Any:  # fmt: skip
    return 1.0 - _length(*_resultant(samples, high, low, axis, nan_policy, keepdims)[:2])


@replaces(st.circstd)
def circstd(samples: Any, high: Any = 2 * math.pi, low: Any = 0, axis: Any = None,
            nan_policy: Policy = "propagate", *, normalize: bool = False,
            keepdims: bool = False) -> Any:  # fmt: skip
    sine, cosine, part = _resultant(samples, high, low, axis, nan_policy, keepdims)
    found = call(np.sqrt, -2.0 * call(np.log, _length(sine, cosine)))
    return found if normalize else found * part


# -- transformed ----------------------------------------------------------------------------------


def _chosen(name: str, parameter: Any) -> Any:
    if parameter is None:
        raise fail(JitadTypeError, f"{name} without a parameter finds the likeliest one by "
                   "a search, which is not supported", f"Give the parameter, or maximise {name}_llf"
                   " by jitad.argmin.")  # fmt: skip
    return parameter


@replaces(st.boxcox)
def boxcox(x: Any, lmbda: Any = None, alpha: Any = None, optimizer: Any = None) -> Any:
    return call(scipy.special.boxcox, x, _chosen("boxcox", lmbda))


@replaces(st.yeojohnson)
def yeojohnson(x: Any, lmbda: Any = None) -> Any:
    """`boxcox` of 1 + x above zero; below of 1 - x, with what is left of 2."""
    x, power = _floats(x), _chosen("yeojohnson", lmbda)
    above = call(np.greater_equal, x, 0.0)
    size = call(np.abs, x)
    of_size = call(np.where, above, size, 0.0), call(np.where, above, 0.0, size)
    up = call(scipy.special.boxcox, 1.0 + of_size[0], power)
    down = call(scipy.special.boxcox, 1.0 + of_size[1], 2.0 - power)
    return call(np.where, above, up, -down)


def _likelihood(transformed: Any, logs: Any, power: Any, n: Any, axis: Any, keepdims: bool) -> Any:
    spread = call(np.log, call(np.var, transformed, axis=axis, keepdims=keepdims))
    return (power - 1.0) * call(np.sum, logs, axis=axis, keepdims=keepdims) - 0.5 * n * spread


@replaces(st.boxcox_llf)
def boxcox_llf(lmb: Any, data: Any, *, axis: Any = 0, keepdims: bool = False,
               nan_policy: Policy = "propagate") -> Any:  # fmt: skip
    x, axis, n = sample(_floats(data), axis, nan_policy)
    return _likelihood(boxcox(x, lmb), call(np.log, x), lmb, n, axis, keepdims)


@replaces(st.yeojohnson_llf)
def yeojohnson_llf(lmb: Any, data: Any, *, axis: Any = 0, nan_policy: Policy = "propagate",
                   keepdims: bool = False) -> Any:  # fmt: skip
    x, axis, n = sample(_floats(data), axis, nan_policy)
    logs = call(np.sign, x) * call(np.log1p, call(np.abs, x))
    return _likelihood(yeojohnson(x, lmb), logs, lmb, n, axis, keepdims)
