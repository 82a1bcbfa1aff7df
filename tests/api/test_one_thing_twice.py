"""What is given, or found outside, under two names, and written by one of them, is refused: the
other name would go on to have what was there before."""

from dataclasses import dataclass

import numpy as np
import pytest

import jitad
from jitad.errors import FallbackWarning, JitadError


@dataclass
class Level:
    at: float


TABLE, LEVEL = [1.0, 2.0], Level(1.0)


def of_a_list(x, a, b):
    a[0] = x
    return b[0]


def by_append(x, a, b):
    a.append(x)
    return b[-1] * x


def of_an_object(x, a, b):
    a.at = x
    return b.at


def inside_of_another(x, a, b):
    a["rows"][0] = x
    return b[0]


def within_one(x, a):
    a[0][0] = x
    return a[1][0]


def of_a_global_list(x, a):
    a[0] = x
    return TABLE[0]


def by_its_global_name(x, a):
    TABLE[0] = x
    return a[0]


def of_a_global_object(x, a):
    a.at = x
    return LEVEL.at


def cases():
    row, level = [1.0, 2.0], Level(1.0)
    other = [3.0, 4.0]
    return [
        (of_a_list, (row, row), (row, other)), (by_append, (row, row), (row, other)),
        (of_an_object, (level, level), (level, Level(2.0))),
        (inside_of_another, ({"rows": row}, row), ({"rows": row}, other)),
        (within_one, ([row, row],), ([row, other],)),
        (of_a_global_list, (TABLE,), (other,)), (by_its_global_name, (TABLE,), (other,)),
        (of_a_global_object, (LEVEL,), (level,)),
    ]  # fmt: skip


@pytest.mark.parametrize("k", range(len(cases())))
@pytest.mark.parametrize("how", [jitad.jit, jitad.jit_grad])
def test_one_thing_under_two_names(k, how):
    f, one, two = cases()[k]
    for order in ((one, two), (two, one)):
        compiled = how(f)
        for args in order:
            TABLE[:], LEVEL.at = [1.0, 2.0], 1.0
            if args is one:
                with pytest.raises(JitadError, match="one and the same"):
                    compiled(0.5, *args)
            else:
                compiled(0.5, *args)


def test_what_is_only_read_may_be_there_twice():
    row = [1.0, 2.0]
    assert jitad.jit(lambda x, a, b: x * a[0] + b[1])(0.5, row, row) == 2.5


def are_one(a, b):
    return 1.0 if a is b else 2.0


@pytest.mark.parametrize("make", [lambda: np.ones(3), lambda: [1.0, 2.0], lambda: {"a": 1.0}])
def test_two_arguments_that_are_asked_whether_they_are_one(make):
    for first in (False, True):  # is the kernel made for such a call, or for another?
        f = jitad.jit(are_one, fallback=False)
        if first:
            assert f(make(), make()) == 2.0
        one = make()
        with pytest.raises(JitadError, match="argument 0 and argument 1 are one and the same"):
            f(one, one)
        assert f(make(), make()) == 2.0
    with pytest.warns(FallbackWarning, match="one and the same"):
        assert jitad.jit(are_one, fallback=True)(one, one) == 1.0
