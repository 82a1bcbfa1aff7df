"""Vector functions whose Jacobians have known patterns, in all the ways to write them."""

from __future__ import annotations

from typing import Any

import numpy as np

N = 8  # length of the vector
PAIRS = np.array([[0, 3], [5, 1], [7, 7], [2, 6]])


def neighbours(x: Any) -> Any:
    out = np.zeros(len(x) - 1)
    for i in range(len(x) - 1):
        out[i] = x[i] * x[i + 1]
    return out


def by_slices(x: Any) -> Any:
    return x[1:] * x[:-1] + np.sin(x[1:])


def by_index_arrays(x: Any) -> Any:
    return x[PAIRS[:, 0]] * x[PAIRS[:, 1]]


def by_indices_in_a_loop(x: Any) -> Any:
    out = np.zeros(len(PAIRS))
    for k in range(len(PAIRS)):
        out[k] = x[PAIRS[k, 0]] ** 2 + x[PAIRS[k, 1]]
    return out


def branches_on_ints(x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        if i % 3 == 0:
            out[i] = x[i] * x[0]
        elif i % 3 == 1:
            out[i] = x[len(x) - 1 - i]
    return out


def triangle(x: Any) -> Any:
    """A loop whose length depends on the loop around it."""
    out = np.zeros(len(x))
    for i in range(len(x)):
        s = 0.0
        for j in range(i):
            s += x[j] * (j + 1.0)
        out[i] = s
    return out


def strides(x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(0, len(x), 2):
        out[i] = x[i]
    for i in range(len(x) - 1, 0, -3):
        out[i] += x[i] * x[i - 1]
    return out


def grid(x: Any) -> Any:
    """Five points of a grid, by loops in loops."""
    u = np.reshape(x, (2, 4))
    out = np.zeros((2, 4))
    for i in range(2):
        for j in range(4):
            s = u[i, j] ** 2
            if i > 0:
                s += u[i - 1, j]
            if j > 0:
                s += u[i, j - 1]
            if j < 3:
                s += u[i, j + 1]
            out[i, j] = s
    return out


def scratch(x: Any) -> Any:
    """An array of its own in each iteration."""
    out = np.zeros(len(x) - 2)
    for i in range(len(x) - 2):
        w = np.zeros(3)
        for k in range(3):
            w[k] = x[i + k] ** 2
        out[i] = w[0] - w[2]
    return out


def recurrence(x: Any) -> Any:
    out = np.zeros(len(x))
    s = 0.0
    for i in range(len(x)):
        s = 0.5 * s + x[i]
        out[i] = s
    return out


def time_steps(x: Any) -> Any:
    """Two steps: a band of two neighbours on either side."""
    u = x.copy()
    for _ in range(2):
        v = u.copy()
        for i in range(1, len(u) - 1):
            v[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u = v
    return u


def overwritten(x: Any) -> Any:
    out = x * x
    out[2] = 1.0
    out[3:5] = x[5]
    return out


def matrices(x: Any) -> Any:
    a = np.reshape(x, (2, 4))
    return np.concatenate([np.sum(a, axis=0), a[0] + 1.0, np.max(a, axis=1)])


def transposed(x: Any) -> Any:
    return np.reshape(x, (2, 4)).T * 2.0


def product(x: Any) -> Any:
    a = np.reshape(x, (4, 2))
    return a @ np.array([1.0, 2.0])


def products(x: Any) -> Any:
    """Row i of the first and column j of the second."""
    a = np.reshape(x[:4], (2, 2))
    return a @ np.reshape(x[4:], (2, 2))


def by_values(x: Any) -> Any:
    """Numbers decide: all that may be counts."""
    out = np.zeros(len(x))
    for i in range(len(x) - 1):
        out[i] = x[i] if x[i] > 0.0 else x[i + 1]
    return out


def until(x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        y = x[i]
        while y < 10.0:
            y = 2.0 * y * y + 1.0
        out[i] = y
    return out


def at_the_largest(x: Any) -> Any:
    """An index that numbers decide: any element may be meant."""
    k = int(np.argmax(x))
    return np.array([x[k], x[0]])


def shuffled(x: Any) -> Any:
    """Two arrays that change places."""
    u, v = x.copy(), np.zeros(len(x))
    for _ in range(3):
        for i in range(len(u)):
            v[i] = u[len(u) - 1 - i]
        u, v = v, u
    return u


def added_at(x: Any) -> Any:
    """Several additions go to one element, and to one row."""
    out = np.zeros(4)
    np.add.at(out, PAIRS[:, 0] // 2, x[PAIRS[:, 1]])
    np.subtract.at(out, np.array([3, 3, 0]), np.sin(x[:3]))
    rows = np.zeros((2, 4))
    np.add.at(rows, np.array([1, 1]), np.reshape(x, (2, 4)))
    return np.concatenate([out, np.ravel(rows)])


def wanted_again(x: Any) -> Any:
    """An adjoint adds to one element as often as it was read."""
    at = np.array([1, 1, 4, 0, 1])
    return x[at] * x[at[::-1]]


EXACT = (
    neighbours, by_slices, by_index_arrays, by_indices_in_a_loop, branches_on_ints, triangle,
    strides, grid, scratch, recurrence, overwritten, transposed, product, products, until,
    added_at, wanted_again,
)  # fmt: skip
LARGER = (time_steps, matrices, by_values, at_the_largest, shuffled)
