"""What becomes of the functions of scipy.stats that sum up a sample in one number an axis?

Compositions of means: so nothing is said of missing values (`nan_policy`), which stay nan.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special
import scipy.stats as st

from jitad.errors import JitadTypeError
from jitad.values.broadcast import as_operand, elementwise
from jitad.values.extents import assume_none, product
from jitad.values.kind import fail, type_of
from jitad.values.numpy.reductions import axes_of
from jitad.values.numpy.shaping import handle
from jitad.values.numpy.ufuncs import add, div, mul, sub
from jitad.values.registry import call, replaces


def sample(a: Any, axis: Any, nan_policy: str) -> tuple[Any, Any, Any]:
    """The array, the axis and how many elements are summed up along it."""
    if nan_policy != "propagate":
        raise fail(JitadTypeError, f"nan_policy={nan_policy!r} is not supported here",
                   "Leave missing values out by a mask.")  # fmt: skip
    a = handle(a)
    return a, axis, product(a.shape[k] for k in axes_of(axis, a.ndim))


def of_kind(x: Any, a: Any) -> Any:
    """A number of counts, strong ones among them, in the type of what was counted."""
    return elementwise("cast", x, dtype=type_of(as_operand(a)).dtype)


def _power(x: Any, k: int) -> Any:
    return call(np.power, x, k)


def _moments(a: Any, axis: Any, keepdims: bool, *orders: int) -> list[Any]:
    """Those about the mean; nan for the second where nothing but rounding is left of it."""
    apart = sub(a, call(np.mean, a, axis=axis, keepdims=True))
    m2, *others = (
        call(np.mean, _power(apart, k), axis=axis, keepdims=keepdims) for k in (2, *orders)
    )
    mean = call(np.mean, a, axis=axis, keepdims=keepdims)
    least = _power(mul(np.finfo(a.dtype).resolution if a.dtype.kind == "f" else 1e-15, mean), 2)
    return [call(np.where, call(np.less_equal, m2, least), np.nan, m2), *others]


@replaces(st.skew)
def skew(a: Any, axis: Any = 0, bias: bool = True, nan_policy: str = "propagate", *,
         keepdims: bool = False) -> Any:  # fmt: skip
    """Unbiased for three elements or more."""
    a, axis, n = sample(a, axis, nan_policy)
    m2, m3 = _moments(a, axis, keepdims, 3)
    found = div(m3, call(np.power, m2, 1.5))
    if bias:
        return found
    n, enough = call(np.maximum, n, 3), call(np.greater, n, 2)
    better = mul(found, div(call(np.sqrt, mul(n, sub(n, 1.0))), sub(n, 2.0)))
    return call(np.where, enough, of_kind(better, found), found)


@replaces(st.kurtosis)
def kurtosis(a: Any, axis: Any = 0, fisher: bool = True, bias: bool = True,
             nan_policy: str = "propagate", *, keepdims: bool = False) -> Any:  # fmt: skip
    """Unbiased for four elements or more."""
    a, axis, n = sample(a, axis, nan_policy)
    m2, m4 = _moments(a, axis, keepdims, 4)
    found = div(m4, mul(m2, m2))
    if not bias:
        n, enough = call(np.maximum, n, 4), call(np.greater, n, 3)
        spread = sub(mul(sub(mul(n, n), 1.0), found), mul(3.0, _power(sub(n, 1.0), 2)))
        better = add(div(spread, mul(sub(n, 2.0), sub(n, 3.0))), 3.0)
        found = call(np.where, enough, of_kind(better, found), found)
    return sub(found, 3.0) if fisher else found


@replaces(st.zscore)
def zscore(a: Any, axis: Any = 0, ddof: Any = 0, nan_policy: str = "propagate") -> Any:
    a, axis, _ = sample(a, axis, nan_policy)
    if any(assume_none(n) for n in a.shape):
        return call(np.copy, a)
    spread = call(np.std, a, axis=axis, ddof=ddof, keepdims=True)
    alike = call(np.equal, call(np.ptp, a, axis=axis, keepdims=True), 0.0)
    spread = call(np.where, alike, np.nan, spread)
    return div(sub(a, call(np.mean, a, axis=axis, keepdims=True)), spread)


@replaces(st.sem)
def sem(a: Any, axis: Any = 0, ddof: Any = 1, nan_policy: str = "propagate", *,
        keepdims: bool = False) -> Any:  # fmt: skip
    a, axis, n = sample(a, axis, nan_policy)
    spread = call(np.std, a, axis=axis, ddof=ddof, keepdims=keepdims)
    return div(spread, of_kind(call(np.sqrt, n), spread))


@replaces(st.gmean)
def gmean(a: Any, axis: Any = 0, dtype: Any = None, weights: Any = None,
          nan_policy: str = "propagate", *, keepdims: bool = False) -> Any:  # fmt: skip
    a, axis, _ = sample(a, axis, nan_policy)
    logs = call(np.log, a if dtype is None else a.astype(dtype))
    return call(np.exp, call(np.average, logs, axis=axis, weights=weights, keepdims=keepdims))


@replaces(st.hmean)
def hmean(a: Any, axis: Any = 0, dtype: Any = None, *, weights: Any = None,
          nan_policy: str = "propagate", keepdims: bool = False) -> Any:  # fmt: skip
    a, axis, _ = sample(a, axis, nan_policy)
    a = call(np.where, call(np.less, a, 0.0), np.nan, a if dtype is None else a.astype(dtype))
    turned = div(1.0, a)
    return div(1.0, call(np.average, turned, axis=axis, weights=weights, keepdims=keepdims))


@replaces(st.entropy)
def entropy(pk: Any, qk: Any = None, base: Any = None, axis: Any = 0, *,
            nan_policy: str = "propagate", keepdims: bool = False) -> Any:  # fmt: skip
    if qk is not None:
        pk, qk = call(np.broadcast_arrays, pk, qk)
    pk, axis, _ = sample(pk, axis, nan_policy)
    pk = div(pk, call(np.sum, pk, axis=axis, keepdims=True))
    if qk is None:
        parts = call(scipy.special.entr, pk)
    else:
        qk = div(qk, call(np.sum, qk, axis=axis, keepdims=True))
        parts = call(scipy.special.rel_entr, pk, qk)
    found = call(np.sum, parts, axis=axis, keepdims=keepdims)
    if base is None:
        return found
    logs = div(found, call(np.log, base))  # SciPy divides in place
    return elementwise("cast", logs, dtype=type_of(found).dtype)
