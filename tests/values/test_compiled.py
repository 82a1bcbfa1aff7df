"""Do the library functions compile, with the right derivatives?  Against differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.special as sp

from jitad import jit, jit_value_and_grad, value_and_grad


def picks(x):
    b = x.copy()
    b[[0, 2]] *= 3.0
    b[x > 1.0] = 2 * x[0]
    m = np.outer(x, b)
    m[[0, 2]] += m[[1, 1]]
    m[:, [0, 1]] = m[:, [3, 4]]
    np.add.at(b, [0, 1, 1], x[:3])
    return np.sum(m * m[::-1]) + np.mean(x[x > 0.9]) + np.sum(b[[4, 3, 2, 1, 0]] * x)


def picks_in_a_loop(x):
    y = x.copy()
    s = 0.0
    for k in range(len(y)):
        i = np.array([k, 0, k])
        s += np.sum(y[i] ** 2)
        y[i] = y[i] * 0.5
    return s + y.sum()


def swaps(x):
    m = np.outer(x, np.sin(x))
    for k in range(len(x)):
        p = k + int(np.argmax(np.abs(m[k:, k])))
        if p != k:
            m[[k, p]] = m[[p, k]]
        m[[p, 0], :2] *= x[[k, p, -1]][:2]
    return np.sum(m[:, [p, 1]] ** 2) + m[0] @ x


def folds(x):
    rest = sp.logsumexp(x) + np.linalg.norm(x) + np.std(x) + np.cumprod(x)[-1]
    return np.cumsum(x)[2] * np.prod(x) + x[np.argmax(x)] + rest


def shapes(x):
    y = np.concatenate([x, 2 * x])
    m = np.outer(x, x) + np.eye(len(x))
    z = np.sum(np.tile(y, 2) * np.repeat(y, 2)) + np.trace(m @ m)
    return z + np.sum(m[1:, ::-1] * m[:-1, :]) + np.roll(x, 2) @ x + np.sum(np.diff(x) ** 2)


def views(x):
    y = x.copy()
    v = y[1:4]
    v += y[0]
    w = v.reshape(3, 1)
    w *= 2
    return np.sum(y * x)


def scalars(x):
    s = 0.0
    for row in np.stack([x, x * x]):
        s += math.sqrt(row[0]) + max(row[1], row[2]) / row[0] + math.lgamma(row[3])
    return s + np.sum(np.linspace(0, x[0], 7) ** 2) + np.sum(np.arange(len(x)) * x)


@pytest.mark.parametrize("f", [picks, picks_in_a_loop, swaps, folds, shapes, views, scalars])
def test_compiled_equals_eager_equals_differences(f: Any) -> None:
    x = np.array([0.7, 1.3, 2.1, 0.4, 1.1])
    value, gradient = jit_value_and_grad(f)(x)
    eager_value, eager_gradient = value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-13) and eager_value == pytest.approx(f(x), rel=1e-13)
    np.testing.assert_allclose(gradient, eager_gradient, rtol=1e-11)

    def difference(k: int, h: float) -> float:
        d = h * np.eye(5)[k]
        return (f(x + d) - f(x - d)) / (2 * h)

    want = [(4 * difference(k, 5e-5) - difference(k, 1e-4)) / 3 for k in range(5)]
    np.testing.assert_allclose(gradient, want, rtol=1e-8)


def in_parts(x):
    return (round(x, 2), round(x, 5), round(x, -1), math.remainder(x, 0.7), *math.frexp(x),
            *math.modf(x), math.ldexp(x, -3), x.is_integer())  # fmt: skip


def test_kernels_round_as_python_does():
    """Errors of products are computed exactly: no contraction and no free order may touch them."""
    rng = np.random.default_rng(3)
    kernel = jit(in_parts)
    near_ties = np.round(rng.normal(size=300) * 10.0 ** rng.integers(-3, 6, 300), 3)
    for x in (*near_ties.tolist(), 2.675, 1.115, 0.285, 5e-324, 1e300, 25.0, 35.0, -0.5):
        assert kernel(x) == in_parts(x)
