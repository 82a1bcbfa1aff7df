"""What becomes of the distances between points that scipy.spatial.distance computes?

As norms, the euclidean one has derivative zero where two points coincide.  Ties of `chebyshev`
share the derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.spatial.distance as distance
import scipy.special as special

from jitad.errors import JitadTypeError, JitadValueError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import elementwise, require_same
from jitad.values.kind import fail, require
from jitad.values.number import Number, bind
from jitad.values.numpy.shaping import handle
from jitad.values.python_functions import to_float
from jitad.values.registry import call, replaces


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


def _scales(metric: Any, how: dict[str, Any], points: list[ArrayHandle]) -> dict[str, Any]:
    """The options; where no variances of the coordinates are given, they are those of all."""
    if metric != "seuclidean" or how.get("V") is not None:
        return how
    return how | {"V": call(np.var, call(np.concatenate, points), axis=0, ddof=1)}


@replaces(distance.cdist)
def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **how: Any) -> Any:
    if out is not None:
        raise fail(JitadTypeError, "out= of cdist is not supported here")
    a, b = _points(XA, "XA"), _points(XB, "XB")
    how = _scales(metric, how, [a, b])
    return _between(a.with_axes((1,)), b.with_axes((0,)), metric, how)


@replaces(distance.pdist)
def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **how: Any) -> Any:
    """The distances of all pairs, in the order of a triangle above the diagonal."""
    if out is not None:
        raise fail(JitadTypeError, "out= of pdist is not supported here")
    a = _points(X, "X")
    how = _scales(metric, how, [a])
    first, second = _pairs(a.shape[0])
    return _between(a[first], a[second], metric, how)


def _pairs(n: Any) -> Any:
    """The indices above the diagonal, row after row."""
    return call(np.nonzero, call(np.less, call(np.arange, n)[:, None], call(np.arange, n)))


def _of_two(name: str) -> None:
    original = getattr(distance, name)

    @replaces(original)
    def replacement(u: Any, v: Any, *p: Any, **how: Any) -> Any:
        if p and name == "minkowski":
            how, p = {"p": p[0], **how}, p[1:]
        if p:
            raise fail(JitadTypeError, f"the weights of {name} are not supported here")
        u, v = handle(u), handle(v)
        if u.ndim != 1 or v.ndim != 1:
            raise fail(JitadValueError, "Input vector should be 1-D.")
        if name in ("canberra", "braycurtis"):
            u, v = u.astype(float), v.astype(float)
        found = _between(u, v, name, how)
        by_blas = name == "euclidean" or (name == "minkowski" and how.get("p", 2) == 2)
        return to_float(found) if by_blas else found


for _name in (*_OF_DIFFERENCES, *_OF_PAIRS):
    if _name not in ("seuclidean", "mahalanobis"):  # their arguments are by position
        _of_two(_name)


@replaces(distance.seuclidean)
def seuclidean(u: Any, v: Any, V: Any) -> Any:
    return to_float(_between(handle(u), handle(v), "seuclidean", {"V": V}))


@replaces(distance.mahalanobis)
def mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    return _between(handle(u), handle(v), "mahalanobis", {"VI": VI})


@replaces(distance.jensenshannon)
def jensenshannon(p: Any, q: Any, base: Any = None, *, axis: int = 0,
                  keepdims: bool = False) -> Any:  # fmt: skip
    """The root of the mean of the entropies by the middle of the two."""
    p, q = (call(np.true_divide, x, call(np.sum, x, axis=axis, keepdims=True)) for x in (p, q))
    middle = elementwise("mul", elementwise("add", p, q), 0.5)
    both = elementwise("add", call(special.rel_entr, p, middle), call(special.rel_entr, q, middle))
    total = call(np.sum, both, axis=axis, keepdims=keepdims)
    if base is not None:
        total = elementwise("div", total, call(np.log, base))
    return call(np.sqrt, elementwise("mul", total, 0.5))


@replaces(distance.squareform)
def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:
    """Of the distances of pairs the symmetric matrix, and the other way round."""
    a = handle(X)
    if force not in ("no", {1: "tomatrix", 2: "tovector"}.get(a.ndim)) or a.ndim not in (1, 2):
        raise fail(JitadValueError, "squareform takes a vector of distances or a square matrix")
    if a.ndim == 2:
        require_same(a.shape[0], a.shape[1], lambda: "The matrix argument must be square.")
        if checks:
            require(call(np.allclose, a, a.T, 1e-5, 1e-8), JitadValueError,
                    "Distance matrix 'X' must be symmetric.")  # fmt: skip
            require(call(np.allclose, call(np.diagonal, a), 0.0, 1e-5, 1e-8), JitadValueError,
                    "Distance matrix 'X' diagonal must be zero.")  # fmt: skip
        return a[_pairs(a.shape[0])]
    count = a.shape[0]
    root = call(np.sqrt, call(np.add, call(np.multiply, count, 2.0), 0.25))
    n = call(np.rint, call(np.add, root, 0.5))
    n = bind("cast", n, dtype="i8", py=True) if isinstance(n, Number) else int(n)
    twice = extents.mul(n, extents.sub(n, 1))
    require_same(twice, extents.mul(count, 2), lambda: "Incompatible vector size. It must be a "
                 "binomial coefficient n choose 2 for some integer n >= 2.")  # fmt: skip
    upper = call(np.zeros, (n, n), dtype=a.dtype)
    upper[_pairs(n)] = a
    return call(np.add, upper, upper.T)
