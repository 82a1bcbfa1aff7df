"""Are buffers that loops exchange the right ones, where a value has a name of its own?

A buffer outside the loop is written again by each iteration.  What an `if` chose, or a reshape
made of it, is the same memory by another name: exchanging that name for another buffer's does not
give the first one away.  Values from NumPy, gradients by complex steps or differences.
"""

import numpy as np
import pytest

from jitad import jit, jit_grad, jit_jvp

GIVEN = [tuple(np.random.default_rng(k).normal(size=(2, 6))) for k in range(4)]


def smoothed(u, rounds):
    for _ in range(rounds):
        v = np.zeros_like(u)
        v[0] = u[5]
        for i in range(1, 6):
            v[i] = 0.5 * u[i - 1] + 0.3 * u[i]
        u = v
    return u


def chosen_by_an_if(x, y):
    out = 0.0
    for t in range(6):
        if x[t] > 0.0:
            u = x * y
        else:
            u = x + y * t
        out = out + np.sum(smoothed(u, 5) ** 2)
    return out


def reshaped_before(x, y):
    out = 0.0
    for t in range(6):
        u = (x * y + t)[:, None].reshape(2, 3).reshape(6)
        out = out + np.sum(smoothed(u, 5) ** 2)
    return out


def chosen_and_carried(x, y):
    u = x
    for t in range(7):
        if y[t % 6] > 0.0:
            v = np.roll(u, 1) * 0.5 + y
        else:
            v = u[::-1] + 0.1 * np.roll(u, 2)
        u = v
    return np.sum(u * x)


def best_of_all_before(x, y):
    """The adjoint of the maximum reshapes what it carries."""
    score = x
    for _ in range(5):
        score = (score[:, None] + np.outer(y, x)).max(0)
    return np.sum(score)


def reshaped_and_carried(x, y):
    u = x
    for _ in range(5):
        u = np.tanh((u[:, None] + np.outer(y, x)).max(0).reshape(3, 2).T.reshape(6))
    return np.sum(u)


PROGRAMS = (chosen_by_an_if, reshaped_before, chosen_and_carried, best_of_all_before,
            reshaped_and_carried)  # fmt: skip


def differences(f, x, y):
    out = []
    for unit in np.eye(6):
        first, second = (
            (f(x + k * 1e-4 * unit, y) - f(x - k * 1e-4 * unit, y)) / (2e-4 * k) for k in (1, 2)
        )
        out.append((4.0 * first - second) / 3.0)
    return np.array(out)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_value_and_gradient(f):
    value, slope = jit(f), jit_grad(f)
    for x, y in GIVEN:
        assert value(x, y) == pytest.approx(f(x, y), rel=1e-12)
        expected = differences(f, x, y)
        assert slope(x, y) == pytest.approx(expected, rel=1e-7, abs=1e-7 * np.abs(expected).max())


def exchanged_then_read_twice(x, y):
    """The names that the inner loop exchanges are those of what the outer one carries."""
    u = x * y
    for _ in range(5):
        for k in range(len(y)):
            u[y > y[k]] = np.sin(x[0])
        u += 0.2 * np.sin(u + u)
    return np.sum(u)


def exchanged_in_turns(x, y):
    u, v = x * y, x + y
    for _ in range(5):
        for k in range(len(y) - 1):
            u, v = np.where(y > 0.1 * k, v, 0.9 * u[::-1]), np.where(y < 0.2, u, v)
        u = u + 0.3 * np.cos(u * v)
        v = 0.5 * v * np.sin(u)
    return np.sum(u * v)


@pytest.mark.parametrize("f", [exchanged_then_read_twice, exchanged_in_turns, *PROGRAMS])
def test_forward(f):
    for x, y in GIVEN[:2]:
        run = jit_jvp(f)
        expected = differences(f, x, y)
        for unit, slope in zip(np.eye(6), expected, strict=True):
            value, tangent = run((x, y), (unit, 0.0 * y))
            assert value == pytest.approx(f(x, y), rel=1e-12)
            assert tangent == pytest.approx(slope, rel=1e-7, abs=1e-7 * np.abs(expected).max())
