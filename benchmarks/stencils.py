"""Are stencils that no pass was made for as fast as gradients written by hand?

    python -m benchmarks.stencils [--sizes small medium large] [--seconds 2]

Four programs, written after the passes: Jacobi's iteration in two dimensions, a wave by leapfrog,
upwind advection, reaction and diffusion with a threshold. Each has its gradient by hand for Numba,
in the manner of `kernels/`; the tests hold both against differences. Printed is jitad's time over
that of the hand-written gradient, round by round: the median and the quartiles.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from benchmarks.timing import interleaved, ratio, readable
from jitad import jit_value_and_grad
from kernels.common import SUMS, Array

_fast = njit(cache=True, error_model="numpy", fastmath=SUMS)


@dataclass(frozen=True)
class Stencil:
    """A program, its gradient by hand in `argnums`, and arguments for n points and some steps."""

    objective: Callable[..., float]
    gradient: Callable[..., tuple[float, tuple[Any, ...]]]
    argnums: tuple[int, ...]
    inputs: Callable[[int, int], tuple[Any, ...]]
    sizes: dict[str, tuple[int, int]]


LINE = {"small": (12, 4), "medium": (200, 100), "large": (4_000, 500)}
PLATE = {"small": (5, 3), "medium": (64, 20), "large": (200, 50)}


# -- Jacobi's iteration for Poisson's equation: which sources give this field? --------------------


def jacobi(u0: Array, source: Array, h: float, sweeps: int) -> float:
    u = u0.copy()
    for _ in range(sweeps):
        u[1:-1, 1:-1] = 0.25 * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - h * h * source[1:-1, 1:-1]
        )
    return np.sum(u * u)


@_fast
def _jacobi_step(u: Array, source: Array, h2: float, out: Array) -> None:
    rows, cols = u.shape
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            out[i, j] = 0.25 * (around - h2 * source[i, j])


@_fast
def _jacobi_back(lam: Array, h2: float, g_source: Array, out: Array) -> None:
    rows, cols = lam.shape
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            g_source[i, j] -= 0.25 * h2 * lam[i, j]
            out[i, j] = 0.25 * (lam[i - 1, j] + lam[i + 1, j] + lam[i, j - 1] + lam[i, j + 1])


@_fast
def jacobi_gradient(
    u0: Array, source: Array, h: float, sweeps: int
) -> tuple[float, tuple[Array, Array]]:
    rows, cols = u0.shape
    u, new = u0.copy(), u0.copy()
    for _ in range(sweeps):
        _jacobi_step(u, source, h * h, new)
        u, new = new, u
    value = 0.0
    g, lam, back = np.empty((rows, cols)), np.zeros((rows, cols)), np.zeros((rows, cols))
    for i in range(rows):
        for j in range(cols):
            value += u[i, j] * u[i, j]
            g[i, j] = 2.0 * u[i, j]
    lam[1:-1, 1:-1] = g[1:-1, 1:-1]
    g_source = np.zeros((rows, cols))
    for _ in range(sweeps):
        for j in range(1, cols - 1):
            g[0, j] += 0.25 * lam[1, j]
            g[rows - 1, j] += 0.25 * lam[rows - 2, j]
        for i in range(1, rows - 1):
            g[i, 0] += 0.25 * lam[i, 1]
            g[i, cols - 1] += 0.25 * lam[i, cols - 2]
        _jacobi_back(lam, h * h, g_source, back)
        lam, back = back, lam
    g[1:-1, 1:-1] = lam[1:-1, 1:-1]
    return value, (g, g_source)


def _jacobi_inputs(n: int, sweeps: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, n + 1)), rng.normal(size=(n, n + 1)), 1.0 / n, sweeps


# -- a wave in a string of varying speed, by leapfrog ---------------------------------------------


def wave(u0: Array, speed: Array, r: float, steps: int) -> float:
    before, u, after = u0.copy(), u0.copy(), u0.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            bend = u[i + 1] - 2.0 * u[i] + u[i - 1]
            after[i] = 2.0 * u[i] - before[i] + r * speed[i] ** 2 * bend
        before, u, after = u, after, before
    return np.sum(u * u)


@_fast
def _wave_step(before: Array, u: Array, pull: Array, out: Array) -> None:
    for i in range(1, len(u) - 1):
        bend = u[i + 1] - 2.0 * u[i] + u[i - 1]
        out[i] = 2.0 * u[i] - before[i] + pull[i] * bend


@_fast
def _wave_back(u: Array, lam: Array, older: Array, pull: Array, g_pull: Array) -> None:
    """`lam` of the step's result, `older` of u on entry and of what came before u on exit."""
    for i in range(1, len(u) - 1):
        g_pull[i] += lam[i] * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        bent = pull[i - 1] * lam[i - 1] - 2.0 * pull[i] * lam[i] + pull[i + 1] * lam[i + 1]
        older[i] += 2.0 * lam[i] + bent


@_fast
def wave_gradient(
    u0: Array, speed: Array, r: float, steps: int
) -> tuple[float, tuple[Array, Array]]:
    n = len(u0)
    pull = np.empty(n)
    for i in range(n):
        pull[i] = r * speed[i] * speed[i]
    path = np.empty((steps + 2, n))
    path[0] = u0
    path[1] = u0
    for t in range(steps):
        path[t + 2, 0] = u0[0]
        path[t + 2, n - 1] = u0[n - 1]
        _wave_step(path[t], path[t + 1], pull, path[t + 2])
    value = 0.0
    g, g_pull = np.empty(n), np.zeros(n)
    lam, older = np.zeros(n), np.zeros(n)  # of the newest level and of the one before; ends zero
    for i in range(n):
        value += path[steps + 1, i] * path[steps + 1, i]
        g[i] = 2.0 * path[steps + 1, i]
    lam[1:-1] = g[1:-1]
    for t in range(steps - 1, -1, -1):
        g[0] += pull[1] * lam[1]
        g[n - 1] += pull[n - 2] * lam[n - 2]
        _wave_back(path[t + 1], lam, older, pull, g_pull)
        for i in range(1, n - 1):
            lam[i] = -lam[i]  # of the level two before
        lam, older = older, lam
    g[1:-1] = lam[1:-1] + older[1:-1]
    g_speed = np.empty(n)
    for i in range(n):
        g_speed[i] = 2.0 * r * speed[i] * g_pull[i]
    return value, (g, g_speed)


def _wave_inputs(n: int, steps: int) -> tuple[Any, ...]:
    x = np.linspace(0.0, 1.0, n)
    return np.exp(-50.0 * (x - 0.4) ** 2), 0.8 + 0.1 * np.sin(9.0 * x), 0.9, steps


# -- upwind advection with a given wind -----------------------------------------------------------


def advection(u0: Array, wind: Array, dt: float, dx: float, steps: int) -> float:
    u = u0.copy()
    for _ in range(steps):
        flux = wind * u
        u[1:] = u[1:] - dt * (flux[1:] - flux[:-1]) / dx
    return 0.5 * np.sum(u**2)


@_fast
def _advection_step(u: Array, wind: Array, c: float, out: Array) -> None:
    for i in range(1, len(u)):
        out[i] = u[i] - c * (wind[i] * u[i] - wind[i - 1] * u[i - 1])


@_fast
def _advection_back(
    u: Array, wind: Array, lam: Array, c: float, g_wind: Array, out: Array
) -> None:
    for i in range(1, len(u) - 1):
        out_of_flux = c * (lam[i + 1] - lam[i])
        g_wind[i] += u[i] * out_of_flux
        out[i] = lam[i] + wind[i] * out_of_flux


@_fast
def advection_gradient(
    u0: Array, wind: Array, dt: float, dx: float, steps: int
) -> tuple[float, tuple[Array, Array]]:
    n, c = len(u0), dt / dx
    path = np.empty((steps + 1, n))
    path[0] = u0
    for t in range(steps):
        path[t + 1, 0] = u0[0]
        _advection_step(path[t], wind, c, path[t + 1])
    value = 0.0
    lam, new, g_wind = np.empty(n), np.empty(n), np.zeros(n)
    for i in range(n):
        value += path[steps, i] * path[steps, i]
        lam[i] = path[steps, i]
    for t in range(steps - 1, -1, -1):
        u = path[t]
        first, last = c * lam[1], -c * lam[n - 1]
        g_wind[0] += u[0] * first
        g_wind[n - 1] += u[n - 1] * last
        _advection_back(u, wind, lam, c, g_wind, new)
        new[0] = lam[0] + wind[0] * first
        new[n - 1] = lam[n - 1] + wind[n - 1] * last
        lam, new = new, lam
    return 0.5 * value, (lam, g_wind)


def _advection_inputs(n: int, steps: int) -> tuple[Any, ...]:
    x = np.linspace(0.0, 1.0, n)
    dx = float(x[1])
    return np.exp(-50.0 * (x - 0.3) ** 2), 1.0 + 0.2 * np.sin(7.0 * x), 0.4 * dx, dx, steps


# -- reaction above a threshold, and diffusion ----------------------------------------------------


def reaction(u0: Array, rate: float, spread: float, dt: float, steps: int) -> float:
    u = u0.copy()
    for _ in range(steps):
        inner = u[1:-1]
        grown = np.where(inner > 0.3, rate * inner * (1.0 - inner), 0.0)
        u[1:-1] = inner + dt * (spread * (u[:-2] - 2.0 * inner + u[2:]) + grown)
    return np.sum(u**2)


@_fast
def _reaction_step(u: Array, rate: float, spread: float, dt: float, out: Array) -> None:
    for i in range(1, len(u) - 1):
        grown = rate * u[i] * (1.0 - u[i]) if u[i] > 0.3 else 0.0
        out[i] = u[i] + dt * (spread * (u[i - 1] - 2.0 * u[i] + u[i + 1]) + grown)


@_fast
def _reaction_back(
    u: Array, lam: Array, rate: float, spread: float, dt: float, out: Array
) -> tuple[float, float]:
    g_rate = g_spread = 0.0
    for i in range(1, len(u) - 1):
        slope = rate * (1.0 - 2.0 * u[i]) if u[i] > 0.3 else 0.0
        g_rate += lam[i] * (u[i] * (1.0 - u[i]) if u[i] > 0.3 else 0.0)
        g_spread += lam[i] * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        out[i] = lam[i] + dt * (
            spread * (lam[i - 1] - 2.0 * lam[i] + lam[i + 1]) + slope * lam[i]
        )
    return dt * g_rate, dt * g_spread


@_fast
def reaction_gradient(
    u0: Array, rate: float, spread: float, dt: float, steps: int
) -> tuple[float, tuple[Array, float, float]]:
    n = len(u0)
    path = np.empty((steps + 1, n))
    path[0] = u0
    for t in range(steps):
        path[t + 1, 0] = u0[0]
        path[t + 1, n - 1] = u0[n - 1]
        _reaction_step(path[t], rate, spread, dt, path[t + 1])
    value = 0.0
    g, lam, new = np.empty(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        value += path[steps, i] * path[steps, i]
        g[i] = 2.0 * path[steps, i]
    lam[1:-1] = g[1:-1]
    g_rate = g_spread = 0.0
    for t in range(steps - 1, -1, -1):
        g[0] += dt * spread * lam[1]
        g[n - 1] += dt * spread * lam[n - 2]
        more_rate, more_spread = _reaction_back(path[t], lam, rate, spread, dt, new)
        g_rate += more_rate
        g_spread += more_spread
        lam, new = new, lam
    g[1:-1] = lam[1:-1]
    return value, (g, g_rate, g_spread)


def _reaction_inputs(n: int, steps: int) -> tuple[Any, ...]:
    x = np.linspace(0.0, 1.0, n)
    return 0.9 * np.exp(-40.0 * (x - 0.5) ** 2), 1.5, 0.8, 0.1, steps


STENCILS = {
    "jacobi": Stencil(jacobi, jacobi_gradient, (0, 1), _jacobi_inputs, PLATE),
    "wave": Stencil(wave, wave_gradient, (0, 1), _wave_inputs, LINE),
    "advection": Stencil(advection, advection_gradient, (0, 1), _advection_inputs, LINE),
    "reaction": Stencil(reaction, reaction_gradient, (0, 1, 2), _reaction_inputs, LINE),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=["medium"], choices=list(LINE))
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    for name, stencil in STENCILS.items():
        ours = jit_value_and_grad(stencil.objective, argnums=stencil.argnums)
        for size in options.sizes:
            args = stencil.inputs(*stencil.sizes[size])
            ours(*args)
            stencil.gradient(*args)
            times = interleaved(
                {
                    "jitad": lambda ours=ours, args=args: ours(*args),
                    "hand": lambda s=stencil, args=args: s.gradient(*args),
                },
                rounds=40,
                seconds=options.seconds,
            )
            q = ratio(times["jitad"], times["hand"])
            hand = readable(float(np.median(times["hand"])))
            print(f"{name:10} {size:7} hand {hand:>8}  jitad/hand {q.median:.2f} "
                  f"({q.low:.2f} to {q.high:.2f})", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
