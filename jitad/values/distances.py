"""What becomes of the distances between points that scipy.spatial.distance computes?

As norms, the euclidean one has derivative zero where two points coincide.  Ties of `chebyshev`
share the derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.spatial.distance as distance

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import elementwise, require_same
from jitad.values.kind import fail
from jitad.values.registry import call, replaces
from jitad.values.shaping import handle


def _sum(x: Any) -> Any:
    return call(np.sum, x, axis=-1)


def _absolute(d: Any) -> Any:
    return elementwise("abs", d)


def _minkowski(d: Any, p: Any = 2) -> Any:
    return call(np.linalg.norm, d, p, -1)


def _root(x: Any) -> Any:
    """A square root whose derivative is taken to be zero at zero."""
    none = elementwise("eq", x, 0.0)
    root = elementwise("sqrt", elementwise("where", none, 1.0, x))
    return elementwise("where", none, 0.0, root)


def _scaled_euclidean(d: Any, V: Any = None) -> Any:
    if V is None:
        raise fail(JitadTypeError, "seuclidean needs V= here", "Pass V=np.var(points, axis=0, "
                   "ddof=1), of the points of both.")  # fmt: skip
    return _root(_sum(elementwise("div", elementwise("mul", d, d), handle(V))))


def _mahalanobis(d: Any, VI: Any = None) -> Any:
    if VI is None:
        raise fail(JitadTypeError, "mahalanobis needs VI= here", "Pass the inverse covariance.")
    return _root(_sum(elementwise("mul", call(np.matmul, d, handle(VI)), d)))


# of the differences of points, along the last axis
_OF_DIFFERENCES: dict[str, Callable[..., Any]] = {
    "euclidean": lambda d: call(np.linalg.norm, d, None, -1),
    "sqeuclidean": lambda d: _sum(elementwise("mul", d, d)),
    "cityblock": lambda d: _sum(_absolute(d)),
    "chebyshev": lambda d: call(np.max, _absolute(d), axis=-1),
    "minkowski": _minkowski,
    "seuclidean": _scaled_euclidean,
    "mahalanobis": _mahalanobis,
}


def _cosine(u: Any, v: Any) -> Any:
    sizes = elementwise("mul", *(call(np.linalg.norm, x, None, -1) for x in (u, v)))
    return elementwise("sub", 1.0, elementwise("div", _sum(elementwise("mul", u, v)), sizes))


def _correlation(u: Any, v: Any) -> Any:
    return _cosine(*(elementwise("sub", x, call(np.mean, x, axis=-1, keepdims=True))
                     for x in (u, v)))  # fmt: skip


def _canberra(u: Any, v: Any) -> Any:
    apart = _absolute(elementwise("sub", u, v))
    sizes = elementwise("add", _absolute(u), _absolute(v))
    none = elementwise("eq", sizes, 0.0)  # 0 / 0 counts as 0
    part = elementwise("div", apart, elementwise("where", none, 1.0, sizes))
    return _sum(elementwise("where", none, 0.0, part))


def _braycurtis(u: Any, v: Any) -> Any:
    return elementwise("div", _sum(_absolute(elementwise("sub", u, v))),
                       _sum(_absolute(elementwise("add", u, v))))  # fmt: skip


_OF_PAIRS: dict[str, Callable[..., Any]] = {
    "cosine": _cosine, "correlation": _correlation, "canberra": _canberra,
    "braycurtis": _braycurtis,
}  # fmt: skip


def _between(u: ArrayHandle, v: ArrayHandle, metric: Any, how: dict[str, Any]) -> Any:
    """The distances of points whose coordinates are along the last axes."""
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", "")
    require_same(u.shape[-1], v.shape[-1], lambda: "points of unlike numbers of coordinates")
    if name in _OF_PAIRS and not how:
        return _OF_PAIRS[name](u, v)
    if name not in _OF_DIFFERENCES or set(how) - {"p", "V", "VI"}:
        known = ", ".join([*_OF_DIFFERENCES, *_OF_PAIRS])
        raise fail(JitadTypeError, f"the metric {name!r} with {sorted(how)} is not supported here",
                   f"These are, without weights: {known}.")  # fmt: skip
    return _OF_DIFFERENCES[name](elementwise("sub", u, v), **how)


def _points(a: Any, name: str) -> ArrayHandle:
    a = handle(a)
    if a.ndim != 2:
        raise fail(JitadValueError, f"{name} must be a 2-dimensional array.")
    return a if a.dtype == np.float64 else a.astype(float)


@replaces(distance.cdist)
def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **how: Any) -> Any:
    if out is not None:
        raise fail(JitadTypeError, "out= of cdist is not supported here")
    a, b = _points(XA, "XA"), _points(XB, "XB")
    return _between(a.with_axes((1,)), b.with_axes((0,)), metric, how)


@replaces(distance.pdist)
def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **how: Any) -> Any:
    """The distances of all pairs, in the order of a triangle above the diagonal."""
    if out is not None:
        raise fail(JitadTypeError, "out= of pdist is not supported here")
    a = _points(X, "X")
    n = a.shape[0]
    first, second = call(np.nonzero, call(np.less, call(np.arange, n)[:, None], call(np.arange, n)))
    return _between(a[first], a[second], metric, how)


def _of_two(name: str) -> None:
    original = getattr(distance, name)

    @replaces(original)
    def replacement(u: Any, v: Any, **how: Any) -> Any:
        u, v = handle(u), handle(v)
        if u.ndim != 1 or v.ndim != 1:
            raise fail(JitadValueError, "Input vector should be 1-D.")
        return _between(u, v, name, how)


for _name in (*_OF_DIFFERENCES, *_OF_PAIRS):
    if _name not in ("seuclidean", "mahalanobis"):  # their arguments are by position
        _of_two(_name)
