"""Uses of NumPy's functions that rearrange, join and index arrays."""

from __future__ import annotations

import numpy as np

from tests.breadth.case import add, draws

r, n = draws(5)

V, M, T = r(5), r(3, 4), r(2, 3, 4)
I = np.array([2, 0, 2, -1])

add("numpy.rot90", lambda a: (np.rot90(a), np.rot90(a, 2), np.rot90(a, -1)), M, native=True)
add("numpy.rot90", lambda a: np.rot90(a, 1, (0, 2)), T)
add("numpy.rollaxis", lambda a: (np.rollaxis(a, 2), np.rollaxis(a, 0, 3)), T)
add("numpy.atleast_3d", lambda a: (np.atleast_3d(a), np.atleast_3d(a[0])), M)
add("numpy.split", lambda a: np.split(a, 2, axis=1), M, native=True)
add("numpy.split", lambda a: np.split(a, [1, 3]), V)
add("numpy.array_split", lambda a: np.array_split(a, 3), V)
add("numpy.hsplit", lambda a: np.hsplit(a, 2), M)
add("numpy.vsplit", lambda a: np.vsplit(a, [1]), M)
add("numpy.dsplit", lambda a: np.dsplit(a, 2), T)
add("numpy.unstack", lambda a: np.unstack(a, axis=1), M)
add("numpy.dstack", lambda a: np.dstack([a, 2 * a]), M)
add("numpy.dstack", lambda a: np.dstack([a, a[::-1]]), V)
add("numpy.block", lambda a: np.block([[a, np.ones((3, 1))], [a[:1], np.zeros((1, 1))]]), M)
add("numpy.block", lambda a: np.block([a, 2 * a]), V)
add("numpy.broadcast_arrays", lambda a, b: np.broadcast_arrays(a, b), M, r(4))
add("numpy.insert", lambda a: (np.insert(a, 1, 7.0), np.insert(a, -1, a[:2])), V)
add("numpy.insert", lambda a: np.insert(a, 2, a[0], axis=0), M)
add("numpy.delete", lambda a: (np.delete(a, 1), np.delete(a, [0, 2]), np.delete(a, -1)), V)
add("numpy.delete", lambda a: np.delete(a, 1, axis=1), M)
add("numpy.resize", lambda a: np.resize(a, (3, 3)), V)
add("numpy.diagflat", lambda a: np.diagflat(a, 1), V[:3])
add("numpy.diagonal", lambda a: (np.diagonal(a), np.diagonal(a, 1, 0, 2)), T)
add("numpy.diagonal", lambda a: a.diagonal(-1), M)
add("numpy.trace", lambda a: (np.trace(a), np.trace(a, 1, 2, 0)), T)
add("numpy.repeat", lambda a: np.repeat(a, [1, 0, 2, 1, 3]), V)
add("numpy.repeat", lambda a: np.repeat(a, np.array([2, 0, 1]), axis=0), M)
add("numpy.roll", lambda a: np.roll(a, (1, -1), axis=(0, 1)), M)


def fill_diagonal(a):
    b = a.copy()
    np.fill_diagonal(b, a[0, 0] ** 2)
    return b


add("numpy.fill_diagonal", fill_diagonal, M)
add("numpy.take_along_axis",
    lambda a: np.take_along_axis(a, np.array([[0, 1], [-1, 2], [3, 3]]), axis=1), M, native=True)
add("numpy.take_along_axis", lambda a: np.take_along_axis(a, I, axis=0), V)
add("numpy.take_along_axis", lambda a: np.take_along_axis(a, np.array([[[1]], [[0]]]), axis=2), T)


def put_along_axis(a):
    b = a.copy()
    np.put_along_axis(b, np.array([[0, 1], [-1, 2], [3, 0]]), a[:, :2] ** 2, axis=1)
    return b


add("numpy.put_along_axis", put_along_axis, M)


def put(a):
    b = a.copy()
    np.put(b, [0, 5, -1], a[0] ** 2)
    return b


add("numpy.put", put, M, native=True)


def putmask(a):
    b = a.copy()
    np.putmask(b, a > 1.0, -(a**2))
    return b


add("numpy.putmask", putmask, M)


def copyto(a):
    b = np.zeros_like(a)
    np.copyto(b, a[0])
    np.copyto(b, a**2, where=a > 1.0)
    return b


add("numpy.copyto", copyto, M)
add("numpy.select", lambda a: np.select([a > 1.2, a > 0.7], [a, a**2], 0.5), M, native=True)
add("numpy.choose", lambda a: np.choose(np.array([0, 2, 1, 0, 2]), [a, a**2, 3.0 * a]), V)
add("numpy.compress", lambda a: np.compress([True, False, True], a, axis=0), M)
add("numpy.compress", lambda a: np.compress(a > 1.0, a), V)
add("numpy.extract", lambda a: np.extract(a > 1.0, a), M)
add("numpy.take", lambda a: (np.take(a, I), a.take([0, 1], axis=1), np.take(a, 1, 0)), M)
add("numpy.nonzero", lambda a: a[np.nonzero(a > 1.0)], M, native=True)
add("numpy.flatnonzero", lambda a: np.flatnonzero(a > 1.0) * 1.0, M, zero=True)
add("numpy.argwhere", lambda a: np.argwhere(a > 1.0) * 1.0, M, zero=True)
add("numpy.where", lambda a: a[np.where(a > 1.0)], V)
add("numpy.where", lambda a: np.where(a > 1.0, a, a[:1] ** 2), M)

for mode in ("edge", "reflect", "symmetric", "wrap"):
    add("numpy.pad", lambda a, mode=mode: np.pad(a, 2, mode), V)
add("numpy.pad", lambda a: (np.pad(a, 1), np.pad(a, ((1, 0), (0, 2)))), M, native=True)
add("numpy.pad", lambda a: np.pad(a, (2, 1), constant_values=(1.5, -1.0)), V)
add("numpy.pad", lambda a: np.pad(a, [(0, 1), (2, 2)], mode="edge"), M)
add("numpy.ix_", lambda a: a[np.ix_([0, 2], [1, 3])], M)
add("numpy.indices", lambda a: np.indices((3, 4))[1] * a, M)
add("numpy.fromfunction",
    lambda a: np.fromfunction(lambda i, j: a[i, j] * (i - j), (3, 4), dtype=int), M)
add("numpy.tri", lambda a: np.tri(3, 4) * a + np.tri(3, 4, 1), M)
add("numpy.vander", lambda a: (np.vander(a), np.vander(a, 3, increasing=True)), V)
add("numpy.kron", lambda a, b: np.kron(a, b), M, r(2, 3), native=True)
add("numpy.kron", lambda a, b: np.kron(a, b), V, r(2, 3))
add("numpy.linalg.diagonal", lambda a: np.linalg.diagonal(a), T)

# -- sums of products ------------------------------------------------------------------------------

A, B, C = n(3, 4), n(4, 5), n(5, 3)
S, R = n(2, 3, 4), n(2, 4, 5)
for text, args in {
    "ij,jk->ik": (A, B), "ij,jk": (A, B), "ij,jk,kl->il": (A, B, C), "ij,jk,ki->": (A, B, C),
    "ij->ji": (A,), "ij->i": (A,), "ij->": (A,), "i,j->ij": (V, A[0]), "i,i->": (V, V),
    "bij,bjk->bik": (S, R), "bij,bij->b": (S, S), "bij->bj": (S,), "...ij,...jk->...ik": (S, R),
    "...i,...i->...": (S, S), "i...->...": (S,), "ij,kj->ki": (A, A), "ij,ij->ij": (A, A),
    "bij,jk->bik": (S, B), "ij,j->i": (A, B[:, 0]), "i,ij,j->": (A[:, 0], A, A[0]),
    "a,b,c->cab": (V, A[0], B[0]),
}.items():  # fmt: skip
    add("numpy.einsum", lambda *args, text=text: np.einsum(text, *args), *args,
        native=text in ("ij,jk->ik", "bij,bjk->bik", "i,ij,j->"))  # fmt: skip
Q = n(3, 3)
add("numpy.einsum", lambda a: (np.einsum("ii", a), np.einsum("ii->i", a)), Q, native=True)
add("numpy.einsum", lambda a: np.einsum("iij->ij", a), n(2, 2, 3))
add("numpy.einsum", lambda a: np.einsum("iij,j->i", a, a[0, 0]), n(2, 2, 3))
add("numpy.einsum", lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [0, 2]), A, B)
add("numpy.einsum", lambda a, b: np.einsum("ij,jk->ik", a, b[:, :1]), A, B)
add("numpy.einsum", lambda a: np.einsum("ij,kj->ik", a[:, :1], np.ones((2, 4))), A)
add("numpy.vecdot", lambda a: np.vecdot(a, a**2), M)
add("numpy.matvec", lambda a, b: np.matvec(a, b), S, n(2, 4))
add("numpy.vecmat", lambda a, b: np.vecmat(b, a), S, n(2, 3))
add("numpy.linalg.trace", lambda a: np.linalg.trace(a), T)
add("numpy.linalg.cross", lambda a: np.linalg.cross(a, a**2 + 1.0), n(4, 3))
add("numpy.linalg.outer", lambda a: np.linalg.outer(a, a), V)
add("numpy.linalg.matmul", lambda a, b: np.linalg.matmul(a, b), A, B)
add("numpy.linalg.tensordot", lambda a, b: np.linalg.tensordot(a, b, axes=1), A, B)
add("numpy.linalg.matrix_transpose", lambda a: np.linalg.matrix_transpose(a), A)
add("numpy.linalg.vecdot", lambda a: np.linalg.vecdot(a, a**2), M)

# -- index arrays beside slices, in other orders, at many places -----------------------------------

T3 = n(3, 4, 5)
ROWS, COLUMNS = np.array([0, 2, 2]), np.array([1, -1, 3])


def written_apart(a, v):
    a[ROWS, :, COLUMNS] = v[:3, None] * np.ones(4)
    a[:, ROWS, None, COLUMNS] += v[:3, None]
    np.multiply.at(a, (slice(None), [0, 0, 1]), v[0])
    np.add.at(a, (ROWS, slice(None), COLUMNS), 2.0)
    np.true_divide.at(a, (0, COLUMNS), v[1] + 3.0)
    return a


add("numpy.take", lambda a: (a[ROWS, :, COLUMNS], a[:, ROWS, None, COLUMNS], a[0, :, COLUMNS],
                             a[[0, 1], None, [0, 1]], a[a[:, 0, 0] > -9.0, 1:, [1]]), T3)
add("numpy.put", written_apart, T3, n(4))
add("numpy.reshape", lambda a: (a.reshape(2, 30, order="F"), a.reshape(-1, 6, order="F"),
                                a.ravel("F"), np.ravel(a[:, ::2], order="F")), T3)
add("numpy.astype", lambda a: np.astype(a, np.float64) * 2.0, T3, narrow=False)
add("numpy.array_equiv", lambda a: a * np.array_equiv(a, a[0]) + 1.0, T3, zero=True)
add("numpy.lexsort", lambda a: a[0][np.lexsort((a[1], np.round(a[0])))], n(2, 6))

# -- single bools, modes of index arrays, places given by several integers ------------------------

add("array.index", lambda a: (a[True], a[:, np.True_, 1:], a[None, False], a[True, [0, 2]],
                              a[a[0, 0] > -9.0]), M)


def written_by_bools(a):
    b = a * 1.0
    b[True] += a[0]
    b[False] = 5.0
    b[a[0, 0] > 9.0] = 7.0
    return b


add("array.index", written_by_bools, M, native=True)
for mode in ("wrap", "clip"):
    add("numpy.take", lambda a, m=mode: (np.take(a, [7, -9, 1], mode=m), a.take(I, 1, mode=m)), M)
    add("numpy.choose", lambda a, m=mode: np.choose(np.array([0, 5, 1, -1, 2]), [a, a**2], mode=m),
        V)
add("numpy.choose", lambda a: np.array([1, 0, 0, 1, 1]).choose(a, a * a), V)
add("numpy.compress", lambda a: (a.compress([True, False, True]), a.compress([True, True], 0)), M)


def put_in_modes(a):
    b, c = a.copy(), a.T.copy().T
    np.put(b, [20, -3], [1.0, a[0, 0] ** 2], mode="clip")
    np.put(c, [20, -3], [1.0, a[0, 0] ** 2], mode="wrap")
    np.put(c.T, [1, 2], a[1, 1] ** 2)
    return b, c


def placed(a):
    b, c = a.copy(), a.copy()
    np.place(b, a > 1.0, a[0, :3] ** 2)
    np.place(c[:, ::2], a[:, ::2] > 1.0, [1.0, 2.0])
    return b, c


def through_flat(a):
    b, c = a.copy(), a.copy()
    b.flat[3] = a[0, 0] ** 2
    b.T.flat[1::4] *= 3.0
    c.flat = a[0] * a[1]
    return b, c, a.T.flat[2], a.flat[::5]


add("numpy.put", put_in_modes, M)
add("numpy.place", placed, M, native=True)
add("array.flat", through_flat, M, native=True)
add("numpy.unravel_index", lambda a: a[np.unravel_index(np.argmax(a), a.shape)], M)
add("numpy.ravel_multi_index",
    lambda a: a.ravel()[np.ravel_multi_index((I[:3], np.array([0, 3, 1])), (3, 4))], M)
add("numpy.diag_indices", lambda a: a[np.diag_indices(len(a))], M)
add("numpy.diag_indices_from", lambda a: (a.T @ a)[np.diag_indices_from(a.T @ a)], M)
add("numpy.tril_indices_from", lambda a: a[np.tril_indices_from(a, -1)], M)
add("numpy.triu_indices_from", lambda a: a[np.triu_indices_from(a, 1)], M)
add("array.enumerated", lambda a: sum(x * x * i[1] for i, x in np.ndenumerate(a)), M)
add("numpy.fromiter", lambda a: np.fromiter((x * x for x in a), float), V, narrow=False)
add("numpy.require", lambda a: np.require(a * 2.0, requirements="C"), V)
add("numpy.asarray_chkfinite", lambda a: np.asarray_chkfinite(a) ** 2, V)
add("numpy.result_type", lambda a: a * np.result_type(a, np.float32, 1.0).itemsize, V, narrow=False)

# -- several things at once, other borders --------------------------------------------------------

add("numpy.insert", lambda a: (np.insert(a, [1, 3], a[:2] ** 2), np.insert(a, slice(1, 3), 7.0)), V)
add("numpy.insert", lambda a: np.insert(a, [1, 1, -1], a[:, :3], axis=1), M)
add("numpy.atleast_2d", lambda a: np.atleast_2d(a, a[0]), V)
add("numpy.atleast_1d", lambda a: np.atleast_1d(a[0], a), V)
add("numpy.meshgrid", lambda a, b: (np.meshgrid(a, b, sparse=True), np.meshgrid(a, b, b[:2])),
    V, V[:3])
add("numpy.full_like", lambda a: np.full_like(a, a[0], shape=(2, 2)), V)
add("numpy.linspace", lambda a: (np.linspace(a[0], a[1], 3), np.linspace(0.0, a[2], 4, axis=-1),
                                 np.linspace(a[0], a[1], 3, False, True)), M)
add("numpy.logspace", lambda a: np.logspace(0.0, a[0], 3, axis=1), M)
add("numpy.geomspace", lambda a: np.geomspace(a[0], a[1], 3, axis=-1), M)
for mode in ("linear_ramp", "maximum", "mean", "median", "minimum"):
    add("numpy.pad", lambda a, m=mode: np.pad(a, ((1, 2), (2, 1)), m),
        M + np.arange(12.0).reshape(3, 4)[:, ::-1], narrow=mode != "mean")
for mode in ("reflect", "symmetric"):
    add("numpy.pad", lambda a, m=mode: np.pad(a, 2, m, reflect_type="odd"), M)
add("numpy.pad", lambda a: np.pad(a, 2, "linear_ramp", end_values=((1.0, a[0, 0]), (3.0, 0.5))), M,
    narrow=False)
add("numpy.pad", lambda a: np.pad(a, {-1: (0, 2)}, "mean", stat_length=2), M, narrow=False)


def wide_diagonals(a):
    b, c, d = np.vstack([a, a]) * 1.0, np.vstack([a, a]) * 1.0, np.ones((3, 3, 3)) * a[0, 0]
    np.fill_diagonal(b, a[0, 0] ** 2, wrap=True)
    np.fill_diagonal(c, a[:, 1])
    np.fill_diagonal(d, a[1, 1])
    return b, c, d


add("numpy.fill_diagonal", wide_diagonals, M)
add("array.joined", lambda a, b: (np.r_[a, 1.0, b[0], 0.5:2.5], np.c_[a, a**2], np.r_["0,2", a, a],
                                  np.r_["1", b, b], np.r_["0,2,0", a, a]), V, M, native=True)
add("array.grids", lambda a: (np.mgrid[0 : a[0, 0] : 3j, 0:4], np.ogrid[0:2, 0 : a[1, 1] : 3j][1],
                              np.r_[a[0, 0] : 2.0 : 5j]), M, narrow=False)
add("array.windows", lambda a: np.lib.stride_tricks.sliding_window_view(a, (2, 3)), M, native=True)


def written_below_windows(a):
    """A view of windows shows what is written to the array later."""
    b = a * 1.0
    w = np.lib.stride_tricks.sliding_window_view(b, 3, axis=1)
    b[0, 1] = a[1, 1] ** 2
    return w, w[0, 1, 0] * np.sum(w, axis=-1)


add("array.windows", written_below_windows, M)
add("array.transposed", lambda a: a.mT @ a.mT.mT + a.conj().view()[:, :4].conjugate(), n(2, 4, 4))
add("array.index", lambda a: (a[0, 0][None], a[0, 0][..., None] * a[1, 1][()], a[1, 0][True]), M)
