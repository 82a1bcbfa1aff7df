"""Are arrays that a loop overwrites as a whole taken for fresh, and no other ones?"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitad.specialise.overwrite import bare, privatise
from jitad.tape.types import INT
from jitad.values.number import o
from tests.specialise.passes import keeps
from tests.specialise.tapes import M, V, for_, if_, ops, tape_of

A, X = np.array([5.0, 7, 11, 13]), np.array([1.0, -2, 3, 4])
VECTORS = [(A, X, 0), (A, X, 1), (A, X, 3), (A[:1], X[:1], 2), (A[:0], X[:0], 2)]


def fresh(block):
    """How many loops start from an array made for them."""
    return len(ops(block, "full"))


def scratch(fill):
    """Rounds that fill the array by `fill(b, i, a, x)` and then use it."""
    def f(b, a, x, rounds):
        def round_(r, a, s):
            a = fill(b, r, a, x)
            (s,) = for_(b, 0, 1, x.shape[0], [s], lambda i, s: [s * 0.5 + o.load(a, i)])
            return [a, s]

        return tuple(for_(b, 0, 1, rounds, [a, 0.0], round_))

    return tape_of([("a", V), ("x", V), ("rounds", INT)], f)


def filled(b, r, a, x, start=0, step=1, less=0):
    n = a.shape[0]
    return for_(b, start, step, n - less, [a], lambda i, a: [
        o.store(a, o.load(x, i) * o.cast(r, dtype="f8"), i)])[0]


def test_an_array_filled_in_every_round():
    after = keeps(privatise, scratch(filled), *VECTORS)
    assert fresh(after) == 1


def part(n, step):
    return o.floordiv(n + step - 1, step)


@pytest.mark.parametrize(
    "fill",
    {
        "from the second element": lambda b, r, a, x: for_(
            b, 1, 1, a.shape[0] - 1, [a], lambda i, a: [o.store(a, o.load(x, i), i)])[0],
        "but for the last": lambda b, r, a, x: filled(b, r, a, x, less=1),
        "every second": lambda b, r, a, x: for_(
            b, 0, 2, part(a.shape[0], 2), [a], lambda i, a: [o.store(a, o.load(x, i), i)])[0],
        "the count of every second": lambda b, r, a, x: for_(
            b, 0, 1, part(a.shape[0], 2), [a], lambda i, a: [o.store(a, o.load(x, i), i)])[0],
        "one place": lambda b, r, a, x: for_(
            b, 0, 1, a.shape[0], [a], lambda i, a: [o.store(a, o.load(x, i), a.shape[0] - 1)])[0],
        "half the index": lambda b, r, a, x: for_(
            b, 0, 1, a.shape[0], [a], lambda i, a: [o.store(a, 1.0, o.floordiv(i, 2))])[0],
        "in a branch": lambda b, r, a, x: for_(
            b, 0, 1, a.shape[0], [a], lambda i, a: if_(
                b, o.gt(o.load(x, i), 0.0), lambda: [o.store(a, o.load(x, i), i)], lambda: [a]))[0],
        "read before": lambda b, r, a, x: for_(
            b, 0, 1, a.shape[0], [a], lambda i, a: [o.store(a, o.load(a, i) + 1.0, i)])[0],
        "read ahead": lambda b, r, a, x: for_(
            b, 0, 1, a.shape[0], [a], lambda i, a: [
                o.store(a, o.load(a, a.shape[0] - 1) + 1.0, i)])[0],
        "added to": lambda b, r, a, x: for_(
            b, 0, 1, a.shape[0], [a], lambda i, a: [o.accum(a, o.load(x, i), i)])[0],
    }.items(),
    ids=lambda case: case[0],
)  # fmt: skip
def test_an_array_of_which_something_is_left(fill):
    tape = scratch(fill[1])
    assert not fresh(keeps(privatise, tape, *VECTORS))


def test_an_array_filled_in_some_rounds():
    """Fresh inside the branch, carried outside of it."""
    tape = scratch(lambda b, r, a, x: if_(
        b, o.eq(o.mod(r, 2), 1), lambda: [filled(b, r, a, x)], lambda: [a])[0])  # fmt: skip
    assert fresh(keeps(privatise, tape, *VECTORS)) == 1


def test_what_is_read_after_its_store():
    """The element just written is safe to read; one ahead is not."""
    def f(b, a, x, ahead):
        n = a.shape[0]

        def body(i, a, s):
            a = o.store(a, o.load(x, i), i)
            return [a, s * 0.5 + o.load(a, o.minimum(i + ahead, n - 1))]

        return tuple(for_(b, 0, 1, n, [a, 0.0], body))

    tape = tape_of([("a", V), ("x", V), ("ahead", INT)], f)
    keeps(privatise, tape, *VECTORS)


def test_a_partly_filled_array_that_a_branch_hands_on():
    def f(b, a, x, k):
        def body(i, a, s):
            a = o.store(a, o.load(x, i), i)
            (c,) = if_(b, o.eq(i, k), lambda: [a], lambda: [x])
            return [a, s * 0.5 + o.load(c, x.shape[0] - 1)]

        return tuple(for_(b, 0, 1, a.shape[0], [a, 0.0], body))

    assert not fresh(keeps(privatise, tape_of([("a", V), ("x", V), ("k", INT)], f), *VECTORS))


def test_a_partly_filled_array_that_is_carried_beside():
    def f(b, a, x, k):
        def body(i, a, c, s):
            s = s * 0.5 + o.load(c, x.shape[0] - 1)
            a = o.store(a, o.load(x, i), i)
            return [a, a, s]

        return tuple(for_(b, 0, 1, a.shape[0], [a, x, 0.0], body))

    assert not fresh(keeps(privatise, tape_of([("a", V), ("x", V), ("k", INT)], f), *VECTORS))


def test_a_partly_filled_array_that_an_inner_loop_starts_from():
    def f(b, a, x, k):
        def body(i, a, s):
            a = o.store(a, o.load(x, i), i)
            (c,) = for_(b, 0, 1, k, [a], lambda j, c: [o.store(c, 2.0, 0)])
            return [a, s * 0.5 + o.load(c, x.shape[0] - 1)]

        return tuple(for_(b, 0, 1, a.shape[0], [a, 0.0], body))

    assert not fresh(keeps(privatise, tape_of([("a", V), ("x", V), ("k", INT)], f), *VECTORS))


def test_the_array_from_before_may_still_be_read():
    """As another variable: what a loop starts from stays what it was."""
    def f(b, a, x, rounds):
        def round_(r, s):
            (c,) = for_(b, 0, 1, a.shape[0], [a], lambda i, c: [
                o.store(c, o.load(a, a.shape[0] - 1 - i) + o.load(x, i), i)])
            return for_(b, 0, 1, x.shape[0], [s], lambda i, s: [s + o.load(c, i) * o.load(a, i)])

        return for_(b, 0, 1, rounds, [0.0], round_)[0]

    tape = tape_of([("a", V), ("x", V), ("rounds", INT)], f)
    assert fresh(keeps(privatise, tape, *VECTORS)) == 1


MATRICES = [(np.arange(12.0).reshape(3, 4), r) for r in (0, 1, 2)] + [
    (np.ones((3, 0)), 2), (np.ones((0, 3)), 2), (np.ones((1, 1)), 1), (np.ones((4, 4)), 1),
]  # fmt: skip


def nest(rows, columns, at=lambda i, j: (i, j), start=0):
    def f(b, a, rounds):
        n, m = a.shape

        def round_(r, a, s):
            (a,) = for_(b, 0, 1, rows(n, m), [a], lambda i, a: for_(
                b, start, 1, columns(n, m, i), [a], lambda j, a: [
                    o.store(a, o.cast(i * 10 + j + r, dtype="f8"), *at(i, j))]))
            return [a, s * 0.5 + o.sum(a, axes=(0, 1))]

        return tuple(for_(b, 0, 1, rounds, [a, 0.0], round_))

    return tape_of([("a", M), ("rounds", INT)], f)


def test_a_matrix_filled_row_by_row():
    after = keeps(privatise, nest(lambda n, m: n, lambda n, m, i: m), *MATRICES)
    assert fresh(after) >= 1


@pytest.mark.parametrize(
    "case",
    [
        nest(lambda n, m: n - 1, lambda n, m, i: m),
        nest(lambda n, m: n, lambda n, m, i: m - 1),
        nest(lambda n, m: n, lambda n, m, i: m - 1, start=1),
        nest(lambda n, m: n, lambda n, m, i: o.minimum(m, i)),
        nest(lambda n, m: n, lambda n, m, i: m, lambda i, j: (i, 0)),
        nest(lambda n, m: n, lambda n, m, i: m, lambda i, j: (0, j)),
    ],
)
def test_a_matrix_filled_in_part(case):
    assert not fresh(keeps(privatise, case, *MATRICES))


def test_a_square_filled_with_its_indices_swapped_or_along_its_diagonal():
    def square(at):
        return nest(lambda n, m: o.minimum(n, m), lambda n, m, i: o.minimum(n, m), at)

    squares = [(np.arange(9.0).reshape(3, 3), r) for r in (0, 1, 2)]
    for at in (lambda i, j: (j, i), lambda i, j: (i, i), lambda i, j: (j, j)):
        assert not fresh(keeps(privatise, square(at), *squares))


@st.composite
def fillings(draw):
    def one(low, high):
        return draw(st.integers(low, high))

    choices = [one(0, 5) for _ in range(16)]

    def f(b, a, x, rounds):
        n = a.shape[0]
        todo = iter(choices)

        def body(i, a, c, s):
            for _ in range(2):
                match next(todo):
                    case 0 | 1:
                        a = o.store(a, o.load(x, i) + s, i)
                    case 2:
                        s = s * 0.5 + o.load(c if next(todo) % 2 else a, n - 1 - i)
                    case 3:
                        (a,) = if_(b, o.gt(o.load(x, i), 0.0), lambda: [c], lambda: [a])
                    case 4:
                        c = o.store(c, s, i)
                    case _:
                        s = s + 1.0
            return [(a, a, a, c)[next(todo) % 4], (c, c, a)[next(todo) % 3], s]

        def round_(r, a, c, s):
            nonlocal todo
            todo = iter(choices)
            start, less = (0, 0) if next(todo) < 5 else (1, 1)
            a, c, s = for_(b, start, 1, n - less, [a, c, s], body)
            return [a, c, s + o.load(a, n - 1) + 0.5 * o.load(c, 0)]

        return tuple(for_(b, 0, 1, rounds, [a, x, 0.0], round_))

    return tape_of([("a", V), ("x", V), ("rounds", INT)], f)


@settings(max_examples=120, deadline=None)
@given(fillings())
def test_random_fillings(tape):
    keeps(privatise, tape, *VECTORS[:4])


# -- slices ---------------------------------------------------------------------------------------

SPLIT = {
    "two halves": (lambda n, k: [(0, k), (k, n - k)], True),
    "the later first": (lambda n, k: [(k, n - k), (0, k)], True),
    "three parts": (lambda n, k: [(0, k), (k, 1), (k + 1, n - k - 1)], True),
    "all at once": (lambda n, k: [(0, n)], True),
    "a gap": (lambda n, k: [(0, k), (k + 1, n - k - 1)], False),
    "without the last": (lambda n, k: [(0, k), (k, n - k - 1)], False),
    "without the first": (lambda n, k: [(1, k), (k + 1, n - k - 1)], False),
    "one of them": (lambda n, k: [(0, k)], False),
}


def sliced(parts, read_between=False, step=1):
    """Rounds that fill an array by slices of another one, and add it up."""
    def f(b, a, x, rounds, k):
        n = a.shape[0]

        def round_(r, a, s):
            for start, count in parts(n, k):
                if read_between:
                    s = s + o.load(a, n - 1)
                new = o.mul(o.slice(x, start, 1, count, kinds="r"), o.cast(r + 1, dtype="f8"))
                a = o.store_slice(a, new, start, step, count, kinds="r")
            (s,) = for_(b, 0, 1, n, [s], lambda i, s: [s * 0.5 + o.load(a, i)])
            return [a, s]

        return tuple(for_(b, 0, 1, rounds, [a, 0.0], round_))

    return tape_of([("a", V), ("x", V), ("rounds", INT), ("k", INT)], f)


CUTS = [(A, X, 3, 2), (A, X, 1, 1), (A, X, 0, 3), (A, X, 2, 3)]


@pytest.mark.parametrize("name", SPLIT)
def test_slices_side_by_side(name):
    parts, whole = SPLIT[name]
    after = keeps(privatise, sliced(parts), *CUTS)
    assert bool(fresh(after)) == whole


def test_slices_that_are_no_whole():
    parts, _ = SPLIT["two halves"]
    assert not fresh(keeps(privatise, sliced(parts, read_between=True), *CUTS))
    every_other = sliced(lambda n, k: [(0, part(n, 2))], step=2)
    assert not fresh(keeps(privatise, every_other, *CUTS))


def columns(full):
    def f(b, a, x, rounds, k):
        n, m = a.shape
        rows = n if full else n - 1

        def round_(r, a, s):
            for start, count in ((0, k), (k, m - k)):
                new = o.mul(o.slice(x, 0, 1, rows, start, 1, count, kinds="rr"),
                            o.cast(r + 1, dtype="f8"))  # fmt: skip
                a = o.store_slice(a, new, 0, 1, rows, start, 1, count, kinds="rr")
            return [a, s * 0.5 + o.sum(a, axes=(0, 1))]

        return tuple(for_(b, 0, 1, rounds, [a, 0.0], round_))

    return tape_of([("a", M), ("x", M), ("rounds", INT), ("k", INT)], f)


@pytest.mark.parametrize("full", [True, False])
def test_columns_side_by_side(full):
    a = np.arange(12.0).reshape(3, 4)
    points = [(a, a * a, r, k) for r in (0, 1, 3) for k in (0, 1, 4)]
    after = keeps(privatise, columns(full), *points)
    assert bool(fresh(after)) == full


def test_rows_filled_by_slices():
    def f(b, a, x, rounds, k):
        n, m = a.shape

        def round_(r, a, s):
            def row(i, a):
                for start, count in ((0, k), (k, m - k)):
                    new = o.slice(x, i, start, 1, count, kinds="ir") * o.cast(r, dtype="f8")
                    a = o.store_slice(a, new, i, start, 1, count, kinds="ir")
                return [a]

            (a,) = for_(b, 0, 1, n, [a], row)
            return [a, s * 0.5 + o.sum(a, axes=(0, 1))]

        return tuple(for_(b, 0, 1, rounds, [a, 0.0], round_))

    tape = tape_of([("a", M), ("x", M), ("rounds", INT), ("k", INT)], f)
    a = np.arange(12.0).reshape(3, 4)
    assert fresh(keeps(privatise, tape, *[(a, a * a, r, k) for r in (0, 1, 3) for k in (0, 1, 4)]))


def test_a_count_that_is_no_less_than_zero():
    """An array of max(n, 0) elements and a loop of n rounds."""
    def f(b, x, rounds, n):
        a = o.full(0.0, o.maximum(n, 0), dtype="f8")

        def round_(r, a, s):
            new = o.load(x, 0) * o.cast(r, dtype="f8")
            (a,) = for_(b, 0, 1, n, [a], lambda i, a: [o.store(a, new, i)])
            return [a, s + o.sum(a, axes=(0,))]

        return for_(b, 0, 1, rounds, [a, 0.0], round_)[1]

    tape = tape_of([("x", V), ("rounds", INT), ("n", INT)], f)
    after = keeps(privatise, tape, *[(X, r, n) for r in (0, 1, 3) for n in (-1, 0, 3)])
    assert fresh(after) == 1  # the one outside is not needed


# -- new arrays that need no zeros ---------------------------------------------------------------


def new_array(fill):
    """A new array, filled by `fill(b, a, x)` and returned, with a number that was stored last."""
    def f(b, a, x):
        made = o.full(0.0, x.shape[0], dtype="f8")
        return (fill(b, made, x),)

    return tape_of([("a", V), ("x", V)], f)


def stored(b, to, value, start, count):
    return o.store_slice(to, value, start, 1, count, kinds="r")


def one_and_the_rest(b, made, x):
    """a[0] = x[0] and a[1:] = x[1:], with the count as NumPy's rules give it."""
    rest = o.maximum(x.shape[0] - 1, 0)
    made = o.store(made, o.load(x, 0), 0)
    return stored(b, made, o.slice(x, 1, 1, rest, kinds="r"), 1, rest)


@pytest.mark.parametrize(
    "fill",
    [one_and_the_rest, lambda b, a, x: for_(b, 0, 1, x.shape[0], [a], lambda i, a: [
        o.store(a, o.load(x, i), i)])[0]],
    ids=["one and the rest", "in a loop"],
)  # fmt: skip
def test_new_arrays_that_are_filled_need_no_zeros(fill):
    after = keeps(bare, new_array(fill), (A, X), (A[:1], X[:1]))
    assert ops(after, "blank") and not ops(after, "full")


@pytest.mark.parametrize(
    "fill",
    [
        lambda b, a, x: o.store(a, o.load(x, 0), 0),
        lambda b, a, x: stored(b, a, 1.5, 1, o.maximum(x.shape[0] - 1, 0)),
        lambda b, a, x: for_(b, 1, 1, x.shape[0] - 1, [a], lambda i, a: [
            o.store(a, o.load(a, i - 1) + 1.0, i)])[0],
        lambda b, a, x: for_(b, 0, 1, x.shape[0], [a], lambda i, a: [
            o.accum(a, o.load(x, i), i)])[0],
        lambda b, a, x: o.add(one_and_the_rest(b, a, x), a),
    ],
    ids=["one element", "all but the first", "read in the loop", "added to", "read afterwards"],
)  # fmt: skip
def test_zeros_that_are_read_stay(fill):
    after = keeps(bare, new_array(fill), (A, X))
    assert ops(after, "full")
