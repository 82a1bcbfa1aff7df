"""What becomes of scipy.ndimage's filters by rank and its morphology, and of sums over labels?

A window is a stack of shifted copies of the padded array; of it an order statistic is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage as nd

from jitad.errors import JitadTypeError
from jitad.values import extents
from jitad.values.active import is_traced
from jitad.values.kind import fail
from jitad.values.numpy.reductions import deviation
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces
from jitad.values.scipy.images import (
    _for_all,
    _given,
    _image,
    _of_axes,
    _padded,
    gaussian_filter,
)

# -- windows --------------------------------------------------------------------------------------


def _footprint(size: Any, footprint: Any, count: int) -> np.ndarray:
    if footprint is None:
        if size is None:
            raise fail(JitadTypeError, "no footprint or filter size provided")
        return np.ones([int(n) for n in _for_all(size, count)], bool)
    given = handle(footprint)
    if not is_traced(footprint):
        return np.asarray(given.peek(), bool)
    sizes = [given._static(n, "the size of a footprint") for n in given.shape]
    known = [given[place] for place in np.ndindex(*sizes)]  # of np.ones, say
    return np.array([bool(v) for v in known]).reshape(sizes)


def _windows(a: Any, mask: np.ndarray, axes: Any, mode: Any, cval: Any, origin: Any) -> Any:
    """Copies of the array, one for each place of the window."""
    n, shape = len(axes), a.shape
    modes, origins = _for_all(mode, n), _for_all(origin, n)
    wide = _padded(a, axes, list(mask.shape), origins, modes, cval)
    out = []
    for place in np.argwhere(mask):
        keys = [slice(None)] * a.ndim
        for axis, start in zip(axes, map(int, place), strict=True):
            keys[axis] = slice(start, extents.add(start, shape[axis]))
        out.append(wide[tuple(keys)])
    return out


def _ranked(input: Any, rank: Any, size: Any, footprint: Any, output: Any, mode: Any, cval: Any,
            origin: Any, axes: Any) -> Any:  # fmt: skip
    """The element of each window that has `rank(how many there are)`."""
    which, a = _of_axes(input, axes), _image(input)
    mask = _footprint(size, footprint, len(which))
    windows = _windows(a, mask, which, mode, cval, origin)
    k = rank(len(windows))
    if k in (0, len(windows) - 1):
        found = windows[0]
        for w in windows[1:]:
            found = call(np.minimum if k == 0 else np.maximum, found, w)
    else:
        found = call(np.sort, call(np.stack, windows), axis=0)[k]
    return _given(found, input, output)


@replaces(nd.median_filter)
def median_filter(input: Any, size: Any = None, footprint: Any = None, output: Any = None,
                  mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
                  axes: Any = None) -> Any:  # fmt: skip
    return _ranked(input, lambda n: n // 2, size, footprint, output, mode, cval, origin, axes)


@replaces(nd.rank_filter)
def rank_filter(input: Any, rank: Any, size: Any = None, footprint: Any = None,
                output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
                axes: Any = None) -> Any:  # fmt: skip
    at = int(rank)
    return _ranked(input, lambda n: at % n, size, footprint, output, mode, cval, origin, axes)


@replaces(nd.percentile_filter)
def percentile_filter(input: Any, percentile: Any, size: Any = None, footprint: Any = None,
                      output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
                      origin: Any = 0, *, axes: Any = None) -> Any:  # fmt: skip
    if is_traced(percentile):
        raise fail(JitadTypeError, "the percentile of a filter must be known while tracing",
                   "Write it as a literal.")  # fmt: skip
    share = percentile + 100.0 if percentile < 0.0 else percentile

    def rank(n: int) -> int:
        return n - 1 if share == 100.0 else int(n * share / 100.0)

    return _ranked(input, rank, size, footprint, output, mode, cval, origin, axes)


def _extreme(original: Any, of_line: Any, rank: int) -> None:
    @replaces(original)
    def replacement(input: Any, size: Any = None, footprint: Any = None, output: Any = None,
                    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
                    axes: Any = None) -> Any:  # fmt: skip
        if footprint is not None:
            return _ranked(input, lambda n: rank % n, size, footprint, output, mode, cval, origin,
                           axes)  # fmt: skip
        which = _of_axes(input, axes)
        found, n = input, len(which)
        for axis, s, m, o in zip(which, _for_all(size, n), _for_all(mode, n), _for_all(origin, n),
                                 strict=True):  # fmt: skip
            found = call(of_line, found, s, axis, None, m, cval, o)
        return _given(found, input, output)

    @replaces(of_line)
    def line(input: Any, size: Any, axis: int = -1, output: Any = None, mode: Any = "reflect",
             cval: Any = 0.0, origin: Any = 0) -> Any:  # fmt: skip
        return _ranked(input, lambda n: rank % n, size, None, output, mode, cval, origin, axis)


_extreme(nd.maximum_filter, nd.maximum_filter1d, -1)
_extreme(nd.minimum_filter, nd.minimum_filter1d, 0)

# -- morphology -----------------------------------------------------------------------------------


def _turned(mask: Any, origin: Any, count: int) -> tuple[Any, list[int]]:
    """The window of a dilation, which is mirrored."""
    origins = [-o - (n % 2 == 0) for o, n in zip(_for_all(origin, count), mask.shape, strict=True)]
    return mask[tuple([slice(None, None, -1)] * mask.ndim)], origins


def _moved(dilated: bool, input: Any, size: Any, footprint: Any, structure: Any, mode: Any,
           cval: Any, origin: Any, axes: Any) -> Any:  # fmt: skip
    which, a = _of_axes(input, axes), _image(input)
    heights = None if structure is None else handle(structure)
    if heights is not None and footprint is None:
        footprint = np.ones([heights._static(n, "the size of a structure") for n in heights.shape])
    mask, sign = _footprint(size, footprint, len(which)), 1.0 if dilated else -1.0
    origins = _for_all(origin, len(which))
    if dilated:
        heights = None if heights is None else call(np.flip, heights)
        mask, origins = _turned(mask, origin, len(which))
    windows = _windows(a, mask, which, mode, cval, origins)
    if heights is not None:
        places = [tuple(map(int, p)) for p in np.argwhere(mask)]
        windows = [w + sign * heights[p] for w, p in zip(windows, places, strict=True)]
    found = windows[0]
    for w in windows[1:]:
        found = call(np.maximum if dilated else np.minimum, found, w)
    return found


def _morphological(original: Any, combined: Any) -> None:
    """`combined(a, dilated, eroded)`: what is made of an array by the two, as functions."""

    @replaces(original)
    def replacement(input: Any, size: Any = None, footprint: Any = None, structure: Any = None,
                    output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0,
                    *, axes: Any = None) -> Any:  # fmt: skip
        def by(dilated: bool) -> Any:
            return lambda a: _moved(dilated, a, size, footprint, structure, mode, cval, origin,
                                    axes)  # fmt: skip

        return _given(combined(_image(input), by(True), by(False)), input, output)


_morphological(nd.grey_dilation, lambda a, dilated, eroded: dilated(a))
_morphological(nd.grey_erosion, lambda a, dilated, eroded: eroded(a))
_morphological(nd.grey_opening, lambda a, dilated, eroded: dilated(eroded(a)))
_morphological(nd.grey_closing, lambda a, dilated, eroded: eroded(dilated(a)))
_morphological(nd.morphological_gradient, lambda a, dilated, eroded: dilated(a) - eroded(a))
_morphological(nd.morphological_laplace,
               lambda a, dilated, eroded: dilated(a) + eroded(a) - 2.0 * a)
_morphological(nd.white_tophat, lambda a, dilated, eroded: a - dilated(eroded(a)))
_morphological(nd.black_tophat, lambda a, dilated, eroded: eroded(dilated(a)) - a)

# -- derivatives of a Gaussian --------------------------------------------------------------------


@replaces(nd.gaussian_laplace)
def gaussian_laplace(input: Any, sigma: Any, output: Any = None, mode: Any = "reflect",
                     cval: Any = 0.0, *, axes: Any = None, **how: Any) -> Any:  # fmt: skip
    which, a, total = _of_axes(input, axes), _image(input), 0.0
    for k in which:
        orders = [2 * (j == k) for j in which]
        total = total + gaussian_filter(a, sigma, orders, None, mode, cval, axes=tuple(which),
                                        **how)  # fmt: skip
    return _given(total, input, output)


@replaces(nd.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(input: Any, sigma: Any, output: Any = None, mode: Any = "reflect",
                                cval: Any = 0.0, *, axes: Any = None, **how: Any) -> Any:
    """Of the slopes along the axes that are named, in an image that is smoothed along all."""
    a, total = _image(input), 0.0
    for k in _of_axes(input, axes):
        orders = [1 * (j == k) for j in range(a.ndim)]
        slope = gaussian_filter(a, sigma, orders, None, mode, cval, **how)
        total = total + slope * slope
    return _given(call(np.sqrt, total), input, output)


# -- turned and sheared ---------------------------------------------------------------------------


# -- sums over labels -----------------------------------------------------------------------------


def _labelled(original: Any, of: Any) -> None:
    """`of(values, mask)` for each label that is asked for."""

    @replaces(original)
    def replacement(input: Any, labels: Any = None, index: Any = None) -> Any:
        a = handle(input)
        if labels is None:
            return of(a, call(np.ones_like, a, dtype=bool))
        labels = call(np.broadcast_to, handle(labels), a.shape)
        if index is None:
            return of(a, call(np.greater, labels, 0))
        chosen = handle(index)
        if not chosen.ndim:
            return of(a, call(np.equal, labels, chosen[()]))
        sizes = [chosen._static(n, "how many labels are asked for") for n in chosen.shape]
        a = a.astype(float) if of is _sum else a
        found = [of(a, call(np.equal, labels, chosen[k])) for k in np.ndindex(*sizes)]
        return call(np.reshape, call(np.stack, found), chosen.shape)


def _sum(a: Any, mask: Any) -> Any:
    return call(np.sum, call(np.where, mask, a, 0))


def _mean(a: Any, mask: Any) -> Any:
    return _sum(a, mask) / call(np.sum, mask)


def _variance(a: Any, mask: Any) -> Any:
    away = call(np.where, mask, a - _mean(a, mask), 0)
    return call(np.sum, away * away) / call(np.sum, mask)


_labelled(nd.sum, _sum)
_labelled(nd.sum_labels, _sum)
_labelled(nd.mean, _mean)
_labelled(nd.variance, _variance)
_labelled(nd.standard_deviation, lambda a, mask: deviation(_variance(a, mask)))
_labelled(nd.maximum, lambda a, mask: call(np.max, call(np.where, mask, a, -np.inf)))
_labelled(nd.minimum, lambda a, mask: call(np.min, call(np.where, mask, a, np.inf)))


@replaces(nd.center_of_mass)
def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    a = handle(input)
    total = call(nd.sum, a, labels, index)
    grid = call(np.meshgrid, *(call(np.arange, n) for n in a.shape), indexing="ij", sparse=True)
    places = tuple(call(nd.sum, a * g, labels, index) / total for g in grid)
    if index is None or not handle(index).ndim:
        return places
    count = handle(index)._static(handle(index).shape[0], "how many labels are asked for")
    return [tuple(p[k] for p in places) for k in range(count)]
