"""Are small arrays held by element, with the same values and dtypes?"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitad.specialise.scalarise import scalarise
from jitad.tape.ir import Block, lit, walk
from jitad.tape.types import INT, Array
from jitad.values.number import o
from tests.specialise.passes import keeps
from tests.specialise.tapes import F, M, V, for_, if_, ops, tape_of, while_

X = np.array([3.0, -1, 4, 1, -5, 9])
POINTS = [(X, 2.0, 1), (X, -3.0, 0), (X, 0.5, 3)]
INPUTS = [("x", V), ("v", F), ("k", INT)]


def arrays(block: Block) -> int:
    """How many arrays are made."""
    return sum(isinstance(v.type, Array) for e in walk(block) for v in e.outs)


def apart(f, points=POINTS, left=0):
    """Check the pass on f(b, x, v, k); `left` arrays are made after it."""
    after = keeps(scalarise, tape_of(INPUTS, f), *points)
    assert arrays(after) == left


def three(x, v):
    return o.pack(o.load(x, 0), v, o.load(x, 2))


def both(x, v):
    """Two rows of two."""
    return o.reshape(o.pack(o.load(x, 0), v, o.load(x, 2), o.load(x, 3)), 2, 2)


def weighted(a):
    """A number that tells all elements and their places."""
    flat = a if len(a.shape) == 1 else o.reshape(a, int(np.prod(a.shape)))
    total = 0.0
    for k in range(flat.shape[0]):
        total = total + o.load(flat, k) * (k + 1.0) ** 2
    return total


@pytest.mark.parametrize(
    "make",
    {
        "elementwise": lambda x, v: three(x, v) * 2.0 + o.exp(three(x, v)) / v,
        "full": lambda x, v: o.full(v, 3, dtype="f8") + three(x, v),
        "iota": lambda x, v: o.iota(3, dtype="f8") * three(x, v),
        "store": lambda x, v: o.store(three(x, v), v * v, 1),
        "accum": lambda x, v: o.accum(o.accum(three(x, v), v, 1), v, 1),
        "slice of a large one": lambda x, v: o.slice(x, 1, 2, 3, kinds="r"),
        "reversed": lambda x, v: o.slice(three(x, v), 2, -1, 3, kinds="r"),
        "part": lambda x, v: o.slice(three(x, v), 1, 1, 2, kinds="r"),
        "store_slice": lambda x, v: o.store_slice(
            three(x, v), o.slice(x, 3, 1, 2, kinds="r"), 0, 2, 2, kinds="r"),
        "store_slice of a number": lambda x, v: o.store_slice(
            three(x, v), v, 2, -1, 2, kinds="r"),
        "accum_slice": lambda x, v: o.accum_slice(
            three(x, v), o.slice(x, 3, 1, 2, kinds="r"), 0, 1, 2, kinds="r"),
        "accum_slice onto itself": lambda x, v: o.accum_slice(
            three(x, v), o.slice(three(x, v), 0, 1, 2, kinds="r"), 1, 1, 2, kinds="r"),
        "concatenate": lambda x, v: o.concatenate(
            three(x, v), o.slice(x, 4, 1, 2, kinds="r"), 5, axis=0),
        "copy": lambda x, v: o.store(o.copy(three(x, v)), 0.0, 0) + three(x, v),
        "sum of rows": lambda x, v: o.sum(both(x, v), axes=(0,)),
        "sum of columns": lambda x, v: o.sum(both(x, v), axes=(1,)),
        "broadcast": lambda x, v: o.broadcast(o.pack(v, 1.0), 3, 2, axes=(1,)),
        "broadcast along rows": lambda x, v: o.broadcast(o.pack(v, 1.0), 2, 3, axes=(0,)),
        "transpose": lambda x, v: o.transpose(both(x, v), perm=(1, 0)),
        "transpose of three axes": lambda x, v: o.transpose(
            o.reshape(o.slice(x, 0, 1, 6, kinds="r"), 1, 2, 3), perm=(2, 0, 1)),
        "matrix times matrix": lambda x, v: o.matmul(both(x, v), both(x, v) + 1.0),
        "matrix times vector": lambda x, v: o.matmul(both(x, v), o.pack(v, 3.0)),
        "vector times matrix": lambda x, v: o.matmul(o.pack(v, 3.0), both(x, v)),
        "row": lambda x, v: o.slice(both(x, v), 1, 0, 1, 2, kinds="ir"),
        "column": lambda x, v: o.slice(both(x, v), 0, 1, 2, 1, kinds="ri"),
        "store a row": lambda x, v: o.store_slice(
            both(x, v), o.pack(v, 7.0), 1, 0, 1, 2, kinds="ir"),
        "store a column": lambda x, v: o.store_slice(
            both(x, v), o.pack(v, 7.0), 0, 1, 2, 1, kinds="ri"),
        "concatenate rows": lambda x, v: o.concatenate(both(x, v), both(x, v), 4, axis=0),
        "concatenate columns": lambda x, v: o.concatenate(both(x, v), both(x, v), 4, axis=1),
        "where": lambda x, v: o.where(o.gt(three(x, v), v), three(x, v), v),
        "cast": lambda x, v: o.cast(o.cast(three(x, v), dtype="f4"), dtype="f8"),
    }.items(),
    ids=lambda case: case[0],
)  # fmt: skip
def test_operations_on_small_arrays(make):
    apart(lambda b, x, v, k: weighted(make[1](x, v)))


def test_numbers_from_small_arrays():
    apart(lambda b, x, v, k: (
        o.sum(both(x, v), axes=(0, 1)), o.matmul(three(x, v), three(x, v)),
        o.slice(three(x, v), 1, kinds="i")))  # fmt: skip


def test_integers_and_bools_are_summed_as_numpy_does():
    def f(b, x, v, k):
        many = o.gt(three(x, v), 1.0)
        small = o.cast(three(x, v), dtype="i4")
        single = o.cast(three(x, v), dtype="f4")
        return (o.sum(many, axes=(0,)), o.sum(small * 10**9, axes=(0,)), o.sum(single, axes=(0,)),
                o.sum(o.reshape(many, 3, 1), axes=(1,)), o.sum(o.reshape(many, 1, 3), axes=(0, 1)))

    apart(f, left=1)


def test_stores_convert_to_the_dtype_of_the_array():
    def f(b, x, v, k):
        whole = o.store(o.iota(3, dtype="i8"), o.cast(v, dtype="i8"), 1)
        single = o.accum(o.store(o.full(0.1, 2, dtype="f4"), v, 0), v / 3.0, 1)
        return o.load(whole, 1), o.load(whole, 2), o.load(single, 0), o.load(single, 1)

    apart(f)


def test_results_are_arrays_again():
    apart(lambda b, x, v, k: (three(x, v), both(x, v) * v, k), left=3)


def test_an_index_that_is_not_literal_keeps_all_versions_arrays():
    def f(b, x, v, k):
        a = three(x, v)
        return o.load(o.store(o.store(a, v, 1), 5.0, 2), o.minimum(k, 2)), o.load(a, 1)

    apart(f, left=3)


def test_an_array_indexed_in_one_branch_only():
    def f(b, x, v, k):
        a = three(x, v)
        (s,) = if_(b, o.gt(v, 0.0), lambda: [o.load(a, o.minimum(k, 2))], lambda: [v])
        return s + o.load(a, 0)

    apart(f, left=1)


@pytest.mark.parametrize("trips", [lambda k: k, lambda k: 0, lambda k: k - 5])
def test_loops_that_carry_small_arrays(trips):
    def f(b, x, v, k):
        def body(i, a, s):
            a = o.store(a * 0.5, o.load(a, 2) + v, 0)
            return [o.concatenate(o.slice(a, 1, 1, 2, kinds="r"), o.pack(s), 3, axis=0),
                    s + o.load(a, 0)]  # fmt: skip

        a, s = for_(b, 0, 1, trips(k), [three(x, v), v], body)
        return weighted(a), s

    apart(f)


def test_loops_that_swap_small_arrays():
    def f(b, x, v, k):
        a, c = for_(b, 0, 1, k, [three(x, v), o.full(1.0, 3, dtype="f8")],
                    lambda i, a, c: [c, o.store(a, v, 1)])  # fmt: skip
        return weighted(a) + 100.0 * weighted(c)

    apart(f)


def test_a_loop_from_a_slice_of_an_argument():
    def f(b, x, v, k):
        (a,) = for_(b, 0, 1, k, [o.slice(x, 2, 1, 3, kinds="r")], lambda i, a: [
            o.accum(a, o.load(a, 0) * v, 2)])
        return weighted(a)

    apart(f)


def test_while_loops():
    def f(b, x, v, k):
        a, i = while_(
            b, [three(x, v), 0],
            lambda a, i: o.logical_and(o.lt(o.load(a, 1), 40.0), o.lt(i, k)),
            lambda a, i: [o.store(a, o.load(a, 1) * 2.0 + o.load(a, 0), 1), i + 1])  # fmt: skip
        return weighted(a), i

    apart(f)


def test_branches():
    """Of a new array and an older one, in a loop."""
    def f(b, x, v, k):
        def body(i, a):
            return if_(b, o.eq(o.mod(i, 2), 0), lambda: [three(x, v) + a], lambda: [a])

        (a,) = for_(b, 0, 1, k, [three(x, v)], body)
        c, n = if_(b, o.gt(v, 0.0), lambda: [a, k], lambda: [o.full(1, 3, dtype="f8"), k + 1])
        return weighted(c), n

    apart(f)


def test_a_branch_between_a_part_of_an_argument_and_a_small_array():
    def f(b, x, v, k):
        (c,) = if_(b, o.gt(v, 0.0), lambda: [o.slice(x, 0, 1, 3, kinds="r")],
                   lambda: [three(x, v)])  # fmt: skip
        return weighted(c)

    apart(f)


def test_small_arrays_stored_into_large_ones():
    def f(b, x, v, k):
        y = o.store_slice(x, three(x, v), k, 1, 3, kinds="r")
        y = o.accum_slice(y, three(x, v) * 2.0, 5, -1, 3, kinds="r")
        return y

    after = keeps(scalarise, tape_of(INPUTS, f), *POINTS)
    assert not ops(after, "pack")


def test_small_rows_of_a_large_matrix():
    def f(b, m, v):
        def body(i, m, s):
            row = o.slice(m, i, 0, 1, 3, kinds="ir")
            m = o.store_slice(m, row * v + s, i, 0, 1, 3, kinds="ir")
            return [m, o.sum(row, axes=(0,)) + o.load(m, i, 2)]

        return tuple(for_(b, 0, 1, m.shape[0], [m, 0.0], body))

    tape = tape_of([("m", M), ("v", F)], f)
    after = keeps(scalarise, tape, *((np.arange(3.0 * n).reshape(n, 3), 2.0) for n in (0, 1, 4)))
    assert not ops(after, "slice")


def test_what_is_large_empty_or_of_unknown_extent_stays():
    def f(b, x, v, k):
        many = o.full(v, 17, dtype="f8")
        none = o.full(v, 0, dtype="f8")
        some = o.full(v, k, dtype="f8")
        ends = o.concatenate(three(x, v), some, 3 + k, axis=0)
        with_none = o.concatenate(none, three(x, v), 3, axis=0)
        return tuple(o.sum(a, axes=(0,)) for a in (many, none, some, ends, with_none))

    keeps(scalarise, tape_of(INPUTS, f), *POINTS)


def test_a_load_out_of_bounds_behind_its_check_stays_one_of_run_time():
    def f(b, x, v, k):
        a = three(x, v)

        def then():
            b.emit("check", lit(False), exception=IndexError, message="out of bounds")
            return [o.load(a, 5)]

        return if_(b, o.gt(v, 0.0), then, lambda: [o.load(a, 1)])[0]

    keeps(scalarise, tape_of(INPUTS, f), *POINTS)


def test_what_does_not_spread_behind_its_check_is_no_error_here():
    def f(b, x, v, k):
        a = three(x, v)

        def then():
            b.emit("check", lit(False), exception=ValueError, message="could not be broadcast")
            return [o.sum(o.broadcast(a, 2, 2, axes=(1,)), axes=(0, 1))]

        return if_(b, o.gt(v, 0.0), then, lambda: [o.load(a, 1)])[0]

    keeps(scalarise, tape_of(INPUTS, f), *POINTS)


def test_what_has_other_elements_behind_its_check_is_no_error_here():
    def f(b, x, v, k):
        a = three(x, v)

        def then():
            b.emit("check", lit(False), exception=ValueError, message="cannot reshape")
            return [o.load(o.reshape(a, 2, 2), 1, 1)]

        return if_(b, o.gt(v, 0.0), then, lambda: [o.load(a, 1)])[0]

    keeps(scalarise, tape_of(INPUTS, f), *POINTS)


def test_other_primitives_meet_whole_arrays():
    def f(b, x, v, k):
        a = three(x, v)
        return (o.amax(a, axes=(0,)), o.sum(o.take(a, o.cast(o.iota(2, dtype="i8"), dtype="i8"),
                                                   axis=0), axes=(0,)))

    keeps(scalarise, tape_of(INPUTS, f), *POINTS)


@st.composite
def programs(draw):
    """Statements on vectors of three, matrices of two by three, scalars; loops, branches, swaps."""
    def one(low, high):
        return draw(st.integers(low, high))

    def f(b, x, v, k):
        def statements(now, depth):
            s, a, c, m = now

            def inner():
                return statements((s, a, c, m), depth - 1)

            for _ in range(one(1, 3)):
                match one(0, 17):
                    case 0:
                        a = o.store(a, s, one(0, 2))
                    case 1:
                        a = o.accum(c, o.load(a, one(0, 2)), one(0, 2))
                    case 2:
                        s = o.load(a, one(0, 2)) - o.load(m, one(0, 1), one(0, 2))
                    case 3:
                        a, c = c, a
                    case 4:
                        a = o.slice(a, 2, -1, 3, kinds="r") + c
                    case 5:
                        c = o.slice(x, one(0, 1), one(1, 2), 3, kinds="r")
                    case 6:
                        m = o.store_slice(m, a, one(0, 1), 0, 1, 3, kinds="ir")
                    case 7:
                        m = o.accum_slice(m, o.slice(c, 1, 1, 2, kinds="r"), 0, 1, 2, one(0, 2),
                                          kinds="ri")  # fmt: skip
                    case 8:
                        a = o.matmul(o.transpose(m, perm=(1, 0)), o.pack(s, 1.0))
                    case 9:
                        s = s + o.sum(m, axes=(0, 1)) - o.matmul(a, c)
                    case 10:
                        m = o.reshape(o.concatenate(a, c, 6, axis=0), 2, 3)
                    case 11:
                        m = o.broadcast(a, 2, 3, axes=(1,)) * 0.5 + m
                    case 12:
                        c = o.where(o.gt(a, s), a, o.load(c, one(0, 2)))
                    case 13 if one(0, 3) == 0:
                        s = o.load(c, o.mod(k, 3))
                    case 14 | 15 if depth:
                        s, a, c, m = if_(b, o.gt(s, one(-2, 2) * 1.0), inner, inner)
                    case 16 | 17 if depth:
                        s, a, c, m = for_(b, 0, 1, k, [s, a, c, m],
                                          lambda i, *now: statements(now, depth - 1))  # fmt: skip
                    case _:
                        s = s * 0.5 + 1.0

            return [s, a, c, m]

        start = [v, three(x, v), three(x, v) * 0.0, o.full(v, 2, 3, dtype="f8")]
        s, a, c, m = statements(start, 2)
        return s, weighted(a), weighted(c), weighted(m)

    return tape_of(INPUTS, f)


@settings(max_examples=100, deadline=None)
@given(programs())
def test_random_programs(tape):
    keeps(scalarise, tape, *POINTS)
