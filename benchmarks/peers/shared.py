"""Which kernels read alike in JAX, PyTorch and HIPS autograd?

Whole-array programs without assignments. `programs(peer)` makes them for one library, given by the
few functions whose names or keywords differ.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from kernels.gmm import log_prior_constant
from kernels.nbody import EPS2


@dataclass(frozen=True)
class Peer:
    """A library: its NumPy, and what goes by other names or keywords there."""

    np: Any
    asarray: Callable[[Any], Any]  # a constant
    erf: Callable[[Any], Any]
    logsumexp: Callable[[Any, int], Any]  # along an axis
    cross: Callable[[Any, Any], Any]  # of the last axis
    softmax: Callable[[Any], Any]  # along the last axis
    amax: Callable[[Any, int], Any]  # along an axis
    added_at: Callable[[Any, Any, int], Any]  # numbers added up by places, so many


def programs(peer: Peer) -> dict[str, Callable[..., Any]]:
    np = peer.np

    def rosenbrock(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    def logsumexp(x):
        return peer.logsumexp(x, 0)

    def logistic(w, X, y, lam):
        margins = y * (X @ w)
        losses = np.logaddexp(np.zeros_like(margins), -margins)
        return np.sum(losses) / len(y) + 0.5 * lam * np.sum(w * w)

    def black_scholes(spot, strike, vol, maturity, weight, rate):
        spread = vol * np.sqrt(maturity)
        d1 = (np.log(spot / strike) + (rate + 0.5 * vol**2) * maturity) / spread
        n1 = 0.5 * (1.0 + peer.erf(d1 / math.sqrt(2.0)))
        n2 = 0.5 * (1.0 + peer.erf((d1 - spread) / math.sqrt(2.0)))
        return np.sum(weight * (spot * n1 - strike * np.exp(-rate * maturity) * n2))

    def mlp(W1, b1, W2, b2, W3, b3, X, Y):
        h1 = np.tanh(X @ W1 + b1)
        h2 = np.tanh(h1 @ W2 + b2)
        error = h2 @ W3 + b3 - Y
        return 0.5 * np.sum(error * error) / len(X)

    def ba(cams, points, weights, feats, obs):
        cam, point = cams[obs[:, 0]], points[obs[:, 1]]
        r, y = cam[:, :3], point - cam[:, 3:6]
        angle2 = np.sum(r * r, 1)[:, None]
        still = angle2 == 0.0  # no rotation: to first order in r
        angle = np.sqrt(np.where(still, 1.0 + angle2, angle2))
        axis = np.where(still, r, r / angle)
        sine = np.where(still, 1.0 + 0.0 * angle, np.sin(angle))
        cosine = np.where(still, 1.0 + 0.0 * angle, np.cos(angle))
        along = np.sum(axis * y, 1)[:, None] * (1.0 - cosine)
        z = y * cosine + peer.cross(axis, y) * sine + axis * along
        e = z[:, :2] / z[:, 2:]
        s = np.sum(e * e, 1)[:, None]
        zoom = cam[:, 6:7] * (1.0 + cam[:, 9:10] * s + cam[:, 10:11] * s * s)
        error = weights[:, None] * (zoom * e + cam[:, 7:9] - feats)
        return 0.5 * np.sum(error**2) + 0.5 * np.sum((1.0 - weights * weights) ** 2)

    def gmm(alpha, mu, q, l, x, gamma, m):
        (n, d), k = x.shape, len(alpha)
        # column by column, below the diagonal
        places = [i * d + j for j in range(d) for i in range(j + 1, d)]
        spread = peer.asarray(numpy.eye(d * d)[places])
        on_diagonal = peer.asarray(numpy.eye(d * d)[:: d + 1])
        Q = (l @ spread + np.exp(q) @ on_diagonal).reshape(k, d, d)
        u = np.einsum("cij,pcj->pci", Q, x[:, None, :] - mu[None])
        beta = alpha + np.sum(q, 1) - 0.5 * np.sum(u * u, 2)
        total = np.sum(peer.logsumexp(beta, 1))
        total = total - n * (0.5 * d * math.log(2.0 * math.pi) + peer.logsumexp(alpha, 0))
        prior = m * np.sum(q) - 0.5 * gamma * gamma * np.sum(Q * Q)
        return total + log_prior_constant(d, k, gamma, m) + prior

    def pulls(pos, mass, dt):
        apart = pos[None] - pos[:, None]
        r2 = np.sum(apart * apart, 2) + EPS2
        return np.einsum("ij,ijk->ik", dt * mass / (r2 * np.sqrt(r2)), apart)

    def nbody(pos, vel, mass, target, dt, steps):
        for _ in range(steps):
            pos = pos + 0.5 * dt * vel
            vel = vel + pulls(pos, mass, dt)
            pos = pos + 0.5 * dt * vel
        return 0.5 * np.sum((pos - target) ** 2)

    def accelerations(pos, mass):
        apart = pos[None] - pos[:, None]
        r2 = np.sum(apart * apart, 2)
        inv = np.where(r2 > 0.0, np.where(r2 > 0.0, r2, 1.0 + 0.0 * r2) ** -1.5, 0.0 * r2)
        return np.einsum("ij,ijk->ik", inv * mass, apart)

    def crowd(pos, vel, mass, target, dt, steps):
        acc = accelerations(pos, mass)
        for _ in range(steps):
            vel = vel + 0.5 * dt * acc
            pos = pos + dt * vel
            acc = accelerations(pos, mass)
            vel = vel + 0.5 * dt * acc
        return 0.5 * np.sum((pos - target) ** 2)

    def covariance(data, W):
        centred = data - np.mean(data, 0)
        return np.sum(W * (centred.T @ centred)) / (len(data) - 1.0)

    def correlation(data, W):
        n, m = data.shape
        centred = data - np.mean(data, 0)
        std = np.sqrt(np.mean(centred**2, 0))
        std = np.where(std <= 0.1, 1.0 + 0.0 * std, std)
        z = centred / (math.sqrt(n) * std)
        own = peer.asarray(numpy.eye(m))
        return np.sum(W * ((z.T @ z) * (1.0 - own) + own))

    def softmax(x, W):
        return np.sum(W * peer.softmax(x))

    def hdiff(x, coeff, target):
        lap = 4.0 * x[1:-1, 1:-1, :] - (
            x[2:, 1:-1, :] + x[:-2, 1:-1, :] + x[1:-1, 2:, :] + x[1:-1, :-2, :]
        )
        rise = lap[1:, 1:-1, :] - lap[:-1, 1:-1, :]
        uphill = rise * (x[2:-1, 2:-2, :] - x[1:-2, 2:-2, :]) > 0.0
        flx = np.where(uphill, 0.0 * rise, rise)
        rise = lap[1:-1, 1:, :] - lap[1:-1, :-1, :]
        uphill = rise * (x[2:-2, 2:-1, :] - x[2:-2, 1:-2, :]) > 0.0
        fly = np.where(uphill, 0.0 * rise, rise)
        out = x[2:-2, 2:-2, :] - coeff * (flx[1:] - flx[:-1] + fly[:, 1:] - fly[:, :-1])
        return 0.5 * np.sum((out - target) ** 2)

    found = (rosenbrock, logsumexp, logistic, black_scholes, mlp, ba, gmm, nbody, crowd,
             covariance, correlation, softmax, hdiff)  # fmt: skip
    return {f.__name__: f for f in found}


def convolved_by_slices(np, x, weights):
    """A convolution for libraries without one: a product for each element of the window."""
    size = weights.shape[0]
    rows, cols = x.shape[1] - size + 1, x.shape[2] - size + 1
    parts = [x[:, a : a + rows, b : b + cols] @ weights[a, b]
             for a in range(size) for b in range(size)]  # fmt: skip
    return sum(parts[1:], parts[0])


def eliminated(np: Any, A: Any, b: Any, target: Any) -> Any:
    """A linear system, solved column by column: what is left of the matrix gets smaller."""
    rows, y = [], []
    for _ in range(len(b)):
        factor = A[1:, 0] / A[0, 0]
        rows.append(A[0])
        y.append(b[0])
        b = b[1:] - factor * b[0]
        A = A[1:, 1:] - factor[:, None] * A[0, 1:]
    x = target[:0]
    for row, value in zip(rows[::-1], y[::-1], strict=True):
        solved = (value - np.sum(row[1:] * x)) / row[0]
        x = np.concatenate((solved[None], x))
    return 0.5 * np.sum((x - target) ** 2)
