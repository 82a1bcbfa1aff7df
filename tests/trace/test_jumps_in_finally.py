"""What a `finally` ends with wins over what was about to leave the `try`; and what is written on
the way to an exception is there where it is caught.  The truth is the function itself.
"""

from __future__ import annotations

import numpy as np
import pytest

from jitad import grad, jit_value_and_grad


def returned(x):
    try:
        if x[0] > 0.0:
            raise KeyError
        return 3.0 * x[2]
    finally:
        if x[1] > 0.0:
            return x[1]  # noqa: B012


def left(x):
    for v in x:
        try:
            if v < 0.0:
                return v
        finally:
            if v < 1.0:
                break  # noqa: B012
    return 50.0 * v


def gone_on(x):
    s = 0.0
    for v in x:
        try:
            if v > 1.0:
                break
            if v < 0.0:
                raise ValueError
            s += v
        except ValueError:
            s += 10.0 * v
            raise
        finally:
            s += v * v
            for w in x:
                if w > 0.5:
                    break
            s *= w
            continue  # noqa: B012
    return s


def raised_again(x):
    """By each of two paths, of which one exception may come from."""
    s = x[1]
    try:
        try:
            if x[0] < 0.0:
                raise ValueError
            s += x[int(x[2])]
        except ValueError:
            s += 10.0 * x[0]
            raise
    except Exception:
        s *= 2.0
    return s


def raised_by_both(x):
    s = x[1]
    try:
        if x[0] < 0.0:
            s *= 3.0
            raise ValueError
        s *= 5.0
        raise KeyError
    except (KeyError, ValueError):
        return s


PROGRAMS = [returned, left, gone_on, raised_again, raised_by_both]


@pytest.mark.parametrize("f", PROGRAMS)
def test_as_python_does(f) -> None:
    compiled = jit_value_and_grad(f)
    for x in (np.array([0.3, 1.2, -0.7]), np.array([-0.3, 1.2, 0.7]), np.array([1.3, -0.2, 0.1])):
        if f is returned and x[0] > 0.0 > x[1]:
            continue
        value, slope = compiled(x)
        assert value == pytest.approx(f(x)), x
        np.testing.assert_allclose(slope, grad(f)(x))
        h = 1e-6 * np.eye(3)
        differences = [(f(x + d) - f(x - d)) / 2e-6 for d in h]
        np.testing.assert_allclose(slope, differences, atol=1e-7)
