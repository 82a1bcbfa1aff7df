"""What becomes of numpy.polynomial, where its own code can't be traced?

Its functions are written in Python and traced as a user's code (`trace/rewrite.py`).  Here is what
looks at numbers while it runs, and the sums of orthogonal polynomials, whose loops begin with a
number and go on with an array.

Source: Clenshaw's recurrences, as NumPy has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polyutils,
)

from jitad.errors import JitadError, JitadValueError
from jitad.tape.types import promote
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import as_operand, cast, common_shape, elementwise, stretch
from jitad.values.extents import Int
from jitad.values.kind import fail, require, type_of
from jitad.values.loops import fold
from jitad.values.number import Number, bind
from jitad.values.numpy.reductions import part
from jitad.values.numpy.shaping import handle, reshape
from jitad.values.numpy.ufuncs import add, div, mul, sub
from jitad.values.registry import call, is_complex, replaces

# (c[-i], c0, c1, x, n) -> c0, c1 of one step down; n counts down from the number of coefficients
_DOWN: dict[Any, Callable[..., tuple[Any, Any]]] = {
    chebyshev.chebval: lambda c, p, q, x, n: (sub(c, q), add(p, mul(q, mul(2, x)))),
    legendre.legval: lambda c, p, q, x, n: (
        sub(c, mul(q, div(sub(n, 1), n))), add(p, mul(mul(q, x), div(sub(mul(2, n), 1), n)))),
    hermite.hermval: lambda c, p, q, x, n: (
        sub(c, mul(q, mul(2, sub(n, 1)))), add(p, mul(q, mul(2, x)))),
    hermite_e.hermeval: lambda c, p, q, x, n: (sub(c, mul(q, sub(n, 1))), add(p, mul(q, x))),
    laguerre.lagval: lambda c, p, q, x, n: (
        sub(c, div(mul(q, sub(n, 1)), n)),
        add(p, div(mul(q, sub(sub(mul(2, n), 1), x)), n))),
}  # fmt: skip
_LAST: dict[Any, Callable[[Any], Any]] = {  # the polynomial of degree one
    chebyshev.chebval: lambda x: x, legendre.legval: lambda x: x,
    hermite.hermval: lambda x: mul(2, x), hermite_e.hermeval: lambda x: x,
    laguerre.lagval: lambda x: sub(1, x),
}  # fmt: skip


def _enter(original: Any) -> None:
    down, last = _DOWN[original], _LAST[original]

    @replaces(original)
    def value(x: Any, c: Any, tensor: bool = True) -> Any:
        c = call(np.atleast_1d, c)
        x = handle(x) if isinstance(x, (list, tuple, np.ndarray)) else as_operand(x)
        if isinstance(x, ArrayHandle) and tensor:
            c = reshape(c, (*c.shape, *(1,) * x.ndim))
        content = x.content if isinstance(x, ArrayHandle) else x
        kind = np.dtype(promote(type_of(c.content), type_of(content))[0])
        kind = kind if kind.kind == "f" else np.dtype(float)
        # two more coefficients, which are zero: how many there are may not be known
        none = call(np.zeros, (2, *c.shape[1:]), dtype=kind)
        coefficients = call(np.concatenate, [c.astype(kind), none]).content
        content = cast(content, kind)
        shape = common_shape([coefficients.shape[1:], getattr(content, "shape", ())])
        zero = call(np.zeros, shape, dtype=kind).content if shape else kind.type(0)
        m = c.shape[0]

        def step(k: Int, p: Any, q: Any) -> tuple[Any, Any]:
            below = extents.sub(extents.sub(m, k), 1)
            found = down(wrap(part(coefficients, below)), wrap(p), wrap(q), wrap(content),
                         cast(extents.add(below, 2), np.dtype(float)))  # fmt: skip
            return tuple(_fitting(f, shape, kind) for f in found)

        p, q = fold(m, (zero, zero), step, content, coefficients)
        return add(wrap(p), mul(wrap(q), last(wrap(content))))


def _fitting(x: Any, shape: Any, kind: Any) -> Any:
    x = x.content if isinstance(x, ArrayHandle) else x
    return cast(stretch(x, shape) if shape else x, kind)


for _original in _DOWN:
    _enter(_original)


@replaces(np.common_type)
def common_type(*arrays: Any) -> Any:
    """The narrowest float type that holds all, of integers double."""
    kinds = [np.dtype(float) if h.dtype.kind in "iu" else h.dtype for h in map(handle, arrays)]
    return np.result_type(*kinds).type


@replaces(polyutils.trimseq)
def trimseq(seq: Any) -> Any:
    """NumPy cuts coefficients off that are zero at the end: here the last must not be zero."""
    if len(seq):
        last = seq[-1]
        there = call(np.not_equal, last, 0) if is_complex(last) else elementwise("ne", last, 0.0)
        require(there, JitadError, "the coefficient of the highest power is zero, and NumPy "
                "would cut it off: how many there are depends on the values",
                "Cut it off before.")  # fmt: skip
    return seq


@replaces(polyutils.as_series)
def as_series(alist: Any, trim: bool = True) -> list[Any]:
    """Copies of one type, none of them empty.

    What is refused of them raises what nothing catches: the operators of polynomials answer any
    exception by NotImplemented.
    """
    arrays = [call(np.atleast_1d, a) for a in alist]
    for a in arrays:
        if a.ndim != 1:
            raise fail(JitadValueError, "Coefficient array is not 1-d")
        if not extents.at_least(a.shape[0], 1):
            n = a.shape[0]
            require(bind("gt", n, 0) if isinstance(n, Number) else False, JitadError,
                    "Coefficient array is empty")  # fmt: skip
    dtype = common_type(*arrays)
    return [call(np.array, trimseq(a) if trim else a, dtype=dtype) for a in arrays]
