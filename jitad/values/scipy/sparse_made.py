"""What are sparse matrices made of: one from outside, traced numbers, other sparse matrices?"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.sparse as ss

from jitad.errors import JitadTypeError
from jitad.values import extents
from jitad.values.active import any_traced
from jitad.values.broadcast import require_same
from jitad.values.kind import fail
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, call_plain, of_complex, replaces
from jitad.values.scipy.sparse_filled import filled
from jitad.values.scipy.sparse_matrices import SparseMatrix, is_sparse, numbers, spread
from jitad.values.stand_ins import Read, StandIn, adopt, stands_for

# -- from outside ---------------------------------------------------------------------------------

_FORMS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


@stands_for(*(getattr(ss, f"{f}_{kind}") for f in _FORMS for kind in ("matrix", "array")))
def made(value: Any, read: Read) -> StandIn:
    kind = "matrix" if isinstance(value, ss.spmatrix) else "array"
    if value.ndim != 2:
        return StandIn()  # which is refused where it is used
    shape, form = read("shape"), value.format
    if form in ("csr", "csc"):
        inner, data = read("indices"), read("data")
        outer = spread(read("indptr"), data.shape[0])
        rows, cols = (outer, inner) if form == "csr" else (inner, outer)
    elif form == "coo":
        rows, cols, data = read("row"), read("col"), read("data")
    else:
        rows, cols, data = (read(name, "tocoo") for name in ("row", "col", "data"))
    out = SparseMatrix(rows, cols, data, shape, kind, form)
    out._outside = True
    if form in ("bsr", "dia"):  # which have zeros, too
        out._counted = None
    if form in ("csr", "csc"):
        out._given = {"data": data, "indices": inner, "indptr": read("indptr")}
    elif form == "coo":
        out._given = {"data": data, "row": rows, "col": cols}
    return out


# -- made in the function -------------------------------------------------------------------------


def _enter(form: str, kind: str) -> None:
    original = getattr(ss, f"{form}_{kind}")

    @of_complex(original)
    @replaces(original, plain=False)
    def replacement(arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> Any:
        given = arg1
        if isinstance(given, SparseMatrix) and given._whole is not None:
            return filled(given, kind, form, dtype)
        if isinstance(given, SparseMatrix):
            same = given._as(form, copy)
            out = SparseMatrix(same._rows, same._cols, same._data, same.shape, kind, form)
            out._counted, out._distinct = same._counted, same._distinct
            out._outside = same._outside
            return out if dtype is None else out.astype(dtype, copy=False)
        inside = [p for x in given for p in (x if isinstance(x, tuple) else (x,))] if isinstance(
            given, tuple) else [given]  # fmt: skip
        if not any_traced(inside):
            return adopt(call_plain(original, (given,), {"shape": shape, "dtype": dtype}))
        if not isinstance(given, tuple) or len(given) not in (2, 3):
            return filled(given, kind, form, dtype)
        counted = "entries"
        if len(given) == 3:
            if form == "coo":
                raise fail(JitadTypeError, "unrecognized form of coo_matrix")
            data, inner, indptr = numbers(given[0]), *map(handle, given[1:])
            outer = spread(indptr, data.shape[0])
            if shape is None and form == "csr":
                shape = (extents.sub(indptr.shape[0], 1), _extent(inner))
            rows, cols = (outer, inner) if form == "csr" else (inner, outer)
        else:
            data, (rows, cols) = numbers(given[0]), map(handle, given[1])
            counted = "entries" if form == "coo" else "places"
        if shape is None:
            shape = tuple(_extent(places) for places in (rows, cols))
        found = SparseMatrix(rows, cols, data, shape, kind, form)
        found._counted = counted
        if copy or (len(given) == 2 and form != "coo"):
            found = found.copy()
        return found if dtype is None else found.astype(dtype, copy=False)


def _extent(places: Any) -> int:
    if not places.concrete:
        raise fail(JitadTypeError, "the shape of this sparse matrix is not known", "Give shape=.")
    return int(np.max(places.peek(), initial=-1)) + 1


for _form in ("csr", "csc", "coo"):
    for _kind in ("matrix", "array"):
        _enter(_form, _kind)


@replaces(ss.issparse, plain=False)
def issparse(x: Any) -> bool:
    return is_sparse(x)


def _diagonals(original: Any, kind: str) -> None:
    @of_complex(original)
    @replaces(original)
    def replacement(diagonals: Any, offsets: Any = 0, *, shape: Any = None, format: Any = None,
                    dtype: Any = None) -> Any:  # fmt: skip
        lone = not isinstance(offsets, (list, tuple, np.ndarray))
        parts = [numbers(diagonals)] if lone and not isinstance(diagonals, (list, tuple)) else [
            *map(numbers, diagonals)]  # fmt: skip
        places = [offsets] if lone else list(offsets)
        if len(parts) == 1 and len(parts[0].shape) == 2:
            parts = [parts[0][k] for k in range(len(places))]
        if shape is None:
            n = extents.add(parts[0].shape[0], abs(int(places[0])))
            shape = (n, n)
        rows, cols, data = [], [], []
        for d, offset in zip(parts, places, strict=True):
            k = int(offset)
            above, before = max(-k, 0), max(k, 0)
            count = extents.smallest(extents.sub(shape[0], above), extents.sub(shape[1], before))
            at = call(np.arange, count)
            d = call(np.broadcast_to, d, (count,))
            rows.append(call(np.add, at, above))
            cols.append(call(np.add, at, before))
            data.append(d)
        at, across, entries = (call(np.concatenate, x) for x in (rows, cols, data))
        found = SparseMatrix(at, across, entries, shape, kind, format or "dia")
        found._distinct = len(set(map(int, places))) == len(places)
        found._counted = "entries" if found.format == "dia" else "not zero"
        return found if dtype is None else found.astype(dtype)


_diagonals(ss.diags, "matrix")
_diagonals(ss.diags_array, "array")


def _both(*matrices: Any) -> tuple[Any, bool]:
    """What is known of the entries of a matrix that has one for each of these, or of two."""
    counted = {m._counted for m in matrices}
    return (counted.pop() if len(counted) == 1 else None), all(m._distinct for m in matrices)


@replaces(ss.kron, plain=False)
def kron(A: Any, B: Any, format: Any = None) -> Any:
    """Every entry of the one times every entry of the other."""
    A, B = _block(A), _block(B)
    rows, cols = (
        call(np.ravel, a[:, None] * n + b[None, :])
        for a, n, b in ((A._rows, B.shape[0], B._rows), (A._cols, B.shape[1], B._cols))
    )
    data = call(np.ravel, call(np.multiply, A._data[:, None], B._data[None, :]))
    shape = tuple(extents.mul(n, m) for n, m in zip(A.shape, B.shape, strict=True))
    kind = "array" if "array" in (A._kind, B._kind) else "matrix"
    out = SparseMatrix(rows, cols, data, shape, kind, format or "bsr")
    out._counted, out._distinct = _both(A, B)
    if out.format == "bsr":  # of blocks that may have zeros
        out._counted = None
    return out


# -- of others ------------------------------------------------------------------------------------


def _joined(blocks: Any, format: Any, dtype: Any, kind: str | None = None) -> Any:
    """One of rows of blocks, of which some are None."""
    rows = [[None if b is None else _block(b) for b in row] for row in blocks]
    known = [[b for b in row if b is not None] for row in (*rows, *zip(*rows, strict=True))]
    if not all(known):
        raise ValueError("a row or column of blocks has none")
    heights = [row[0].shape[0] for row in known[: len(rows)]]
    widths = [column[0].shape[1] for column in known[len(rows) :]]
    all_of_it = [b for row in known[: len(rows)] for b in row]
    parts = []
    for row, above, n in zip(rows, _before(heights), heights, strict=True):
        for b, left, m in zip(row, _before(widths), widths, strict=True):
            if b is not None:
                for k, of in enumerate((n, m)):
                    require_same(b.shape[k], of, lambda: "blocks have incompatible dimensions")
                parts.append((call(np.add, b._rows, above), call(np.add, b._cols, left), b._data))
    at, across, entries = (call(np.concatenate, x) for x in zip(*parts, strict=True))
    if kind is None:
        kind = "array" if any(b._kind == "array" for b in all_of_it) else "matrix"
    shape = (_sum(heights), _sum(widths))
    out = SparseMatrix(at, across, entries, shape, kind, format or "coo")
    out._counted, out._distinct = _both(*all_of_it)
    return out if dtype is None else out.astype(dtype)


def _block(block: Any) -> Any:
    block = adopt(block)
    return block if isinstance(block, SparseMatrix) else filled(block, "matrix", "coo")


def _sum(numbers: Any) -> Any:
    return functools.reduce(extents.add, numbers, 0)


def _before(lengths: Any) -> list[Any]:
    return [_sum(lengths[:k]) for k in range(len(lengths))]


@of_complex(ss.vstack)
@replaces(ss.vstack, plain=False)
def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return _joined([[b] for b in blocks], format, dtype)


@of_complex(ss.hstack)
@replaces(ss.hstack, plain=False)
def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return _joined([list(blocks)], format, dtype)


@of_complex(ss.bmat)
@replaces(ss.bmat, plain=False)
def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return _joined(blocks, format, dtype)


@of_complex(ss.block_array)
@replaces(ss.block_array, plain=False)
def block_array(blocks: Any, *, format: Any = None, dtype: Any = None) -> Any:
    return _joined(blocks, format, dtype, "array")


@of_complex(ss.block_diag)
@replaces(ss.block_diag, plain=False)
def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> Any:
    n = len(mats)
    return _joined([[b if j == k else None for j in range(n)] for k, b in enumerate(mats)],
                   format, dtype)  # fmt: skip


def _triangle(original: Any, keeps: Any) -> None:
    @of_complex(original)
    @replaces(original, plain=False)
    def replacement(A: Any, k: Any = 0, format: Any = None) -> Any:
        A = _block(A)
        (which,) = call(np.nonzero, keeps(call(np.subtract, A._cols, A._rows), k))
        out = A._like(A._data[which], A._rows[which], A._cols[which])
        out.format = format or "coo"
        return out


_triangle(ss.tril, lambda over, k: over <= k)
_triangle(ss.triu, lambda over, k: over >= k)


@of_complex(ss.kronsum)
@replaces(ss.kronsum, plain=False)
def kronsum(A: Any, B: Any, format: Any = None) -> Any:
    A, B = _block(A), _block(B)
    ones = [ss.identity(x.shape[0]) for x in (A, B)]
    return kron(ones[1], A, format) + kron(B, ones[0], format)
