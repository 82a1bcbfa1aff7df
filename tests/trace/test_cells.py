"""Do variables that nested functions read stay the owner's, whatever paths the owner takes?

A function that a branch, a loop or an attempt made reads what its owner writes later, and what it
was given as a default is computed once.  Plain Python says what is right.
"""

import contextlib
import math

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.trace import two_numbers


def made_in_a_branch(x, y):
    z = x
    if x > y:
        def g():
            return z
    else:
        g = lambda: -z
    z = 3.0 * x * y
    return g()


def made_or_not(x, y):
    g, z = None, x
    if x > -10.0:
        g = lambda: z * y
    z = 3.0 * x
    return g()


def made_in_a_loop(x, y):
    z = x
    for k in range(30):
        if k == 17:
            g = lambda: z
        z = z + 0.1 * x * y
    return g()


def made_in_an_attempt(x, y):
    z = x
    try:
        if x < y:
            raise ValueError
        g = lambda: z
    except ValueError:
        g = lambda: -z * z
    z = 3.0 * x * y
    return g()


def written_in_attempts(x, y):
    z = x
    read = lambda: z
    s = 0.0
    for k in range(12):
        try:
            z = math.sqrt(x + y - 0.37 * k)
            z = math.log(z - 0.8)
        except ValueError:
            s += read()
            z = x
        else:
            s += 2.0 * read()
        finally:
            s += 0.1 * read()
    return s + read()


def recursion_written_in_an_attempt(x, y):
    z = y
    try:
        if x < y:
            raise ValueError

        def deeper(v, k):
            if k < 1:
                return v
            return math.sin(deeper(math.sin(z + v), k - 1))

        z = deeper(x, 3)
    except ValueError:
        pass
    return x + z


def computed_defaults(x, y):
    g = lambda a: a * y
    if x > y:
        z = 0.0
        for _ in range(20):
            z += x * math.sin(z) + 1.0
        g = lambda a, s=z: a * s
        z = 5.0
    return g(3.0)


def defaults_of_each_iteration(x, y):
    for k in range(20):
        z = 0.0
        for _ in range(k):
            z += x * math.cos(z) + y

        def g(a, *, s=z):
            return a * s

        x = x + 0.01 * g(0.1)
    return g(3.0)


def bound_by_any_statement(x, y):
    read = lambda: (a, b, c, d, e)
    a = b = c = e = y
    d = lambda v: v
    if x > y:
        match (x, 2.0 * x):
            case (a, _):
                pass
        with contextlib.nullcontext(x * 3.0) as b:
            pass
        if (c := x * y) > 0.5:
            c = c * x

        def d(v):
            return v * v

        for e in (x, x * x):
            c += e
    a, b, c, d, e = read()
    return a + 2.0 * b + 3.0 * c * d(x) + e


def deleted_on_a_path(x, y):
    z = x * y
    read = lambda: z
    if x > 100.0:
        del z
    return read()


PROGRAMS = [
    made_in_a_branch, made_or_not, made_in_a_loop, made_in_an_attempt, written_in_attempts,
    recursion_written_in_an_attempt, computed_defaults, defaults_of_each_iteration,
    bound_by_any_statement, deleted_on_a_path,
]  # fmt: skip

POINTS = [(1.7, 0.6), (0.4, 1.3)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    two_numbers.check(f, POINTS, 1e-3)


@pytest.mark.parametrize("f", [made_in_a_branch, written_in_attempts], ids=lambda f: f.__name__)
def test_natively(f):
    two_numbers.check_natively(f, POINTS)


def two_calls(x, deeper):
    """Two calls of one function, of which one goes on to write what was read from both."""
    def make(z, deeper):
        mine = lambda: z
        other = make(2.0 * z, False) if deeper else mine
        chosen = mine if z > 1.5 else other
        z = 7.0 * z
        return chosen

    return make(x, deeper)()


def test_a_variable_that_parts_is_not_written_unseen():
    assert two_calls(2.0, True) == 14.0
    with pytest.raises(JitadError, match="written after a branch or loop chose between functions"):
        jitad.jit(two_calls, fallback=False)(2.0, True)


def test_a_variable_deleted_is_missed():
    with pytest.raises(NameError):
        jitad.jit(deleted_on_a_path)(101.0, 1.0)
    assert np.isclose(jitad.jit_grad(deleted_on_a_path)(3.0, 2.0), 2.0)
