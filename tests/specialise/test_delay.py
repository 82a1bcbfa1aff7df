"""Are accumulations at neighbouring elements made once an iteration, with the same sums?

The numbers are small integers, whose sums are exact in any order: results must be equal.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitad.specialise.delay import delay
from jitad.tape.types import INT, Array
from jitad.values.number import o
from tests.specialise.passes import keeps
from tests.specialise.tapes import M, V, for_, in_loops, ops, tape_of

N = 9
X = np.array([3.0, -1, 4, 1, -5, 9, 2, -6, 5])


def zeros(*dims, dtype="f8"):
    return o.full(0.0, *dims, dtype=dtype)


def spread(offsets, step=1, base=lambda i: i):
    """For every i: a[base(i) + offset] += (offset's own multiple of) x[i]."""
    def f(b, x, start, count):
        def body(i, a):
            for k, c in enumerate(offsets):
                a = o.accum(a, o.load(x, i) * (k + 2.0), base(i) + c)
            return [a]

        return for_(b, start, step, count, [zeros(N)], body)[0]

    return tape_of([("x", V), ("start", INT), ("count", INT)], f)


def windows(offsets, step):
    """Starts and counts that keep within the array, none and negative ones among them."""
    low, high = -min(0, *offsets), N - 1 - max(0, *offsets)
    for count in (-2, 0, 1, 2, high - low + 1):
        last = step * (max(count, 1) - 1)
        for start in {low, low + 1, high, high - 1}:
            if low <= start + last <= high and low <= start <= high:
                yield X, start, count


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize(
    "offsets",
    [(0, 1), (1, 0), (0, 1, 2), (2, 0, 1), (-1, 0, 1), (0, 0, 1), (0, 2), (-2, 2), (1, 4, 1, 2)],
)
def test_one_addition_an_iteration(offsets, step):
    after = keeps(delay, spread(offsets, step), *windows(offsets, step))
    assert len(in_loops(after, "accum")) == 1


@pytest.mark.parametrize("offsets", [(0,), (0, 0), (0, 7)])
def test_what_has_no_neighbours_near_stays(offsets):
    tape = spread(offsets)
    assert len(in_loops(keeps(delay, tape, *windows(offsets, 1)), "accum")) == len(offsets)


def test_falling_index():
    tape = spread((0, 1, -1), 1, lambda i: (N - 1) - i)
    points = [(X, s, c) for s, c in ((1, 7), (1, 1), (2, 3), (1, 0))]
    assert len(in_loops(keeps(delay, tape, *points), "accum")) == 1


@pytest.mark.parametrize(
    ("base", "offsets", "left"),
    [
        (lambda i: i * 2, (0, 1, 0), 3),
        (lambda i: i * -2 + 8, (0, -1, -2), 2),
        (lambda i: i * 2, (0, 1), 2),
        (lambda i: i * 2, (0, 2), 1),
        (lambda i: i * 2, (0, 2, 1), 2),
        (lambda i: i * 3, (0, 1, 2), 3),
        (lambda i: i * 3, (0, 1, 3, 2), 3),
        (lambda i: i * -3 + 8, (0, -3, -1), 2),
        (lambda i: i * 3 + 1, (3, 1, 0, -1, 2), 3),
    ],
)  # fmt: skip
def test_places_that_are_further_apart(base, offsets, left):
    last = (N - 1 - max(offsets)) // 3
    points = [(X, s, c) for s, c in ((0, last), (1, last - 1), (2, 0), (1, 1), (0, -1))]
    assert len(in_loops(keeps(delay, spread(offsets, 1, base), *points), "accum")) == left


def test_steps_other_than_one():
    points = [(X, 0, 4), (X, 1, 3), (X, 1, 0)]
    assert len(in_loops(keeps(delay, spread((0, 1), 2), *points), "accum")) == 2
    assert len(in_loops(keeps(delay, spread((0, 2), 2), *points), "accum")) == 1


def stored(places, ops, blank):
    """For every i: stores to a or adds to it at 3i + place."""
    def f(b, x, count):
        n = count * 3 + 1  # all that is written to
        start = b.leaf(b.emit("blank", b.atom(n), dtype="f8", start="zeros")) if blank else zeros(n)

        def body(i, a):
            for k, (op, c) in enumerate(zip(ops, places, strict=True)):
                a = getattr(o, op)(a, o.load(x, i) * (k + 2.0), i * 3 + c)
            return [a]

        return for_(b, 0, 1, count, [start], body)[0]

    return tape_of([("x", V), ("count", INT)], f)


@pytest.mark.parametrize("blank", [True, False])
def test_stores_at_places_of_their_own_are_passed(blank):
    ops = ("accum", "store", "accum", "store")
    after = keeps(delay, stored((0, 1, 3, 2), ops, blank), *((X, n) for n in (1, 2, 5)))
    assert len(in_loops(after, "store")) == (3 if blank else 2)
    assert len(in_loops(after, "accum")) == (0 if blank else 1)


def test_stores_where_something_is_added_stay():
    for places in ((0, 1, 3, -2), (0, 0, 3, 2), (0, 1, 3, 0)):
        ops = ("accum", "store", "accum", "store")
        after = keeps(delay, stored(places, ops, False), *((X, n) for n in (1, 2, 5)))
        assert len(in_loops(after, "accum")) == 2


def test_an_array_that_is_all_stored_to_need_not_be_zero():
    covered = delay(stored((0, 1, 3, 2), ("accum", "store") * 2, True)).body
    assert [e.params["start"] for e in covered.equations if e.op == "blank"] == ["empty"]
    other = delay(stored((0, 1, 4, 2), ("accum", "store") * 2, True)).body
    assert [e.params["start"] for e in other.equations if e.op == "blank"] == ["zeros"]


def test_index_shifted_by_an_invariant():
    def f(b, x, k, count):
        return for_(b, 0, 1, count, [zeros(N)], lambda i, a: [
            o.accum(o.accum(a, o.load(x, i), i + k), 2.0, i - 1 + k)])[0]

    tape = tape_of([("x", V), ("k", INT), ("count", INT)], f)
    after = keeps(delay, tape, *((X, k, c) for k in (1, 2, 4) for c in (-1, 0, 1, 3, 5)))
    assert len(in_loops(after, "accum")) == 1


def test_index_shifted_by_what_changes_in_the_loop_stays():
    """i + j and i + j + 1 move on by two elements, or by none."""
    def f(b, x, by):
        return for_(b, 0, 1, 4, [zeros(N), 4], lambda i, a, j: [
            o.accum(o.accum(a, o.load(x, i), i + j), 2.0, i + j + 1), j + by])[0]

    tape = tape_of([("x", V), ("by", INT)], f)
    assert len(in_loops(keeps(delay, tape, (X, 0), (X, -1), (X, -2)), "accum")) == 2


def test_a_shift_read_from_an_array_in_the_loop_stays():
    def f(b, x, by):
        def body(i, a):
            j = o.cast(o.load(by, i), dtype="i8", py=True)
            return [o.accum(o.accum(a, 1.0, i + j), o.load(x, i), i + j + 1)]

        return for_(b, 0, 1, 4, [zeros(N)], body)[0]

    tape = tape_of([("x", V), ("by", Array("i8", 1))], f)
    after = keeps(delay, tape, (X, np.array([0, -1, 2, 1])), (X, np.array([4, 4, 4, 4])))
    assert len(in_loops(after, "accum")) == 2


def test_an_array_read_in_the_loop_stays():
    def before(i, a, s, x):
        v = o.load(a, i)
        return [o.accum(o.accum(a, 1.0, i), o.load(x, i), i + 1), s + v]

    def between(i, a, s, x):
        a = o.accum(a, o.load(x, i), i)
        return [o.accum(a, 1.0, i + 1), s + o.load(a, i + 1)]

    def after(i, a, s, x):
        a = o.accum(o.accum(a, o.load(x, i), i), 1.0, i + 1)
        return [a, s + o.load(a, i + 1)]

    for body in (before, between, after):
        def f(b, x, n, body=body):
            return tuple(for_(b, 0, 1, n, [zeros(N), 0.0], lambda i, a, s: body(i, a, s, x)))

        tape = tape_of([("x", V), ("n", INT)], f)
        assert len(in_loops(keeps(delay, tape, (X, 0), (X, 1), (X, 8)), "accum")) == 2


def test_an_array_read_inside_a_branch_or_an_inner_loop_stays():
    def f(b, x, n):
        def body(i, a, s):
            a = o.accum(o.accum(a, o.load(x, i), i), 1.0, i + 1)
            (s,) = for_(b, 0, 1, i, [s], lambda j, s: [s + o.load(a, j + 1)])
            return [a, s]

        return tuple(for_(b, 0, 1, n, [zeros(N), 0.0], body))

    tape = tape_of([("x", V), ("n", INT)], f)
    assert len(in_loops(keeps(delay, tape, (X, 0), (X, 1), (X, 8)), "accum")) == 2


def test_a_version_handed_on_twice_stays():
    """The second carry keeps what the array was before this iteration's last accumulation."""
    def f(b, x, n):
        def body(i, a, old):
            half = o.accum(a, o.load(x, i), i)
            return [o.accum(half, 2.0, i + 1), half]

        return tuple(for_(b, 0, 1, n, [zeros(N), zeros(N)], body))

    keeps(delay, tape_of([("x", V), ("n", INT)], f), (X, 0), (X, 1), (X, 2), (X, 8))


def test_swapped_arrays_stay():
    def f(b, x, n):
        return tuple(for_(b, 0, 1, n, [zeros(N), zeros(N)], lambda i, a, c: [
            o.accum(o.accum(c, o.load(x, i), i), 2.0, i + 1), a]))

    keeps(delay, tape_of([("x", V), ("n", INT)], f), (X, 0), (X, 1), (X, 2), (X, 8))


def test_two_groups_and_one_element_more():
    def f(b, x, k, n):
        def body(i, a):
            for v, at in ((1.0, i), (o.load(x, i), i + k), (4.0, 3), (5.0, i + 1), (6.0, i + k + 1),
                          (7.0, i * 2), (8.0, i + k - 1)):  # fmt: skip
                a = o.accum(a, v, at)
            return [a]

        return for_(b, 0, 1, n, [zeros(N)], body)[0]

    tape = tape_of([("x", V), ("k", INT), ("n", INT)], f)
    after = keeps(delay, tape, *((X, k, n) for k in (1, 2, 3) for n in (0, 1, 2, 4)))
    assert len(in_loops(after, "accum")) == 3  # i, i + k and 2 i


@pytest.mark.parametrize("step", [1, -1, 3])
def test_what_goes_to_one_element_is_summed_first(step):
    def f(b, x, k, by, n):
        def body(i, a, j):
            for v, at in ((o.load(x, i), k), (2.0, 0), (3.0, k + 1), (o.load(x, i), k), (1.0, j)):
                a = o.accum(a, v, at)
            return [a, j + by]

        return for_(b, 4, step, n, [zeros(N), 1], body)[0]

    tape = tape_of([("x", V), ("k", INT), ("by", INT), ("n", INT)], f)
    after = keeps(delay, tape, *((X, k, by, n) for k in (0, 5) for by in (0, 1) for n in (0, 1, 2)))
    assert len(in_loops(after, "accum")) == 1  # that at j


def test_an_index_out_of_bounds_is_not_used_if_the_loop_does_not_run():
    def f(b, x, k, n):
        return for_(b, 0, 1, n, [zeros(N)], lambda i, a: [o.accum(a, o.load(x, i), k)])[0]

    after = keeps(delay, tape_of([("x", V), ("k", INT), ("n", INT)], f), (X, 99, 0), (X, 99, -3))
    assert not in_loops(after, "accum")


def test_an_element_that_is_read_while_it_is_added_to_stays():
    def f(b, x, n):
        return tuple(for_(b, 0, 1, n, [zeros(N), 0.0], lambda i, a, s: [
            o.accum(a, o.load(x, i), 2), s + o.load(a, i)]))

    keeps(delay, tape_of([("x", V), ("n", INT)], f), (X, 0), (X, 1), (X, 9))


def test_all_arrays_of_a_loop():
    def f(b, x, n):
        return tuple(for_(b, 0, 1, n, [zeros(N), zeros(N)], lambda i, a, c: [
            o.accum(o.accum(a, o.load(x, i), i), 2.0, i + 1),
            o.accum(o.accum(c, 3.0, i + 1), o.load(x, i), i)]))

    tape = tape_of([("x", V), ("n", INT)], f)
    after = keeps(delay, tape, (X, 0), (X, 1), (X, 2), (X, 8))
    assert len(in_loops(after, "accum")) == 2


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_dtypes_of_the_numbers_added(dtype):
    """Literals and numbers of a narrower type wait in the type of the array."""
    def f(b, x, w, n):
        def body(i, a):
            a = o.accum(o.accum(a, 1.0, i), 2.0, i + 1)
            return [o.accum(a, o.load(w, i), i + 2)]

        return for_(b, 0, 1, n, [zeros(N, dtype=dtype)], body)[0]

    tape = tape_of([("x", V), ("w", Array("f4", 1)), ("n", INT)], f)
    points = [(X, X.astype("f4"), n) for n in (0, 1, 2, 7)]
    assert len(in_loops(keeps(delay, tape, *points), "accum")) == 1


@pytest.mark.parametrize("axis", [0, 1])
def test_matrices(axis):
    """The inner loop moves along one axis; the other index is the outer loop's."""
    def f(b, m, rows, columns):
        def at(i, j):
            return (i, j) if axis else (j, i)

        def outer(i, a):
            def inner(j, a):
                for c, e in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 0)):
                    a = o.accum(a, o.load(m, *at(i, j)) * (1.0 + c + 3 * e), *at(i + c, j + e))
                return [a]

            return for_(b, 0, 1, columns, [a], inner)

        return for_(b, 0, 1, rows, [zeros(*m.shape)], outer)[0]

    m = np.arange(36.0).reshape(6, 6) % 7 - 3
    tape = tape_of([("m", M), ("rows", INT), ("columns", INT)], f)
    after = keeps(delay, tape, *((m, r, c) for r, c in itertools.product((0, 1, 5), (-1, 0, 1, 4))))
    inner = next(e for e in ops(after, "for") if not ops(e.blocks[0], "for"))
    assert len(ops(inner.blocks[0], "accum")) == 2


def test_diagonals_stay():
    def f(b, m, n):
        return for_(b, 0, 1, n, [zeros(*m.shape)], lambda i, a: [
            o.accum(o.accum(a, o.load(m, i, 0), i, i), 2.0, i + 1, i + 1)])[0]

    m = np.arange(36.0).reshape(6, 6)
    after = keeps(delay, tape_of([("m", M), ("n", INT)], f), (m, 5), (m, 0))
    assert len(in_loops(after, "accum")) == 2


@st.composite
def stencils(draw):
    """A loop with accumulations, stores and loads at places near its index, and where to try it."""
    def one(low, high):
        return draw(st.integers(low, high))

    step = draw(st.sampled_from([1, -1, 1, -1, 2]))
    sign = draw(st.sampled_from([1, 1, -1]))
    moves = [(draw(st.sampled_from(["accum"] * 9 + ["load", "store", "fixed"])), one(0, 1),
              one(-3, 3), one(0, 3)) for _ in range(one(1, 6))]  # fmt: skip
    arrays = one(1, 2)

    def f(b, x, k, count):
        def body(i, *carried):
            now, total = list(carried[:-1]), carried[-1]
            where = i if sign == 1 else 30 - i
            for kind, which, offset, value in moves:
                a = now[which % arrays]
                at = where + offset if value % 2 else where + k + offset
                v = (o.load(x, i), 2.0, o.cast(i, dtype="f8"), total)[value]
                if kind == "load":
                    total = total + o.load(a, at)
                elif kind == "fixed":
                    now[which % arrays] = o.accum(a, v, 4)
                else:
                    now[which % arrays] = getattr(o, kind)(a, v, at)
            return [*now, total]

        init = [o.full(float(j), 40, dtype="f8") for j in range(arrays)]
        return tuple(for_(b, 12, step, count, [*init, 1.0], body))

    tape = tape_of([("x", V), ("k", INT), ("count", INT)], f)
    return tape, [(np.arange(40.0) % 5, k, count) for k in (0, 1) for count in (-1, 0, 1, 2, 3, 6)]


@settings(max_examples=120, deadline=None)
@given(stencils())
def test_random_stencils(case):
    tape, points = case
    keeps(delay, tape, *points)
