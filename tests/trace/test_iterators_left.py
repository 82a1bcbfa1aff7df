"""Does an iterator that a loop left where a traced condition said so go on where Python's would?

How far it got, only the kernel knows.  So a kernel says that it can't, and the eager engine does.
"""

import itertools
import math
import re
from collections import deque

import numpy as np
import pytest

from jitad import JitadError, grad, jit
from tests.engines import in_place_of_a_kernel

POINTS = (1.7, 3.7, 1.1, 0.1)


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


def left_by_an_exception(x):
    it, s = iter(_rows(x)), 0.0
    try:
        for v in it:
            if v > 3.0:
                raise ValueError
            s += v
    except ValueError:
        pass
    return s + 10.0 * sum(it)


def emptied_in_the_loop(x):
    it, s = iter(_rows(x)), 0.0
    for v in it:
        if v > 3.0:
            s += len(list(it))
        s += v
    return s


def _yielded(rows):
    for v in rows:
        yield v
        rows[0] = 0.5 * rows[0]


def _if_large(take, made=iter):
    def f(x):
        it, s = made(_rows(x)), 0.0
        if x > 1.0:
            s = take(it)
        return s + 10.0 * sum(it)

    return f


def _unpacked(it):
    a, b, c = it
    return a * b * c


def _handed_on(it):
    def product(*args):
        return args[0] * args[1]

    return product(*it)


def _extending(it):
    r = [1.0]
    r.extend(it)
    return sum(r)


def _added(it):
    r = [1.0]
    r += it
    return sum(r)


def _put_in(it):
    r = [1.0, 2.0]
    r[1:] = it
    return sum(r)


TAKING = [_unpacked, _handed_on, _extending, _added, _put_in, sum, max, lambda it: sum([*it]),
          lambda it: sum(list(it)), lambda it: float(3.4 in it), lambda it: sum(map(float, it)),
          lambda it: np.sum(np.array(list(it))), lambda it: sum(v for v in it),
          lambda it: len({k: v for k, v in enumerate(it)}), lambda it: next(it),
          lambda it: sum((0.0, *it)), lambda it: len({0.5, *it}), lambda it: max(*it),
          lambda it: math.fsum(it), lambda it: sum(deque(it)), lambda it: sum(tuple(it)),
          lambda it: sum(dict(zip("abc", it)).values()), lambda it: np.sum([*it])]  # fmt: skip


@pytest.mark.parametrize("take", TAKING)
@pytest.mark.parametrize("made", [iter, _yielded, lambda rows: (v * v for v in rows)])
def test_taken_under_a_condition(take, made):
    """The other path finds all there that this one has taken."""
    f = _if_large(take, made)
    for x in POINTS:
        with pytest.raises(JitadError, match=r"advanced under a traced|loop that"):
            jit(f)(x)
        np.testing.assert_allclose(in_place_of_a_kernel(f, x), f(x), rtol=1e-12)


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
             function_that_yields, left_by_an_exception, emptied_in_the_loop]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_refused_by_kernels_only(f):
    compiled = jit(f)
    for x in POINTS:
        want, h = f(x), 1e-6
        try:
            np.testing.assert_allclose(compiled(x), want, rtol=1e-12)
        except JitadError as e:
            assert re.search("can't go on after a loop|be advanced under a traced", str(e)), e
        np.testing.assert_allclose(in_place_of_a_kernel(f, x), want, rtol=1e-12)
        slope = (f(x + h) - f(x - h)) / (2.0 * h)
        np.testing.assert_allclose(grad(f)(x), slope, rtol=1e-6, atol=1e-6)


def test_others_are_compiled():
    for x in POINTS:
        np.testing.assert_allclose(jit(gone_to_its_end)(x), gone_to_its_end(x), rtol=1e-12)


def test_a_generator_whose_loops_raise_is_refused():
    """What is the matter is told, not that a generator can't be closed."""
    def f(x, values):
        g = (v * x for v in values if v > 2.0)
        return next(g) + sum(g)

    with pytest.raises(JitadError):
        jit(f)(0.7, [0.1 * k for k in range(70)])
