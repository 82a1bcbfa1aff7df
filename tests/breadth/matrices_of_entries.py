"""Uses of sparse matrices that are joined, written to, mapped, complex, or made of arrays."""

from __future__ import annotations

import numpy as np
import scipy.sparse as ss
import scipy.sparse.linalg as ssl

from tests.breadth.case import add, draws

r, n = draws(347)
HOW = {"narrow": None, "order": 1}
V, W, SIZE = r(5), r(5), 5
FIRM = (ss.random(5, 5, 0.4, random_state=3) + ss.eye(5)).tocsr()
Z = (FIRM + 1j * ss.random(5, 5, 0.5, random_state=4)).tocsr()
LINE = ss.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(40, 40), format="csc")


def parts(z):
    return z.real, z.imag


def of(x, form="csr"):
    """Some entries are at one place, and are added."""
    there = np.array([0, 1, 2, 3, 4, 1]), np.array([1, 1, 0, 4, 2, 1])
    return ss.coo_matrix((np.concatenate([x, x[:1]]), there), shape=(5, 5)).asformat(form)


add("sparse.vstack", lambda x: (
    ss.vstack([of(x), FIRM]) @ x, ss.hstack([of(x), FIRM], format="csr") @ np.r_[x, x],
    ss.bmat([[of(x), None], [FIRM, x[0] * FIRM]]) @ np.r_[x, x],
    ss.block_diag([of(x), FIRM, np.outer(x[:2], x[:3])]).toarray(),
    ss.block_array([[ss.csr_array(FIRM * x[1]), None], [None, ss.eye_array(2)]]).toarray(),
    ss.tril(of(x)).toarray(), ss.triu(FIRM * x[2], 1) @ x,
    ss.kronsum(of(x), FIRM[:2, :2]).toarray()[3]), V, **HOW)  # fmt: skip
add("sparse.functions of entries", lambda x: (
    of(x).power(3).toarray(), of(x).sqrt() @ x, np.tanh(of(x)).toarray(), abs(-of(x)).toarray(),
    (of(x) ** 3).toarray(), (ss.csr_array(FIRM * x[0]) ** 2).toarray(), of(x).mean(),
    of(x).max() + of(-x).min(), of(x).trace(), ssl.norm(of(x)), ssl.norm(FIRM * x[0], 1),
    np.expm1(FIRM * x[1]) @ x), V, **HOW)  # fmt: skip
add("sparse.nnz", lambda x: (
    of(x).nnz * x, of(x, "coo").nnz * x, of(x, "coo").T.tocsc().nnz * x, FIRM.T.tocoo().nnz * x,
    ss.csr_matrix((x, ([0, 1, 1, 0, 2], [2, 2, 2, 2, 0])), shape=(3, 3)).nnz * x,
    ss.csr_matrix((x, np.array([1, 1, 2, 0, 0]), np.array([0, 3, 5]))).nnz * x,
    ss.tril(of(x)).nnz * x, ss.kron(FIRM, FIRM, "coo").nnz * x,
    *(ss.diags([x, 0.0 * x[1:]], [0, 1], format=form).nnz * x for form in ("dia", "csc", None)),
    ss.diags([x, 0.0 * x[1:]], [0, 1]).tocsr().nnz * x), V, **HOW)  # fmt: skip
add("sparse.matrices that stay", lambda x: (
    ssl.inv((of(x) + 3.0 * ss.eye(5)).tocsc()) @ x, ssl.expm(of(x).tocsc()).toarray(),
    sum(x[k] * FIRM for k in range(3)) @ x, ss.csr_matrix(np.outer(x, x)) @ FIRM @ x,
    FIRM @ ss.csc_matrix(np.outer(x, x)) @ x, (FIRM + ss.csr_array(np.outer(x, W))) @ x), V,
    **HOW)  # fmt: skip


def assembled(x, form):
    """Finite elements on a line, with one end held."""
    K, f = form((SIZE, SIZE)), np.zeros(SIZE)
    for e in range(SIZE - 1):
        K[e, e] += x[e]
        K[e, e + 1] -= x[e]
        K[e + 1, e] -= x[e]
        K[e + 1, e + 1] += x[e]
        f[e : e + 2] += 0.5 * x[-1]
    K[0, :] = 0
    K[0, 0] = 1
    return ssl.spsolve(K.tocsr(), f), K.toarray()


LIL = FIRM.tolil()


def copies(x):
    """Of one from outside, which stays as it is."""
    K, M = LIL.copy(), ss.kron(np.outer(x[:2], x[:2]), FIRM[:2, :2])
    K[0] = x
    K *= x[1]
    return K @ x, LIL @ x, (LIL * x[2]).toarray(), M @ x[:4]


add("sparse.lil_matrix", copies, V, **HOW)


def by_blocks(x):
    K = ss.dok_matrix((SIZE, SIZE))
    for e in range(SIZE - 1):
        at = np.array([e, e + 1])
        K[np.ix_(at, at)] += x[e] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    K[2] = K[3] * x[0]
    K[1:3, 0] = x[:2, None]
    K.setdiag(x[1:], 1)
    other = K.T
    other[0, 0] = 7.0  # which is another one
    products = (K * K) @ x, K.multiply(x) @ x
    return K.toarray(), K.diagonal(), K[1, 1], K[2:, [0, 3]].toarray(), *products


add("sparse.lil_matrix", lambda x: assembled(x, ss.lil_matrix), V, **HOW)
add("sparse.lil_array", lambda x: assembled(x, ss.lil_array), V, **HOW)
add("sparse.dok_matrix", by_blocks, V, **HOW)


def courses(x):
    """Crank and Nicolson's steps, as a small and as a larger system."""
    out = []
    for count in (6, 40):
        step = 0.05j * (x[0] * LINE[:count, :count])
        one = ss.identity(count, format="csc")
        lu, psi = ssl.splu(one - step), np.exp(-(np.arange(count) - 3.0) ** 2 * x[1]) + 0j
        for _ in range(3):
            psi = lu.solve((one + step) @ psi)
        out += parts(psi[:5])
    return (*out, *parts(ssl.spsolve(ss.eye(40, format="csc") * 3.0 + 1j * x[2] * LINE,
                                     np.linspace(0.0, 1.0, 40))[:5]))  # fmt: skip


def flows(x):
    """What is fed into each node of a network, by its admittances."""
    voltage = x * np.exp(1j * W)
    power = voltage * np.conj(Z @ voltage)
    slopes = (ss.diags(voltage) @ np.conj(Z @ ss.diags(voltage / np.abs(voltage)))).tocsr()
    return (*parts(power), slopes.real.toarray(), slopes.imag @ x)


add("sparse.complex systems", courses, V, **HOW)
add("sparse.complex", flows, V, **HOW)
add("sparse.complex", lambda x: (
    *parts((Z * x[0]).conj().T @ x), *parts(np.conj(Z * x[4]).T @ (1j * x)),
    *parts(x @ (Z * (2j * x[1]))),
    *parts((Z * x[2] @ Z).toarray()), *parts((x[1] * Z).sum()), *parts((x[3] * Z)[1, 1]),
    *parts(ss.csr_matrix((x * 1j, (np.arange(5), np.arange(5)))) @ W),
    *parts((FIRM + 1j * of(x)).multiply(Z).toarray()), *parts((x[0] * Z).diagonal()),
    *parts(ss.csr_matrix(np.outer(x, x) * 1j) @ W), abs(Z * x[0]).toarray()), V,
    **HOW)  # fmt: skip
