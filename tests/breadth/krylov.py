"""Uses of the iterations of scipy.sparse.linalg, which give solutions and some eigenpairs."""

from __future__ import annotations

import numpy as np
import scipy.sparse as ss
import scipy.sparse.linalg as ssl

from tests.breadth.case import add, draws

r, n = draws(331)
HOW = {"narrow": None, "order": 1}
V, FIRM = r(5), ss.diags([3.0 + np.arange(5.0), [0.5, -0.3, 0.8, 0.2]], [0, 1], format="csr")
OUTSIDE = ssl.LinearOperator((5, 5), lambda x: FIRM @ x, dtype=float)


def banded(x):
    return ss.diags([4.0 + x, 0.5 * x[1:], 0.5 * x[1:]], [0, 1, -1], format="csc")


def times(x):
    def multiplied(v):
        out = (4.0 + x) * v
        out[1:] = out[1:] + 0.5 * x[1:] * v[:-1]
        out[:-1] = out[:-1] + 0.5 * x[1:] * v[1:]
        return out

    return ssl.LinearOperator((5, 5), matvec=multiplied, dtype=float)


add("sparse.cg", lambda x: (
    ssl.cg(banded(x), V, rtol=1e-14, maxiter=50)[0], ssl.gmres(FIRM, x, rtol=1e-14)[0],
    ssl.bicgstab(banded(x).toarray(), x, rtol=1e-14)[0]), V, **HOW)  # fmt: skip
add("sparse.LinearOperator", lambda x: (
    ssl.cg(times(x), V, rtol=1e-14)[0], times(x).matvec(x),
    ssl.aslinearoperator(FIRM) @ np.outer(x, V),
    ssl.gmres(OUTSIDE, x, rtol=1e-14)[0], ssl.aslinearoperator(FIRM).rmatvec(x)), V,
    **HOW)  # fmt: skip
DENSE, ROWS = FIRM.toarray(), r(3, 5) + 1j * r(3, 5)


def complex_rows(x):
    """Not symmetric, not real and not square: what is turned and what is conjugated differs."""
    return ssl.LinearOperator((3, 5), matvec=lambda v: ROWS @ (x * v), dtype=complex,
                              rmatvec=lambda v: x * (ROWS.conj().T @ v))  # fmt: skip


def parts(z):
    return z.real, z.imag


add("sparse.LinearOperator", lambda x: (
    *parts(complex_rows(x).T @ (x[:3] * ROWS[:, 1])), *parts(complex_rows(x).H @ ROWS[:, 0]),
    *parts(complex_rows(x).T.H.T @ ROWS[:, 1]), *parts(complex_rows(x).adjoint()(x[2:])),
    *parts((complex_rows(x) @ (2j * complex_rows(x).H) - ssl.aslinearoperator(ROWS[:, :3]))
           @ ROWS[:, 3])), V, **HOW)  # fmt: skip
add("sparse.aslinearoperator", lambda x: (
    *parts(ssl.aslinearoperator(x * ROWS).T @ ROWS[:, 1]),
    *parts(ssl.aslinearoperator(x * ROWS).H.rmatmat(ROWS.T)),
    *parts(ssl.aslinearoperator(banded(x)) @ ROWS[0]),
    *parts(ssl.gmres(ssl.aslinearoperator(DENSE + 1j * np.diag(x)), V, rtol=1e-14)[0])), V,
    **HOW)  # fmt: skip
add("sparse.expm_multiply", lambda x: ssl.expm_multiply(0.1 * banded(x), x), V, **HOW)
for which in ("LM", "SM", "LA", "SA"):
    add("sparse.eigsh", lambda x, w=which: (
        ssl.eigsh(banded(x), 2, which=w)[0],
        ssl.eigsh(banded(x), 3, which=w, return_eigenvectors=False)), V, **HOW)  # fmt: skip
add("sparse.eigsh", lambda x: (
    ssl.eigsh(banded(x), 2, sigma=4.7)[1] ** 2,
    ssl.eigsh(banded(x), 2, ss.diags(1.0 + x, format="csc"), which="SA")[0]), V, **HOW)  # fmt: skip
add("sparse.svds", lambda x: (
    *(part**2 for part in ssl.svds(banded(x), 2)),
    ssl.svds(banded(x), 2, which="SM", return_singular_vectors=False)), V, **HOW)  # fmt: skip
