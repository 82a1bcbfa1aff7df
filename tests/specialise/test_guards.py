"""Do guards come first, and is from there on a literal what they say?"""

import numpy as np
import pytest

from jitad.errors import GuardMiss, JitadIndexError
from jitad.specialise.guards import apply_guards
from jitad.specialise.pipeline import specialise
from jitad.tape.ir import Lit
from jitad.tape.types import BOOL, INT
from jitad.values.number import bind, o
from tests.specialise.passes import keeps, result, twin
from tests.specialise.tapes import F, M, V, for_, ops, tape_of

X = np.array([1.0, 2, 3])


def guard(ok, exception=GuardMiss):
    bind("check", ok, exception=exception, message="guard")


def test_a_guarded_extent_is_a_literal():
    def f(b, x, y):
        guard(o.eq(x.shape[0], 3))
        return o.sum(x * y, axes=(0,)) * o.cast(x.shape[0], dtype="f8"), x

    after = keeps(apply_guards, tape_of([("x", V), ("y", V)], f), (X, X), (X[:2], X[:2]))
    assert [d.value for d in after.params[0].shape if isinstance(d, Lit)] == [3]
    assert not any(isinstance(d, Lit) for d in after.params[1].shape)
    assert len(ops(after, "check")) == 1


def test_one_axis_of_two():
    def f(b, a):
        guard(o.eq(a.shape[1], 2))
        return o.sum(a, axes=(0,)), o.cast(a.shape[0] * 10 + a.shape[1], dtype="f8")

    points = [(np.arange(float(n * m)).reshape(n, m),) for n, m in ((3, 2), (2, 3), (2, 2), (0, 2))]
    after = keeps(apply_guards, tape_of([("a", M)], f), *points)
    assert [isinstance(d, Lit) for d in after.params[0].shape] == [False, True]


def test_a_guard_comes_before_what_may_raise_print_or_take_long():
    """A kernel that its guard refuses has done nothing."""
    def f(b, x):
        bind("check", o.gt(o.load(x, 0), 0.0), exception=JitadIndexError, message="first")
        b.emit("print", b.atom(o.load(x, 0)))
        (s,) = for_(b, 0, 1, x.shape[0], [0.0], lambda i, s: [s + o.load(x, i)])
        guard(o.eq(x.shape[0], 3))
        return s

    tape = tape_of([("x", V)], f)
    after = apply_guards(twin(tape))
    assert result(tape.body, (-X[:2],)) is JitadIndexError
    assert result(after.body, (-X[:2],)) is GuardMiss
    assert result(after.body, (-X,)) is JitadIndexError


@pytest.mark.parametrize("exception", [ValueError, JitadIndexError])
def test_other_checks_say_nothing(exception):
    def f(b, x):
        b.emit("print", b.atom(o.load(x, 0)))
        guard(o.eq(x.shape[0], 3), exception)
        return o.sum(x, axes=(0,))

    after = keeps(apply_guards, tape_of([("x", V)], f), (X,), (X[:2],))
    assert not isinstance(after.params[0].shape[0], Lit)
    assert [e.op for e in after.equations if e.op in ("print", "check")] == ["print", "check"]


def test_a_guard_on_what_is_computed_stays_where_it_is():
    def f(b, x, n):
        b.emit("print", b.atom(n))
        guard(o.eq(o.floordiv(x.shape[0], n), 3))
        return o.load(x, n)

    after = keeps(apply_guards, tape_of([("x", V), ("n", INT)], f), (X, 1), (X, 2))
    assert [e.op for e in after.equations if e.op in ("print", "check")] == ["print", "check"]


def test_guards_that_are_not_equalities():
    def f(b, x, n, flag):
        guard(o.ne(n, 0))
        guard(o.ge(x.shape[0], 2))
        guard(flag)
        return o.cast(n, dtype="f8") + o.where(flag, 1.0, 2.0)

    tape = tape_of([("x", V), ("n", INT), ("flag", BOOL)], f)
    keeps(apply_guards, tape, (X, 1, True), (X, 0, True), (X[:1], 1, True), (X, 2, False))


def test_integers_and_bools_become_literal_and_floats_do_not():
    """A float that equals zero may be minus zero."""
    def f(b, v, n, flag):
        guard(o.eq(v, 0.0))
        guard(o.eq(n, 2))
        guard(o.eq(flag, True))
        return o.copysign(1.0, v), n + 1, o.where(flag, 1.0, 2.0)

    tape = tape_of([("v", F), ("n", INT), ("flag", BOOL)], f)
    after = keeps(apply_guards, tape, (-0.0, 2, True), (0.0, 2, True), (0.0, 3, True),
                  (0.0, 2, False), (np.float64(1.0), 2, True))  # fmt: skip
    assert isinstance(after.results[1], Lit)


def test_guards_that_contradict_each_other_always_miss():
    def f(b, x):
        guard(o.eq(x.shape[0], 3))
        guard(o.eq(x.shape[0], 2))
        return o.sum(x, axes=(0,))

    keeps(apply_guards, tape_of([("x", V)], f), (X,), (X[:2],))
    after = specialise(tape_of([("x", V)], f)).body
    assert result(after, (X,)) is result(after, (X[:2],)) is GuardMiss


def test_a_guard_inside_a_loop_says_nothing():
    def f(b, x, n):
        def body(i, s):
            guard(o.eq(x.shape[0], 3))
            return [s + o.load(x, i)]

        return for_(b, 0, 1, n, [0.0], body)[0]

    after = keeps(apply_guards, tape_of([("x", V), ("n", INT)], f), (X, 0), (X[:2], 0), (X[:2], 1))
    assert not isinstance(after.params[0].shape[0], Lit)
