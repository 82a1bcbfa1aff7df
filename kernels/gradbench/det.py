"""The determinant by expansion along the first row, minors and all: about e * ell! operations.

    det M = sum over j of (-1)^j M[0, j] det(M without row 0 and column j)

The columns that are left are a linked list: `after[j]` is the column after column j, `after[ell]`
the first one, and ell stands for the end. Each recursion takes a column out and puts it back.
Arguments: `a` (ell * ell) float64, row by row; `ell` >= 1 int.
"""

import numpy as np

from kernels.common import Array, Ints


def minor(a: Array, ell: int, row: int, after: Ints) -> float:
    """The determinant of the rows from this one on, and of the columns that are left."""
    if row == ell - 1:
        return a[row * ell + after[ell]]
    total, sign, before = 0.0, 1.0, ell
    while after[before] != ell:
        column = after[before]
        after[before] = after[column]
        total += sign * a[row * ell + column] * minor(a, ell, row + 1, after)
        after[before] = column
        sign, before = -sign, column
    return total


def objective(a: Array, ell: int) -> float:
    after = np.arange(1, ell + 2)
    after[ell] = 0
    return minor(a, ell, 0, after)
