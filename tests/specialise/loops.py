"""Which loops can be divided among threads, and which have an order?  Functions of two vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def sum_over_data(x, data):
    s = 0.0
    for i in range(len(data)):
        r = np.sin(x[0] * data[i]) - x[1]
        s += r * r
    return s


def elements_apart(x, data):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 2 * np.exp(-data[i])
    s = 0.0
    for i in range(len(x)):
        s += y[i] * np.cos(x[i])
    return s


def scatter_with_duplicates(x, data):
    s = 0.0
    for i in range(len(data)):
        j = i * 7 % len(x)
        s += np.exp(0.1 * x[j]) * data[i] + x[0] * data[i]
    return s


def stencil(x, data):
    s = 0.0
    for i in range(2, len(x) - 1):
        s += (x[i + 1] - 2.0 * x[i] + x[i - 2]) ** 2 * data[i]
    return s


def iterations_with_a_past(x, data):
    """Each iteration has a recurrence of its own: records that live as long as it."""
    s = 0.0
    for i in range(len(data)):
        u = 0.3 + 0.1 * np.sin(data[i])
        for k in range(5):
            u = x[k] * u * (1.0 - u) + 0.01 * x[k + 1]
        s += u * u
    return s


def while_inside(x, data):
    s = 0.0
    for i in range(len(data)):
        u, k = x[i % 5], 0
        while k < i % 4:
            u = u * x[k] + 0.1
            k += 1
        s += u * data[i]
    return s


def rows(x, data):
    m = np.outer(data, np.array([1.0, 0.5, 0.25, 2.0]))
    s = 0.0
    for i in range(len(data)):
        row = m[i] * x[:4]
        s += np.log(np.sum(np.exp(row - np.max(row)))) + np.sum(row) * x[5]
    return s


def products_of_matrices(x, data):
    w = np.outer(x[:20], x[:20])
    s = 0.0
    for i in range(len(data)):
        h = np.tanh(w @ (data[i] * x[:20]))
        s += np.sum(h * h)
    return s


def branches(x, data):
    s, t = 0.0, 0.0
    for i in range(len(data)):
        if data[i] > 0.0:
            s += x[1] * data[i]
            if i % 3 == 0:
                t += x[i % 10] ** 2
        else:
            t -= x[2] * x[3] * data[i]
    return s * t


def steps_downwards(x, data):
    s = 0.0
    for i in range(len(x) - 2, 0, -2):
        s += x[i] * x[i] * data[i + 1]
    return s


def in_a_loop_over_time(x, data):
    u = x.copy()
    v = np.zeros(len(x))
    for _ in range(4):
        for i in range(1, len(u) - 1):
            v[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]) * data[i]
        for i in range(1, len(u) - 1):
            u[i] = np.sin(v[i])
    return np.sum(u * u)


def recursion_inside(x, data):
    def power(b, n):
        if n == 0:
            return 1.0
        return b * power(b, n - 1)

    s = 0.0
    for i in range(len(data)):
        s += power(x[i % 7], i % 5) * data[i]
    return s


def whole_vectors(x, data):
    z = np.tanh(x * data + 0.3)
    d = z[1:] - z[:-1]
    return np.sum(d * d) + np.mean(np.exp(-x)) * np.sum(z[::2])


def records(x, data):
    """What the first loop computes at a cost is kept for the reverse sweep."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        angle = np.arctan2(x[i], data[i]) + np.exp(np.sin(x[i]))
        y[i] = np.cos(angle) * np.sqrt(angle)
    return np.sum(y * y) / np.sum(y)


def whole_matrices(x, data):
    """Rows with sums and extremes of their own, sums over rows, parts along both axes."""
    m = np.outer(x, data[:20])
    top = np.max(m, axis=1)
    e = np.exp(m - top[:, None])
    s = np.sum(e, axis=1)
    columns = np.mean(np.tanh(m) * e, axis=0)
    steps = m[:, 1:] * np.exp(m[:, :-1]) + m[:, 1:] * x[0]
    return np.sum(np.log(s) + top) + np.sum(columns * columns) + np.sum(steps / s[:, None])


def plate_over_time(x, data):
    u = np.outer(x, np.cos(data[:20]))
    for _ in range(3):
        u[1:-1, 1:-1] += x[0] * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        )
    return np.sum(np.sin(u) * u * u)


def rows_backwards_and_columns(x, data):
    """Other rows than its own: of what the loop itself makes they are not there yet."""
    z = np.exp(np.outer(x, data[:20])) * np.sin(np.outer(data, x[:20]))
    square = z[:20]
    turned = np.tanh(square.T * square + square[::-1]) * square
    far = x[:, None] - x[None, :]
    return np.sum(turned * turned) + np.sum(np.exp(-far * far) * far * data)


def triangle(x, data):
    """Iterations that differ in length."""
    s = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            s += data[i] * np.exp(-((x[i] - x[j]) ** 2))
    return s


def lengths_that_a_check_compares_later(x, data):
    """Until it does, they may be any."""
    a = np.exp(np.sin(x)) * x
    b = np.exp(np.cos(data)) * data
    return np.sum(np.tanh(a) * np.exp(a)) + np.sum(np.tanh(b) * np.exp(b)) + np.sum(a * b)


DIVIDED: list[Callable[..., Any]] = [
    sum_over_data, elements_apart, scatter_with_duplicates, stencil, iterations_with_a_past,
    while_inside, rows, products_of_matrices, branches, steps_downwards, in_a_loop_over_time,
    recursion_inside, whole_vectors, records, whole_matrices, plate_over_time,
    rows_backwards_and_columns, triangle, lengths_that_a_check_compares_later,
]  # fmt: skip


# -- with an order ---------------------------------------------------------------------------------


def recurrence(x, data):
    u = x[0]
    for i in range(len(data)):
        u = u * x[i] + data[i]
    return u


def prefix(x, data):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + x[i] * data[i]
    return y[-1]


def the_last_one_stays(x, data):
    y = np.zeros(3)
    for i in range(len(x)):
        y[i % 3] = x[i] * data[i]
    return y[0] * y[1] + y[2]


def compensated(x, data):
    s, c = 0.0, 0.0
    for i in range(len(x)):
        y = x[i] * data[i] - c
        t = s + y
        c = (t - s) - y
        s = t
    return s


ORDERED: list[Callable[..., Any]] = [recurrence, prefix, the_last_one_stays, compensated]
