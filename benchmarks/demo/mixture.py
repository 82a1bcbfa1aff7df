"""Gaussian mixture: do three full-covariance normals find the three species of iris?

The parameters lie in one vector: a logit for each component; the means; for each component the
lower-triangular factor L of its precision (covariance⁻¹ = LᵀL), as the logarithms of the diagonal
and then the entries below it, row by row.
"""

import math
from itertools import permutations

import numpy as np
from numba import njit

from benchmarks.demo import datasets
from benchmarks.demo.problem import Problem

COMPONENTS = 3


def objective(x, data, components, strength):
    """Negative log-likelihood with a weak prior that keeps any component from collapsing."""
    rows, columns = data.shape
    below = columns * (columns - 1) // 2
    logits = x[:components]
    means = x[components : components * (1 + columns)].reshape(components, columns)
    rest = x[components * (1 + columns) :]
    diagonals = rest[: components * columns].reshape(components, columns)
    lowers = rest[components * columns :].reshape(components, below)

    heights = logits + np.sum(diagonals, axis=1)
    scales = np.exp(diagonals)
    joint = np.zeros(components, dtype=x.dtype)
    total = rows * np.log(np.sum(np.exp(logits)))
    for i in range(rows):
        for k in range(components):
            square = 0.0
            for r in range(columns):
                z = scales[k, r] * (data[i, r] - means[k, r])
                for c in range(r):
                    z += lowers[k, r * (r - 1) // 2 + c] * (data[i, c] - means[k, c])
                square += z * z
            joint[k] = heights[k] - 0.5 * square
        peak = np.max(joint)
        total -= peak + np.log(np.sum(np.exp(joint - peak)))
    constant = 0.5 * columns * rows * np.log(2.0 * np.pi)
    return total + constant + 0.5 * strength * (np.sum(scales**2) + np.sum(lowers**2))


@njit(fastmath={"reassoc", "contract"}, error_model="numpy")
def gradient(x, data, components, strength):
    """By columns: whatever touches all points is a loop that vectorises, exponentials aside."""
    rows, columns = data.shape
    below = columns * (columns - 1) // 2
    at_means = components
    at_diagonals = at_means + components * columns
    at_lowers = at_diagonals + components * columns
    result = np.zeros(x.size)
    apart = np.empty((components, columns, rows))
    white = np.empty((components, columns, rows))
    joint = np.empty((components, rows))

    weight = 0.0
    penalty = 0.0
    for k in range(components):
        weight += math.exp(x[k])
        height = x[k]
        squares = joint[k]
        squares[:] = 0.0
        for r in range(columns):
            spot = k * columns + r
            height += x[at_diagonals + spot]
            scale = math.exp(x[at_diagonals + spot])
            penalty += scale * scale
            d = apart[k, r]
            z = white[k, r]
            mean = x[at_means + spot]
            for i in range(rows):
                d[i] = data[i, r] - mean
                z[i] = scale * d[i]
            for c in range(r):
                entry = x[at_lowers + k * below + r * (r - 1) // 2 + c]
                other = apart[k, c]
                for i in range(rows):
                    z[i] += entry * other[i]
            for i in range(rows):
                squares[i] += z[i] * z[i]
        for i in range(rows):
            squares[i] = height - 0.5 * squares[i]
    value = rows * math.log(weight) + 0.5 * columns * rows * math.log(2.0 * math.pi)

    for i in range(rows):
        peak = joint[0, i]
        for k in range(1, components):
            peak = max(peak, joint[k, i])
        total = 0.0
        for k in range(components):
            joint[k, i] = math.exp(joint[k, i] - peak)
            total += joint[k, i]
        value -= peak + math.log(total)
        for k in range(components):
            joint[k, i] /= total

    for k in range(components):
        share = joint[k]
        taken = 0.0
        for i in range(rows):
            taken += share[i]
        result[k] = rows * math.exp(x[k]) / weight - taken
        for r in range(columns):
            spot = k * columns + r
            scale = math.exp(x[at_diagonals + spot])
            d = apart[k, r]
            pull = white[k, r]
            pulled = 0.0
            turned = 0.0
            for i in range(rows):
                pull[i] *= share[i]
                pulled += pull[i]
                turned += pull[i] * d[i]
            result[at_means + spot] -= pulled * scale
            result[at_diagonals + spot] = turned * scale - taken + strength * scale * scale
            for c in range(r):
                entry = at_lowers + k * below + r * (r - 1) // 2 + c
                other = apart[k, c]
                turned = 0.0
                for i in range(rows):
                    turned += pull[i] * other[i]
                result[at_means + k * columns + c] -= pulled * x[entry]
                result[entry] = turned + strength * x[entry]
                penalty += x[entry] ** 2
    return value + 0.5 * strength * penalty, result


def unpack(x: np.ndarray, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The components' probabilities, means and covariances."""
    below = columns * (columns - 1) // 2
    sizes = np.cumsum([1, columns, columns]) * COMPONENTS
    logits, means, diagonals, lowers = np.split(x, sizes)
    factors = np.zeros((COMPONENTS, columns, columns))
    inside = np.arange(columns)
    factors[:, inside, inside] = np.exp(diagonals.reshape(COMPONENTS, columns))
    factors[:, *np.tril_indices(columns, -1)] = lowers.reshape(COMPONENTS, below)
    precisions = np.swapaxes(factors, 1, 2) @ factors
    probabilities = np.exp(logits - logits.max())
    return (
        probabilities / probabilities.sum(),
        means.reshape(COMPONENTS, columns),
        np.linalg.inv(precisions),
    )


def assign(x: np.ndarray, data: np.ndarray) -> np.ndarray:
    """The likeliest component of each point."""
    scores = []
    for probability, mean, covariance in zip(*unpack(x, data.shape[1]), strict=True):
        apart = data - mean
        squares = np.sum(apart @ np.linalg.inv(covariance) * apart, axis=1)
        scores.append(np.log(probability) - 0.5 * (np.linalg.slogdet(covariance)[1] + squares))
    return np.argmax(scores, axis=0)


def problem() -> Problem:
    data, species = datasets.iris()
    columns = data.shape[1]
    # Three flowers from the lower, middle and upper sixth by petal length, spread as all are.
    order = np.argsort(data[:, 2], kind="stable")
    centres = data[order[[25, 75, 125]]]
    start = np.concatenate(
        [
            np.zeros(COMPONENTS),
            centres.ravel(),
            np.tile(-np.log(data.std(axis=0)), COMPONENTS),
            np.zeros(COMPONENTS * columns * (columns - 1) // 2),
        ]
    )

    def verdict(x):
        found = assign(x, data)
        right = max(
            np.mean(np.array(naming)[found] == species)
            for naming in permutations(range(COMPONENTS))
        )
        return f"{100 * right:.1f} % of the flowers are with their species", right > 0.95

    return Problem(
        name="Gaussian mixture",
        objective=objective,
        gradient=gradient,
        start=start,
        args=(data, COMPONENTS, 1e-3),
        complex_safe=True,
        verdict=verdict,
    )
