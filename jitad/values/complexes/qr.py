"""How is a complex matrix taken apart into Q, with orthonormal columns, and R, triangular?

By Householder's reflections, one a column, as LAPACK's `zgeqr2` does it, so that signs are NumPy's:
R's diagonal is real, and opposite in sign to what stood there.  The steps are differentiated.
Golub & Van Loan, *Matrix Computations*, 5.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadTypeError
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import elementwise
from jitad.values.complexes.lifts import imaginary_part, real_part
from jitad.values.complexes.number import Complex, over, pair
from jitad.values.extents import Int
from jitad.values.kind import fail, require
from jitad.values.loops import fold
from jitad.values.numpy.linalg import Qr, floats, matrix
from jitad.values.registry import call, of_complex

_e = elementwise


@of_complex(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    re, im = floats(real_part(a), imaginary_part(a))
    matrix(re, False)
    if re.ndim != 2 or mode not in ("reduced", "r"):
        raise fail(JitadTypeError, "qr of complex matrices is supported for one matrix and "
                   "mode='reduced' or 'r'", "Loop over the matrices.")  # fmt: skip
    m, n = re.shape
    k = extents.smallest(m, n)
    turned = call(np.eye, m, dtype=re.dtype)
    zeros = call(np.zeros, (m, m), dtype=re.dtype)
    start = tuple(call(np.copy, x).content for x in (re, im, turned, zeros))
    rows = call(np.arange, m)
    found = fold(k, start, lambda j, *parts: _reflected(j, rows, *parts), *start)
    re, im, turned, over_ = map(ArrayHandle, found)
    r = Complex(call(np.triu, re[:k]), call(np.triu, im[:k], 1))  # what is below is rounding
    if mode == "r":
        return r
    return Qr(call(np.conj, call(np.matrix_transpose, Complex(turned[:k], over_[:k]))), r)


def _reflected(j: Int, rows: Any, *parts: Any) -> tuple[Any, ...]:
    """The matrix and what turned it, after column j was made to end at its diagonal."""
    z, q = (Complex(*map(ArrayHandle, x)) for x in (parts[:2], parts[2:]))
    x, pivot = z[:, j], z[j, j]
    squares = _e("add", _e("mul", x.re, x.re), _e("mul", x.im, x.im))
    rest = call(np.sum, _e("where", _e("gt", rows, j), squares, 0.0))
    size = call(np.sum, _e("where", _e("ge", rows, j), squares, 0.0))
    require(_e("gt", size, 0.0), JitadError, "qr: a column of the complex matrix depends "
            "on those before it", "There is no derivative there.")  # fmt: skip
    size = _e("sqrt", size)
    end = _e("where", _e("lt", pivot.re, 0.0), size, _e("neg", size))
    away = pair(_e("sub", pivot.re, end), pivot.im)
    v = over(x, away)
    here, below = _e("eq", rows, j), _e("gt", rows, j)
    v = Complex(_e("where", here, 1.0, _e("where", below, v.re, 0.0)),
                _e("where", below, v.im, 0.0))  # fmt: skip
    weight = pair(_e("div", _e("neg", away.re), end), _e("div", pivot.im, end))
    # LAPACK leaves a column alone that is zero below a real pivot: there R keeps its sign.
    still = _e("logical_and", _e("eq", rest, 0.0), _e("eq", pivot.im, 0.0))
    sign = _e("where", _e("logical_and", here, still), z.dtype.type(-1).real, 1.0)[:, None]
    out = []
    for y in (z, q):
        along = call(np.matmul, call(np.conj, v), y)
        new = y - (weight * v)[:, None] * along
        out += [_e("mul", new.re, sign).content, _e("mul", new.im, sign).content]
    return tuple(out)
