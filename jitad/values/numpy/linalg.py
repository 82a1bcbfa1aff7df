"""What becomes of the functions of numpy.linalg?

Each is written for one matrix, over the rows of `primitives/matrices` and `primitives/spectra`;
stacks of matrices are a loop.  As in NumPy `cholesky` and `eigh` read one triangle, so only that
one has a derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadLinAlgError, JitadTypeError, JitadValueError
from jitad.tape.types import promote
from jitad.values import extents
from jitad.values.array import ArrayHandle, wrap
from jitad.values.broadcast import cast, common_shape, elementwise, require_same, shape_text
from jitad.values.extents import Int
from jitad.values.kind import fail, require, type_of
from jitad.values.loops import fold
from jitad.values.number import Number, bind
from jitad.values.numpy.products import matmul
from jitad.values.numpy.reductions import with_part
from jitad.values.numpy.shaping import broadcast_to, handle, reshape, swapaxes
from jitad.values.registry import call, replaces

Shape = tuple[Int, ...]


def floats(*arrays: Any) -> list[ArrayHandle]:
    """The operands as arrays of one float type."""
    handles = [handle(a) for a in arrays]
    dtype, _ = promote(*(h.type for h in handles))
    if dtype[0] == "c" or dtype == "f2":
        raise fail(JitadTypeError, f"matrices of {np.dtype(dtype)} are not supported here")
    kind = np.dtype(dtype if dtype[0] == "f" else "f8")
    return [h if h.dtype == kind else ArrayHandle(cast(h.content, kind)) for h in handles]


def matrix(a: ArrayHandle, square: bool = True) -> None:
    """Refuse what is no matrix."""
    if a.ndim < 2:
        raise fail(JitadLinAlgError, f"{a.ndim}-dimensional array given. Array must be at least "
                   "two-dimensional")  # fmt: skip
    if square:
        n, m = a.shape[-2:]
        same = n == m if not isinstance(n, Number) and not isinstance(m, Number) else True
        if not same:
            raise fail(JitadLinAlgError, "Last 2 dimensions of the array must be square, not "
                       f"{shape_text(a.shape)}")  # fmt: skip
        require_same(n, m, lambda: "Last 2 dimensions of the array must be square")


def stacked(
    compute: Callable[..., Sequence[Any]], shapes: Sequence[Shape], *arrays: ArrayHandle
) -> list[Any]:
    """compute(one matrix of each) for every place in the stacks; `shapes`: those of the results."""
    if all(a.ndim == 2 for a in arrays):
        return [wrap(r) for r in compute(*(a.content for a in arrays))]
    around = common_shape([a.shape[:-2] for a in arrays])
    count = extents.product(around)
    wide = [broadcast_to(a, (*around, *a.shape[-2:])) for a in arrays]
    flat = [reshape(a, (count, *a.shape[-2:])) for a in wide]
    contents = [a.content for a in flat]
    dtype = arrays[0].dtype.str[1:]
    start = tuple(bind("full", 0.0, count, *shape, dtype=dtype) for shape in shapes)

    def step(k: Int, *done: Any) -> tuple[Any, ...]:
        one = compute(*(ArrayHandle(c).row(k).content for c in contents))
        return tuple(with_part(d, k, r) for d, r in zip(done, one, strict=True))

    found = fold(count, start, step, *contents)
    return [reshape(wrap(f), (*around, *s)) for f, s in zip(found, shapes, strict=True)]


def shape2(a: Any) -> tuple[Int, Int]:
    return a.shape[-2], a.shape[-1]


# -- systems --------------------------------------------------------------------------------------


def factors(a: Any, regular: bool = True) -> Any:
    """The factors of a matrix, which must have an inverse (`regular`)."""
    lu = bind("lu", a, extents.add(a.shape[0], 1))
    if regular:
        require(bind("ne", bind("lu_sign", lu), 0.0), JitadLinAlgError, "Singular matrix")
    return lu


def _eye(a: Any) -> Any:
    return call(np.eye, a.shape[0], dtype=np.dtype(type_of(a).dtype)).content


@replaces(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    a, b = floats(a, b)
    matrix(a)
    vector = b.ndim == 1
    b = b[..., None] if vector else b
    require_same(a.shape[-1], b.shape[-2], lambda: "solve: the matrix and the right-hand side "
                 "differ in their core dimension")  # fmt: skip

    def one(a: Any, b: Any) -> tuple[Any]:
        return (bind("solve", a, factors(a), b, turned=False),)

    (x,) = stacked(one, [shape2(b)], a, b)
    return x[..., 0] if vector else x


@replaces(np.linalg.inv)
def inv(a: Any) -> Any:
    (a,) = floats(a)
    matrix(a)

    def one(a: Any) -> tuple[Any]:
        return (bind("solve", a, factors(a), _eye(a), turned=False),)

    return stacked(one, [shape2(a)], a)[0]


@replaces(np.linalg.det)
def det(a: Any) -> Any:
    (a,) = floats(a)
    matrix(a)
    return stacked(lambda a: (bind("det", a, factors(a, False)),), [()], a)[0]


Slogdet: Any = type(np.linalg.slogdet(np.eye(1)))
Eigh: Any = type(np.linalg.eigh(np.eye(1)))
_Svd: Any = type(np.linalg.svd(np.eye(1)))
Qr: Any = type(np.linalg.qr(np.eye(1)))


@replaces(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    (a,) = floats(a)
    matrix(a)

    def one(a: Any) -> tuple[Any, Any]:
        lu = factors(a, False)
        return bind("lu_sign", lu), bind("log_size", a, lu)

    return Slogdet(*stacked(one, [(), ()], a))


@replaces(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    a, b = handle(a), handle(b)
    if axes is not None:
        last = [k % a.ndim for k in axes]
        a = a.permuted(tuple([k for k in range(a.ndim) if k not in last] + last))
    rest = a.shape[b.ndim :]
    n = extents.product(rest)
    return reshape(solve(reshape(a, (extents.product(a.shape[: b.ndim]), n)), b.reshape(-1)), rest)


@replaces(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    a = handle(a)
    n = extents.product(a.shape[ind:])
    turned = inv(reshape(a, (extents.product(a.shape[:ind]), n)))
    return reshape(turned, (*a.shape[ind:], *a.shape[:ind]))


@replaces(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Any:
    a = handle(a)
    matrix(a)
    n = extents.as_int(n, "the exponent of matrix_power")
    n = n.known("the exponent of matrix_power") if isinstance(n, Number) else n  # type: ignore[attr-defined]
    if n == 0:
        return broadcast_to(call(np.eye, a.shape[-1], dtype=a.dtype), a.shape).copy()
    if n < 0:
        a, n = inv(a), -n
    out = None
    while n:
        if n % 2:
            out = a if out is None else matmul(out, a)
        n //= 2
        a = matmul(a, a) if n else a
    return out  # the first power is the array itself


@replaces(np.linalg.multi_dot)
def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """From the side on which the vector stands, if there is one."""
    parts = [handle(a) for a in arrays]
    if len(parts) < 2:
        raise fail(JitadValueError, "Expecting at least two arrays.")
    ends = (0, len(parts) - 1)
    if any(a.ndim != 2 and not (k in ends and a.ndim == 1) for k, a in enumerate(parts)):
        raise fail(JitadLinAlgError, "multi_dot takes matrices, and vectors first and last")
    if parts[-1].ndim == 1:
        total = parts[-1]
        for a in reversed(parts[:-1]):
            total = call(np.dot, a, total)
    else:
        total = parts[0]
        for a in parts[1:]:
            total = call(np.dot, total, a)
    if out is not None:
        out[...] = total
        return out
    return total


# -- factors --------------------------------------------------------------------------------------


def cholesky_of(a: Any) -> Any:
    f = bind("cholesky", a)
    n = a.shape[0]
    if isinstance(n, Number) or n:
        ok = elementwise("eq", ArrayHandle(f)[:1, :1], ArrayHandle(f)[:1, :1])
        require(call(np.all, ok), JitadLinAlgError, "Matrix is not positive definite")
    return f


@replaces(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    (a,) = floats(a)
    matrix(a)
    a = swapaxes(a, -1, -2) if upper else a
    (f,) = stacked(lambda a: (cholesky_of(a),), [shape2(a)], a)
    return swapaxes(f, -1, -2) if upper else f


def is_upper(uplo: str) -> bool:
    if uplo.upper() not in ("L", "U"):
        raise fail(JitadTypeError, "UPLO argument must be 'L' or 'U'")
    return uplo.upper() == "U"


def eigen_of(
    a: ArrayHandle, by: str = "syevd", upper: bool = False, low: Any = 0, high: Any = None,
    diagonals: int = 0,
) -> list[Any]:
    """Eigenvalues and eigenvectors, by this routine of LAPACK, which reads one triangle."""
    a = swapaxes(a, -1, -2) if upper else a  # what is read is the lower one then

    def one(a: Any) -> tuple[Any, Any]:
        n = a.shape[0]
        packed = bind("eigh", a, extents.add(n, 1), low, n if high is None else high, by=by,
                      upper=upper, diagonals=diagonals)  # fmt: skip
        return bind("eigenvalues", a, packed), bind("eigenvectors", a, packed)

    return list(stacked(one, [a.shape[-1:], shape2(a)], a))


@replaces(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    (a,) = floats(a)
    matrix(a)
    return Eigh(*eigen_of(a, upper=is_upper(UPLO)))


@replaces(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return eigh(a, UPLO)[0]


def _svd(a: ArrayHandle, vectors: bool) -> list[Any]:
    m, n = shape2(a)
    k = extents.smallest(m, n)
    whole = (extents.at_least(n, m), extents.at_least(m, n))

    def one(a: Any) -> list[Any]:
        packed = bind("svd", a, extents.add(extents.add(*a.shape), 1), k)
        rows = ["left_vectors", "singular_values", "right_vectors"] if vectors else [
            "singular_values"]  # fmt: skip
        return [bind(row, a, packed, k, whole=whole) for row in rows]

    shapes: list[Shape] = [(m, k), (k,), (n, k)] if vectors else [(k,)]
    return stacked(one, shapes, a)


@replaces(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True,
        hermitian: bool = False) -> Any:  # fmt: skip
    (a,) = floats(a)
    matrix(a, False)
    if not compute_uv:
        return _svd(a, False)[0]
    if full_matrices and not extents.same(*shape2(a)) and bool(elementwise("ne", *shape2(a))):
        raise fail(JitadTypeError, "the full matrices of an SVD have no derivative: their last "
                   "columns are not determined", "Pass full_matrices=False.")  # fmt: skip
    u, s, v = _svd(a, True)
    return _Svd(u, s, swapaxes(v, -1, -2))


@replaces(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    return svd(x, compute_uv=False)


@replaces(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    (a,) = floats(a)
    matrix(a, False)
    m, n = shape2(a)
    if mode not in ("reduced", "r", "complete"):
        raise fail(JitadTypeError, f"qr with mode={mode!r} is not supported here",
                   "Use mode='reduced'.")  # fmt: skip
    wide = not extents.at_least(m, n) and bool(elementwise("lt", m, n))
    if mode == "complete" and not wide and not extents.same(m, n) and bool(
        elementwise("ne", m, n)
    ):
        raise fail(JitadTypeError, "the complete q of a QR decomposition has no derivative: its "
                   "last columns are not determined", "Use mode='reduced'.")  # fmt: skip
    k = m if wide else n

    def one(a: Any) -> tuple[Any, Any]:
        y = ArrayHandle(bind("qr", a, extents.add(a.shape[0], a.shape[1])))
        return y[: a.shape[0]].content, y[a.shape[0] :].content

    q, r = stacked(one, [(m, k), (k, k)], a[..., :, :k])
    if wide:  # the columns beyond are what q makes of them
        r = call(np.concatenate, [r, matmul(swapaxes(q, -1, -2), a[..., :, k:])], axis=-1)
    return r if mode == "r" else Qr(q, r)


# -- pseudo-inverses ------------------------------------------------------------------------------


def _eps(a: ArrayHandle) -> Any:
    sizes = extents.largest(*shape2(a))
    return elementwise("mul", sizes, float(np.finfo(a.dtype).eps))


@replaces(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Any:
    (a,) = floats(a)
    matrix(a, False)
    if rcond is None:
        rcond = 1e-15 if rtol is np._NoValue else _eps(a) if rtol is None else rtol
    m, n = shape2(a)
    return stacked(lambda a: (bind("pinv", a, rcond),), [(n, m)], a)[0]


def largest_of(s: ArrayHandle, keepdims: bool = False) -> Any:
    """The first of the singular values of a matrix, zero where it has none."""
    if extents.assume_at_least(s.shape[-1], 1):
        return s[..., :1] if keepdims else s[..., 0][()]
    return call(np.max, s, axis=-1, keepdims=keepdims, initial=s.dtype.type(0))


@replaces(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """The solution, the residuals (where the matrix is high), the rank, the singular values."""
    a, b = floats(a, b)
    if a.dtype != b.dtype:  # the singular values are of the precision of both, too
        a, b = (x.astype(np.result_type(a.dtype, b.dtype)) for x in (a, b))
    matrix(a, False)
    m, n = shape2(a)
    cutoff = _eps(a) if rcond is None else rcond
    x = matmul(wrap(bind("pinv", a.content, cutoff)), b)
    (s,) = _svd(a, False)
    rank = call(np.count_nonzero, elementwise("gt", s, elementwise("mul", largest_of(s), cutoff)))
    if extents.at_least(n, m):
        return x, call(np.zeros, 0, dtype=a.dtype), elementwise("cast", rank, dtype="i4"), s
    high = elementwise("gt", m, n)
    full = elementwise("logical_or", elementwise("eq", rank, n), elementwise("le", m, n))
    require(full, JitadError, "lstsq: the rank of the matrix is less than "
            "its number of columns", "Use np.linalg.pinv.")  # fmt: skip
    off = elementwise("sub", b, matmul(a, x))
    squares = call(np.atleast_1d, call(np.sum, elementwise("mul", off, off), axis=0))
    if high is not True:  # the residuals are there where the matrix turns out to be high
        squares = squares[: elementwise("where", high, squares.shape[0], 0)]
    return x, squares, elementwise("cast", rank, dtype="i4"), s


@replaces(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    (a,) = floats(A)
    if a.ndim < 2:
        return call(np.any, elementwise("ne", a, 0)).astype(int)
    s = svdvals(a)
    if tol is None:
        tol = elementwise("mul", largest_of(s, True), _eps(a) if rtol is None else rtol)
    else:
        tol = handle(tol)[..., None]
    return call(np.count_nonzero, elementwise("gt", s, tol), axis=-1)


@replaces(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    (x,) = floats(x)
    matrix(x, False)
    for n in x.shape[-2:]:
        if not extents.assume_at_least(n, 1):
            require(bind("ge", n, 1), JitadLinAlgError, "cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = svdvals(x)
        ends = (s[..., 0], s[..., -1])
        return elementwise("div", *(ends if p != -2 else ends[::-1]))
    size = [call(np.linalg.norm, y, p, axis=(-2, -1)) for y in (x, inv(x))]
    return elementwise("mul", *size)
