"""Predator and prey: which Lotka-Volterra equations explain twenty years of fur trade?

    hare' = (birth - eaten · lynx) hare        lynx' = (grown · hare - death) lynx

The unknowns are the logarithms of birth, eaten, death, grown and of both first populations. The
equations are integrated by the classical Runge-Kutta method, a fixed number of steps a year.
"""

import math

import numpy as np
from numba import njit

from benchmarks.demo import datasets
from benchmarks.demo.problem import Problem

STEPS = 20


def objective(x, hares, lynxes, steps):
    """Half the sum of squared differences of logarithms, over all years and both animals."""
    birth, eaten, death, grown = np.exp(x[0]), np.exp(x[1]), np.exp(x[2]), np.exp(x[3])
    hare, lynx = np.exp(x[4]), np.exp(x[5])
    h = 1.0 / steps
    total = (x[4] - np.log(hares[0])) ** 2 + (x[5] - np.log(lynxes[0])) ** 2
    for year in range(1, len(hares)):
        for _ in range(steps):
            hare1 = (birth - eaten * lynx) * hare
            lynx1 = (grown * hare - death) * lynx
            u, v = hare + 0.5 * h * hare1, lynx + 0.5 * h * lynx1
            hare2 = (birth - eaten * v) * u
            lynx2 = (grown * u - death) * v
            u, v = hare + 0.5 * h * hare2, lynx + 0.5 * h * lynx2
            hare3 = (birth - eaten * v) * u
            lynx3 = (grown * u - death) * v
            u, v = hare + h * hare3, lynx + h * lynx3
            hare4 = (birth - eaten * v) * u
            lynx4 = (grown * u - death) * v
            hare = hare + h / 6.0 * (hare1 + 2.0 * hare2 + 2.0 * hare3 + hare4)
            lynx = lynx + h / 6.0 * (lynx1 + 2.0 * lynx2 + 2.0 * lynx3 + lynx4)
        total += np.log(hare / hares[year]) ** 2 + np.log(lynx / lynxes[year]) ** 2
    return 0.5 * total


@njit(fastmath={"reassoc", "contract"})
def gradient(x, hares, lynxes, steps):
    """Forwards keeping each step's state, then backwards through the stages, made again."""
    birth, eaten, death, grown = math.exp(x[0]), math.exp(x[1]), math.exp(x[2]), math.exp(x[3])
    hare, lynx = math.exp(x[4]), math.exp(x[5])
    h = 1.0 / steps
    half, sixth = 0.5 * h, h / 6.0
    years = hares.size
    kept = np.empty(((years - 1) * steps, 2))
    misses = np.empty((years, 2))  # also d value / d log(population)
    ends = np.empty((years, 2))
    misses[0, 0], misses[0, 1] = x[4] - math.log(hares[0]), x[5] - math.log(lynxes[0])
    total = misses[0, 0] ** 2 + misses[0, 1] ** 2
    at = 0
    for year in range(1, years):
        for _ in range(steps):
            kept[at, 0], kept[at, 1] = hare, lynx
            at += 1
            p1, q1 = (birth - eaten * lynx) * hare, (grown * hare - death) * lynx
            u, v = hare + half * p1, lynx + half * q1
            p2, q2 = (birth - eaten * v) * u, (grown * u - death) * v
            u, v = hare + half * p2, lynx + half * q2
            p3, q3 = (birth - eaten * v) * u, (grown * u - death) * v
            u, v = hare + h * p3, lynx + h * q3
            p4, q4 = (birth - eaten * v) * u, (grown * u - death) * v
            hare += sixth * (p1 + 2.0 * (p2 + p3) + p4)
            lynx += sixth * (q1 + 2.0 * (q2 + q3) + q4)
        ends[year, 0], ends[year, 1] = hare, lynx
        misses[year, 0] = math.log(hare / hares[year])
        misses[year, 1] = math.log(lynx / lynxes[year])
        total += misses[year, 0] ** 2 + misses[year, 1] ** 2

    hare_bar = lynx_bar = birth_bar = eaten_bar = death_bar = grown_bar = 0.0
    for year in range(years - 1, 0, -1):
        hare_bar += misses[year, 0] / ends[year, 0]
        lynx_bar += misses[year, 1] / ends[year, 1]
        for _ in range(steps):
            at -= 1
            u1, v1 = kept[at, 0], kept[at, 1]
            g1, d1 = birth - eaten * v1, grown * u1 - death
            u2, v2 = u1 + half * g1 * u1, v1 + half * d1 * v1
            g2, d2 = birth - eaten * v2, grown * u2 - death
            u3, v3 = u1 + half * g2 * u2, v1 + half * d2 * v2
            g3, d3 = birth - eaten * v3, grown * u3 - death
            u4, v4 = u1 + h * g3 * u3, v1 + h * d3 * v3
            g4, d4 = birth - eaten * v4, grown * u4 - death

            # For each stage: sensitivities a, b of its slopes, then c, e of its point (u, v).
            a4, b4 = sixth * hare_bar, sixth * lynx_bar
            c4 = g4 * a4 + grown * v4 * b4
            e4 = d4 * b4 - eaten * u4 * a4
            a3, b3 = 2.0 * a4 + h * c4, 2.0 * b4 + h * e4
            c3 = g3 * a3 + grown * v3 * b3
            e3 = d3 * b3 - eaten * u3 * a3
            a2, b2 = 2.0 * a4 + half * c3, 2.0 * b4 + half * e3
            c2 = g2 * a2 + grown * v2 * b2
            e2 = d2 * b2 - eaten * u2 * a2
            a1, b1 = a4 + half * c2, b4 + half * e2
            c1 = g1 * a1 + grown * v1 * b1
            e1 = d1 * b1 - eaten * u1 * a1
            birth_bar += a1 * u1 + a2 * u2 + a3 * u3 + a4 * u4
            death_bar -= b1 * v1 + b2 * v2 + b3 * v3 + b4 * v4
            uv1, uv2, uv3, uv4 = u1 * v1, u2 * v2, u3 * v3, u4 * v4
            eaten_bar -= a1 * uv1 + a2 * uv2 + a3 * uv3 + a4 * uv4
            grown_bar += b1 * uv1 + b2 * uv2 + b3 * uv3 + b4 * uv4
            hare_bar += c1 + c2 + c3 + c4
            lynx_bar += e1 + e2 + e3 + e4

    result = np.empty(6)
    result[0], result[1] = birth_bar * birth, eaten_bar * eaten
    result[2], result[3] = death_bar * death, grown_bar * grown
    result[4] = hare_bar * math.exp(x[4]) + misses[0, 0]
    result[5] = lynx_bar * math.exp(x[5]) + misses[0, 1]
    return 0.5 * total, result


def trajectory(x: np.ndarray, years: int, steps: int = STEPS) -> tuple[np.ndarray, np.ndarray]:
    """Times since the first year, and both populations at them."""
    birth, eaten, death, grown = np.exp(x[:4])

    def slope(state):
        hare, lynx = state
        return np.array([(birth - eaten * lynx) * hare, (grown * hare - death) * lynx])

    h = 1.0 / steps
    states = [np.exp(x[4:])]
    for _ in range((years - 1) * steps):
        state = states[-1]
        first = slope(state)
        second = slope(state + 0.5 * h * first)
        third = slope(state + 0.5 * h * second)
        fourth = slope(state + h * third)
        states.append(state + h / 6.0 * (first + 2.0 * second + 2.0 * third + fourth))
    return np.arange(len(states)) * h, np.array(states)


def problem() -> Problem:
    _, hares, lynxes = datasets.lynx_hare()

    def verdict(x):
        birth, eaten, death, grown = np.exp(x[:4])
        period = 2.0 * np.pi / np.sqrt(birth * death)
        found = (
            f"birth {birth:.3f}, eaten {eaten:.4f}, death {death:.3f}, grown {grown:.4f} a year; "
            f"small cycles take {period:.1f} years"
        )
        return found, 8.0 < period < 12.0

    return Problem(
        name="predator and prey",
        objective=objective,
        gradient=gradient,
        start=np.log([1.0, 0.05, 1.0, 0.02, hares[0], lynxes[0]]),
        args=(hares, lynxes, STEPS),
        complex_safe=True,
        verdict=verdict,
    )
