"""Do functions that end stand where they are called, and recursions go several steps at a time?"""

import re

import numpy as np
import pytest

from jitad import jit, jit_grad, jvp


def calls(compiled, stage):
    return len(re.findall(r" (?:call|act) ", compiled.tape(stage)))


def slope(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


def descent(f, x, rounds):
    """Gradient steps; the gradient has the same code wherever it is."""
    g = slope(f)
    n = 0
    while n < rounds and abs(g(x)) > 1e-9:
        x = x - 0.25 * g(x)
        n += 1
    return x


def nearest(y):
    """By two descents, one in the other: x from y, y from what x makes of it."""
    return descent(lambda x: (x - y) ** 2 + 0.5 * x * x, 0.0, 60)


def outer(start):
    return descent(lambda y: (nearest(y) - 1.0) ** 2, start, 60)


def test_derivatives_in_derivatives_are_no_recursion():
    found = jit(outer)
    assert found(0.2) == pytest.approx(1.5, abs=1e-6)  # x = y / 1.5 is 1
    assert calls(found, "traced") > 0
    assert calls(found, "unfold") == 0


def minors(a, ell, row, taken):
    if row == ell:
        return 1.0
    total, sign = 0.0, 1.0
    for j in range(ell):
        if taken[j] == 0:
            taken[j] = 1
            total += sign * a[row, j] * minors(a, ell, row + 1, taken)
            taken[j] = 0
            sign = -sign
    return total


def determinant(a, ell):
    return minors(a, ell, 0, np.zeros(ell, dtype=np.int64))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])  # with the last call at each step
def test_a_recursion_in_several_steps(n):
    a = np.random.default_rng(n).normal(size=(n, n))
    wanted = np.linalg.det(a) * np.linalg.inv(a).T
    np.testing.assert_allclose(jit_grad(determinant)(a, n), wanted, rtol=1e-10)
    assert jit(determinant)(a, n) == pytest.approx(np.linalg.det(a))


def test_a_function_of_several_steps_calls_itself_as_often_as_before():
    g = jit_grad(determinant)
    g(np.eye(2), 2)

    assert calls(g, "strides") == calls(g, "resolve")
    loops = g.tape("resolve").count(" = for ")
    assert 2 * loops < g.tape("strides").count(" = for ") <= 4 * loops


def test_a_call_outside_of_loops_goes_two_steps():
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    g = jit(power)
    assert g(2.0, 9) == 512.0
    assert g.tape("strides").count(" mul ") == 2 * g.tape("resolve").count(" mul ")


def test_two_calls_of_itself_stay_two():
    def tree(x, n):
        return x * x if n < 2 else tree(x, n - 1) + 0.5 * tree(x, n - 2)

    def by_hand(n):
        return 1.0 if n < 2 else by_hand(n - 1) + 0.5 * by_hand(n - 2)

    g = jit_grad(tree)
    for n in (0, 1, 2, 7):
        assert g(3.0, n) == pytest.approx(6.0 * by_hand(n))


def test_a_call_that_ends_at_once_is_not_made():
    """Values by hand, whichever step is the last."""

    def sums(a, n, k):
        if k >= n:
            return 1.0 + a[k]
        return a[k] * sums(a, n, k + 1) + sums(a, n, k + 2) if k + 2 <= n else sums(a, n, k + 1)

    def by_hand(a, n, k):
        if k >= n:
            return 1.0 + a[k], {k: 1.0}
        value, slope = by_hand(a, n, k + 1)
        if k + 2 > n:
            return value, slope
        other, more = by_hand(a, n, k + 2)
        out = {j: a[k] * s for j, s in slope.items()}
        for j, s in more.items():
            out[j] = out.get(j, 0.0) + s
        out[k] = out.get(k, 0.0) + value
        return a[k] * value + other, out

    a = np.linspace(0.5, 1.5, 9)
    for n in range(9):
        value, slope = by_hand(a, n, 0)
        assert jit(sums)(a, n, 0) == pytest.approx(value, rel=1e-14)
        wanted = [slope.get(j, 0.0) for j in range(9)]
        np.testing.assert_allclose(jit_grad(sums)(a, n, 0), wanted, rtol=1e-13)
    with pytest.raises(IndexError):
        jit(sums)(a, 9, 0)
    g = jit_grad(determinant)
    g(np.eye(2), 2)
    assert g.tape("strides").count(" = if ") > 2 * g.tape("resolve").count(" = if ")


def test_what_can_be_seen_happens_once(capfd):
    def down(x, n):
        print("at", n)
        return x * x if n <= 0 else 0.5 * down(x, n - 1)

    for g in (jit(down), jit_grad(down)):
        for n in (0, 1, 2, 5):
            capfd.readouterr()
            g(3.0, n)
            assert capfd.readouterr().out == "".join(f"at {k}\n" for k in range(n, -1, -1))
