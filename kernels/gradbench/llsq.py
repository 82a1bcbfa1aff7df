"""How well does a polynomial follow the sign of a number in [-1, 1]: least squares.

    y = 1/2 * sum over i of ( sign(t_i) - sum over j of x_j t_i^j )²,   t_i = 2i / (n - 1) - 1

Arguments: `x` (m) float64, the coefficients; `n` >= 2 int, the number of places.
"""

import numpy as np

from kernels.common import Array


def objective(x: Array, n: int) -> float:
    total = 0.0
    for i in range(n):
        t = (2 * i) / (n - 1) - 1.0
        left = np.sign(t)
        power = 1.0
        for j in range(len(x)):
            left -= x[j] * power
            power *= t
        total += left * left
    return 0.5 * total
