"""Are provable checks removed and others hoisted? Do results and exceptions stay as they were?"""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitad import jit
from jitad.errors import JitadIndexError, JitadValueError
from jitad.specialise.pipeline import specialise
from jitad.tape.ir import lit
from jitad.tape.types import INT, Scalar
from jitad.values.number import Number, bind, o
from tests.engines import on_tape
from tests.specialise.tapes import (
    IV,
    F,
    M,
    V,
    block_of,
    for_,
    get,
    if_,
    in_loops,
    ops,
    outcome,
    tape_of,
    while_,
)  # fmt: skip


def both(inputs, f):
    return block_of(inputs, f), specialise(tape_of(inputs, f)).body


def total(b, x, start, step, count, index):
    return for_(b, start, step, count, [0.0], lambda i, s: [s + get(x, index(i))])[0]


ARRAYS = [[1.0, 2.0, 5.0, -3.0], [2.0], []]


@pytest.mark.parametrize(
    "loop",
    [
        lambda b, x: total(b, x, 0, 1, x.shape[0], lambda i: i),
        lambda b, x: total(b, x, 0, 1, x.shape[0] - 1, lambda i: i + 1),
        lambda b, x: total(b, x, 1, 1, x.shape[0] - 2, lambda i: i - 1),
        lambda b, x: total(b, x, x.shape[0] - 1, -1, x.shape[0], lambda i: i),
        lambda b, x: total(b, x, 0, 1, x.shape[0], lambda i: x.shape[0] - 1 - i),
        lambda b, x: total(b, x, 0, 1, o.maximum(x.shape[0] - 2, 0), lambda i: i + 2),
        lambda b, x: total(b, x, 0, 2, o.floordiv(x.shape[0] + 1, 2), lambda i: i),
        lambda b, x: total(b, x, 0, 1, o.floordiv(x.shape[0], 2), lambda i: 2 * i + 1),
        lambda b, x: for_(b, 0, 1, x.shape[0], [0.0], lambda i, s: for_(
            b, 0, 1, i + 1, [s], lambda j, s: [s + get(x, j) * get(x, i - j)]))[0],
        lambda b, x: for_(b, 0, 1, x.shape[0], [0.0, 0], lambda i, s, k: [
            s + get(x, k), k + 1])[0],
        lambda b, x: while_(b, [0.0, 0], lambda s, k: o.lt(k, x.shape[0]),
                            lambda s, k: [s + get(x, k), k + 1])[0],
        lambda b, x: while_(b, [0.0, x.shape[0] - 1], lambda s, k: o.ge(k, 0),
                            lambda s, k: [s + get(x, k), k - 1])[0],
        lambda b, x: for_(b, 0, 1, x.shape[0], [0.0], lambda i, s: if_(
            b, o.gt(i, 0), lambda: [s + get(x, i - 1)], lambda: [s]))[0],
        lambda b, x: for_(b, 0, 1, x.shape[0] * 3, [0.0], lambda i, s: [
            s + get(x, o.mod(i, o.maximum(x.shape[0], 1)))])[0],
    ],
)  # fmt: skip
def test_provable_bounds_are_removed(loop):
    plain, fast = both([("x", V)], loop)
    assert ops(plain, "check") or in_loops(plain, "where")
    assert not in_loops(fast, "check") and not in_loops(fast, "where")
    for x in ARRAYS:
        assert outcome(plain, x) == outcome(fast, x)


CASES = {
    "parameter": (lambda i, a, c: a + i, 0),
    "scaled": (lambda i, a, c: a + 2 * i, 0),
    "falling": (lambda i, a, c: c - i, 0),
}


@pytest.mark.parametrize(
    "least",
    [
        lambda i: o.where(o.lt(i, 2), i, 2),
        lambda i: o.where(o.lt(2, i), 2, i),
        lambda i: o.where(o.ge(i, 2), 2, i),
        lambda i: o.where(o.gt(2, i), i, 2),
    ],
)
def test_the_lesser_of_two_is_at_most_either(least):
    """As `min` is traced."""
    def windows(b, x):
        return for_(b, 0, 1, x.shape[0], [0.0], lambda i, s: for_(
            b, 0, 1, least(i), [s], lambda j, s: [s + get(x, i - 1 - j)]))[0]

    plain, fast = both([("x", V)], windows)
    assert in_loops(plain, "check")
    assert not in_loops(fast, "check") and len(in_loops(fast, "where")) == 1
    for x in ARRAYS:
        assert outcome(plain, x) == outcome(fast, x)


def test_the_greater_of_two_is_not_taken_for_the_lesser():
    def windows(b, x):
        return for_(b, 0, 1, x.shape[0], [0.0], lambda i, s: for_(
            b, 0, 1, o.where(o.gt(i, 2), i, 2), [s], lambda j, s: [s + get(x, i - 1 - j)]))[0]

    plain, fast = both([("x", V)], windows)
    assert ops(fast, "check") or in_loops(fast, "check")
    for x in ARRAYS:
        assert outcome(plain, x) == outcome(fast, x)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("step", [1, 2, -1])
def test_affine_checks_are_made_once_before_the_loop(name, step):
    index, _ = CASES[name]
    plain, fast = both(
        [("x", V), ("a", INT), ("c", INT), ("m", INT)],
        lambda b, x, a, c, m: for_(b, 0, step, m, [0.0], lambda i, s: [
            s + o.load(x, bounded(x, index(i, a, c)))])[0],
    )  # fmt: skip
    assert in_loops(plain, "check")
    assert not in_loops(fast, "check") and ops(fast, "check")
    for x, a, c, m in itertools.product(ARRAYS, (-1, 0, 1, 3), (0, 3, 4), (-1, 0, 1, 2, 4)):
        assert outcome(plain, x, a, c, m) == outcome(fast, x, a, c, m), (x, a, c, m)


def bounded(x, i, exception=JitadIndexError):
    """Checked on both sides, without wrap-around."""
    bind("check", o.ge(i, 0), exception=exception, message="low")
    bind("check", o.lt(i, x.shape[0]), exception=exception, message="high")
    return i


def test_checks_of_a_loop_nest_leave_it_altogether():
    plain, fast = both(
        [("x", V), ("m", INT), ("k", INT)],
        lambda b, x, m, k: for_(b, 0, 1, m, [0.0], lambda i, s: for_(
            b, 0, 1, k, [s], lambda j, s: [s + o.load(x, bounded(x, i + j))]))[0],
    )  # fmt: skip
    assert not in_loops(fast, "check")
    for x, m, k in itertools.product(ARRAYS, range(-1, 5), range(-1, 5)):
        assert outcome(plain, x, m, k) == outcome(fast, x, m, k), (x, m, k)


@pytest.mark.parametrize("first", [ValueError, JitadValueError])
def test_a_check_behind_another_kind_of_check(first):
    """Behind a user's raise it stays; the engine's own checks may overtake each other."""
    def loop(b, x, m):
        def body(i, s):
            bind("check", o.lt(s, 3.0), exception=first, message="large")
            return [s + o.load(x, bounded(x, i))]

        return for_(b, 0, 1, m, [0.0], body)[0]

    plain, fast = both([("x", V), ("m", INT)], loop)
    for x, m in itertools.product(ARRAYS, range(-1, 7)):
        wanted, got = outcome(plain, x, m), outcome(fast, x, m)
        if wanted is JitadValueError:
            assert got in (JitadValueError, JitadIndexError)
        else:
            assert wanted == got
    assert bool([e for e in in_loops(fast, "check") if e.params["message"] == "high"]) == (
        first is ValueError
    )
    assert outcome(fast, [1.0], 4) is JitadIndexError


def test_a_check_in_a_branch_stays_there():
    plain, fast = both(
        [("x", V), ("m", INT)],
        lambda b, x, m: for_(b, 0, 1, m, [0.0], lambda i, s: if_(
            b, o.lt(s, 2.0), lambda: [s + o.load(x, bounded(x, i))], lambda: [s]))[0],
    )  # fmt: skip
    assert in_loops(fast, "check")
    for x, m in itertools.product(ARRAYS, range(-1, 7)):
        assert outcome(plain, x, m) == outcome(fast, x, m)


def test_indices_from_data_keep_their_checks():
    plain, fast = both(
        [("x", V), ("k", IV)],
        lambda b, x, k: for_(b, 0, 1, k.shape[0], [0.0], lambda i, s: [
            s + get(x, get(k, i))])[0],
    )  # fmt: skip
    assert in_loops(fast, "check")
    import numpy as np

    for x in ARRAYS:
        for k in ([0, 1, -1], [3], [-5], [-4, 0], []):
            at = np.array(k, int)
            assert outcome(plain, x, at) == outcome(fast, x, at)


def test_numpy_integers_are_not_taken_for_exact_ones():
    # 2**63 - 1 + 1 is negative for NumPy: i >= 0 must not prove i + 1 >= 0
    import numpy as np

    plain, fast = both(
        [("x", V), ("k", IV)],
        lambda b, x, k: o.load(x, o.cast(_after(x, o.load(k, 0)), dtype="i8", py=True)),
    )
    at = np.array([2**63 - 1])
    assert outcome(plain, [1.0], at) == outcome(fast, [1.0], at) is JitadIndexError


def _after(x, i):
    bind("check", o.ge(i, 0), exception=JitadValueError, message="negative")
    return bounded(x, i + 1)


def test_invariant_arithmetic_leaves_loops():
    _, fast = both(
        [("x", V), ("a", F)],
        lambda b, x, a: for_(b, 0, 1, x.shape[0], [0.0], lambda i, s: for_(
            b, 0, 1, x.shape[0], [s], lambda j, s: [
                s + o.exp(a) * o.load(x, j) * o.sin(o.load(x, i))]))[0],
    )  # fmt: skip
    assert not in_loops(fast, "exp")
    inner = [e for e in ops(fast, "for") if not ops(e.blocks[0], "for")]
    assert not any(ops(e.blocks[0], "sin") for e in inner)


def test_a_load_that_may_be_out_of_bounds_stays_in_its_loop():
    plain, fast = both(
        [("x", V), ("k", INT), ("m", INT)],
        lambda b, x, k, m: for_(b, 0, 1, m, [0.0], lambda i, s: [
            s + o.load(x, bounded(x, k))])[0],
    )  # fmt: skip
    for x, k, m in itertools.product(ARRAYS, (-1, 0, 5), (-1, 0, 1, 3)):
        assert outcome(plain, x, k, m) == outcome(fast, x, k, m)
    assert outcome(fast, [1.0], 5, 0) == [0.0]


def test_a_stencil_over_a_plate_has_no_check_left():
    def step(b, u, out):
        def row(i, out):
            def cell(j, out):
                def at(p, q):
                    for extent, k in zip(u.shape, (p, q)):
                        bind("check", o.ge(k, 0), exception=JitadIndexError, message="")
                        bind("check", o.lt(k, extent), exception=JitadIndexError, message="")
                    return o.load(u, p, q)

                new = at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1)
                return [o.store(out, new, i, j)]

            return for_(b, 1, 1, u.shape[1] - 2, [out], cell)

        return for_(b, 1, 1, u.shape[0] - 2, [out], row)[0]

    _, fast = both([("u", M), ("out", M)], step)
    assert not ops(fast, "check")


def test_the_root_of_a_sum_of_squares_needs_no_check():
    def f(b, x, y):
        r = x * x + o.abs(y) * 2.0
        r = o.cast(r, dtype="f8", py=True)
        (below,) = b._append("lt", (b.atom(r), lit(0.0)), {})  # as where it is not known at once
        b.emit("check", b.emit("logical_not", below), exception=JitadValueError, message="")
        d = r - y / (x * x)
        bind("check", o.logical_not(o.lt(d, 0.0)), exception=JitadValueError, message="")
        return o.sqrt(r) + o.sqrt(d)

    plain, fast = both([("x", F), ("y", Scalar("f8", py=True))], f)
    assert len(ops(plain, "check")) == 2 and len(ops(fast, "check")) == 1
    for x, y in itertools.product((0.0, -0.0, 1.0, -2.0, float("nan")), (0.0, 3.0, -3.0)):
        assert str(outcome(plain, x, y)) == str(outcome(fast, x, y))


def test_quotients_by_negative_zero_are_negative():
    plain, fast = both([("x", F)], lambda b, x: o.lt(1.0 / o.sqrt(x), 0.0))
    assert outcome(fast, -0.0) == outcome(plain, -0.0) == [True]


def test_a_check_that_does_not_change_leaves_the_loop_in_its_order():
    """Each kind of failure is seen as before, whichever others would come after it."""
    def f(b, x, m, p, q):
        def body(i, s):
            bind("check", o.lt(p, 3), exception=ValueError, message="p")
            bounded(x, q)
            bind("check", o.lt(s, 4.0), exception=ZeroDivisionError, message="s")
            bind("check", o.lt(q, 2), exception=OverflowError, message="q")
            return [s + o.load(x, bounded(x, i))]

        return for_(b, 0, 1, m, [0.0], body)[0]

    plain, fast = both([("x", V), ("m", INT), ("p", INT), ("q", INT)], f)
    assert len(in_loops(fast, "check")) < len(in_loops(plain, "check"))
    met = set()
    for x, m, p, q in itertools.product(ARRAYS, (-1, 0, 1, 5), (2, 3), (-1, 0, 2, 9)):
        wanted = outcome(plain, x, m, p, q)
        assert wanted == outcome(fast, x, m, p, q), (x, m, p, q)
        met.add(str(wanted) if isinstance(wanted, type) else "value")
    assert len(met) == 5


integers = st.integers(-3, 4)


@st.composite
def sums(draw, depth=2):
    """A recipe of index arithmetic over (i, j, n, m)."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.one_of(st.sampled_from("ijnm"), integers))
    op = draw(st.sampled_from(["add", "sub", "mul", "maximum", "minimum", "floordiv", "mod"]))
    left = draw(sums(depth - 1))
    right = draw(st.integers(1, 3)) if op in ("floordiv", "mod", "mul") else draw(sums(depth - 1))
    return (op, left, right)


def written(recipe, env):
    match recipe:
        case str():
            return env[recipe]
        case int():
            return recipe
        case (op, p, q):
            return bind(op, written(p, env), written(q, env))


def test_the_smaller_of_an_index_and_an_extent_that_was_checked_is_the_index():
    """Of a hoisted check, too, which says: no iteration, or all that is needed."""

    def f(b, x, n):
        def body(i, s):
            return [s + get(x, i) * o.load(x, o.minimum(i, o.sub(x.shape[0], 1)))]

        return for_(b, 0, 1, n, [0.0], body)[0]

    plain, fast = both([("x", V), ("n", INT)], f)
    assert not ops(fast, "minimum")
    for x, n in itertools.product(ARRAYS, (-1, 0, 1, 4)):
        assert outcome(plain, x, n) == outcome(fast, x, n)


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(sums(), sums(), sums(), sums(), sums()), st.sampled_from([1, -1, 2]), st.booleans()
)
def test_random_index_arithmetic_keeps_results_and_exceptions(recipes, step, wrap):
    at, count, inner, second, start = recipes

    def f(b, x, m):
        env = {"n": x.shape[0], "m": m, "i": m, "j": 1}

        def outer(i, s):
            here = {**env, "i": i}

            def body(j, s):
                deep = {**here, "j": j}
                k = written(at, deep)
                k = o.minimum(k, o.maximum(k, m)) if not isinstance(k, Number) else k  # traced
                read = get(x, k) if wrap else o.load(x, bounded(x, k))
                k = o.minimum(written(second, deep), 9)
                k = o.minimum(k, o.maximum(k, m)) if not isinstance(k, Number) else k
                return if_(b, o.lt(k, x.shape[0]), lambda: [s + read], lambda: [s * 0.5])

            rounds = o.minimum(written(inner, here), 4)
            return for_(b, 0, 1, rounds, [s], body)

        trips = o.minimum(written(count, env), 4)
        return for_(b, written(start, env), step, trips, [0.0], outer)[0]

    plain, fast = both([("x", V), ("m", INT)], f)
    for x in ARRAYS:
        for m in (-2, 0, 1, 3):
            assert outcome(plain, x, m) == outcome(fast, x, m)


def test_a_quotient_of_a_negative_number_is_not_natural() -> None:
    def f(x, n, d):
        if d < 1:
            return 0.0
        return x * max(-(n // d), 0)

    for n, d in ((-7, 2), (7, 2), (-1, 5)):
        for g in (jit(f), lambda *a: on_tape(f, *a)):
            assert g(1.0, n, d) == f(1.0, n, d)
