"""The value of a portfolio of European call options by the Black-Scholes formula.

    d1 = (log(S/K) + (r + v²/2) T) / (v sqrt T),   d2 = d1 - v sqrt T
    f  = sum of  weight * ( S N(d1) - K exp(-r T) N(d2) ),   N(d) = (1 + erf(d / sqrt 2)) / 2

Source: F. Black, M. Scholes, Journal of Political Economy 81 (1973). Arguments: `spot` S,
`strike` K, `vol` v, `maturity` T, `weight`, each (n) float64 and all but the weights positive;
`rate` r float. Differentiated in `spot`, `vol` and `rate`: the Greeks delta, vega and rho.
"""

import math

import numpy as np
from numba import njit

from kernels.common import SUMS, Array, pick

ARGNUMS = (0, 2, 5)
SIZES = {"small": 10, "medium": 1_000, "large": 50_000}


def objective(
    spot: Array, strike: Array, vol: Array, maturity: Array, weight: Array, rate: float
) -> float:
    value = 0.0
    for i in range(len(spot)):
        spread = vol[i] * math.sqrt(maturity[i])
        drift = (rate + 0.5 * vol[i] ** 2) * maturity[i]
        d1 = (math.log(spot[i] / strike[i]) + drift) / spread
        d2 = d1 - spread
        n1 = 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0)))
        n2 = 0.5 * (1.0 + math.erf(d2 / math.sqrt(2.0)))
        discounted = strike[i] * math.exp(-rate * maturity[i])
        value += weight[i] * (spot[i] * n1 - discounted * n2)
    return value


@njit(cache=True, error_model="numpy", fastmath=SUMS)
def gradient(
    spot: Array, strike: Array, vol: Array, maturity: Array, weight: Array, rate: float
) -> tuple[float, tuple[Array, Array, float]]:
    n = len(spot)
    delta = np.empty(n)
    vega = np.empty(n)
    value = 0.0
    rho = 0.0
    half_root = math.sqrt(0.5)
    density = 1.0 / math.sqrt(2.0 * math.pi)
    # The closed forms: S N'(d1) = K exp(-rT) N'(d2) cancels every path through d1 and d2 but one.
    for i in range(n):
        root = math.sqrt(maturity[i])
        spread = vol[i] * root
        drift = (rate + 0.5 * vol[i] * vol[i]) * maturity[i]
        d1 = (math.log(spot[i] / strike[i]) + drift) / spread
        d2 = d1 - spread
        n1 = 0.5 + 0.5 * math.erf(d1 * half_root)
        n2 = 0.5 + 0.5 * math.erf(d2 * half_root)
        cash = strike[i] * math.exp(-rate * maturity[i]) * n2
        value += weight[i] * (spot[i] * n1 - cash)
        delta[i] = weight[i] * n1
        vega[i] = weight[i] * spot[i] * root * density * math.exp(-0.5 * d1 * d1)
        rho += weight[i] * maturity[i] * cash
    return value, (delta, vega, rho)


def inputs(
    size: str | int = "small", seed: int = 0
) -> tuple[Array, Array, Array, Array, Array, float]:
    n = pick(size, SIZES)
    rng = np.random.default_rng(seed)
    spot = rng.uniform(50.0, 150.0, n)
    strike = spot * rng.uniform(0.7, 1.3, n)
    vol = rng.uniform(0.1, 0.6, n)
    maturity = rng.uniform(0.1, 2.0, n)
    weight = rng.normal(0.0, 1.0, n)
    return spot, strike, vol, maturity, weight, 0.03
