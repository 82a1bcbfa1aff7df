"""How do users of HIPS autograd write the kernels that need loops or assignments?

autograd has no assignments to arrays. Stencils add a padded inner part, recurrences keep rows in
lists (`recurrences`); what is left over is missing.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import autograd
import autograd.numpy as np
import autograd.scipy.linalg
import autograd.scipy.special
from autograd.tracer import getval

from benchmarks.peers import recurrences
from benchmarks.peers.shared import Peer, convolved_by_slices, eliminated, programs


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def added_at(x, places, m):
    raise NotImplementedError("autograd knows no sum by places")


MISSING = {"cavity": "boundaries that overwrite each other need assignments"}
PEER = Peer(np=np, asarray=np.asarray, erf=autograd.scipy.special.erf, cross=np.cross,
            logsumexp=autograd.scipy.special.logsumexp, softmax=softmax, amax=np.max,
            added_at=added_at)  # fmt: skip


def value_and_gradient(
    program: Callable[..., Any], argnums: tuple[int, ...], arguments: tuple[Any, ...]
) -> Callable[[], Any]:
    gradient = autograd.value_and_grad(program, argnums)
    return lambda: gradient(*arguments)


def newton_sqrt(x, tol):
    y = 0.5 * (1.0 + x)
    while True:
        going = abs(getval(y) * getval(y) - getval(x)) > tol * getval(x)
        if not going.any():
            return np.sum(y)
        y = np.where(going, 0.5 * (y + x / y), y)


def around(u):
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]


def heat(u, alpha, target, steps):
    for _ in range(steps):
        u = u + np.pad(alpha * (around(u) - 4.0 * u[1:-1, 1:-1]), 1, "constant")
    return 0.5 * np.sum((u - target) ** 2)


def burgers(u, nu, target, dx, dt, steps):
    for _ in range(steps):
        convection = u[1:-1] * (u[1:-1] - u[:-2]) / dx
        diffusion = nu * (u[2:] - 2.0 * u[1:-1] + u[:-2]) / dx**2
        u = u + np.pad(dt * (diffusion - convection), 1, "constant")
    return 0.5 * dx * np.sum((u - target) ** 2)


def jacobi2d(a, target, rounds):
    for _ in range(2 * rounds):
        a = a + np.pad(0.2 * (around(a) - 4.0 * a[1:-1, 1:-1]), 1, "constant")
    return 0.5 * np.sum((a - target) ** 2)


def heat3d(u, k, target, steps):
    inner = (slice(1, -1),) * 3
    for _ in range(steps):
        near = (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1]
                + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2])  # fmt: skip
        u = u + np.pad(k[inner] * (near - 6.0 * u[inner]), 1, "constant")
    return 0.5 * np.sum((u - target) ** 2)


def fdtd(ex, ey, hz, drive, target):
    def shifted(inner, *widths):
        return np.pad(inner, widths, "constant")

    for source in drive:
        first = np.reshape(source * np.ones(ey.shape[1]), (1, -1))
        ey = np.concatenate([first, ey[1:, :] - 0.5 * (hz[1:, :] - hz[:-1, :])])
        ex = ex - shifted(0.5 * (hz[:, 1:] - hz[:, :-1]), (0, 0), (1, 0))
        curl = ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]
        hz = hz - shifted(0.7 * curl, (0, 1), (0, 1))
    return 0.5 * np.sum((hz - target) ** 2)


def cholesky(A, y):
    L = np.linalg.cholesky(np.tril(A) + np.tril(A, -1).T)
    z = autograd.scipy.linalg.solve_triangular(L, y, lower=True)
    return np.sum(np.log(np.diag(L))) + 0.5 * np.sum(z * z)


def lu(A, b, target):
    return eliminated(np, A, b, target)


def trisolve(L, b, target):
    x = autograd.scipy.linalg.solve_triangular(L, b, lower=True)
    return 0.5 * np.sum((x - target) ** 2)


def gramschmidt(A0, V, W):
    columns = [A0[:, k] for k in range(A0.shape[1])]
    total = 0.0
    for k in range(len(columns)):
        size = np.sqrt(np.dot(columns[k], columns[k]))
        q = columns[k] / size
        total = total + np.dot(V[:, k], q) + W[k, k] * size
        for j in range(k + 1, len(columns)):
            r = np.dot(q, columns[j])
            total = total + W[k, j] * r
            columns[j] = columns[j] - q * r
    return total


def conv2d(x, weights, bias, target):
    return 0.5 * np.sum((convolved_by_slices(np, x, weights) + bias - target) ** 2)


def lenet(x, w1, b1, w2, b2, w3, b3, w4, b4, target):
    def pooled(z):
        n, rows, cols, depth = z.shape
        z = z[:, : rows // 2 * 2, : cols // 2 * 2]
        return np.max(z.reshape(n, rows // 2, 2, cols // 2, 2, depth), axis=(2, 4))

    h = pooled(np.maximum(convolved_by_slices(np, x, w1) + b1, 0.0))
    h = pooled(np.maximum(convolved_by_slices(np, h, w2) + b2, 0.0))
    h = np.maximum(h.reshape(len(x), -1) @ w3 + b3, 0.0)
    return 0.5 * np.sum((h @ w4 + b4 - target) ** 2) / len(x)


def spmv(values, x, start, columns, target):
    rows = [np.dot(values[i:j], x[columns[i:j]]) for i, j in pairwise(start)]
    return 0.5 * np.sum((np.stack(rows) - target) ** 2)


OWN = (newton_sqrt, heat, burgers, jacobi2d, heat3d, fdtd, cholesky, lu, trisolve, gramschmidt,
       conv2d, lenet, spmv)  # fmt: skip
PROGRAMS: dict[str, Callable[..., Any]] = {
    **programs(PEER), **recurrences.programs(np, lambda x: x[::-1]), **{f.__name__: f for f in OWN}
}  # fmt: skip
