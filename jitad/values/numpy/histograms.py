"""What becomes of histograms along several axes?

Which bin a point is in has derivative zero; what it counts there, and edges made of the numbers,
have derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadValueError
from jitad.values import extents
from jitad.values.broadcast import require_same
from jitad.values.kind import fail
from jitad.values.numpy.shaping import handle, ravel
from jitad.values.registry import call, replaces


@replaces(np.histogramdd)
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None,
                weights: Any = None) -> Any:  # fmt: skip
    if isinstance(sample, (list, tuple)):
        columns = [ravel(s) for s in sample]
        common = np.result_type(*(c.dtype for c in columns))  # they are one array to NumPy
        columns = [c.astype(common) for c in columns]
    else:
        rows = call(np.atleast_2d, sample) if handle(sample).ndim > 1 else handle(sample)[:, None]
        count = rows._static(rows.shape[1], "the number of axes of a histogram")
        columns = [rows[:, k] for k in np.arange(count)]
    n = len(columns)
    several = isinstance(bins, (list, tuple)) or (hasattr(bins, "ndim") and bins.ndim)
    each = list(bins) if several else [bins] * n
    ranges = [None] * n if range is None else list(range)
    if len(each) != n or len(ranges) != n:
        raise fail(JitadValueError, "bins and range must be given for each axis of the sample")
    edges = [call(np.histogram_bin_edges, *e) for e in zip(columns, each, ranges, strict=True)]
    places, inside = [], True
    for x, e in zip(columns, edges, strict=True):
        require_same(x.shape[0], columns[0].shape[0], lambda: "the columns of a sample differ in "
                     "length")  # fmt: skip
        at = call(np.searchsorted, e, x, side="right") - 1 - call(np.equal, x, e[-1])
        last = extents.sub(e.shape[0], 2)
        here = call(np.logical_and, at >= 0, at <= last)
        inside = here if inside is True else call(np.logical_and, inside, here)
        places.append(call(np.clip, at, 0, last))
    shape = tuple(extents.sub(e.shape[0], 1) for e in edges)
    one = call(np.ones, columns[0].shape) if weights is None else ravel(weights).astype(float)
    found = call(np.zeros, shape)
    call(np.add.at, found, tuple(places), call(np.where, inside, one, 0.0))
    if density:
        total = call(np.sum, found)
        for k, e in enumerate(edges):
            width = call(np.diff, e)
            found = found / width.with_axes(tuple(j for j in np.arange(n).tolist() if j != k))
        found = found / total
    return found, tuple(edges)


@replaces(np.histogram2d)
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None,
                weights: Any = None) -> Any:  # fmt: skip
    size = len(bins) if isinstance(bins, (list, tuple)) else (
        handle(bins).shape[0] if getattr(bins, "ndim", 0) else 0)  # fmt: skip
    if size not in (0, 1, 2):  # edges, of both axes
        bins = [handle(bins)] * 2
    found, (a, b) = histogramdd([x, y], list(bins) * 2 if size == 1 else bins, range, density,
                                weights)  # fmt: skip
    return found, a, b
