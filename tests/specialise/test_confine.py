"""Has a path that is not taken no part in the gradient, where it is infinite there?

The slopes are those of the branch that is taken, written by hand.
"""

import math

import numpy as np
import pytest

import jitad
from tests.engines import ENGINES


def root_before_the_branch(x):
    y = np.sqrt(x)
    if x > 0:
        return y
    return 2.0 * x


def chain_before_nested_branches(x):
    y = np.log(x)
    z = 3.0 * y + np.sin(y)
    if x > -5.0:
        if x > 1e-3:
            return z
        return x * x
    return x


def array_before_the_branch(x):
    a = np.sqrt(np.array([x, 2.0 * x, 3.0 * x]))
    total = np.sum(a * a * a)
    return total if x > 0.0 else 5.0 * x


def in_a_loop(x):
    out = 0.0
    for k in range(5):
        u = x - k
        y = np.sqrt(u)
        w = u * u
        if u > 0.0:
            out += y
        else:
            out += w
    return out


def used_on_both_paths(x):
    y = np.sqrt(x + 4.0)
    return y * 2.0 if x > 0.0 else y - x


SLOPES = {
    root_before_the_branch: lambda x: 0.5 / math.sqrt(x) if x > 0 else 2.0,
    chain_before_nested_branches: lambda x: ((3.0 + math.cos(math.log(x))) / x if x > 1e-3
                                             else 2.0 * x),
    array_before_the_branch: lambda x: (1.5 * (1.0 + 2.0**1.5 + 3.0**1.5) * math.sqrt(x)
                                        if x > 0 else 5.0),
    in_a_loop: lambda x: sum(0.5 / math.sqrt(x - k) if x > k else 2.0 * (x - k)
                             for k in range(5)),
    used_on_both_paths: lambda x: (1.0 if x > 0 else 0.5) / math.sqrt(x + 4.0) - (x <= 0),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("f", SLOPES, ids=lambda f: f.__name__)
def test_slopes(f, engine):
    for x in (-1.3, 0.0, 2.5):
        for operator in (jitad.grad, jitad.derivative):
            got = ENGINES[engine](operator(f), x)
            assert got == pytest.approx(SLOPES[f](x), rel=1e-12)
