"""What becomes of functions of sampled curves and of polynomials: convolve, gradient, polyval?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadTypeError, JitadValueError, JitadWrongTypeError
from jitad.tape.types import promote
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import as_operand, cast, elementwise, shape_of
from jitad.values.extents import Int
from jitad.values.kind import fail, require, type_of
from jitad.values.loops import fold
from jitad.values.number import Number, bind
from jitad.values.numpy.rearranging import along
from jitad.values.numpy.reductions import one_axis, part, strong
from jitad.values.numpy.shaping import broadcast_to, concatenate, handle, ravel, reshape
from jitad.values.numpy.ufuncs import float_of, numpy_number
from jitad.values.registry import call, replaces, write_each

# -- sliding products -----------------------------------------------------------------------------


def _vectors(a: Any, v: Any) -> tuple[ArrayHandle, ArrayHandle]:
    out = []
    dtype = promote(handle(a).type, handle(v).type)[0]
    for x in (handle(a), handle(v)):
        x = x if x.ndim else reshape(x, (1,))
        if x.ndim != 1:
            raise fail(JitadValueError, "object too deep for desired array")
        extents.require_at_least(
            x.shape[0], 1, "convolve and correlate need elements on both sides"
        )
        out.append(ArrayHandle(cast(x.content, np.dtype(dtype))))
    return out[0], out[1]


def _full(a: ArrayHandle, v: ArrayHandle) -> Any:
    """All sums a[i] v[j] with i + j = k, a slice of the result for each of the fewer elements."""
    n, m = a.shape[0], v.shape[0]
    if extents.at_least(m, n) and not extents.same(m, n):
        a, v, n, m = v, a, m, n
    x, w = a.content, v.content
    zero = bind("full", 0, extents.sub(extents.add(n, m), 1), dtype=a.dtype.str[1:])

    def step(j: Int, done: Any) -> tuple[Any]:
        return (bind("accum_slice", done, bind("mul", x, part(w, j)), j, 1, n, kinds="r"),)

    return fold(m, (zero,), step, x, w)[0]


def _cut(full: Any, start: Int, count: Int) -> Any:
    return wrap(bind("slice", full, start, 1, count, kinds="r"))


def _mode(mode: Any) -> str:
    named = {0: "valid", 1: "same", 2: "full"}.get(mode, mode)
    if named not in ("valid", "same", "full"):
        raise fail(JitadValueError, f"mode must be 'valid', 'same' or 'full', not {mode!r}")
    return named


@replaces(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    mode = _mode(mode)
    a, v = _vectors(a, v)
    full = _full(a, v)
    n, m = a.shape[0], v.shape[0]
    if mode == "full":
        return wrap(full)
    long, short = extents.largest(n, m), extents.smallest(n, m)
    before = extents.sub(short, 1)
    if mode == "valid":
        return _cut(full, before, extents.sub(long, before))
    return _cut(full, extents.sub(before, extents.floordiv(short, 2)), long)


@replaces(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    mode = _mode(mode)
    if not handle(a).ndim or not handle(v).ndim:  # which np.convolve takes
        raise fail(JitadValueError, "object of too small depth for desired array")
    a, v = _vectors(a, v)
    full = _full(a, v[::-1])
    n, m = a.shape[0], v.shape[0]
    if mode == "full":
        return wrap(full)
    long, short = extents.largest(n, m), extents.smallest(n, m)
    before = extents.sub(short, 1)
    if mode == "valid":
        return _cut(full, before, extents.sub(long, before))
    half = extents.floordiv(short, 2)
    start = extents.sub(before, half)
    if not extents.at_least(n, m):  # NumPy exchanges the two, and turns what it gets
        turned = extents.at_least(m, extents.add(n, 1))
        start = half if turned else bind("where", bind("lt", n, m), half, start)
    return _cut(full, start, long)


# -- differences and integrals --------------------------------------------------------------------


@replaces(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = np._NoValue,
         append: Any = np._NoValue) -> Any:  # fmt: skip
    a = handle(a)
    if n < 0:
        raise fail(JitadValueError, f"order must be non-negative but got {n}")
    axis = one_axis(axis, a.ndim)

    def border(x: Any) -> list[ArrayHandle]:
        if x is np._NoValue:
            return []
        x = handle(x)
        shape = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
        return [x if x.ndim else broadcast_to(x, shape)]

    parts = [*border(prepend), a, *border(append)]
    a = concatenate(parts, axis) if len(parts) > 1 else a
    for _ in range(n):
        later, earlier = a[along(axis, slice(1, None))], a[along(axis, slice(None, -1))]
        a = elementwise("ne" if a.dtype.kind == "b" else "sub", later, earlier)
    return a


@replaces(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    if handle(ary).dtype == bool:
        raise fail(JitadTypeError, "bools can't be subtracted", "Compare neighbours by !=.")
    inner = diff(ravel(ary))
    parts = [*([] if to_begin is None else [ravel(to_begin)]), inner,
             *([] if to_end is None else [ravel(to_end)])]  # fmt: skip
    return concatenate([p if p.dtype == inner.dtype else p.astype(inner.dtype) for p in parts])


@replaces(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Differences of second order inside, of first or second order at the ends."""
    f = handle(f)
    f = f if f.dtype.kind == "f" else f.astype(float)
    axes = list(range(f.ndim)) if axis is None else [
        one_axis(k, f.ndim) for k in (axis if isinstance(axis, tuple) else (axis,))]  # fmt: skip
    if edge_order not in (1, 2):
        raise fail(JitadValueError, "'edge_order' greater than 2 not supported")
    if len(varargs) not in (0, 1, len(axes)):
        raise fail(JitadTypeError, "invalid number of arguments")
    steps = [1.0] * len(axes) if not varargs else list(varargs) * (
        len(axes) if len(varargs) == 1 else 1)  # fmt: skip
    parts = (_along(f, k, h, edge_order) for k, h in zip(axes, steps, strict=True))
    out = [p if p.dtype == f.dtype else p.astype(f.dtype) for p in parts]
    return out[0] if len(out) == 1 else tuple(out)


def _along(f: ArrayHandle, axis: int, spacing: Any, edge_order: int) -> Any:
    def at(*key: Any) -> Any:
        return f[along(axis, slice(*key))]

    n = f.shape[axis]
    extents.require_at_least(
        n, edge_order + 1, "Shape of array too small to calculate a numerical gradient, at least "
        "(edge_order + 1) elements are required.")  # fmt: skip
    spacing = as_operand(spacing)
    if not shape_of(spacing):
        h = spacing[()] if isinstance(spacing, ArrayHandle) else spacing
        inner = (at(2, None) - at(None, -2)) / (h * 2.0)
        if edge_order == 1:
            ends = (at(1, 2) - at(0, 1)) / h, (at(-1, None) - at(-2, -1)) / h
        else:
            ends = ((at(0, 1) * -1.5 + at(1, 2) * 2.0 - at(2, 3) * 0.5) / h,
                    (at(-1, None) * 1.5 - at(-2, -1) * 2.0 + at(-3, -2) * 0.5) / h)  # fmt: skip
        return concatenate([ends[0], inner, ends[1]], axis)
    d = diff(handle(spacing))
    shape = [1] * f.ndim

    def wide(x: Any) -> Any:
        dims = list(shape)
        dims[axis] = x.shape[0]
        return reshape(x, tuple(dims))

    first, second = wide(d[:-1]), wide(d[1:])
    both = first + second
    inner = (at(None, -2) * (-second / (first * both))
             + at(1, -1) * ((second - first) / (first * second))
             + at(2, None) * (first / (second * both)))  # fmt: skip
    if edge_order == 1:
        ends = (at(1, 2) - at(0, 1)) / d[0], (at(-1, None) - at(-2, -1)) / d[-1]
    else:
        x, y = d[0], d[1]
        u, v = d[-2], d[-1]
        ends = (at(0, 1) * (-(2.0 * x + y) / (x * (x + y))) + at(1, 2) * ((x + y) / (x * y))
                - at(2, 3) * (x / (y * (x + y))),
                at(-3, -2) * (v / (u * (u + v))) - at(-2, -1) * ((v + u) / (u * v))
                + at(-1, None) * ((2.0 * v + u) / (v * (u + v))))  # fmt: skip
    return concatenate([ends[0], inner, ends[1]], axis)


@replaces(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = handle(y)
    axis = one_axis(axis, y.ndim)
    width = dx
    if x is not None:
        x = handle(x)
        width = diff(x, 1, axis if x.ndim == y.ndim else -1)
        if x.ndim == 1:
            width = reshape(width, tuple(width.shape[0] if k == axis else 1
                                         for k in range(y.ndim)))  # fmt: skip
    later, earlier = y[along(axis, slice(1, None))], y[along(axis, slice(None, -1))]
    areas = elementwise("div", elementwise("mul", width, elementwise("add", later, earlier)), 2.0)
    return call(np.sum, areas, axis=axis)


@replaces(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * math.pi) -> Any:
    """Multiples of the period are added where a step is too large."""
    p = handle(p)
    axis = one_axis(axis, p.ndim)
    step = diff(p, 1, axis)
    half = period / 2
    low = elementwise("sub", elementwise("mod", elementwise("add", step, half), period), half)
    edge = elementwise("logical_and", elementwise("eq", low, -half), elementwise("gt", step, 0))
    low = elementwise("where", edge, half, low)
    correction = elementwise("sub", low, step)
    small = elementwise("lt", elementwise("abs", step), half if discont is None else discont)
    correction = elementwise("where", small, 0.0, correction)
    whole = elementwise("mul", elementwise("rint", elementwise("div", correction, period)), period)
    added = call(np.cumsum, whole, axis=axis)
    first = p[along(axis, slice(0, 1))]
    rest = elementwise("add", p[along(axis, slice(1, None))], added)
    return concatenate([first, rest], axis)


# -- polynomials ----------------------------------------------------------------------------------


def _float_type(*operands: Any) -> np.dtype[Any]:
    return np.dtype(promote(*(type_of(as_operand(x)) for x in operands))[0])


@replaces(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """By Horner's rule, the highest power first."""
    p = handle(p)
    x = as_operand(x)
    x = x if shape_of(x) else strong(x)
    if p.ndim > 1:  # a polynomial for each element of a row
        out = call(np.zeros_like, x)
        for k in range(p._static(p.shape[0], "the number of coefficients")):
            out = elementwise("add", elementwise("mul", out, x), p[k])
        return out
    if not p.ndim:
        raise fail(JitadTypeError, "iteration over a 0-d array")
    n = p.shape[0]
    kind = _float_type(p, x)
    if not isinstance(p.shape[0], Number) and not p.shape[0]:  # NumPy's sum begins with zeros
        return call(np.zeros_like, x)
    if isinstance(p.shape[0], Number) and type_of(x).dtype != kind.str[1:]:
        require(bind("ge", p.shape[0], 1), JitadError, "np.polyval without coefficients gives "
                f"zeros of {np.dtype(type_of(x).dtype)}, with some it gives {kind}",
                "Convert the points first: x.astype(float).")  # fmt: skip
    content = cast(x.content if isinstance(x, ArrayHandle) else x, kind)
    coefficients = cast(p.content, kind)
    dims = shape_of(content)
    zero = bind("full", 0, *dims, dtype=kind.str[1:]) if dims else kind.type(0)

    def step(k: Int, done: Any) -> tuple[Any]:
        return (bind("add", bind("mul", done, content), part(coefficients, k)),)

    return wrap(fold(n, (zero,), step, content, coefficients)[0])


@replaces(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    p = handle(p)
    for _ in range(m):
        n = extents.sub(p.shape[0], 1)
        powers = elementwise("sub", n, call(np.arange, n))
        p = elementwise("mul", p[:-1], powers)
    return p


@replaces(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    p = handle(p)
    given = [0.0] * m if k is None else list(k) if shape_of(as_operand(k)) else [k] * m
    for c in given:
        n = p.shape[0]
        powers = elementwise("sub", n, call(np.arange, n))
        p = concatenate([elementwise("div", p, powers), ravel(c)])
    return p


def _padded(a: ArrayHandle, n: Int) -> ArrayHandle:
    more = call(np.zeros, extents.sub(n, a.shape[0]), dtype=a.dtype)
    return concatenate([more, a])


def _of_two(original: Any, row: str) -> None:
    @replaces(original)
    def replacement(a1: Any, a2: Any) -> Any:
        a, b = (call(np.atleast_1d, a) for a in (a1, a2))
        if a.ndim != 1 or b.ndim != 1:
            raise fail(JitadTypeError, f"np.{original.__name__} is supported for coefficients "
                       "along one axis")  # fmt: skip
        n = extents.largest(a.shape[0], b.shape[0])
        return elementwise(row, _padded(a, n), _padded(b, n))


_of_two(np.polyadd, "add")
_of_two(np.polysub, "sub")


@replaces(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    a, b = (call(np.zeros, 1) if extents.assume_none(n) else x  # of no coefficients it is zero
            for x in map(ravel, (a1, a2)) for n in x.shape)  # fmt: skip
    return convolve(a, b)


@replaces(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    roots = handle(seq_of_zeros)
    if roots.ndim != 1:
        raise fail(JitadTypeError, "np.poly is supported for roots, not for matrices")
    n = roots._static(roots.shape[0], "the number of roots")
    out = call(np.ones, 1, dtype=roots.dtype if roots.dtype.kind == "f" else float)
    for k in range(n):
        lower = elementwise("mul", elementwise("neg", roots[k]), out)
        zero = call(np.zeros, 1, dtype=out.dtype)
        out = elementwise("add", concatenate([out, zero]), concatenate([zero, lower]))
    return out


@replaces(np.polyfit)
def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None,
            cov: Any = False) -> Any:  # fmt: skip
    if full or cov:
        raise fail(JitadTypeError, "full= and cov= of np.polyfit are not supported here")
    x, y = (elementwise("add", handle(a), 0.0) for a in (x, y))
    if not extents.assume_at_least(x.shape[0], 1):
        some = bind("ge", x.shape[0], 1)
        require(some, JitadWrongTypeError, "expected non-empty vector for x")
    columns = call(np.vander, x, deg + 1)
    if w is not None:
        w = handle(w)
        columns = elementwise("mul", columns, w.with_axes((1,)))
        y = elementwise("mul", y, w if y.ndim == 1 else w.with_axes((1,)))
    scale = call(np.sqrt, call(np.sum, elementwise("mul", columns, columns), axis=0))
    cutoff = elementwise("mul", x.shape[0], float(np.finfo(x.dtype).eps)) if rcond is None else (
        rcond)  # fmt: skip
    found = call(np.linalg.lstsq, elementwise("div", columns, scale), y, cutoff)[0]
    return elementwise("div", found, scale if found.ndim == 1 else scale.with_axes((1,)))


# -- functions of one number ----------------------------------------------------------------------


@replaces(np.sinc)
def sinc(x: Any) -> Any:
    """sin(pi x) / (pi x); near zero by its series, so that derivatives are right there, too."""
    t = elementwise("mul", x, math.pi)
    small = elementwise("lt", elementwise("abs", t), 1.0)
    u = elementwise("where", small, elementwise("mul", t, t), 0.0)
    near: Any = 0.0
    for k in reversed(range(10)):
        term = (-1) ** k / math.factorial(2 * k + 1)
        near = elementwise("add", elementwise("mul", near, u), term)
    safe = elementwise("where", small, 1.0, t)
    far = elementwise("div", elementwise("sin", safe), safe)
    return numpy_number(elementwise("where", small, near, far))


@replaces(np.i0)
def i0(x: Any) -> Any:
    return handle(elementwise("i0", handle(x)))


@replaces(np.fix)
def fix(x: Any, out: Any = None) -> Any:
    return call(np.trunc, x, out=out)


@replaces(np.modf)
def modf(x: Any, /, *, out: Any = None) -> Any:
    x = as_operand(x)
    x = elementwise("cast", x, dtype=float_of(x))
    zero = elementwise("copysign", 0.0, x)
    part = elementwise("where", elementwise("isinf", x), zero, elementwise("fmod", x, 1.0))
    return write_each(out, tuple(map(numpy_number, (part, elementwise("trunc", x)))))


@replaces(np.divmod)
def divmod_(a: Any, b: Any, /, *, out: Any = None) -> Any:
    a, b = as_operand(a), as_operand(b)
    both = tuple(numpy_number(elementwise(name, a, b)) for name in ("floordiv", "mod"))
    return write_each(out, both)
