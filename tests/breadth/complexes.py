"""Uses of functions of complex numbers and arrays.

Points on both sides of branch cuts, none on one; derivatives are compared along complex directions.
"""

from __future__ import annotations

import cmath

import numpy as np
import scipy.linalg as sl

from tests.breadth.case import add, draws

r, n = draws(21)


def c(*shape: int) -> np.ndarray:
    return n(*shape) + 1j * n(*shape)


Z, W, M, S = c(4), c(4), c(3, 4), c(3, 3) + 2.0 * np.eye(3)
X = r(4)

for name in """exp exp2 expm1 log log1p log2 log10 sqrt sin cos tan sinh cosh tanh arcsin arccos
               arctan arcsinh arccosh arctanh square reciprocal negative positive conjugate
               sign absolute real imag angle""".split():  # fmt: skip
    f = getattr(np, name)
    add(f"numpy.{name}", lambda z, f=f: f(z), Z, native=name == "sqrt")
add("numpy.angle", lambda z: np.angle(z, deg=True), Z)
add("numpy.angle", lambda x: np.angle(x - 1.0), X, zero=True)
add("numpy.imag", lambda x: np.imag(x) + 1.0, X, zero=True)
for name in ("add", "subtract", "multiply", "true_divide", "power"):
    f = getattr(np, name)
    add(f"numpy.{name}", lambda z, w, f=f: f(z, w), Z, W)
    add(f"numpy.{name}", lambda z, x, f=f: (f(z, x), f(x, z)), Z, X)
    add(f"numpy.{name}", lambda z, f=f: (f(z, 2.0 - 1.0j), f(1.5, z[:, None]), f(z, 2)), Z)
add("numpy.power", lambda z: (z**-3, z**0.5, z**0, z**17, z ** (1 + 2j), 2**z), Z)
add("numpy.float_power", lambda z: np.float_power(z, 2), Z, narrow=False)
add("numpy.array", lambda x: np.array([1j * x[0], x[1], 2.0, [3j][0] * x[2] + x[3]]), X)
add("numpy.array", lambda x: np.array(x, dtype=complex) * (1.0 + 2.0j), X, narrow=False)
add("numpy.full", lambda z: np.full((2, 3), z[0]) * z[1] + np.full(3, 1j, complex), Z)
add("numpy.zeros_like", lambda z: np.zeros_like(z) + z * np.ones_like(z), Z)
add("numpy.full_like", lambda z: np.full_like(z, 2j) * z, Z)
add("numpy.sum", lambda z: (np.sum(z), z.sum(0), z.sum(axis=(0, 1), keepdims=True)), M)
add("numpy.sum", lambda z: np.sum(z, where=np.abs(z) > 1.0, axis=1, initial=2j), M, narrow=False)
add("numpy.prod", lambda z: (np.prod(z), z.prod(0), z.prod(axis=1, keepdims=True)), M)
add("numpy.mean", lambda z: (np.mean(z), z.mean(1), np.mean(z, axis=(0, -1))), M)
add("numpy.var", lambda z: (np.var(z), z.var(1, ddof=1), np.std(z, axis=0, keepdims=True)), M)
add("numpy.std", lambda z: np.std(z), M)
add("numpy.cumsum", lambda z: (np.cumsum(z), z.cumsum(-1)), M)
add("numpy.cumprod", lambda z: (np.cumprod(z), z.cumprod(0)), M)
add("numpy.dot", lambda z, w: (np.dot(z, w), np.vdot(z, w), z @ w, np.inner(z, w)), Z, W)
add("numpy.vdot", lambda m: np.vdot(m, 2j * m), M)
add("numpy.vecdot", lambda z, w: np.vecdot(z, w), Z, W)
add("numpy.matmul", lambda a, z: a @ z, M, Z)
add("numpy.matmul", lambda a, b: (a @ b, b.real @ a, a.T @ b.conj()), S, S.T.copy())
add("numpy.outer", lambda z, w: np.outer(z, w), Z, W)
add("numpy.kron", lambda z, w: np.kron(z, w), Z, W)
add("numpy.einsum", lambda m, z, w: np.einsum("ij,j,j->i", m, z, w), M, Z, W)
add("numpy.tensordot", lambda m, s: np.tensordot(s, m, 1), M, S)
add("numpy.trace", lambda s: np.trace(s) * s, S)
add("numpy.convolve", lambda z, w: np.convolve(z, w), Z, W)
add("numpy.correlate", lambda z, w: np.correlate(z, w, "full"), Z, W)
add("numpy.concatenate", lambda z, x: np.concatenate([z, x, 1j * x]), Z, X)
add("numpy.stack", lambda z, x: np.stack([z, x], axis=1), Z, X)
add("numpy.where", lambda z, x: np.where(np.abs(z) > 1.0, z * z, x), Z, X)
add("numpy.where", lambda z: np.where(z.real > 0.0, 1j, z), Z)
add("numpy.roll", lambda z: np.roll(z, 1) * np.flip(z), Z)
add("numpy.transpose", lambda m: m.T @ m.reshape(4, 3).T, M)
add("numpy.take", lambda z: np.take(z, [0, 2, 2]), Z)
add("numpy.pad", lambda z: np.pad(z, 1), Z)
add("numpy.diag", lambda z: np.diag(z), Z)
add("numpy.diff", lambda m: np.diff(m, axis=1), M)
add("numpy.interp", lambda x, z: np.interp(x, np.arange(4.0), z), X, Z, narrow=False)
add("numpy.linspace", lambda z: np.linspace(z[0], z[1], 5), Z, narrow=False)
add("numpy.polyval", lambda z, w: np.polyval(z, w), Z, W)
add("numpy.polyval", lambda x, w: np.polyval(x, w), X, W)
add("numpy.isclose", lambda z: np.where(np.isclose(z, z), z, 0.0), Z)
add("numpy.nonzero", lambda z: z[np.nonzero(z)], Z)
add("numpy.isnan", lambda z: np.where(np.isnan(z) | ~np.isfinite(z) | np.isinf(z), 0.0, z), Z)
add("numpy.iscomplex", lambda z: np.where(np.iscomplex(z), z, 2.0 * z) + np.isreal(z), Z,
    narrow=False)
add("numpy.equal", lambda z: np.where((z == z[0]) | (z != z[1]), z, 0.0), Z)
add("numpy.add", lambda z, x: np.add.outer(z, x) * np.multiply.outer(x, z), Z, X)
add("numpy.linalg.solve", lambda a, b: np.linalg.solve(a, b), S, c(3, 2), native=True)
add("numpy.linalg.solve", lambda a, b: np.linalg.solve(a, b), S, c(3))
add("numpy.linalg.solve", lambda a, b: np.linalg.solve(a, b), S, n(3))
add("numpy.linalg.inv", lambda a: np.linalg.inv(a), S)
add("numpy.linalg.pinv", lambda a: np.linalg.pinv(a), M, narrow=False)
add("numpy.linalg.matrix_power", lambda a: np.linalg.matrix_power(a, 3), S)
add("numpy.linalg.norm", lambda z: (np.linalg.norm(z), np.linalg.norm(z, 1)), M)
add("scipy.linalg.solve", lambda a, b: sl.solve(a, b), S, c(3))
add("scipy.linalg.expm", lambda a: sl.expm(a), S)

# -- elements, views, writing ---------------------------------------------------------------------


def written(z, x):
    """In place, through views, with masks, by rows; part by part."""
    w = np.zeros((len(z), 3), dtype=complex)
    w[:, 0] = z
    w[:, 1] = x
    w[::2, 2] = 1j * x[::2]
    row = w[1]
    row *= 2.0 - 1.0j
    w[w.real > 0.5] = z[0]
    w.real[0] += x[0]
    w.imag[:, 1] -= x
    w[-1] /= z[1]
    w[:, 0] += w[:, 2].conj()
    return w


def mandelbrot(z):
    """A recurrence of a Python complex, whose start is a real number."""
    w = 0.0
    for k in range(4):
        w = w * w + complex(z[0] * 0.3) + 0.1j * k
        if abs(w) > 10.0:
            break
    return abs(w), w.real


def python_complex(x):
    z = complex(x[0], x[1])
    w = cmath.exp(z) + cmath.sqrt(z - 3.0) * cmath.phase(z) + cmath.rect(x[2], x[3])
    if z == w:
        w = z
    size, angle = cmath.polar(w)
    return w.conjugate().imag, size * angle, (w**2).real, abs(w / z)


def looped(m):
    """Iteration over rows and elements, a sum carried on."""
    total = 0j
    for row in m:
        for e in row:
            total += e * e
        total = total * np.conj(row[0])
    return total


add("complex.writing", written, Z, X, native=True)
add("complex.recurrence", mandelbrot, Z, native=True)
add("complex.python", python_complex, X, native=True, narrow=False)
add("complex.loops", looped, M, native=True)
add("complex.index",
    lambda m: (m[..., None][:, ::-1], m[[0, 2]], m[1, [0, 3]], m[np.abs(m) > 1.0], m.T[1, 1:]), M)
add("complex.accumulated", lambda z, w: _accumulated(z, w), Z, W)


def _accumulated(z, w):
    out = np.zeros(3, complex)
    np.add.at(out, [0, 2, 2, 1], z * w)
    out[[1, 1]] += w[0]
    return out

# -- matrices, order ------------------------------------------------------------------------------

H = S @ S.conj().T
add("numpy.linalg.det", lambda a: np.linalg.det(a), S, native=True)
add("numpy.linalg.det", lambda a: np.linalg.det(a - a[0, 0] * np.eye(3)), S, narrow=False)
add("scipy.linalg.det", lambda a: sl.det(a), S, narrow=False)
add("numpy.linalg.slogdet", lambda a: tuple(np.linalg.slogdet(a)), S)
add("numpy.linalg.cholesky", lambda a: np.linalg.cholesky(a), H, native=True)
add("numpy.linalg.cholesky", lambda a: np.linalg.cholesky(a, upper=True), np.stack([H, H + 1.0]))
add("scipy.linalg.cholesky", lambda a: sl.cholesky(a), H)
add("numpy.linalg.eigh", lambda a: tuple(np.linalg.eigh(a)), H, native=True, narrow=False)
add("numpy.linalg.eigh", lambda a: tuple(np.linalg.eigh(a, "U")), H, narrow=False)
add("scipy.linalg.eigh", lambda a: [abs(x) ** 2 for x in sl.eigh(a)], H, native=True, narrow=False)
add("numpy.linalg.eigvalsh", lambda a: np.linalg.eigvalsh(a, "U"), np.stack([H, H + 1.0]))
add("numpy.linalg.svd", lambda a: np.linalg.svd(a, compute_uv=False), M, narrow=False)
add("numpy.linalg.svdvals", lambda a: np.linalg.svdvals(a.T), M, narrow=False)
add("scipy.linalg.svdvals", lambda a: sl.svdvals(a), S, narrow=False)
add("scipy.linalg.eigvalsh", lambda a: sl.eigvalsh(a), H, narrow=False)
add("numpy.linalg.cond", lambda a: (np.linalg.cond(a), np.linalg.cond(a, 1)), S, narrow=False)
add("numpy.linalg.norm", lambda a: (np.linalg.norm(a, 2), np.linalg.norm(a, "nuc")), M,
    narrow=False)
for _a in (S, M, M.T.copy()):
    add("numpy.linalg.qr", lambda a: tuple(np.linalg.qr(a)), _a, narrow=False)
add("numpy.linalg.qr", lambda a: np.linalg.qr(a, "r"), M, native=True, narrow=False)
add("numpy.linalg.lstsq", lambda a, b: np.linalg.lstsq(a, b), M.T.copy(), c(4), narrow=False)
for flags in ({}, {"lower": True, "unit_diagonal": True}, {"trans": 2}):
    add("scipy.linalg.solve_triangular", lambda a, b, f=flags: sl.solve_triangular(a, b, **f), S,
        c(3))
add("scipy.linalg.cho_solve", lambda a, b: sl.cho_solve(sl.cho_factor(a), b), H, c(3))
add("scipy.linalg.cho_factor", lambda a: np.tril(sl.cho_factor(a, lower=True)[0]), H)
add("numpy.sort", lambda z: (np.sort(z), np.sort(np.round(z.real) + 1j * z.imag, axis=0)), M,
    rtol=1e-5)
add("numpy.argsort", lambda z: z[np.argsort(z)], Z)
add("numpy.sort_complex", lambda z: np.sort_complex(z), Z, narrow=False)
add("numpy.polymul", lambda z, w: (np.polymul(z, w), np.polyadd(z, w[1:]), np.polyder(z)), Z, W)


def through_flat(m):
    w = m.copy()
    w.flat[2] = m[0, 0] * m[1, 1]
    w.T.flat[1::4] *= 2.0j
    return w, w.mT, w.T.flat[3]


add("array.flat", through_flat, M)

# -- statistics, joins, values beside arrays ------------------------------------------------------

B = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])

add("numpy.var", lambda m: (np.var(m, where=B), np.std(m, axis=0, where=B, keepdims=True),
                            np.var(m, 1, mean=np.mean(m, 1, keepdims=True), ddof=1)),
    M)
add("numpy.cov", lambda m: (np.cov(m), np.cov(m, rowvar=False, bias=True), np.cov(m[0]),
                            np.cov(m[0], m[1] * 2.0, ddof=0), np.cov(m, aweights=[1, 2, 0.5, 1])),
    M, native=True, narrow=False)  # fmt: skip
add("numpy.corrcoef", lambda m: (np.corrcoef(m), np.corrcoef(m[0], m[1])), M, narrow=False)
for name in ("nanmean", "nanstd", "nanvar"):
    f = getattr(np, name)
    add(f"numpy.{name}", lambda m, f=f: f(np.where(np.abs(m) > 1.7, np.nan, m), axis=1), M)
add("numpy.r_", lambda z, m: (np.r_[0, z, 1:3, -1.0], np.r_[m, 1j * m], np.r_["-1", m, m],
                              np.c_[z, np.ones(4)]), Z, M, narrow=False)  # fmt: skip
add("numpy.vander", lambda z: (np.vander(z), np.vander(z, 3, increasing=True)), Z)
add("numpy.trapezoid", lambda z, m: (np.trapezoid(m, z), np.trapezoid(m, x=m * m, axis=0),
                                     np.trapezoid([1.0, 2.0, 0.5, 1.0], z)), Z, M)  # fmt: skip
add("numpy.average", lambda m: np.average(m, 1, np.abs(m), returned=True), M)
add("numpy.ediff1d", lambda z: np.ediff1d(z, to_begin=0.5, to_end=[1.0, 2.0]), Z)
add("numpy.pad", lambda z: np.pad(z, 2, "linear_ramp", end_values=2.0), Z)
add("numpy.diff", lambda m: (np.diff(m, 1, -1, 0.5), np.diff(m, append=2.0)), M)
add("numpy.insert", lambda m: (np.insert(m, 1, values=5.0, axis=0), np.append(m, values=1.0)), M)
add("numpy.add.reduce", lambda m: (np.add.reduce(m, axis=0, initial=1.0), np.sum(m, initial=2.0),
                                   np.polyint(m[0], k=3.0)), M)  # fmt: skip
add("complex.methods", lambda m: (m.compress([True, False, True], axis=0), m.argsort(0)), M)


def sorted_and_filled(m):
    a, b = m.copy(), m.copy()
    a.sort(axis=0)
    np.fill_diagonal(b, val=2.0)
    np.put(b, [1, 2], v=0.5)
    return a, b


add("complex.sort", sorted_and_filled, M, rtol=1e-5)
