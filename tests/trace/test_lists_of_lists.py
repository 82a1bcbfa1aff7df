"""Are lists of known length whose elements are lists of unknown length what they are in Python?"""

import copy
import functools
import itertools
import operator

import numpy as np
import pytest

from jitad import value_and_grad
from tests.engines import on_tape
from tests.truth import differences

A = np.array([[0.4, 1.2, 0.7], [0.9, 0.3, 0.8], [0.2, 1.5, 0.6]])


def rows(a):
    return [list(r) for r in a]


def minors(m):
    if len(m) == 1:
        return m[0][0]
    return sum(
        (-1) ** c * m[0][c] * minors([row[:c] + row[c + 1 :] for row in m[1:]])
        for c in range(len(m))
    )


def deep_copy(a):
    m = rows(a)
    c = copy.deepcopy(m)
    c[0].append(7.0)
    return m[0][1] * len(m[0]) + c[0][-1] * len(c)


def shallow_copy(a):
    m = rows(a)
    c = copy.copy(m)
    c[0].append(7.0)
    return m[0][1] * len(m[0]) + c[0][-1] * len(c)


def appended(a):
    m = rows(a)
    m.append(a[1, 1])
    return m[-1] * len(m)


def set_by_a_method(a):
    m = rows(a)
    m[0].__setitem__(1, 5.0 * a[0, 0])
    return m[0][1] * m[0][0]


PROGRAMS = [
    deep_copy, shallow_copy, appended, set_by_a_method,
    lambda a: minors(rows(a)),
    lambda a: len(rows(a)) * a[0, 0],
    lambda a: list(rows(a))[1][2],
    lambda a: max(rows(a), key=lambda r: r[0])[1],
    lambda a: max(rows(a))[1],
    lambda a: len(max(rows(a), key=len)) * a[0, 1],
    lambda a: sorted(rows(a), key=lambda r: r[0])[0][1],
    lambda a: sorted(rows(a))[0][1],
    lambda a: functools.reduce(operator.add, rows(a))[3],
    lambda a: list(itertools.accumulate(rows(a)))[-1][4],
    lambda a: sum(p[0] * q[1] for p, q in itertools.pairwise(rows(a))),
    lambda a: sum(p[0] * q[1] for p, q in itertools.combinations(rows(a), 2)),
    lambda a: any(rows(a)) * a[0, 0] + sum(map(sum, rows(a))),
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__code__.co_names[-1])
def test_like_python(f):
    value, gradient = on_tape(value_and_grad(f), A)
    assert value == pytest.approx(f(A), rel=1e-13)
    for at in np.ndindex(A.shape):
        step = np.zeros_like(A)
        step[at] = 1.0
        expected, _ = differences(f, (A,), (0,), [step], step=1e-3)
        assert gradient[at] == pytest.approx(expected, rel=1e-8, abs=1e-10)
