"""Are loop nests joined only where one follows the other in the same body, and does what reads
the memory that a nest writes wait for it?
"""

from __future__ import annotations

import numpy as np
import pytest

from jitad import grad, jit, jit_grad


def powers(x, rounds):
    """The last statement of the loop is a nest; what follows has the same extents and memory."""
    a = x * np.arange(1.0, 4.0)
    for _ in range(rounds):
        a = a * np.array([1.0, 2.0, 3.0])
    b = a + 1.0
    return np.sum(b * a)


def products(x):
    return (x * np.arange(1.0, 7.0).reshape(2, 3)).prod(axis=1).sum()


def under_a_condition(x):
    a = x * np.arange(1.0, 4.0)
    if x > 0.0:
        a = a * a
    b = a + 1.0
    return np.sum(b * b)


def place(x):
    """A number that a library function takes from the array."""
    return x * np.searchsorted(x * np.arange(1.0, 9.0), 3.0)


def between(x):
    return np.interp(3.0 * x, x * np.arange(1.0, 9.0), np.cos(np.arange(8.0)) * x)


def volume(x):
    return np.linalg.det(x * np.arange(1.0, 5.0).reshape(2, 2) + np.eye(2))


def size(x):
    return np.linalg.slogdet(x * np.arange(1.0, 5.0).reshape(2, 2) + 3.0 * np.eye(2))[1]


@pytest.mark.parametrize(
    ("f", "args"),
    [(place, (0.8,)), (between, (0.8,)), (volume, (0.8,)), (size, (0.8,)), (powers, (0.8, 5)),
     (powers, (0.8, 0)), (products, (0.8,)), (under_a_condition, (0.8,)),
     (under_a_condition, (-0.8,))],
)  # fmt: skip
def test_nests_after_a_loop_or_branch(f, args) -> None:
    h = 1e-6
    difference = (f(args[0] + h, *args[1:]) - f(args[0] - h, *args[1:])) / (2.0 * h)
    assert jit(f)(*args) == pytest.approx(f(*args), rel=1e-14)
    assert jit_grad(f)(*args) == pytest.approx(difference, rel=1e-7)
    assert grad(f)(*args) == pytest.approx(difference, rel=1e-7)
