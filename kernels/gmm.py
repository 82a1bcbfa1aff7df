"""The log posterior of a mixture of Gaussians with full covariances and a Wishart prior.

    beta[i,c] = alpha[c] + sum of q[c] - |Q_c (x[i] - mu[c])|² / 2
    f = sum over i of LSE(beta[i]) - n ( d/2 log(2 pi) + LSE(alpha) ) + log prior of q and l

Q_c is lower triangular with exp(q[c]) in its diagonal and l[c] below it, column by column.
Source: the `gmm` problem of ADBench and GradBench; it is spelt out in `log_prior` and `objective`.
Arguments: `alpha` (k), `mu` (k, d), `q` (k, d), `l` (k, d (d-1)/2), `x` (n, d), all float64;
`gamma` > 0 float; `m` >= 0 int. Differentiated in `alpha`, `mu`, `q` and `l`.
"""

import math

import numpy as np
from numba import njit
from numba.extending import register_jitable

from kernels.common import SUMS, Array, Dims, pick

ARGNUMS = (0, 1, 2, 3)
SIZES = {
    "small": {"d": 2, "k": 3, "n": 5},
    "medium": {"d": 3, "k": 8, "n": 500},
    "large": {"d": 10, "k": 25, "n": 4_000},
}


@register_jitable
def log_sum_exp(v: Array) -> float:
    top = np.max(v)
    return np.log(np.sum(np.exp(v - top))) + top


@register_jitable
def log_prior_constant(d: int, k: int, gamma: float, m: int) -> float:
    """What the Wishart prior adds whatever the parameters are."""
    freedom = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi)
    for j in range(d):
        log_gamma += math.lgamma(0.5 * (freedom - j))
    return k * (freedom * d * math.log(gamma / math.sqrt(2.0)) - log_gamma)


@register_jitable
def log_prior(Q: Array, q: Array, gamma: float, m: int) -> float:
    k, d = q.shape
    shape = m * np.sum(q) - 0.5 * gamma * gamma * np.sum(Q * Q)
    return log_prior_constant(d, k, gamma, m) + shape


def objective(alpha: Array, mu: Array, q: Array, l: Array, x: Array, gamma: float, m: int) -> float:
    n, d = x.shape
    k = len(alpha)
    Q = np.zeros((k, d, d))
    for c in range(k):
        entry = 0
        for j in range(d):
            Q[c, j, j] = math.exp(q[c, j])
            for i in range(j + 1, d):
                Q[c, i, j] = l[c, entry]
                entry += 1
    offset = alpha + np.sum(q, axis=1)

    beta = np.zeros(k)
    total = 0.0
    for p in range(n):
        for c in range(k):
            square = 0.0
            for i in range(d):
                u = 0.0
                for j in range(i + 1):
                    u += Q[c, i, j] * (x[p, j] - mu[c, j])
                square += u * u
            beta[c] = offset[c] - 0.5 * square
        total += log_sum_exp(beta)
    total -= n * (0.5 * d * math.log(2.0 * math.pi) + log_sum_exp(alpha))
    return total + log_prior(Q, q, gamma, m)


# Components run in the inner loops, all parameters being turned round for that, so that every line
# but the exponentials runs in lanes. The outer product of a point goes to Q's sensitivity at once;
# the product with Q's transpose that mu asks for is linear, so it waits for the sum over points.
@njit(cache=True, error_model="numpy", fastmath=SUMS)
def gradient(
    alpha: Array, mu: Array, q: Array, l: Array, x: Array, gamma: float, m: int
) -> tuple[float, tuple[Array, Array, Array, Array]]:
    n, d = x.shape
    k = len(alpha)
    # Row i of Q, 0 <= j <= i, is Q[i (i+1)/2 + j]; the rest of the file's layouts end in c too.
    Q = np.empty((d * (d + 1) // 2, k))
    g_Q = np.zeros((d * (d + 1) // 2, k))
    offset = np.empty(k)
    value = log_prior_constant(d, k, gamma, m)
    for c in range(k):
        entry = 0
        offset[c] = alpha[c]
        for j in range(d):
            offset[c] += q[c, j]
            value += m * q[c, j]
            diagonal = math.exp(q[c, j])
            Q[j * (j + 1) // 2 + j, c] = diagonal
            value -= 0.5 * gamma * gamma * diagonal * diagonal
            for i in range(j + 1, d):
                Q[i * (i + 1) // 2 + j, c] = l[c, entry]
                value -= 0.5 * gamma * gamma * l[c, entry] * l[c, entry]
                entry += 1

    means = mu.T.copy()
    away = np.empty((d, k))  # x - mu
    u = np.empty((d, k))  # Q (x - mu)
    g_u = np.zeros((d, k))  # the sum over points of p u
    g_alpha = np.zeros(k)
    p = np.empty(k)
    for point in range(n):
        for c in range(k):
            p[c] = 0.0
        for i in range(d):
            row, here, mean = u[i], away[i], means[i]
            xi = x[point, i]
            diagonals = Q[i * (i + 1) // 2 + i]
            for c in range(k):
                here[c] = xi - mean[c]
                row[c] = diagonals[c] * here[c]
            for j in range(i):
                factors, other = Q[i * (i + 1) // 2 + j], away[j]
                for c in range(k):
                    row[c] += factors[c] * other[c]
            for c in range(k):
                p[c] += row[c] * row[c]
        top = offset[0] - 0.5 * p[0]
        for c in range(k):
            p[c] = offset[c] - 0.5 * p[c]
            top = p[c] if p[c] > top else top
        total = 0.0
        for c in range(k):
            p[c] = math.exp(p[c] - top)
            total += p[c]
        value += math.log(total) + top
        scale = 1.0 / total
        for c in range(k):
            p[c] *= scale
            g_alpha[c] += p[c]
        for i in range(d):
            row, sums = u[i], g_u[i]
            for c in range(k):
                row[c] *= p[c]
                sums[c] += row[c]
            for j in range(i + 1):
                entries, other = g_Q[i * (i + 1) // 2 + j], away[j]
                for c in range(k):
                    entries[c] -= row[c] * other[c]

    top = np.max(alpha)
    total = 0.0
    for c in range(k):
        total += math.exp(alpha[c] - top)
    value -= n * (0.5 * d * math.log(2.0 * math.pi) + math.log(total) + top)
    g_mu = np.zeros((k, d))
    g_q = np.empty((k, d))
    g_l = np.empty(l.shape)
    for c in range(k):
        entry = 0
        for j in range(d):
            e = j * (j + 1) // 2 + j
            # g_alpha is still the sum of p alone, which is what q gets through its place in beta.
            g_q[c, j] = g_alpha[c] + m + Q[e, c] * (g_Q[e, c] - gamma * gamma * Q[e, c])
            g_mu[c, j] = Q[e, c] * g_u[j, c]
            for i in range(j + 1, d):
                e = i * (i + 1) // 2 + j
                g_l[c, entry] = g_Q[e, c] - gamma * gamma * Q[e, c]
                g_mu[c, j] += Q[e, c] * g_u[i, c]
                entry += 1
        g_alpha[c] -= n * math.exp(alpha[c] - top) / total
    return value, (g_alpha, g_mu, g_q, g_l)


def inputs(
    size: str | Dims = "small", seed: int = 0
) -> tuple[Array, Array, Array, Array, Array, float, int]:
    dims = pick(size, SIZES)
    d, k, n = dims["d"], dims["k"], dims["n"]
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=k)
    mu = rng.uniform(-1.0, 1.0, (k, d))
    q = 0.5 * rng.normal(size=(k, d))
    l = 0.5 * rng.normal(size=(k, d * (d - 1) // 2))
    return alpha, mu, q, l, rng.normal(size=(n, d)), 1.0, 2
