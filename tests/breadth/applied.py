"""Uses of NumPy's functions that call a function of the user's."""

from __future__ import annotations

import numpy as np

from tests.breadth.case import add, draws

r, n = draws(31)

V, W, M, T = n(5), r(5), n(3, 4), r(2, 3, 4)

add("array.vectorised", lambda a: np.vectorize(lambda x: x * x if x > 0.3 else -x)(a), V,
    native=True)
add("array.vectorised", lambda a, b: np.vectorize(lambda x, y: (x * y, x + y))(a, b[:, None]), V, W)
add("array.vectorised", lambda a: np.vectorize(lambda x: x * x)(a[0]), V)


@np.vectorize
def bent(x, k=2):
    """A function that was vectorised outside, with a loop in it."""
    total = 0.0
    while total < 1.0:
        total += x * x + 0.3 * k
    return total


add("array.vectorised", lambda a: bent(a) + bent(a, 3), W, native=True)
add("array.vectorised", lambda a: np.vectorize(np.sum, signature="(n)->()")(a * a), T)
add("array.vectorised", lambda a: np.vectorize(lambda r, k: r * k, signature="(n),()->(n)")(
    a, a[:, 0]), M)
add("array.vectorised", lambda a: np.vectorize(lambda p, x: p[0] + p[1] * x, excluded={0})(
    a[:2], a), V)
add("array.vectorised", lambda a: np.vectorize(lambda x: x > 0.0, otypes=[float])(a) * a, V)
add("numpy.apply_over_axes", lambda a: np.apply_over_axes(np.sum, a, [0, 2]), T, native=True)
add("numpy.apply_along_axis",
    lambda a: np.apply_along_axis(lambda v: v * v[0] if v[0] > 0.0 else -v, -1, a), M, native=True)
add("numpy.apply_along_axis", lambda a: np.apply_along_axis(np.sum, 1, a), T)
add("numpy.piecewise", lambda a: np.piecewise(
    a, [a < 0.0, a >= 0.0], [lambda x, k: x * k, lambda x, k: x + k], 2.0), V)
add("numpy.fromfunction",
    lambda a: np.fromfunction(lambda i, j: a[i, j] * (i - j), (3, 4), dtype=int), M)
