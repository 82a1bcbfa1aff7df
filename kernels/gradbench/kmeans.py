"""How far are points from the nearest of some centroids: the sum of squared distances.

    cost = sum over points of  min over centroids of  |point - centroid|²

Arguments: `points` (n, d), `centroids` (k, d), float64. Differentiated twice in `centroids`.
"""

import numpy as np

from kernels.common import Array


def cost(points: Array, centroids: Array) -> float:
    total = 0.0
    for i in range(len(points)):
        nearest = np.inf
        for c in range(len(centroids)):
            square = 0.0
            for j in range(points.shape[1]):
                away = points[i, j] - centroids[c, j]
                square += away * away
            nearest = min(nearest, square)
        total += nearest
    return total
