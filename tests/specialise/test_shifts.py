"""Are additions to shifted windows made in one pass, with the same sums?

The numbers are small integers, whose sums are exact in any order: results must be equal.
"""

import itertools

import numpy as np
import pytest

from jitad import jit_grad
from jitad.specialise.shifts import shifts
from jitad.specialise.simplify import simplify
from jitad.tape.ir import lit
from jitad.tape.types import INT, Array
from jitad.values.number import o
from tests.emit.running import check
from tests.jacobians.truth import complex_step
from tests.specialise.passes import keeps, twin
from tests.specialise.tapes import M, V, for_, ops, tape_of
from tests.sweeps.test_settled import by_complex_steps

LINE = np.array([3.0, -1, 4, 1, -5, 9])
PLATE = np.arange(1.0, 31.0).reshape(5, 6)


def line(offsets, factors=(2.0,), other=None):
    """g[c : c + n] += factor * x for each offset c; `other` is added at the second of them."""
    def f(b, g, x, n):
        x = o.slice(x, 0, 1, n, kinds="r")
        for k, (c, factor) in enumerate(zip(offsets, itertools.cycle(factors))):
            v = x if factor == 1.0 else -x if factor == -1.0 else x * factor
            if other is not None and k == 1:
                v = other(x)
            g = o.accum_slice(g, v, c, 1, n, kinds="r")
        return g

    return tape_of([("g", V), ("x", V), ("n", INT)], f)


POINTS = [(np.arange(12.0), LINE, n) for n in (6, 3, 1, 0)]


@pytest.mark.parametrize("factors", [(1.0,), (-1.0,), (2.0, 1.0, -1.0), (3.0,)])
@pytest.mark.parametrize("offsets", [(0, 1), (2, 0), (1, 2, 0), (0, 4), (1, 1, 2), (2, 2)])
def test_one_pass_over_a_line(offsets, factors):
    after = keeps(shifts, line(offsets, factors), *POINTS)
    assert not ops(after, "accum_slice")
    assert len(ops(after, "pad")) == len(ops(after, "store_slice")) == 1


def test_one_pass_over_a_plate():
    places = [(1, 1), (1, 2), (1, 0), (2, 1), (0, 1), (2, 2)]

    def f(b, g, x, n, m):
        x = o.slice(x, 0, 1, n, 0, 1, m, kinds="rr")
        for i, j in places:
            g = o.accum_slice(g, x * 4.0 if (i, j) == (1, 1) else x, i, 1, n, j, 1, m, kinds="rr")
        return g

    tape = tape_of([("g", M), ("x", M), ("n", INT), ("m", INT)], f)
    points = [(np.ones((8, 8)), PLATE, n, m) for n in (5, 1, 0) for m in (6, 2, 0)]
    after = keeps(shifts, tape, *points)
    assert not ops(after, "accum_slice")


@pytest.mark.parametrize("factors", [(1.0, -1.0), (2.0, 1.0), (1.0, -1.0, 3.0)])
@pytest.mark.parametrize("apart", [1, 2, 4, -1, -3])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("row", [False, True])
def test_two_windows_of_a_plate_need_no_frame(factors, apart, axis, row):
    """Where they are shorter than they are apart, or of no elements, too; also in a block."""
    def f(b, g, x, n, m):
        x = o.slice(x, 0, 1, n, 0, 1, m, kinds="rr")
        offsets = itertools.cycle((max(0, -apart), max(0, apart)))
        for c, factor in zip(offsets, factors, strict=False):
            i, j = (c, 1) if axis == 0 else (2, c)
            at = (1,) if row else ()
            kinds = "irr" if row else "rr"
            g = o.accum_slice(g, x * factor, *at, i, 1, n, j, 1, m, kinds=kinds)
        return g

    block = Array("f8", 3) if row else M
    tape = tape_of([("g", block), ("x", M), ("n", INT), ("m", INT)], f)
    shape = (3, 10, 11) if row else (10, 11)
    points = [(np.ones(shape), PLATE, n, m) for n in (5, 2, 1, 0) for m in (6, 3, 1, 0)]
    after = keeps(shifts, tape, *points)
    assert not ops(after, "accum_slice") and not ops(after, "pad")
    if apart in (2, -1) and len(factors) == 3:
        check(shifts(twin(tape)), *points[1], exact=True)


def test_windows_of_no_elements_may_lie_outside():
    after = keeps(shifts, line((0, 2)), (np.ones(1), LINE, 0), (np.ones(0), LINE, 0))
    assert not ops(after, "accum_slice")


@pytest.mark.parametrize(
    "tape",
    [
        line((3,)),
        line((0, 5)),  # too far
        line((0, 1), other=lambda x: x * x),  # as many arrays as windows
        line((0, 1), other=lambda x: x * np.inf),  # not a finite multiple: its zeros are nan
    ],
)  # fmt: skip
def test_others_stay(tape):
    n = len(ops(tape.body, "accum_slice"))
    assert len(ops(keeps(shifts, tape, *POINTS), "accum_slice")) == n


def test_what_is_used_in_between_stays():
    def f(b, g, x):
        g = o.accum_slice(g, x, 0, 1, 6, kinds="r")
        total = o.sum(g, axes=(0,))
        return o.accum_slice(g, x, 1, 1, 6, kinds="r"), total

    tape = tape_of([("g", V), ("x", V)], f)
    assert len(ops(keeps(shifts, tape, (np.ones(9), LINE)), "accum_slice")) == 2


def test_the_frame_stays_zero_from_step_to_step():
    """In a loop the frame has one buffer, with windows that move too: those are zeroed anew."""
    def f(b, g, x, n, moving):
        def body(t, g):
            size = n - t if moving else n
            part = o.slice(x, 0, 1, size, kinds="r") * 1.0
            for c in (0, 1, 2):
                g = o.accum_slice(g, part, c, 1, size, kinds="r")
            return [g]

        return for_(b, 0, 1, 4, [g], body)[0]

    for moving in (False, True):
        tape = tape_of(
            [("g", V), ("x", V), ("n", INT)], lambda b, g, x, n, m=moving: f(b, g, x, n, m)
        )
        check(shifts(twin(tape)), np.ones(9), LINE, 6, exact=True)


def laplace(u, steps):
    for _ in range(steps):
        u = u.copy()
        u[1:-1] += 0.25 * (u[:-2] - 2.0 * u[1:-1] + u[2:])
    return np.sum(u * u)


@pytest.mark.parametrize("n", [2, 3, 4, 9])
def test_a_stencil_on_slices(n):
    u = np.linspace(-1.0, 2.0, n) ** 3
    step = np.eye(n)
    for i in range(1, n - 1):
        step[i, i - 1 : i + 2] += [0.25, -0.5, 0.25]
    power = np.linalg.matrix_power(step, 3)
    np.testing.assert_allclose(
        jit_grad(laplace)(u, 3), 2.0 * power.T @ (power @ u), rtol=1e-12, atol=1e-14
    )


def swept_rows(x):
    """A row takes from three places of the row above it, and from itself."""
    a = np.outer(x, x)
    for i in range(1, len(x)):
        a[i, 1:-1] += (a[i - 1, :-2] + a[i - 1, 1:-1] + 0.5 * a[i - 1, 2:]) * 0.3
    return np.sum(a * a)


def test_windows_of_one_row():
    x = np.linspace(0.5, 1.5, 7)
    g = jit_grad(swept_rows)
    np.testing.assert_allclose(g(x), by_complex_steps(swept_rows, x), rtol=1e-12)
    assert "pad" in str(g.tape("shifts")) and "pad" not in str(g.tape("fold"))


def averaged(x, n):
    """Each step goes from one plate to the other and back."""
    a, b = x.copy(), x.copy()
    for _ in range(n):
        for one, other in ((a, b), (b, a)):
            inner = one[1:-1, 1:-1]
            other[1:-1, 1:-1] = inner + one[1:-1, :-2] + 2.0 * one[2:, 1:-1] - one[:-2, 1:-1]
    return np.sum(a * a * b)


def test_plates_that_take_from_each_other_in_turn_have_one_frame():
    x = np.sin(np.arange(30.0)).reshape(5, 6)
    g = jit_grad(averaged)
    for n in (0, 1, 3):
        expected = complex_step(lambda x, n=n: averaged(x, n), x)
        assert np.allclose(g(x, n), expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())
    assert g.source.count("zeros(np.float64, max(") == 1


def around_zeros(at, places, after):
    """A window at `at` is zero when others are added to; `after`: what is done with the sum."""
    def f(b, g, x, n, m):
        def window(place):
            return place[0], 1, n, place[1], 1, m

        x = o.slice(x, 0, 1, n, 0, 1, m, kinds="rr")
        g = o.store_slice(g, 0.0, *window(at), kinds="rr")
        for place in places:
            g = o.accum_slice(g, x * 4.0 if place == (1, 1) else x, *window(place), kinds="rr")
        got = [o.slice(g, *window(at), kinds="rr") for wanted in "sl" if wanted in after]
        if "l" in after:  # the sum is looked for elsewhere, too
            got.append(o.slice(g, 0, 1, 2, 0, 1, 2, kinds="rr"))
        if "z" in after:
            g = o.store_slice(g, 0.0, *window(at), kinds="rr")
        return (g, *got)

    return tape_of([("g", M), ("x", M), ("n", INT), ("m", INT)], f)


CROSS = [(2, 1), (0, 1), (1, 0), (1, 2), (1, 1)]


@pytest.mark.parametrize(
    ("at", "places"),
    [((1, 1), CROSS), ((1, 1), CROSS[:4]), ((0, 1), CROSS), ((2, 2), CROSS), ((1, 0), CROSS[2:]),
     ((1, 1), [(2, 2), (0, 3), (0, 0), (0, 3)])],
)  # fmt: skip
@pytest.mark.parametrize("after", ["", "s", "sz", "lz", "z"])
def test_where_there_were_zeros_the_sum_is_all_there_is(at, places, after):
    tape = around_zeros(at, places, after)
    points = [(np.full((8, 9), 7.0), PLATE, n, m) for n in (5, 1, 0) for m in (6, 2, 0)]
    block = keeps(shifts, tape, *points)
    assert not ops(block, "accum_slice")
    zeroing = [e for e in ops(block, "store_slice") if e.ins[1] == lit(0.0)]
    assert len(zeroing) == ("z" in after)
    if after == "sz":  # nothing else is stored than the rim
        rim = {(k, c > at[k]) for p in places for k, c in enumerate(p) if c != at[k]}
        assert len(ops(block, "store_slice")) == 1 + len(rim)


@pytest.mark.parametrize("at", [(3, 1), (1, -1)])
def test_a_window_of_zeros_that_lies_beyond_is_set_to_zero(at):
    tape = around_zeros((3, 1) if at[1] > 0 else (1, 3), CROSS, "s")
    block = keeps(shifts, tape, (np.full((8, 9), 7.0), PLATE, 5, 6))
    assert len([e for e in ops(block, "store_slice") if e.ins[1] == lit(0.0)]) == 1


@pytest.mark.parametrize("zero", ["always", "at the end", "at the beginning", "elsewhere"])
def test_what_each_iteration_leaves_zero_is_zero_in_the_next(zero):
    """If it is zero before the loop as well, and the window the same in all iterations."""
    def f(b, x, n):
        whole = (0, 1, n, 1, 1, n)

        def body(i, g, x):
            for place in ((0, 1), (1, 1), (0, 0), (0, 2)):
                at = (place[0], 1, n, place[1], 1, n)
                g = o.accum_slice(g, x, *at, kinds="rr")
            x = o.slice(g, *whole, kinds="rr") * 0.5
            moved = i - 3 if zero == "elsewhere" else 0
            g = o.store_slice(g, 0.0, moved, *whole[1:], kinds="rr")
            return g, x

        m = n + 2
        start = o.full(1.0 if zero == "at the end" else 0.0, m, m, dtype="f8")
        if zero == "at the beginning":
            start = o.store(start, 1.0, 0, 1)
        return tuple(for_(b, 3, 1, 2, (start, x), body))

    tape = tape_of(
        [("x", M), ("n", INT)], lambda b, x, n: f(b, o.slice(x, 0, 1, n, 0, 1, n, kinds="rr"), n)
    )
    block = keeps(shifts, tape, (PLATE, 4), (PLATE, 1), (PLATE, 0))
    zeroing = [e for e in ops(block, "store_slice") if e.ins[1] == lit(0.0)]
    assert len(zeroing) == (zero != "always")
    check(simplify(shifts(twin(tape))), PLATE, 4, exact=True)


def gone_to_and_fro(x, n):
    """By two plates, of which the second starts as the first; the rim of both counts."""
    a, b = x.copy(), x.copy()
    for _ in range(n):
        for one, other in ((a, b), (b, a)):
            rows = one[2:, 1:-1] + one[:-2, 1:-1]
            other[1:-1, 1:-1] = 0.2 * (rows + one[1:-1, 1:-1] + one[1:-1, :-2] + one[1:-1, 2:])
    return np.sum(a * a * a)


@pytest.mark.parametrize("shape", [(6, 7), (3, 3), (2, 5), (3, 2)])
def test_plates_in_turns_hand_on_frames(shape):
    x = np.sin(np.arange(float(np.prod(shape)))).reshape(shape)
    g = jit_grad(gone_to_and_fro)
    for n in (0, 1, 3):
        expected = complex_step(lambda x, n=n: gone_to_and_fro(x, n), x)
        assert np.allclose(g(x, n), expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())
    assert g.source.count("0.0, i") == 0  # no zero is stored


def one_after_the_other(g, frame, left, right):
    p = frame(g)
    h = o.store(left(p) + right(p), 0.5, 0)
    q = frame(h)
    return left(q) - right(q)


def both_at_once(g, frame, left, right):
    p, q = frame(g * 0.5), frame(g * g)
    return left(p) - right(q)


def one_made_of_the_other(g, frame, left, right):
    p = frame(g)
    return right(frame(left(p) * 0.5 + right(p)))


def one_wanted_later(g, frame, left, right):
    p = frame(g)
    h = o.store(left(p) + right(p), 0.5, 0)
    q = frame(h)
    return left(q) - right(p)


def chosen_first(g, frame, left, right):
    """The first frame is made at the left, then used; the second is that of the next turn."""
    p = frame(left(frame(g)) * 0.5)
    return o.store(right(p), 0.25, 1)


@pytest.mark.parametrize(
    ("step", "frames"),
    [(one_after_the_other, 1), (both_at_once, 2), (one_made_of_the_other, 2),
     (one_wanted_later, 2), (chosen_first, 2)],
)  # fmt: skip
@pytest.mark.parametrize("nested", [False, True])
def test_frames_that_are_not_wanted_at_a_time_are_one(step, frames, nested):
    def f(b, g, n):
        m = n + 2

        def body(i, g):
            return (step(
                g, lambda v: o.pad(v, 1, m),
                lambda p: o.slice(p, 0, 1, n, kinds="r"), lambda p: o.slice(p, 2, 1, n, kinds="r"),
            ),)  # fmt: skip

        def around(i, g):
            return for_(b, 0, 1, 2, body(i, g), body)

        return for_(b, 0, 1, 3, (g * 1.0,), around if nested else body)[0]

    tape = tape_of([("g", V), ("n", INT)], lambda b, g, n: f(b, o.slice(g, 0, 1, n, kinds="r"), n))
    source = check(tape, np.sin(np.arange(7.0)), 7, exact=True)
    assert source.count("zeros(") == frames
