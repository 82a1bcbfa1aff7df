"""Functions that Numba has compiled for certain types convert numbers, and so do their traces."""

import math

import numba
import numpy as np
import pytest

from jitad import jit_value_and_grad, value_and_grad


@numba.njit("f8(f8,f8)")
def kinds(x, b):
    number = type(b)
    return x * number(0.5) * b


@numba.njit("f4(f4,f4)")
def single(x, b):
    return x * b / 3


@numba.njit("i8(f8)")
def whole(x):
    return x * 1.7


@numba.njit("f8(i8)")
def halves(n):
    return n // 2


@numba.njit(["f8(f8,i8)", "i8(i8,i8)"])
def power(x, n):
    return x**n


@numba.njit("UniTuple(f8,2)(f8[:],i8)")
def both(x, n):
    return x[0] ** n, n


@numba.vectorize(["f4(f4,f4)", "f8(f8,f8)"])
def third(x, y):
    return x * y / 3


@numba.vectorize(["i8(f8)"])
def cut(x):
    return x * 1.7


@numba.vectorize(nopython=True)
def fix(x):
    return math.ceil(x) if x < 0 else math.floor(x)


@numba.guvectorize(["f8[:],f8[:]"], "(n)->(n)")
def sums(x, out):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
        out[i] = total


@numba.stencil
def middle(a):
    return 0.5 * (a[-1] + a[1])


@numba.njit
def left_over(n, a):
    x = np.arange(n) * 1.0
    x = x - fix(x * 0.7)
    return (x * a).sum()


@numba.njit(locals={"s": numba.float32, "n": numba.int32})
def typed(x):
    s = 0.0
    n = x[0] * 2.4
    for v in x:
        s += v * n
        y = s
    return y * 1.0


@numba.njit(locals={"k": numba.int64})
def cut_in_turn(x):
    s = 0.0
    for k in x:
        s += k * x[0]
    return s


PLAIN = np.arange(5.0)


def lent(a):
    out, short = np.zeros(4), np.zeros(3)
    sums(np.arange(4.0), out)
    third(np.arange(3.0), 2.0, short)
    return out.sum() * a + short.sum() * a


PROGRAMS = {
    "an int for a float": (lambda x: kinds(x, 2), 2.0, 1.0),
    "by name": (lambda x: kinds(x, b=2), 2.0, 1.0),
    "single numbers": (lambda x: single(x, 2), 2.0, np.float32(2) / np.float32(3)),
    "a result that is an integer": (lambda x: whole(x) * x, 2.3, 3.0),
    "a result that is a float": (
        lambda x: (np.full(3, halves(5)) * x + np.full(3, halves(5)) / 2).sum(), 2.3, 6.0),
    "one of two": (lambda x: power(x, 2) + power(3, 2) / 2, 2.3, 4.6),
    "tuples": (lambda x: sum(np.full(2, q).sum() for q in both(x, 2)) / 2, np.array([1.5, 2.0]),
               [3.0, 0.0]),
    "plain integers": (lambda x: single(7, 1) * x, 2.0, float(np.float32(7) / np.float32(3))),
    "vectorised": (lambda x: third(x, 2), 2.0, 2.0 / 3.0),
    "of arrays": (lambda x: third(x, 3).sum(), np.arange(3.0), [1.0, 1.0, 1.0]),
    "vectorised, with integers": (lambda x: (cut(x) * x).sum(), np.array([1.3, 2.3]), [2.0, 3.0]),
    "of plain arrays in compiled code": (lambda a: left_over(5, a), 2.0, 5.0),
    "of plain arrays": (lambda a: np.sum(fix(PLAIN * 1.5)) * a, 2.0, 14.0),
    "of plain numbers": (lambda a: third(3, 4) * a, 2.0, 4.0),
    "on one path": (lambda a: (fix(2.7) if a > 1 else fix(1.5)) * a, 2.0, 2.0),
    "generalised": (lambda a: sums(PLAIN).sum() * a + sums(PLAIN * a).sum(), 2.0, 40.0),
    "reduced": (lambda a: third.reduce(np.arange(1.0, 4.0)) * a, 2.0, 2.0 / 3.0),
    "stencils": (lambda a: np.sum(middle(PLAIN)) * a + np.sum(middle(PLAIN * a)), 2.0, 12.0),
    "types of variables": (typed, np.array([1.1, 2.3, 3.7]), [2.0, 2.0, 2.0]),
    "of one that a loop binds": (cut_in_turn, np.array([1.1, 2.3, 3.7]), [6.0, 0.0, 0.0]),
    "in Python, too": (lambda x: typed(x) + typed.py_func(x), np.array([1.1, 2.3, 3.7]),
                       [2 * (1 + 1.2) + 2.4 * (1.1 + 2.3 + 3.7) - 0.4 + 0.64, 4.64, 4.64]),
    "into arrays that are lent": (lent, 2.0, 12.0),
}  # fmt: skip


@pytest.mark.parametrize("engine", [value_and_grad, jit_value_and_grad])
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_converted(name, engine):
    f, at, truth = PROGRAMS[name]
    value, found = engine(f)(at)
    assert value == pytest.approx(f(at), rel=1e-15)
    np.testing.assert_allclose(found, truth, rtol=1e-12)


def test_another_function_of_the_same_code():
    def plain(x, b):
        return x * b / 3

    box = [numba.njit("f8(f8,f8)")(plain)]
    f = jit_value_and_grad(lambda x: box[0](x, 2))
    assert f(2.0)[0] == 4.0 / 3.0
    box[0] = numba.njit("f4(f4,f4)")(plain)
    assert f(2.0)[0] == np.float32(4) / np.float32(3)
