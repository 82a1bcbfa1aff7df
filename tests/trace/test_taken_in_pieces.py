"""Do generators give the same when they are taken in pieces, by `next` and by loops in turn?

What a generator waits in, its own loops and `try` statements, is nobody else's meanwhile.
"""

import itertools
import math

import numpy as np
import pytest

import jitad


def each(a):
    for k in range(len(a)):
        yield a[k]


def doubled(values):
    for v in values:
        yield 2.0 * v


def neighbours(values):
    it = iter(values)
    before = next(it)
    for v in it:
        yield before, v
        before = v


def guarded(a):
    for v in a:
        try:
            yield 2.0 * v
        except ValueError:
            yield 100.0


def products_of_neighbours(a):
    return sum(p * q for p, q in neighbours(doubled(each(a))))


def first_and_rest(a):
    it = doubled(doubled(each(a)))
    first = next(it)
    for v in it:
        first = first * 0.5 + math.sin(v)
    return first


def two_in_turn(a):
    up, down = doubled(each(a)), doubled(each(a[::-1]))
    s = next(up) - next(down)
    for u in up:
        s += u * next(down)
        for v in doubled(each(a[:2])):
            s += v * v
    return s


def loop_in_a_loop(a):
    it, s = doubled(each(a)), 0.0
    for v in it:
        s = s * 0.7 + v
        for w in itertools.islice(it, 1):
            s += w * w
    return s


def raises_while_it_waits(a):
    it = guarded(a)
    s = next(it)
    try:
        if a[1] > 0.0:
            raise ValueError("not the generator's")
        s += 1.0
    except ValueError:
        s = s * 3.0
    return s + sum(it)


PROGRAMS = [products_of_neighbours, first_and_rest, two_in_turn, loop_in_a_loop,
            raises_while_it_waits]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_programs(f):
    value_and_grad = jitad.jit_value_and_grad(f, fallback=False)
    for a in (np.array([0.3, 1.2, -0.4, 0.8]), np.array([1.3, -0.2, 0.5, 0.1])):
        step = 1e-6
        want = [(f(a + step * e) - f(a - step * e)) / (2.0 * step) for e in np.eye(4)]
        for engine in (jitad.value_and_grad(f), value_and_grad):
            value, gradient = engine(a)
            assert value == pytest.approx(f(a), rel=1e-13)
            np.testing.assert_allclose(gradient, want, rtol=1e-7, atol=1e-7)


def test_a_try_around_a_yield_catches_nothing_from_outside():
    def f(a):
        it = guarded(a)
        s = next(it)
        if a[0] > 1.0:
            raise ValueError("nobody catches it")
        return s + next(it)

    compiled = jitad.jit(f, fallback=False)
    assert compiled(np.array([0.5, 0.6])) == 2.2
    with pytest.raises(ValueError, match="nobody catches it"):
        compiled(np.array([1.5, 0.6]))
