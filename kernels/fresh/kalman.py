"""The likelihood of a local linear trend, by Kalman's filter.

    level' = level + slope + noise,  slope' = slope + noise,  y = level + noise

Source: Harvey, *Forecasting, Structural Time Series Models and the Kalman Filter* (1989), ch. 4.
Arguments: `logs` (3) float64, the logarithms of the variances (level, slope, observation); `y` (n).
Differentiated in `logs`. Result: minus the log-likelihood, without its constant.
"""

import numpy as np

from kernels.common import Array, Dims, by_hand, pick

ARGNUMS = 0
SIZES = {"small": {"n": 5}, "medium": {"n": 500}, "large": {"n": 50_000}}


def objective(logs: Array, y: Array) -> float:
    variances = np.exp(logs)
    F = np.array([[1.0, 1.0], [0.0, 1.0]])
    Q = np.diag(variances[:2])
    m, P = np.zeros(2), 10.0 * np.eye(2)
    total = 0.0
    for t in range(len(y)):
        m, P = F @ m, F @ P @ F.T + Q
        e, S = y[t] - m[0], P[0, 0] + variances[2]
        gain = P[:, 0] / S
        m = m + gain * e
        P = P - np.outer(gain, P[0])
        total += 0.5 * (np.log(S) + e * e / S)
    return total


@by_hand
def gradient(logs: Array, y: Array) -> tuple[float, Array]:
    n = len(y)
    q0, q1, r = np.exp(logs[0]), np.exp(logs[1]), np.exp(logs[2])
    kept = np.empty((n, 3))
    m0, m1, p00, p01, p11, total = 0.0, 0.0, 10.0, 0.0, 10.0, 0.0
    for t in range(n):
        a00, a01, a11 = p00 + 2.0 * p01 + p11 + q0, p01 + p11, p11 + q1
        n0 = m0 + m1
        e, inverse = y[t] - n0, 1.0 / (a00 + r)
        k0, k1 = a00 * inverse, a01 * inverse
        kept[t, 0], kept[t, 1], kept[t, 2] = a00, a01, e
        m0, m1 = n0 + k0 * e, m1 + k1 * e
        p00, p01, p11 = a00 * (1.0 - k0), a01 * (1.0 - k0), a11 - k1 * a01
        total += 0.5 * (np.log(a00 + r) + e * e * inverse)
    m0, m1, p00, p01, p11, g0, g1, g2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(n - 1, -1, -1):
        a00, a01, e = kept[t, 0], kept[t, 1], kept[t, 2]
        inverse = 1.0 / (a00 + r)
        k0, k1 = a00 * inverse, a01 * inverse
        k0_bar = e * m0 - a01 * p01 - a00 * p00
        k1_bar = e * m1 - a01 * p11
        e_bar = k0 * m0 + k1 * m1 + e * inverse
        s_bar = inverse * (0.5 - 0.5 * e * e * inverse - k1_bar * k1 - k0_bar * k0)
        a00_bar = (1.0 - k0) * p00 + k0_bar * inverse + s_bar
        a01_bar = (1.0 - k0) * p01 - k1 * p11 + k1_bar * inverse
        a11_bar = p11
        g0, g1, g2 = g0 + a00_bar, g1 + a11_bar, g2 + s_bar
        p00, p01, p11 = a00_bar, 2.0 * a00_bar + a01_bar, a00_bar + a01_bar + a11_bar
        m0 = m0 - e_bar
        m1 = m1 + m0
    return total, np.array([g0 * q0, g1 * q1, g2 * r])


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array]:
    n = pick(size, SIZES)["n"]
    rng = np.random.default_rng(seed)
    level = np.cumsum(0.01 * np.cumsum(rng.normal(size=n)) + 0.1 * rng.normal(size=n))
    return np.log(np.array([0.02, 0.001, 0.3])), level + 0.5 * rng.normal(size=n)
