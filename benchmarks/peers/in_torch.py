"""How do users of PyTorch write the kernels that need loops or assignments?

Eagerly, with loops of Python and assignments to clones, in double precision.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from benchmarks.peers import recurrences
from benchmarks.peers.shared import Peer, eliminated, programs

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

MISSING: dict[str, str] = {}
NUMPY = SimpleNamespace(
    sum=torch.sum, mean=torch.mean, exp=torch.exp, log=torch.log, sin=torch.sin, cos=torch.cos,
    sqrt=torch.sqrt, tanh=torch.tanh, where=torch.where, einsum=torch.einsum,
    logaddexp=torch.logaddexp, zeros_like=torch.zeros_like, stack=torch.stack, dot=torch.dot,
    concatenate=torch.cat, abs=torch.abs, arange=torch.arange, cumsum=torch.cumsum,
    sort=lambda x: torch.sort(x).values, diag=torch.diag, linalg=torch.linalg,
    fft=torch.fft, real=torch.real, imag=torch.imag,
)  # fmt: skip
PEER = Peer(np=NUMPY, asarray=torch.as_tensor, erf=torch.erf, logsumexp=torch.logsumexp,
            cross=torch.linalg.cross, softmax=lambda x: torch.softmax(x, -1), amax=torch.amax,
            added_at=lambda x, places, m: torch.zeros(m).index_add(0, places, x))  # fmt: skip
INNER = np.s_[1:-1, 1:-1]


def value_and_gradient(
    program: Callable[..., Any], argnums: tuple[int, ...], arguments: tuple[Any, ...]
) -> Callable[[], Any]:
    given = [a if isinstance(a, int) else torch.tensor(a) for a in arguments]
    active = [given[k].requires_grad_() for k in argnums]

    def call() -> Any:
        value = program(*given)
        return value.detach(), torch.autograd.grad(value, active)

    return call


def newton_sqrt(x, tol):
    y = 0.5 * (1.0 + x)
    while True:
        going = torch.abs(y * y - x) > tol * x
        if not going.any():
            return torch.sum(y)
        y = torch.where(going, 0.5 * (y + x / y), y)


def around(u):
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]


def heat(u, alpha, target, steps):
    for _ in range(steps):
        new = u.clone()
        new[INNER] += alpha * (around(u) - 4.0 * u[INNER])
        u = new
    return 0.5 * torch.sum((u - target) ** 2)


def burgers(u, nu, target, dx, dt, steps):
    for _ in range(steps):
        convection = u[1:-1] * (u[1:-1] - u[:-2]) / dx
        diffusion = nu * (u[2:] - 2.0 * u[1:-1] + u[:-2]) / dx**2
        new = u.clone()
        new[1:-1] += dt * (diffusion - convection)
        u = new
    return 0.5 * dx * torch.sum((u - target) ** 2)


def jacobi2d(a, target, rounds):
    for _ in range(2 * rounds):
        b = a.clone()
        b[INNER] = 0.2 * (a[INNER] + around(a))
        a = b
    return 0.5 * torch.sum((a - target) ** 2)


def heat3d(u, k, target, steps):
    inner = np.s_[1:-1, 1:-1, 1:-1]
    for _ in range(steps):
        near = (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1]
                + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2])  # fmt: skip
        new = u.clone()
        new[inner] += k[inner] * (near - 6.0 * u[inner])
        u = new
    return 0.5 * torch.sum((u - target) ** 2)


def fdtd(ex0, ey0, hz0, drive, target):
    ex, ey, hz = ex0.clone(), ey0.clone(), hz0.clone()
    for source in drive:
        ey[0, :] = source
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return 0.5 * torch.sum((hz - target) ** 2)


def cholesky(A, y):
    L = torch.linalg.cholesky(torch.tril(A) + torch.tril(A, -1).T)
    z = torch.linalg.solve_triangular(L, y[:, None], upper=False)[:, 0]
    return torch.sum(torch.log(torch.diag(L))) + 0.5 * torch.sum(z * z)


def lu(A, b, target):
    return eliminated(NUMPY, A, b, target)


def trisolve(L, b, target):
    x = torch.linalg.solve_triangular(torch.tril(L), b[:, None], upper=False)[:, 0]
    return 0.5 * torch.sum((x - target) ** 2)


def gramschmidt(A0, V, W):
    Q, R = torch.linalg.qr(A0)
    signs = torch.sign(torch.diag(R)).detach()
    return torch.sum(V * (Q * signs)) + torch.sum(W * (R * signs[:, None]))


def convolved(x, weights):
    out = functional.conv2d(x.permute(0, 3, 1, 2), weights.permute(3, 2, 0, 1))
    return out.permute(0, 2, 3, 1)


def conv2d(x, weights, bias, target):
    return 0.5 * torch.sum((convolved(x, weights) + bias - target) ** 2)


def lenet(x, w1, b1, w2, b2, w3, b3, w4, b4, target):
    def pooled(z):
        return functional.max_pool2d(z.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1)

    h = pooled(functional.relu(convolved(x, w1) + b1))
    h = pooled(functional.relu(convolved(h, w2) + b2))
    h = functional.relu(h.reshape(len(x), -1) @ w3 + b3)
    return 0.5 * torch.sum((h @ w4 + b4 - target) ** 2) / len(x)


def cavity(u, v, nu, target, dt, h, steps, rounds):
    c, d = dt / h, nu * dt / h**2
    p = torch.zeros_like(u)
    for _ in range(steps):
        ux, uy = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * h), (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * h)
        vx, vy = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * h), (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * h)
        b = (ux + vy) / dt - ux**2 - 2.0 * uy * vx - vy**2
        for _ in range(rounds):
            new = p.clone()
            new[INNER] = 0.25 * (around(p) - h**2 * b)
            new[:, -1] = new[:, -2]
            new[0, :] = new[1, :]
            new[:, 0] = new[:, 1]
            new[-1, :] = 0.0
            p = new
        ui, vi = u[INNER], v[INNER]

        def moved(w, slope, ui=ui, vi=vi):
            wi = w[INNER]
            return (wi - c * ui * (wi - w[1:-1, :-2]) - c * vi * (wi - w[:-2, 1:-1])
                    - 0.5 * c * slope + d * (around(w) - 4.0 * wi))  # fmt: skip

        u1, v1 = torch.zeros_like(u), torch.zeros_like(v)
        u1[INNER] = moved(u, p[1:-1, 2:] - p[1:-1, :-2])
        v1[INNER] = moved(v, p[2:, 1:-1] - p[:-2, 1:-1])
        u1[-1, :] = 1.0
        u, v = u1, v1
    return 0.5 * torch.sum((u - target) ** 2 + v**2)


def spmv(values, x, start, columns, target):
    rows = torch.repeat_interleave(torch.arange(len(target)), torch.diff(start))
    y = torch.zeros(len(target)).index_add(0, rows, values * x[columns])
    return 0.5 * torch.sum((y - target) ** 2)


OWN = (newton_sqrt, heat, burgers, jacobi2d, heat3d, fdtd, cholesky, lu, trisolve, gramschmidt,
       conv2d, lenet, cavity, spmv)  # fmt: skip
PROGRAMS: dict[str, Callable[..., Any]] = {
    **programs(PEER),
    **recurrences.programs(NUMPY, lambda x: torch.flip(x, (0,))),
    **{f.__name__: f for f in OWN},
}
