"""The likelihood of what a hidden Markov chain showed, by the forward algorithm with scaling.

Source: Rabiner, *A Tutorial on Hidden Markov Models* (1989). Arguments: `start` (k), `moves`
(k, k), `shows` (k, m) float64, positive weights whose rows are normalised; `seen` (n) int below m.
Differentiated in the three. Result: minus the log-likelihood.
"""

import numpy as np

from kernels.common import Array, Dims, Ints, by_hand, pick

ARGNUMS = (0, 1, 2)
SIZES = {
    "small": {"n": 4, "k": 2, "m": 3},
    "medium": {"n": 200, "k": 8, "m": 20},
    "large": {"n": 5000, "k": 16, "m": 50},
}


def objective(start: Array, moves: Array, shows: Array, seen: Ints) -> float:
    A = moves / np.sum(moves, axis=1, keepdims=True)
    B = shows / np.sum(shows, axis=1, keepdims=True)
    state = start / np.sum(start)
    total = 0.0
    for t in range(len(seen)):
        if t > 0:
            state = state @ A
        state = state * B[:, seen[t]]
        scale = np.sum(state)
        state = state / scale
        total -= np.log(scale)
    return total


@by_hand
def gradient(
    start: Array, moves: Array, shows: Array, seen: Ints
) -> tuple[float, tuple[Array, Array, Array]]:
    k, m, n = len(start), shows.shape[1], len(seen)
    A, B, states, scales = np.empty((k, k)), np.empty((m, k)), np.empty((n, k)), np.empty(n)
    by_start, by_moves, by_shows = np.empty(k), np.empty((k, k)), np.empty((k, m))
    for i in range(k):
        A[i] = moves[i] / np.sum(moves[i])
        B[:, i] = shows[i] / np.sum(shows[i])
    state, bar, back = start / np.sum(start), np.zeros(k), np.empty(k)
    g_a, g_b = np.zeros((k, k)), np.zeros((m, k))
    total = 0.0
    for t in range(n):
        at, emit = states[t], B[seen[t]]
        if t > 0:
            at[:] = 0.0
            for i in range(k):
                for j in range(k):
                    at[j] += states[t - 1, i] * A[i, j]
        else:
            at[:] = state
        scale = 0.0
        for j in range(k):
            at[j] *= emit[j]
            scale += at[j]
        for j in range(k):
            at[j] /= scale
        scales[t] = scale
        total -= np.log(scale)
    for t in range(n - 1, -1, -1):
        # of state = raw / scale, raw = prior * emit: minus the logarithm of the scale adds -1/scale
        at, emit = states[t], B[seen[t]]
        dot = 0.0
        for j in range(k):
            dot += bar[j] * at[j]
        for j in range(k):
            raw = (bar[j] - dot - 1.0) / scales[t]
            g_b[seen[t], j] += raw * at[j] * scales[t] / emit[j]
            back[j] = raw * emit[j]
        if t > 0:
            for i in range(k):
                s = 0.0
                for j in range(k):
                    g_a[i, j] += states[t - 1, i] * back[j]
                    s += A[i, j] * back[j]
                bar[i] = s
    by_start[:] = (back - np.sum(back * state)) / np.sum(start)
    for i in range(k):
        by_moves[i] = (g_a[i] - np.sum(g_a[i] * A[i])) / np.sum(moves[i])
        by_shows[i] = (g_b[:, i] - np.sum(g_b[:, i] * B[:, i])) / np.sum(shows[i])
    return total, (by_start, by_moves, by_shows)


def inputs(size: str | Dims = "small", seed: int = 0) -> tuple[Array, Array, Array, Ints]:
    n, k, m = (pick(size, SIZES)[key] for key in "nkm")
    rng = np.random.default_rng(seed)
    weights = (rng.uniform(0.1, 1.0, shape) for shape in (k, (k, k), (k, m)))
    return (*weights, rng.integers(0, m, n))
