"""What becomes of statistics of complex arrays: variances, covariances, means without nan?"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.values import extents
from jitad.values.broadcast import elementwise, shape_of
from jitad.values.complexes.lifts import finished, imaginary_part, real_part
from jitad.values.complexes.number import minus, pair
from jitad.values.kind import fail, type_of
from jitad.values.numpy.reductions import axes_of, degrees_of_freedom, deviation
from jitad.values.registry import call, of_complex

_e = elementwise


@of_complex(np.var)
def var(z: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
        keepdims: Any = False, *, correction: Any = None, where: Any = True,
        mean: Any = None) -> Any:  # fmt: skip
    if dtype is not None:
        raise fail(JitadTypeError, "dtype= is not supported on complex arrays")
    ddof = ddof if correction is None else correction
    axes = tuple(axes_of(axis, len(z.shape)))
    some = {} if where is True else {"where": where}
    if mean is None:
        mean = call(np.mean, z, axis=axes, keepdims=True, **some)
    away = minus(z, mean)
    squares = _e("add", _e("mul", away.re, away.re), _e("mul", away.im, away.im))
    total = call(np.sum, squares, axis=axes, keepdims=keepdims is True, **some)
    if some:
        every = call(np.broadcast_to, where, z.shape)
        n = call(np.sum, every, axis=axes, keepdims=keepdims is True)
        kind = np.dtype(type_of(total).dtype).str[1:]
        number = _e("cast", _e("maximum", _e("sub", n, ddof), 0), dtype=kind)
    else:
        n = extents.product(z.shape[k] for k in axes)
        number = degrees_of_freedom(n, ddof)
    return finished(_e("div", total, number), out)


@of_complex(np.std)
def std(*args: Any, out: Any = None, **kwargs: Any) -> Any:
    return finished(deviation(var(*args, **kwargs)), out)


def _without_nan(original: Any, of: Any) -> None:
    @of_complex(original)
    def replacement(z: Any, *args: Any, where: Any = True, **kwargs: Any) -> Any:
        there = call(np.logical_and, call(np.logical_not, call(np.isnan, z)), where)
        found = call(of, call(np.where, there, z, 0.0), *args, where=there, **kwargs)
        # of too few elements NumPy gives nan here, not inf
        return found if of is np.mean else call(np.where, call(np.isinf, found), np.nan, found)


for _original, _of in ((np.nanmean, np.mean), (np.nanvar, np.var), (np.nanstd, np.std)):
    _without_nan(_original, _of)


@of_complex(np.cov)
def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None,
        fweights: Any = None, aweights: Any = None, *, dtype: Any = None) -> Any:  # fmt: skip
    """That of the real parts beside the imaginary ones, put together: `(R + iI)(R - iI)'`."""
    given = [_rows(v, rowvar) for v in (m, y) if v is not None]
    z = call(np.concatenate, given)
    n = z.shape[0]
    both = call(np.concatenate, [real_part(z), imaginary_part(z)])
    c = call(np.cov, both, None, True, bias, ddof, fweights, aweights)
    found = pair(_e("add", c[:n, :n], c[n:, n:]), _e("sub", c[n:, :n], c[:n, n:]))
    if not extents.at_least(n, 2):
        found = found[0, 0, ...] if isinstance(n, int) else found
    return found if dtype is None else found.astype(dtype)


def _rows(m: Any, rowvar: bool) -> Any:
    m = call(np.asarray, m)
    x = call(np.atleast_2d, m)
    return x if rowvar or len(m.shape) == 1 else x.T


@of_complex(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    c = cov(x, y, rowvar, dtype=dtype)
    if not shape_of(c):
        return call(np.divide, c, c)
    size = call(np.sqrt, call(np.diag, c.real))
    found = call(np.divide, c, call(np.multiply, size[:, None], size))
    return pair(*(call(np.clip, part, -1.0, 1.0) for part in (found.real, found.imag)))
