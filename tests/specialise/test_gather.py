"""Do checks of floats wait until their loop has ended, and raise exactly where they did before?"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitad.errors import (
    GuardMiss,
    JitadError,
    JitadIndexError,
    JitadValueError,
    JitadZeroDivisionError,
)  # fmt: skip
from jitad.late import late
from jitad.specialise.gather import gather
from jitad.specialise.pipeline import PIPELINE
from jitad.tape.types import INT
from jitad.tape.verify import verify
from jitad.values.number import bind, o
from tests.specialise.passes import keeps, result, twin
from tests.specialise.tapes import (
    V,
    for_,
    if_,
    in_loops,
    ops,
    tape_of,
    while_,
)  # fmt: skip

GOOD, BAD, NAN = np.array([1.0, 2, 3]), np.array([1.0, -2, 3]), np.array([1.0, np.nan, 3])
POINTS = [(x, n) for x in (GOOD, BAD, NAN) for n in (-1, 0, 1, 2, 3)]
LAST = (np.array([1.0, 2, -3]), 3)


def check(ok, exception=JitadValueError, message="domain"):
    bind("check", ok, exception=exception, message=message)


def loop(condition, exception=JitadValueError):
    """A sum of logarithms with one check an iteration."""
    def f(b, x, n):
        def body(i, s):
            v = o.load(x, i)
            check(condition(v), exception)
            return [s + o.log(v)]

        return for_(b, 0, 1, n, [0.0], body)[0]

    return tape_of([("x", V), ("n", INT)], f)


@pytest.mark.parametrize(
    "condition",
    [
        lambda v: o.gt(v, 0.0),
        lambda v: o.gt(v, 0),
        lambda v: o.logical_not(o.le(v, 0.0)),  # not a number passes
        lambda v: o.logical_and(o.gt(v, 0.0), o.isfinite(v)),
        lambda v: o.logical_or(o.gt(v, 0.0), o.isnan(v)),
        lambda v: o.ne(v, -2.0),
        lambda v: o.eq(v, v),
    ],
)
def test_checks_of_floats_are_made_after_the_loop(condition):
    after = keeps(gather, loop(condition), *POINTS, LAST)
    assert not in_loops(after, "check")
    assert len(ops(after, "check")) == 1


@pytest.mark.parametrize("exception", [GuardMiss, ValueError, ZeroDivisionError])
def test_a_users_raise_and_a_guard_keep_their_place(exception):
    after = keeps(gather, loop(lambda v: o.gt(v, 0.0), exception), *POINTS, LAST)
    assert in_loops(after, "check")


def test_the_same_check_twice_is_one_flag():
    def f(b, x, n):
        def body(i, s):
            v = o.load(x, i)
            check(o.gt(v, 0.0))
            check(o.lt(v, 2.5))
            check(o.ne(v, 0.5), JitadZeroDivisionError, "zero")
            return [s + v]

        return for_(b, 0, 1, n, [0.0], body)[0]

    after = keeps(gather, tape_of([("x", V), ("n", INT)], f), *POINTS, LAST,
                  (np.array([0.5]), 1), (np.array([2.0, 0.5, 1.0]), 3))  # fmt: skip
    assert len(ops(after, "check")) == 2 and not in_loops(after, "check")


def test_nested_loops():
    """The flag of the inner loop is itself gathered."""
    def f(b, x, n):
        def body(i, s):
            def inner(j, s):
                check(o.gt(o.load(x, j), -1.5))
                return [s + o.load(x, j) * o.load(x, i)]

            check(o.lt(o.load(x, i), 10.0), JitadZeroDivisionError, "zero")
            return for_(b, 0, 1, i, [s], inner)

        return for_(b, 0, 1, n, [0.0], body)[0]

    tape = tape_of([("x", V), ("n", INT)], f)
    after = keeps(gather, tape, *POINTS, LAST, (np.array([1.0, 11.0]), 2))
    assert not in_loops(after, "check")


def test_checks_of_integers_stay():
    """They guard memory: a load out of bounds must not run."""
    def f(b, x, n):
        def body(i, s):
            check(o.lt(i, x.shape[0]), JitadIndexError, "bounds")
            check(o.ge(o.load(x, i), -10.0))
            return [s + o.load(x, i)]

        return for_(b, 0, 1, n, [0.0], body)[0]

    after = keeps(gather, tape_of([("x", V), ("n", INT)], f), *POINTS, (GOOD, 4), (BAD, 5))
    assert [e.params["message"] for e in in_loops(after, "check")] == ["bounds"]


def test_a_flag_made_of_integers_in_an_inner_loop_is_not_taken_for_a_gathered_one():
    def f(b, x, n):
        def body(i, s):
            (ok,) = for_(b, 0, 1, i, [True], lambda j, ok: [o.logical_and(ok, o.lt(j, 1))])
            check(ok, JitadIndexError, "bounds")
            check(o.ge(o.load(x, i), -10.0))
            return [s + o.load(x, i)]

        return for_(b, 0, 1, n, [0.0], body)[0]

    points = [(x, n) for x, n in POINTS if x is not NAN]
    after = keeps(gather, tape_of([("x", V), ("n", INT)], f), *points)
    assert [e.params["message"] for e in in_loops(after, "check")] == ["bounds"]


def test_a_number_refused_does_not_reach_a_check_of_integers():
    """int(nan) is an error of its own, and not an index out of bounds."""
    def f(b, x, n):
        def body(i, s):
            v = o.load(x, i)
            check(o.isfinite(v))
            k = o.cast(o.where(o.isfinite(v), v, 1e6), dtype="i8", py=True)
            check(o.logical_and(o.ge(k, 0), o.lt(k, x.shape[0])), JitadIndexError, "bounds")
            return [s + o.load(x, k)]

        return for_(b, 0, 1, n, [0.0], body)[0]

    keeps(gather, tape_of([("x", V), ("n", INT)], f), *POINTS)


def test_a_loop_that_may_not_end_with_a_number_refused():
    """`while not x > 1` with a not-a-number never ends."""
    def f(b, x, n):
        def body(i, s):
            v = o.load(x, i)
            check(o.eq(v, v))
            (v,) = while_(b, [v], lambda v: o.logical_not(o.gt(v, 1.0)), lambda v: [v + 1.0])
            return [s + v]

        return for_(b, 0, 1, n, [0.0], body)[0]

    keeps(gather, tape_of([("x", V), ("n", INT)], f), *POINTS)


def test_a_trip_count_from_a_number_refused():
    def f(b, x, n):
        def body(i, s):
            v = o.load(x, i)
            check(o.eq(v, v))
            m = o.cast(o.where(o.eq(v, v), v, 1e9), dtype="i8", py=True)
            return for_(b, 0, 1, m, [s], lambda j, s: [s + 1.0])

        return for_(b, 0, 1, n, [0.0], body)[0]

    keeps(gather, tape_of([("x", V), ("n", INT)], f), *POINTS)


def test_prints_keep_their_order_to_checks(capsys):
    def f(b, x, n):
        def body(i, s):
            check(o.gt(o.load(x, i), 0.0))
            b.emit("print", b.atom(i), late=late("print", 0, lambda values: print(*values)))
            return [s + 1.0]

        return for_(b, 0, 1, n, [0.0], body)[0]

    after = keeps(gather, tape_of([("x", V), ("n", INT)], f), *POINTS)
    assert in_loops(after, "check")
    written = capsys.readouterr().out
    assert written and len(written.split()) % 3 == 0  # before, after and folded: the same


def test_checks_in_branches_and_whiles_stay():
    def f(b, x, n):
        def body(i, s):
            def then():
                check(o.gt(o.load(x, i), 0.0))
                return [s + o.log(o.load(x, i))]

            return if_(b, o.lt(o.load(x, i), 2.5), then, lambda: [s])

        (s,) = for_(b, 0, 1, n, [0.0], body)

        def step(k, s):
            check(o.gt(s, -10.0))
            return [k + 1, s - 1.0]

        return while_(b, [0, s], lambda k, s: o.lt(k, n), step)[1]

    after = keeps(gather, tape_of([("x", V), ("n", INT)], f), *POINTS, LAST)
    assert len(in_loops(after, "check")) == 2


def test_the_pipeline_gathers():
    tape = loop(lambda v: o.gt(v, 0.0))
    for _, run in PIPELINE:
        tape = run(tape)
    assert not in_loops(tape.body, "check") and ops(tape.body, "check")


@st.composite
def loops(draw):
    """Nested loops with checks of floats and integers, whose numbers go on when refused."""
    def one(low, high):
        return draw(st.integers(low, high))

    count = [0]

    def f(b, x, n):
        def body(depth, i, s):
            for _ in range(one(1, 3)):
                v = (o.load(x, i), s, o.log(s), s * o.load(x, i))[one(0, 3)]
                count[0] += 1
                match one(0, 7):
                    case 0 | 1 | 2:
                        check(o.gt(v, one(-3, 1)), message=f"check {count[0]}")
                    case 3:
                        check(o.logical_or(o.isnan(v), o.lt(v, 3.0)), JitadZeroDivisionError)
                    case 4:
                        check(o.lt(i, 2), JitadIndexError)
                    case 5 if depth:
                        (s,) = for_(b, 0, 1, i + 1, [s], lambda j, s: body(depth - 1, j, s))
                    case 6 if depth:
                        (s,) = if_(b, o.gt(v, 0.5), lambda: body(depth - 1, i, s), lambda: [s])
                    case _:
                        s = s + v
            return [s]

        return for_(b, 0, 1, n, [1.0], lambda i, s: body(2, i, s))[0]

    x = np.array(draw(st.lists(st.sampled_from([1.0, 2.0, 0.25, -1.0, 0.0, math.nan, 3.0]),
                               min_size=3, max_size=3)))  # fmt: skip
    return tape_of([("x", V), ("n", INT)], f), x


@settings(max_examples=120, deadline=None)
@given(loops())
def test_random_loops(case):
    """Where it raised it raises; which of the engine's checks comes first is not kept."""
    tape, x = case
    before, after = twin(tape), verify(gather(twin(tape)))
    for n in (-1, 0, 1, 2, 3):
        wanted, got = result(before.body, (x, n)), result(after.body, (x, n))
        if isinstance(wanted, type):
            assert issubclass(wanted, JitadError) and issubclass(got, JitadError)
        else:
            assert repr(got) == repr(wanted)
