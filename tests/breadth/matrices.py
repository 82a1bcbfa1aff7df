"""Uses of numpy.linalg and scipy.linalg."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl

from tests.breadth.case import add, draws

r, n = draws(8)

A, B, C = n(4, 4) + 3.0 * np.eye(4), n(4, 2), n(4)
S = A @ A.T
STACK, RHS = n(2, 3, 3) + 2.0 * np.eye(3), n(2, 3, 2)
TURNED = (0.2 * n(4, 4) + 3.0 * np.eye(4))[[2, 0, 3, 1]]  # clear pivots, not on the diagonal
HIGH, WIDE = n(5, 3), n(3, 5)
SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.5, -1.0, 2.0]])

add("numpy.linalg.solve", lambda a, b: np.linalg.solve(a, b), A, B, native=True)
add("numpy.linalg.solve", lambda a, b: np.linalg.solve(a, b), A, C, native=True)
add("numpy.linalg.solve", lambda a, b: np.linalg.solve(a, b), STACK, RHS, native=True)
add("numpy.linalg.inv", lambda a: np.linalg.inv(a), A, native=True)
add("numpy.linalg.inv", lambda a: np.linalg.inv(a), STACK)
add("numpy.linalg.det", lambda a: np.linalg.det(a), A, native=True)
add("numpy.linalg.det", lambda a: np.linalg.det(a), STACK)
add("numpy.linalg.det", lambda a: np.linalg.det(a), SINGULAR, order=1, narrow=False, native=True)
add("numpy.linalg.slogdet", lambda a: np.linalg.slogdet(a), A, native=True)
add("numpy.linalg.slogdet", lambda a: np.linalg.slogdet(-a).logabsdet, STACK)
add("numpy.linalg.tensorsolve",
    lambda a, b: np.linalg.tensorsolve(a.reshape(2, 2, 4), b.reshape(2, 2)), A, C)
add("numpy.linalg.tensorinv", lambda a: np.linalg.tensorinv(a.reshape(4, 2, 2), 1), A)
add("numpy.linalg.matrix_power",
    lambda a: (np.linalg.matrix_power(a, 3), np.linalg.matrix_power(a, -2)), A)
add("numpy.linalg.matrix_power", lambda a: np.linalg.matrix_power(a, 0) * a, A)
add("numpy.linalg.multi_dot", lambda a, b: np.linalg.multi_dot([a, a.T, b]), A, B)
add("numpy.linalg.multi_dot", lambda a, b: np.linalg.multi_dot([b, a, a.T, b]), A, C)
add("numpy.linalg.cholesky", lambda a: np.linalg.cholesky(a), S, native=True)
add("numpy.linalg.cholesky", lambda a: np.linalg.cholesky(a @ a.T, upper=True), A)
add("numpy.linalg.cholesky", lambda a: np.linalg.cholesky(a @ a.transpose(0, 2, 1)), STACK)
add("numpy.linalg.eigh",
    lambda a: (np.linalg.eigh(a)[0], np.linalg.eigh(a)[1] ** 2), S, native=True, narrow=False)
add("numpy.linalg.eigh", lambda a: np.linalg.eigh(a, "U").eigenvalues, S)
add("numpy.linalg.eigvalsh", lambda a: np.linalg.eigvalsh(a + a.transpose(0, 2, 1)), STACK)
add("numpy.linalg.svd",
    lambda a: (a @ np.linalg.svd(a, full_matrices=False)[2].T) ** 2, HIGH,
    native=True, narrow=False)
add("numpy.linalg.svd",
    lambda a: [x**2 for x in np.linalg.svd(a, full_matrices=False)], HIGH, narrow=False)
add("numpy.linalg.svd",
    lambda a: [x**2 for x in np.linalg.svd(a, full_matrices=False)], WIDE, narrow=False)
add("numpy.linalg.svd", lambda a: [x**2 for x in np.linalg.svd(a)], A, narrow=False)
add("numpy.linalg.svd", lambda a: np.linalg.svd(a, compute_uv=False), STACK)
add("numpy.linalg.svdvals", lambda a: np.linalg.svdvals(a), HIGH)
add("numpy.linalg.qr", lambda a: np.linalg.qr(a), HIGH, native=True)
add("numpy.linalg.qr", lambda a: np.linalg.qr(a), WIDE)
add("numpy.linalg.qr", lambda a: np.linalg.qr(a, "r"), STACK)
add("numpy.linalg.pinv", lambda a: np.linalg.pinv(a), HIGH, native=True)
add("numpy.linalg.pinv", lambda a: np.linalg.pinv(a), WIDE)
add("numpy.linalg.lstsq", lambda a, b: np.linalg.lstsq(a, b)[:2], HIGH, n(5, 2), native=True)
add("numpy.linalg.lstsq", lambda a, b: np.linalg.lstsq(a, b)[0], WIDE, n(3))
add("numpy.linalg.lstsq", lambda a, b: np.linalg.lstsq(a, b)[3], HIGH, n(5))
add("numpy.linalg.matrix_rank", lambda a: np.linalg.matrix_rank(a) * 1.0, HIGH, zero=True)
add("numpy.linalg.cond", lambda a: (np.linalg.cond(a), np.linalg.cond(a, 1)), A)
for order in (None, "fro", "nuc"):
    add("numpy.linalg.norm", lambda a, o=order: np.linalg.norm(a, o), HIGH, native=order == "fro")
add("numpy.linalg.norm", lambda a: (np.linalg.norm(a, 2), np.linalg.norm(a, -2)), HIGH)
add("numpy.linalg.norm", lambda a: (np.linalg.norm(a, 1), np.linalg.norm(a, -1)), HIGH)
add("numpy.linalg.norm", lambda a: (np.linalg.norm(a, np.inf), np.linalg.norm(a, -np.inf)), HIGH)
add("numpy.linalg.norm", lambda a: np.linalg.norm(a, 1, axis=(1, 0), keepdims=True), HIGH)
add("numpy.linalg.norm", lambda a: np.linalg.norm(a, np.inf, axis=(0, 2)), STACK)
add("numpy.linalg.norm", lambda a: (np.linalg.norm(a), np.linalg.norm(a, 1)), C)
add("numpy.linalg.norm", lambda a: (np.linalg.norm(a, 0.5), np.linalg.norm(a, 3)), C)
add("numpy.linalg.norm", lambda a: (np.linalg.norm(a, np.inf), np.linalg.norm(a, -np.inf)), C)
add("numpy.linalg.norm", lambda a: (np.linalg.norm(a), np.linalg.norm(a, axis=1)), STACK)
add("numpy.linalg.norm", lambda a: np.linalg.norm(a, 0, axis=0), HIGH, zero=True)
add("numpy.linalg.vector_norm",
    lambda a: (np.linalg.vector_norm(a), np.linalg.vector_norm(a, axis=0, ord=1)), HIGH)
add("numpy.linalg.matrix_norm", lambda a: np.linalg.matrix_norm(a), STACK)

# -- scipy.linalg ---------------------------------------------------------------------------------

add("scipy.linalg.solve", lambda a, b: (sl.solve(a, b), sl.solve(a, b, transposed=True)), A, B)
add("scipy.linalg.solve", lambda a, b: sl.solve(a, b, assume_a="pos", lower=True), S, C)
add("scipy.linalg.solve", lambda a, b: sl.solve(a, b, assume_a="sym"), S, C)
for flags in ({}, {"lower": True}, {"trans": 1}, {"lower": True, "trans": "T"},
              {"unit_diagonal": True}, {"lower": True, "unit_diagonal": True}):  # fmt: skip
    add("scipy.linalg.solve_triangular", lambda a, b, f=flags: sl.solve_triangular(a, b, **f),
        A, B, native=flags == {"lower": True})  # fmt: skip
add("scipy.linalg.solve_triangular", lambda a, b: sl.solve_triangular(a, b, 1), A, C, native=True)
add("scipy.linalg.cholesky", lambda a: (sl.cholesky(a), sl.cholesky(a, lower=True)), S)
add("scipy.linalg.cho_factor", lambda a: np.triu(sl.cho_factor(a)[0]), S)
add("scipy.linalg.cho_solve", lambda a, b: sl.cho_solve(sl.cho_factor(a), b), S, B)
add("scipy.linalg.cho_solve", lambda a, b: sl.cho_solve((sl.cholesky(a, lower=True), True), b),
    S, C, native=True)  # fmt: skip
add("scipy.linalg.lu_factor", lambda a: sl.lu_factor(a)[0], TURNED, native=True)
add("scipy.linalg.lu_solve", lambda a, b: sl.lu_solve(sl.lu_factor(a), b), TURNED, B, native=True)
add("scipy.linalg.lu_solve", lambda a, b: sl.lu_solve(sl.lu_factor(a), b, trans=1), TURNED, C)
add("scipy.linalg.inv", lambda a: sl.inv(a), A)
add("scipy.linalg.det", lambda a: sl.det(a), A, narrow=False)
add("scipy.linalg.norm", lambda a: (sl.norm(a), sl.norm(a, 1)), A, narrow=False)
add("scipy.linalg.pinv", lambda a: sl.pinv(a), HIGH)
add("scipy.linalg.svd", lambda a: [x**2 for x in sl.svd(a, full_matrices=False)], HIGH,
    narrow=False)  # fmt: skip
add("scipy.linalg.svdvals", lambda a: sl.svdvals(a), WIDE)
add("scipy.linalg.qr", lambda a: sl.qr(a, mode="economic"), HIGH)
for a in (HIGH, WIDE):
    add("scipy.linalg.qr", lambda a: sl.qr(a, mode="r")[0], a)
add("scipy.linalg.eigh", lambda a: [x**2 for x in sl.eigh(a)], S, narrow=False)
add("scipy.linalg.eigh", lambda a, b: [x**2 for x in sl.eigh(a, b @ b.T)], S, A[::-1] + 1.0,
    narrow=False)  # fmt: skip
add("scipy.linalg.eigvalsh", lambda a: sl.eigvalsh(a, lower=False), S)
add("scipy.linalg.lstsq", lambda a, b: sl.lstsq(a, b)[0], HIGH, n(5))
add("scipy.linalg.expm", lambda a: (sl.expm(0.1 * a), sl.expm(2.0 * a)), A, native=True)
add("scipy.linalg.expm", lambda a: sl.expm(a), STACK, narrow=False)
add("scipy.linalg.block_diag", lambda a, b: sl.block_diag(a, b, b[0]), A, B, native=True)
add("scipy.linalg.toeplitz", lambda a, b: (sl.toeplitz(a), sl.toeplitz(a, b)), C, n(3))
add("scipy.linalg.toeplitz", lambda a, b: (sl.toeplitz(a), sl.toeplitz(a, b)), n(2, 3),
    n(4))
add("scipy.linalg.circulant", lambda a: sl.circulant(a), C)
add("scipy.linalg.hankel", lambda a, b: (sl.hankel(a), sl.hankel(a, b)), C, n(3))
add("scipy.linalg.solve_toeplitz",
    lambda a, b: (sl.solve_toeplitz(a, b), sl.solve_toeplitz((a, 0.3 * b), b)),
    np.array([4.0, 0.3, -0.5, 0.2]), C, narrow=False)
add("scipy.linalg.matmul_toeplitz", lambda a, b: sl.matmul_toeplitz((C, a), b), n(4), B)
add("scipy.linalg.pinvh", lambda a: sl.pinvh(a), S)
add("scipy.linalg.khatri_rao", lambda a: sl.khatri_rao(a, a[:3] ** 2), A)
for name in ("cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm"):
    add(f"scipy.linalg.{name}", lambda a, f=getattr(sl, name): f(0.3 * a), A, narrow=False,
        native=name == "cosm")  # fmt: skip

# -- equations and factorisations that are compositions -------------------------------------------

_B, _C, _D = n(3, 3) + 3.0 * np.eye(3), n(2, 2) + 2.0 * np.eye(2), n(3, 2)
add("scipy.linalg.solve_sylvester", lambda a, b, q: sl.solve_sylvester(a, b, q), _B, _C, _D,
    narrow=False)  # fmt: skip
add("scipy.linalg.solve_continuous_lyapunov", lambda a, q: sl.solve_continuous_lyapunov(a, q), _B,
    n(3, 3), narrow=False)  # fmt: skip
add("scipy.linalg.solve_discrete_lyapunov", lambda a, q: sl.solve_discrete_lyapunov(0.2 * a, q), _B,
    n(3, 3), narrow=False)  # fmt: skip
add("scipy.linalg.solve_circulant",
    lambda c, b: sl.solve_circulant(np.array([4.0, 0.0, 0.0]) + c, b), n(3), n(3), narrow=False)
add("scipy.linalg.lu", lambda a: (*sl.lu(a), *sl.lu(a, permute_l=True), sl.lu(a[::-1])[1]), _B,
    narrow=False)  # fmt: skip
add("scipy.linalg.expm_frechet", lambda a, e: sl.expm_frechet(0.2 * a, e), _B, n(3, 3),
    narrow=False)  # fmt: skip
add("scipy.linalg.polar", lambda a: (*sl.polar(a), *sl.polar(a, "left")), _B, narrow=False)
add("scipy.linalg.orthogonal_procrustes", lambda a, b: sl.orthogonal_procrustes(a, b), n(4, 2),
    n(4, 2), narrow=False)  # fmt: skip
add("scipy.linalg.leslie", lambda f, s: sl.leslie(f, s), n(4), n(3), narrow=False)
add("scipy.linalg.solve_lyapunov", lambda a: sl.solve_lyapunov(a, np.eye(3)), _B, narrow=False)
