"""A number on one path, and on another a view without axes of what was made there."""

import numpy as np
import pytest

from jitad import jit_value_and_grad, value_and_grad


def reshaped(js, ys):
    if js[0] > 2:
        return 2.0 * ys[0]
    b = np.array([ys[0], ys[1]])
    return b.reshape(2, -1)[0].reshape(())


def by_length(js, ys):
    if len(js) == 1:
        return 2.0 * ys[0]
    b = np.array([ys[0], ys[1] * js[1]])
    return np.linalg.solve(np.diag(js[:2]), b.reshape(2, -1))[1].reshape(np.shape(ys[0]))


def overwritten(js, ys):
    if js[0] > 2:
        r = 2.0 * ys[0]
    else:
        b = np.array([ys[0], ys[1]])
        r = b[0, ...]
        b[0] = 7.0 * ys[2]
    return r


def in_a_loop(js, ys):
    r = ys[0]
    for i in range(len(js)):
        b = np.array([ys[0], ys[1] * i])
        r = b.reshape(2, 1)[1].reshape(())
    return r * 1.0


def in_some_turns(js, ys):
    r = ys[0]
    for i in range(len(js)):
        if js[i] > 0.6:
            b = np.array([ys[0] * i, ys[1]])
            r = b.reshape(2, 1)[0].reshape(())
    return r * 1.0


@pytest.mark.parametrize("engine", [value_and_grad, jit_value_and_grad])
@pytest.mark.parametrize("f", [reshaped, by_length, overwritten, in_a_loop, in_some_turns])
def test_views(f, engine):
    def g(js, ys):
        return np.sum(f(js, ys))

    for first in (0.5, 2.5):
        at = np.array([first, 1.2, 3.0]), np.array([1.5, 1.2, 0.3])
        value, found = engine(g, (0, 1))(*at)
        assert value == pytest.approx(g(*at), rel=1e-14)
        for k, (x, by) in enumerate(zip(at, found, strict=True)):
            for i in range(3):
                step = 1e-6 * np.eye(3)[i]
                up, down = (at[:k] + (x + s,) + at[k + 1 :] for s in (step, -step))
                assert by[i] == pytest.approx((g(*up) - g(*down)) / 2e-6, rel=1e-7, abs=1e-8)
