"""Does an iterator that a loop left where a traced condition said so go on where Python's would?

How far it got, only the kernel knows.  So a kernel says that it can't, and the eager engine does.
"""

import itertools

import numpy as np
import pytest

from jitad import JitadError, grad, jit
from tests.engines import in_place_of_a_kernel


def _rows(x):
    return [x, 2.0 * x, 3.0 * x]


def looped_again(x):
    it, s = iter(_rows(x)), 0.0
    for v in it:
        if v > 3.0:
            break
        s += v
    for v in it:
        s += 10.0 * v
    return s


def asked_for_the_next(x):
    it, s = enumerate(_rows(x)), 0.0
    for _, v in it:
        if v > 3.0:
            break
        s += v
    return s + next(it, (0, 0.0))[1]


def under_another(x):
    it, s = iter(_rows(x)), 0.0
    for _, v in enumerate(it):
        if v > 3.0:
            break
        s += v
    return s + sum(it)


def in_a_list(x):
    it, s = iter(_rows(x)), 0.0
    for v in it:
        if v > 3.0:
            break
        s += v
    return s + len([*it])


def of_map(x):
    it, s = map(float, _rows(x)), 0.0
    for v in it:
        if v > 3.0:
            break
        s += v
    return s + max(it, default=0.0)


def of_zip(x):
    r, s = [3.0 * x, 2.0, x], 0.0
    it = itertools.pairwise(r)
    for a, b in it:
        if a < b:
            break
        s += a - b
    return s + sum(a for a, b in it)


def of_chain(x):
    it, s = itertools.chain(_rows(x), [1.0, 2.0]), 0.0
    for v in it:
        s += v
        if v > 3.0:
            break
    return s + sum(v * v for v in it)


def any_of_them(x):
    it = iter(_rows(x))
    return sum(it) if any(v > 3.0 for v in it) else -x


def looked_in(x):
    it = iter(_rows(x))
    return float(2.0 * x in it) + sum(it)


def in_a_function(x):
    it = iter(_rows(x))

    def first():
        for v in it:
            if v > 3.0:
                return v
        return 0.0

    return first() + 10.0 * first()


def first_of_a_generator(x):
    it = iter(_rows(x))
    return next((v for v in it if v > 1.0), 0.0) + 10.0 * sum(it)


def generator(x):
    g, s = (v * 2.0 for v in _rows(x)), 0.0
    for v in g:
        if v > 3.0:
            break
        s += v
    for v in g:
        s += 10.0 * v
    return s


def function_that_yields(x):
    def gen():
        for v in _rows(x):
            if v > 1.5:
                yield v

    g, s = gen(), 0.0
    for v in g:
        s += v
        if v > 3.0:
            break
    return s + sum(g)


def gone_to_its_end(x):
    """Loops that are left by nothing, or over what is not used again, are kernels as before."""
    it, s = iter(_rows(x)), 0.0
    s += next(it)
    for v in it:
        s += v * v
    for v in map(float, _rows(x)):
        if v > 3.0:
            break
        s += v
    for _ in range(2):
        for a, b in zip(_rows(x), _rows(x), strict=True):
            if a > 3.0:
                break
            s += b
    s += next((v for v in _rows(x) if v > 3.0), 0.0)
    return s + any(v > 3.0 for v in map(abs, _rows(x)))


FUNCTIONS = [looped_again, asked_for_the_next, under_another, in_a_list, of_map, of_zip, of_chain,
             any_of_them, looked_in, in_a_function, first_of_a_generator, generator,
             function_that_yields]  # fmt: skip
POINTS = (1.7, 3.7, 1.1, 0.1)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_refused_by_kernels_only(f):
    compiled = jit(f)
    for x in POINTS:
        want, h = f(x), 1e-6
        try:
            np.testing.assert_allclose(compiled(x), want, rtol=1e-12)
        except JitadError as e:
            assert "can't go on after a loop that a traced condition left" in str(e)
        np.testing.assert_allclose(in_place_of_a_kernel(f, x), want, rtol=1e-12)
        slope = (f(x + h) - f(x - h)) / (2.0 * h)
        np.testing.assert_allclose(grad(f)(x), slope, rtol=1e-6, atol=1e-6)


def test_others_are_compiled():
    for x in POINTS:
        np.testing.assert_allclose(jit(gone_to_its_end)(x), gone_to_its_end(x), rtol=1e-12)
