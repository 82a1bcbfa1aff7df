"""Do sparse matrices and masked arrays share numbers with what they are made of where SciPy's do?

Changes in place, of an array that one was made of and of one that others were made of.
"""

import numpy as np
import numpy.ma as ma
import pytest
import scipy.sparse as ss

from jitad import JitadError, jit_value_and_grad, value_and_grad

X = np.array([1.0, 2.0, 0.5, 0.7])
I, P, SHAPE = np.arange(4), np.arange(5), (4, 4)
HIDDEN = [0, 1, 0, 0]
SEEN, GIVEN = ma.array([1.0, 2.0, 3.0, 4.0], mask=HIDDEN), ss.csr_matrix(np.diag(P[1:] * 1.0))


def _rows(y):
    return ss.csr_matrix((y, I, P), shape=SHAPE)


MADE = {
    "csr of triples": lambda y: ss.csr_matrix((y, (I, I)), shape=SHAPE),
    "csc of triples": lambda y: ss.csc_array((y, (I, I)), shape=SHAPE),
    "coo": lambda y: ss.coo_matrix((y, (I, I)), shape=SHAPE),
    "a copy": lambda y: ss.coo_matrix((y, (I, I)), shape=SHAPE, copy=True),
    "csr of coo": lambda y: ss.coo_matrix((y, (I, I)), shape=SHAPE).tocsr(),
    "csr": _rows,
    "coo of csr": lambda y: _rows(y).tocoo(),
    "coo of csc": lambda y: _rows(y).T.tocoo(),
    "turned csr": lambda y: _rows(y).T.tocsr(),
    "masked": lambda y: np.diag(y) @ ma.array(np.eye(4)).filled(),
    "diagonals": lambda y: ss.diags([y], [0]),
}
DERIVED = {
    "the same": lambda a: a, "turned": lambda a: a.T, "copy": lambda a: a.copy(),
    "tocsr": lambda a: a.tocsr(), "tocoo": lambda a: a.tocoo(), "tocsc": lambda a: a.tocsc(),
    "csr of it": ss.csr_matrix, "csc of it": ss.csc_matrix, "coo of it": ss.coo_matrix,
    "as floats": lambda a: a.astype(float), "not copied": lambda a: a.astype(float, copy=False),
    "turned copy": lambda a: a.transpose(copy=True), "slice": lambda a: a[:, :],
}  # fmt: skip


def made(x):
    """What changes in an array after matrices were made of it."""
    total = 0.0
    for build in MADE.values():
        y = x * 1.0
        a = build(y)
        y[0] = 5.0 * x[1]
        total = total * 1.1 + (a @ x).sum()
    return total


def derived(x):
    """What changes in a matrix after others were made of it."""
    total = 0.0
    for build in DERIVED.values():
        a = _rows(x * 1.0)
        b = build(a)
        if x[0] > 0.5:
            a *= x[1]
        else:
            a /= x[2]
        total = total * 1.1 + (b @ x).sum() + 3.0 * (a @ x).sum()
    return total


WRITTEN = {
    "the same": lambda a: a, "turned": lambda a: a.T, "copy": lambda a: a.copy(),
    "tolil": lambda a: a.tolil(), "a copy of it": lambda a: a.tolil(copy=True),
    "todok": lambda a: a.todok(), "tocsr": lambda a: a.tocsr(), "array": lambda a: a.toarray(),
    "lil of it": ss.lil_matrix, "lil copy of it": lambda a: ss.lil_matrix(a, copy=True),
    "dok of it": ss.dok_matrix, "csr of it": ss.csr_matrix, "slice": lambda a: a[:, :],
    "as floats": lambda a: a.astype(float), "not copied": lambda a: a.astype(float, copy=False),
}  # fmt: skip


def written(x):
    """What is written into a matrix after others were made of it, of an array and of a matrix."""
    total = 0.0
    for make in (ss.lil_matrix, ss.dok_matrix):
        for build in WRITTEN.values():
            y = np.outer(x, x)
            a = make(y)
            b = build(a)
            a[0, 1] = 2.0 * x[1]
            a[1] = x * x
            y[2, 2] = 5.0
            if x[0] <= 0.5 and build is not ss.lil_matrix:
                a *= x[1]
            elif build is not ss.lil_matrix:
                a /= 2.0
            total = total * 1.1 + (b @ x).sum() + 3.0 * (a @ x).sum()
    return total


def rebound(x):
    """Sums are new matrices, also where they are written as changes."""
    a = _rows(x * 1.0)
    b = a
    a -= 0.5 * a.T
    a += ss.eye(4, format="csr")
    return (b @ x).sum() + 2.0 * (a @ x).sum()


def masked(x):
    y = x * 1.0
    m, hidden = ma.array(y, mask=HIDDEN), np.zeros(4, bool)
    u, v, w = m, m[2:], ma.array(x * 1.0, mask=hidden)
    if x[0] > 0.5:
        m += x
        m[3] = ma.masked
    else:
        m[0] = x[2]
    m /= ma.array(x, mask=[0, 0, 1, 0])
    y[0] *= x[3]
    hidden[1] = True
    low, bare = ma.masked_less(y, 0.1, copy=False), ma.array(x * 1.0)
    bare[x > 1.5] = ma.masked
    y[1] = 7.0 * x[2]
    for k in range(3):
        w *= x[k]
        w[k % 2] = x[k] ** 2
    shown = [(u * u).sum(), u.count(), v.filled(0.0).sum(), w.sum(), low.sum(), bare.sum()]
    return sum((k + 1.0) * s for k, s in enumerate(shown))


@pytest.mark.parametrize("f", [made, derived, written, rebound, masked])
@pytest.mark.parametrize("x", [X, X[::-1] * 0.4], ids=["one", "other"])
def test_changes_are_seen_where_numpy_shows_them(f, x):
    h = 1e-6
    want = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(4)]
    for derive in (value_and_grad, jit_value_and_grad):
        value, gradient = derive(f)(x)
        np.testing.assert_allclose(value, f(x), rtol=1e-12)
        np.testing.assert_allclose(gradient, want, rtol=1e-6, atol=1e-7)


def _changed(x):
    m = SEEN
    m[0] = x[0]
    return m.sum()


def _shared(x):
    m = np.ma.array(SEEN, mask=[0, 0, 1, 0])
    m += x
    return m.sum()


def _scaled(x):
    a = GIVEN.T
    a *= x[0]
    return (a @ x).sum()


def _parted(x):
    a = ss.lil_matrix(np.outer(x, x))
    b = ss.lil_matrix(a)
    a *= x[0]
    return (b @ x).sum()


def _parted_by_a_write(x):
    a = ss.lil_matrix(np.outer(x, x))
    b = ss.lil_matrix(a)
    a[:, :] = ss.eye(4)
    return (b @ x).sum()


def _hidden_late(x):
    m = ma.array(x * 1.0)
    v = m[1:]
    m[x < 0.6] = ma.masked
    return v.sum()


def _strided(x):
    a = np.arange(4.0)
    w = np.lib.stride_tricks.as_strided(a, (3, 2), (8, 8))
    a[1] = 5.0
    return w.sum() * x.sum()


def _by_nditer(x):
    a = np.arange(4.0)
    for v in np.nditer(a, op_flags=["readwrite"]):
        v[...] = 2.0
    return a @ x


@pytest.mark.parametrize("f, what", [
    (_strided, "as_strided goes by"), (_by_nditer, "nditer goes by"),
    (_changed, "masked array from outside"), (_shared, "masked array from outside"),
    (_scaled, "sparse matrix from outside"),
    (_parted, "can't be changed in place"), (_parted_by_a_write, "can't be changed in place"),
    (_hidden_late, "once there are views"),
])  # fmt: skip
def test_refusals(f, what):
    for derive in (value_and_grad, jit_value_and_grad):
        with pytest.raises(JitadError, match=what):
            derive(f)(X)
