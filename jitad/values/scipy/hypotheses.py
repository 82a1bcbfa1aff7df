"""What do the tests of scipy.stats, its correlations and its straight line give?

Statistics as compositions, with the probability of one as extreme; in results of SciPy's names.
What a test is by another method (permutations, say) is refused by the name of its option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.stats as st

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.broadcast import shape_of
from jitad.values.kind import fail
from jitad.values.numpy.reductions import axes_of
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces
from jitad.values.scipy.spreads import rankdata
from jitad.values.scipy.summaries import kurtosis, of_kind, sample, skew


class Significance:
    """A statistic, and how likely one as extreme is, which is computed where it is asked for."""

    def __init__(self, statistic: Any, pvalue: Callable[[], Any], df: Any = None) -> None:
        self.statistic, self._pvalue, self.df = statistic, pvalue, df

    @property
    def pvalue(self) -> Any:
        return self._pvalue()

    def __len__(self) -> int:
        return 2

    def __getitem__(self, k: Any) -> Any:
        return (self.pvalue if k % 2 else self.statistic) if isinstance(k, int) else (*self,)[k]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.statistic, self.pvalue))


def _two(x: Any, y: Any, axis: Any, nan_policy: str = "propagate") -> tuple[Any, Any, Any]:
    """Both samples, with their axis last."""
    pair = []
    for a in (x, y):
        a, _, _ = sample(a, axis, nan_policy)
        if axis is None:
            a = call(np.ravel, a)
        (k,) = axes_of(0 if axis is None else axis, a.ndim)
        a = a if a.dtype.kind == "f" else a.astype(float)
        pair.append(handle(call(np.moveaxis, a, k, -1)))
    return pair[0], pair[1], pair[0].shape[-1]


def _tail(law: Any, t: Any, alternative: str, *parameters: Any, **named: Any) -> Any:
    """The probability of a symmetric law beyond t."""
    if alternative == "less":
        return of_kind(call(law.cdf, t, *parameters, **named), t)
    if alternative == "greater":
        return of_kind(call(law.sf, t, *parameters, **named), t)
    if alternative != "two-sided":
        raise fail(JitadValueError, "`alternative` must be 'less', 'greater', or 'two-sided'.")
    return of_kind(2.0 * call(law.sf, call(np.abs, t), *parameters, **named), t)


def _centred(x: Any) -> Any:
    return x - call(np.mean, x, axis=-1, keepdims=True)


def _dot(x: Any, y: Any) -> Any:
    return call(np.sum, x * y, axis=-1)


def _correlation(x: Any, y: Any) -> Any:
    x, y = _centred(x), _centred(y)
    r = _dot(x, y) / call(np.sqrt, _dot(x, x) * _dot(y, y))
    return call(np.clip, r, -1.0, 1.0)


@replaces(st.pearsonr)
def pearsonr(x: Any, y: Any, *, alternative: str = "two-sided", method: Any = None,
             axis: Any = 0) -> Significance:  # fmt: skip
    if method is not None:
        raise fail(JitadTypeError, "method= of pearsonr is not supported here", "Leave it out.")
    x, y, n = _two(x, y, axis)
    extents.require_at_least(n, 2, "`x` and `y` must have length at least 2.")
    r = _correlation(x, y)
    half = n / 2 - 1
    return Significance(
        r, lambda: _tail(st.beta, r, alternative, half, half, loc=-1, scale=2))


@replaces(st.spearmanr)
def spearmanr(a: Any, b: Any = None, axis: Any = 0, nan_policy: str = "propagate",
              alternative: str = "two-sided") -> Significance:  # fmt: skip
    """Of two samples; what depends on ranks has no derivative but zero."""
    a = handle(a)
    if b is None:
        if a.ndim != 2 or extents.constant_difference(a.shape[1], 2) != 0:
            raise fail(JitadTypeError, "spearmanr of a table is not supported here",
                       "Give it two samples.")  # fmt: skip
        a, b = a[:, 0], a[:, 1]
    elif axis is not None and (a.ndim != 1 or len(shape_of(b)) != 1):
        raise fail(JitadTypeError, "spearmanr of a table is not supported here",
                   "Give it two samples.")  # fmt: skip
    x, y, n = _two(a, b, axis, nan_policy)
    r = _correlation(rankdata(x, axis=-1), rankdata(y, axis=-1))
    free = n - 2
    t = r * call(np.sqrt, call(np.maximum, free / ((r + 1.0) * (1.0 - r)), 0.0))
    return Significance(r, lambda: _tail(st.t, t, alternative, free))


@replaces(st.linregress)
def linregress(x: Any, y: Any, alternative: str = "two-sided", *, axis: Any = 0,
               nan_policy: str = "propagate", keepdims: bool = False) -> Any:  # fmt: skip
    """The straight line of least squares, with the errors of its two numbers."""
    if keepdims:
        raise fail(JitadTypeError, "keepdims= of linregress is not supported here")
    x, y, n = _two(x, y, axis, nan_policy)
    x, y = x.astype(float), y.astype(float)
    across, up = _centred(x), _centred(y)
    xx, xy, yy = (_dot(a, b) / n for a, b in ((across, across), (across, up), (up, up)))
    slope = xy / xx
    middle = call(np.mean, x, axis=-1)
    intercept = call(np.mean, y, axis=-1) - slope * middle
    flat = call(np.equal, yy, 0.0)
    r = xy / call(np.sqrt, xx * call(np.where, flat, 1.0, yy))
    r = call(np.where, flat, 0.0, call(np.clip, r, -1.0, 1.0))
    free = n - 2
    t = r * call(np.sqrt, free / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20)))
    error = call(np.sqrt, (1.0 - r * r) * yy / xx / free)
    at_zero = error * call(np.sqrt, xx + middle * middle)
    return _LINE(slope=slope, intercept=intercept, rvalue=r,
                 pvalue=_tail(st.t, t, alternative, free), stderr=error,
                 intercept_stderr=at_zero)  # fmt: skip


_LINE: Any = type(st.linregress([0.0, 1.0, 2.0], [0.0, 2.0, 1.0]))

# -- means ----------------------------------------------------------------------------------------


def _t(difference: Any, variance: Any, free: Any, alternative: str) -> Significance:
    t = difference / call(np.sqrt, variance)
    df = call(np.full, t.shape, free) if shape_of(t) and not shape_of(free) else free
    return Significance(t, lambda: _tail(st.t, t, alternative, free), df)


@replaces(st.ttest_1samp)
def ttest_1samp(a: Any, popmean: Any, axis: Any = 0, nan_policy: str = "propagate",
                alternative: str = "two-sided", *, keepdims: bool = False) -> Any:  # fmt: skip
    a, axis, n = sample(a, axis, nan_policy)
    apart = call(np.mean, a, axis=axis, keepdims=keepdims) - popmean
    variance = call(np.var, a, axis=axis, ddof=1, keepdims=keepdims) / n
    return _t(apart, variance, n - 1, alternative)


@replaces(st.ttest_rel)
def ttest_rel(a: Any, b: Any, axis: Any = 0, nan_policy: str = "propagate",
              alternative: str = "two-sided", *, keepdims: bool = False) -> Any:  # fmt: skip
    return ttest_1samp(handle(a) - handle(b), 0.0, axis, nan_policy, alternative, keepdims=keepdims)


@replaces(st.ttest_ind)
def ttest_ind(a: Any, b: Any, *, axis: Any = 0, equal_var: bool = True,
              nan_policy: str = "propagate", alternative: str = "two-sided", trim: Any = 0,
              method: Any = None, keepdims: bool = False) -> Any:  # fmt: skip
    if method is not None or trim != 0:
        raise fail(JitadTypeError, "method= and trim= of ttest_ind are not supported here")
    a, _, m = sample(a, axis, nan_policy)
    b, _, n = sample(b, axis, nan_policy)
    apart, (v, w) = (
        call(np.mean, a, axis=axis, keepdims=keepdims)
        - call(np.mean, b, axis=axis, keepdims=keepdims),
        (call(np.var, x, axis=axis, ddof=1, keepdims=keepdims) for x in (a, b)),
    )
    if equal_var:
        free = m + n - 2
        return _t(apart, ((m - 1) * v + (n - 1) * w) / free * (1 / m + 1 / n), free, alternative)
    v, w = v / m, w / n
    free = (v + w) ** 2 / (v**2 / (m - 1) + w**2 / (n - 1))
    return _t(apart, v + w, free, alternative)


@replaces(st.f_oneway)
def f_oneway(*samples: Any, axis: Any = 0, equal_var: bool = True, nan_policy: str = "propagate",
             keepdims: bool = False) -> Significance:  # fmt: skip
    if not equal_var:
        raise fail(JitadTypeError, "equal_var=False of f_oneway is not supported here")
    groups = [sample(a, axis, nan_policy)[::2] for a in samples]
    total = extents.add(0, 0)
    for _, n in groups:
        total = extents.add(total, n)
    means = [call(np.mean, a, axis=axis, keepdims=True) for a, _ in groups]
    middle = sum(n * m for m, (_, n) in zip(means, groups, strict=True)) / total
    between = sum(n * (m - middle) ** 2 for m, (_, n) in zip(means, groups, strict=True))
    within = sum(call(np.sum, (a - m) ** 2, axis=axis, keepdims=True)
                 for m, (a, _) in zip(means, groups, strict=True))  # fmt: skip
    few, many = len(groups) - 1, extents.sub(total, len(groups))
    f = (between / few) / (within / many)
    f = f if keepdims else call(np.squeeze, f, axis=axis)
    return Significance(f, lambda: of_kind(call(st.f.sf, f, few, many), f))


@replaces(st.chisquare)
def chisquare(f_obs: Any, f_exp: Any = None, ddof: Any = 0, axis: Any = 0, *,
              sum_check: bool = True, nan_policy: str = "propagate",
              keepdims: bool = False) -> Significance:  # fmt: skip
    """Nothing is said of sums that differ: that is a matter of rounding, which derivatives vary."""
    f, axis, n = sample(f_obs, axis, nan_policy)
    wanted = call(np.mean, f, axis=axis, keepdims=True) if f_exp is None else handle(f_exp)
    found = call(np.sum, (f - wanted) ** 2 / wanted, axis=axis, keepdims=keepdims)
    return Significance(found, lambda: of_kind(call(st.chi2.sf, found, n - 1 - ddof), found))


@replaces(st.jarque_bera)
def jarque_bera(x: Any, *, axis: Any = None, nan_policy: str = "propagate",
                keepdims: bool = False) -> Significance:  # fmt: skip
    x, _, n = sample(x, axis, nan_policy)
    s, k = (f(x, axis=axis, keepdims=keepdims) for f in (skew, kurtosis))
    found = n / 6 * (s**2 + k**2 / 4)
    return Significance(found, lambda: of_kind(call(st.chi2.sf, found, 2), found))
