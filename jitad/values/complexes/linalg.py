"""What becomes of linear algebra with complex matrices?

A complex matrix X + iY acts on stacked parts as the real one [[X, -Y], [Y, X]]; systems, inverses
and exponentials are those of that.  With the parts of each element side by side instead, its
Cholesky factor is that of the complex matrix.  Hermitian eigenvalues have rows of their own
(`primitives/hermitian`), and singular values are those of [[0, A], [A*, 0]] that are positive.
Determinants are eliminated step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import elementwise, shape_of
from jitad.values.complexes.functions import absolute
from jitad.values.complexes.lifts import finished, imaginary_part, real_part
from jitad.values.complexes.number import Complex, over, pair, parts, plus, times
from jitad.values.extents import Int
from jitad.values.kind import fail
from jitad.values.loops import fold
from jitad.values.number import bind
from jitad.values.numpy.linalg import Eigh, Slogdet, floats, is_upper, matrix, stacked
from jitad.values.numpy.shaping import reshape, swapaxes
from jitad.values.registry import call, of_complex

_e = elementwise


def _doubled(z: Any) -> Any:
    """The real matrix that acts on stacked parts as the complex one does."""
    re, im = real_part(z), imaginary_part(z)
    upper = call(np.concatenate, [re, call(np.negative, im)], axis=-1)
    return call(np.concatenate, [upper, call(np.concatenate, [im, re], axis=-1)], axis=-2)


def _halves(stacked: Any, axis: int) -> Any:
    n = extents.floordiv(stacked.shape[axis], 2)
    index: list[Any] = [slice(None)] * stacked.ndim
    halves = []
    for where in (slice(0, n), slice(n, None)):
        index[axis] = where
        halves.append(stacked[tuple(index)])
    return pair(*halves)


def solver(original: Any) -> Callable[..., Any]:
    def solve(a: Any, b: Any, **kwargs: Any) -> Any:
        vector = len(shape_of(parts(b)[0])) == 1
        axis = -1 if vector else -2
        both = call(np.concatenate, [real_part(b), imaginary_part(b)], axis=axis)
        return _halves(call(original, _doubled(a), both, **kwargs), axis)

    return solve


of_complex(np.linalg.solve)(solver(np.linalg.solve))


def inverse_of(original: Any) -> Callable[..., Any]:
    def inverse(a: Any, *args: Any, **kwargs: Any) -> Any:
        both = call(original, _doubled(a), *args, **kwargs)
        n = extents.floordiv(both.shape[-1], 2)
        return _halves(both[..., :n], -2)

    return inverse


for _f in (np.linalg.inv, np.linalg.pinv):
    of_complex(_f)(inverse_of(_f))


@of_complex(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    if n < 0:
        a, n = call(np.linalg.inv, a), -n
    if n == 0:
        like = real_part(a)
        return plus(times(a, 0.0), call(np.eye, like.shape[-1]))
    out, base = None, a
    while n:
        if n & 1:
            out = base if out is None else call(np.matmul, out, base)
        n >>= 1
        base = call(np.matmul, base, base) if n else base
    return out


@of_complex(np.linalg.multi_dot)
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    found, *rest = arrays
    for a in rest:
        found = call(np.dot, found, a)
    return finished(found, out)


@of_complex(np.linalg.norm)
def norm(z: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    axes = (axis,) if isinstance(axis, int) else axis
    is_matrix = len(z.shape if axes is None else axes) == 2
    if is_matrix and ord in (2, -2, "nuc"):
        i, j = (0, 1) if axes is None else tuple(axes)
        s = singular_values(call(np.moveaxis, z, (i, j), (-2, -1)))
        found = (call(np.sum, s, axis=-1) if ord == "nuc" else s[..., 0 if ord == 2 else -1])
        return call(np.expand_dims, found, axes or (0, 1)) if keepdims else found
    return call(np.linalg.norm, absolute(z), ord, axis, keepdims)


@of_complex(np.linalg.vector_norm)
def vector_norm(z: Any, **kwargs: Any) -> Any:
    return call(np.linalg.vector_norm, absolute(z), **kwargs)


# -- Hermitian matrices --------------------------------------------------------------------------


def _handles(z: Any) -> tuple[ArrayHandle, ArrayHandle]:
    re, im = floats(real_part(z), imaginary_part(z))
    matrix(re, False)
    return re, im


def adjoint(z: Any) -> Any:
    return call(np.conj, call(np.matrix_transpose, z))


def _from_triangle(z: Any, upper: bool) -> tuple[ArrayHandle, ArrayHandle]:
    """The Hermitian matrix that has z's lower, or upper, triangle; its diagonal is real."""
    re, im = _handles(z)
    matrix(re)
    part = np.triu if upper else np.tril
    k = 1 if upper else -1
    beside, under = call(part, re, k), call(part, im, k)
    return (_e("add", call(part, re), swapaxes(beside, -1, -2)),
            _e("sub", under, swapaxes(under, -1, -2)))  # fmt: skip


def eigen_of(z: Any, by: str, upper: bool, vectors: bool = True) -> list[Any]:
    """Eigenvalues and eigenvectors of a Hermitian matrix, by this routine of LAPACK."""
    found = _eigen(*_from_triangle(z, upper), by, upper, vectors)
    return [found[0], _halves(found[1], -2)] if vectors else found


def _eigen(
    re: ArrayHandle, im: ArrayHandle, by: str = "zheevd", upper: bool = False, vectors: bool = False
) -> list[Any]:
    n = re.shape[-1]
    twice = extents.mul(2, n)

    def one(a: Any) -> list[Any]:
        packed = bind("heigh", a, extents.add(a.shape[0], 1), n, by=by, upper=upper)
        values = bind("hermitian_values", a, packed)
        return [values, bind("hermitian_vectors", a, packed, upper=upper)] if vectors else [values]

    return list(stacked(one, [(n,), (twice, n)][: 1 + vectors], _doubled(Complex(re, im))))


def mirrored(z: Any, upper: bool) -> Any:
    """The Hermitian matrix with this triangle."""
    return Complex(*_from_triangle(z, upper))


@of_complex(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return eigen_of(a, "zheevd", is_upper(UPLO), False)[0]


@of_complex(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    return Eigh(*eigen_of(a, "zheevd", is_upper(UPLO)))


@of_complex(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    re, im = _handles(adjoint(a) if upper else a)
    matrix(re)
    n = re.shape[-1]
    im = call(np.tril, im, -1)
    minus = call(np.negative, im)
    rows = [call(np.stack, pair_, axis=-1) for pair_ in ((re, minus), (im, re))]
    twice = extents.mul(2, n)
    beside = reshape(call(np.stack, rows, axis=-3), (*re.shape[:-2], twice, twice))
    factor = call(np.linalg.cholesky, beside)
    factor = reshape(factor, (*re.shape[:-2], n, 2, n, 2))
    out = Complex(call(np.copy, factor[..., 0, :, 0]), call(np.copy, factor[..., 1, :, 0]))
    return adjoint(out) if upper else out


# -- singular values -----------------------------------------------------------------------------


def singular_values(a: Any) -> Any:
    """In descending order, as the positive half of the eigenvalues of [[0, a], [a*, 0]]."""
    re, im = _handles(a)
    m, n = re.shape[-2:]

    def dilated(x: ArrayHandle, back: ArrayHandle) -> Any:
        around = x.shape[:-2]
        nothing = [call(np.zeros, (*around, k, k), dtype=x.dtype) for k in (m, n)]
        top = call(np.concatenate, [nothing[0], x], axis=-1)
        return call(np.concatenate, [top, call(np.concatenate, [back, nothing[1]], axis=-1)],
                    axis=-2)  # fmt: skip

    turned, back = swapaxes(re, -1, -2), swapaxes(im, -1, -2)
    (w,) = _eigen(dilated(re, turned), dilated(im, call(np.negative, back)))
    k = extents.smallest(m, n)
    largest = w[..., extents.sub(w.shape[-1], k) :]
    return call(np.copy, call(np.flip, largest, -1))


@of_complex(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    return singular_values(x)


@of_complex(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True,
        hermitian: bool = False) -> Any:  # fmt: skip
    if compute_uv:
        raise fail(JitadTypeError, "the singular vectors of complex matrices are not supported "
                   "here: LAPACK leaves their phases open", "Pass compute_uv=False, or use "
                   "np.linalg.eigh.")  # fmt: skip
    return singular_values(a)


@of_complex(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    if p in (None, 2, -2):
        s = singular_values(x)
        ends = (s[..., 0], s[..., -1])
        return _e("div", *(ends if p != -2 else ends[::-1]))
    size = [call(np.linalg.norm, y, p, axis=(-2, -1)) for y in (x, call(np.linalg.inv, x))]
    return _e("mul", *size)


# -- determinants ---------------------------------------------------------------------------------


def _pivots(re: Any, im: Any) -> tuple[Any, Any, Any]:
    """Gaussian elimination with row exchanges: the parts of the pivots, the sign of the order."""
    n = re.shape[0]
    rows = call(np.arange, n)
    one = ArrayHandle(re).dtype.type(1)

    def step(k: Int, re: Any, im: Any, out_re: Any, out_im: Any, sign: Any) -> tuple[Any, ...]:
        x, y = ArrayHandle(re), ArrayHandle(im)
        size = _e("hypot", x[:, k], y[:, k])
        size = _e("where", _e("ge", rows, k), size, -1.0)
        best = bind("cast", call(np.argmax, size), dtype="i8", py=True)
        order = _e("where", _e("eq", rows, k), best, _e("where", _e("eq", rows, best), k, rows))
        z = Complex(x[order], y[order])
        pivot = z[k, k]
        zero = _e("logical_and", _e("eq", pivot.re, 0.0), _e("eq", pivot.im, 0.0))
        safe = pair(_e("where", zero, one, pivot.re), pivot.im)
        below = _e("gt", rows, k)
        column = over(z[:, k], safe)
        factor = Complex(_e("where", below, column.re, 0.0), _e("where", below, column.im, 0.0))
        z = z - factor[:, None] * z[k]
        turned = _e("where", bind("eq", best, k), sign, _e("neg", sign))
        return (z.re.content, z.im.content, bind("store", out_re, pivot.re, k),
                bind("store", out_im, pivot.im, k), turned)  # fmt: skip

    none = call(np.zeros, n, dtype=ArrayHandle(re).dtype)
    start = (re, im, none.content, call(np.copy, none).content, bind("cast", one, dtype=(
        ArrayHandle(re).dtype.str[1:])))  # fmt: skip
    _, _, out_re, out_im, sign = fold(n, start, step, re, im)
    return out_re, out_im, sign


def _eliminated(a: Any) -> tuple[Any, Any, Any]:
    re, im = _handles(a)
    matrix(re)
    if re.ndim != 2:
        raise fail(JitadTypeError, "determinants of stacks of complex matrices are not supported",
                   "Loop over the matrices.")  # fmt: skip
    pre, pim, sign = _pivots(re.content, im.content)
    return wrap(pre), wrap(pim), sign


def det(a: Any, *_: Any, **__: Any) -> Any:
    re, im, sign = _eliminated(a)
    return times(call(np.prod, Complex(re, im)), sign)


of_complex(np.linalg.det)(lambda a: det(a))



@of_complex(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    re, im, sign = _eliminated(a)
    size = _e("hypot", re, im)
    whole = _e("where", _e("eq", size, 0.0), np.dtype(size.dtype).type(1), size)  # 0 has no phase
    phase = times(call(np.prod, over(Complex(re, im), whole)), sign)
    return Slogdet(phase, call(np.sum, _e("log", size)))


@of_complex(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    vector = len(shape_of(real_part(b))) == 1
    axis = -1 if vector else -2
    a, b = call(np.asarray, a), call(np.asarray, b)
    common = np.result_type(a.dtype, b.dtype)
    a = a if a.dtype == common else a.astype(common)
    both = call(np.concatenate, [real_part(b), imaginary_part(b)], axis=axis)
    x, rest, rank, _ = call(np.linalg.lstsq, _doubled(a), both, rcond)
    half = _e("cast", _e("floordiv", rank, 2), dtype="i4")
    # those of the doubled matrix coincide in pairs, and so their derivatives have none
    return _halves(x, axis), rest, half, singular_values(a)
