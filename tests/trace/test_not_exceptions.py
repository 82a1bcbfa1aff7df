"""Is what derives from BaseException alone raised and caught as Python does?

`GeneratorExit` where a generator is closed or let go of, `SystemExit`, a class of the user's own.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from jitad import grad, jit, jit_value_and_grad


class Stop(BaseException):
    pass


def closed(x):
    def values():
        try:
            while True:
                yield x[0]
        except GeneratorExit:
            seen.append(x[1])
            raise

    seen = [x[0]]
    first = values()
    next(first)
    first.close()
    return sum(seen) * x[2]


def let_go_of(x):
    def values():
        try:
            yield x[0]
        except BaseException:
            seen.append(x[1])

    seen = [x[0]]
    for v in values():
        s = v
        break
    while s < 2.0:
        for v in values():
            s += v * v
            break
        s += 0.3 * len(seen)
    return s * sum(seen)


def left_by_a_class_of_its_own(x):
    last = x[0]
    try:
        for v in x:
            last = v
            if v > 1.0:
                raise Stop
    except Stop:
        return last * x[2]
    return x[0]


def told_to_end(x):
    try:
        if x[0] < 0.0:
            sys.exit(3)
    except SystemExit as e:
        return e.code * x[1]
    return x[1]


PROGRAMS = [closed, let_go_of, left_by_a_class_of_its_own, told_to_end]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("x", [np.array([0.3, 1.2, -0.7]), np.array([0.9, 0.2, 0.7])])
def test_caught(f, x) -> None:
    value, slope = jit_value_and_grad(f)(x)
    assert value == pytest.approx(f(x))
    np.testing.assert_allclose(slope, grad(f)(x))
    h = 1e-6 * np.eye(3)
    np.testing.assert_allclose(slope, [(f(x + d) - f(x - d)) / 2e-6 for d in h], atol=1e-8)


def test_told_to_end() -> None:
    x = np.array([-0.3, 1.2, 0.0])
    assert jit(told_to_end)(x) == told_to_end(x) == pytest.approx(3.6)


def test_not_caught() -> None:
    def ended(x):
        if x < 0.0:
            sys.exit(3)
        if x > 9.0:
            raise Stop("far")
        return 2.0 * x

    f = jit(ended)
    assert f(1.0) == 2.0
    with pytest.raises(SystemExit) as found:
        f(-1.0)
    assert found.value.code == 3
    with pytest.raises(Stop, match="far"):
        f(10.0)
