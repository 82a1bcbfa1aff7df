"""Is what the loops in a loop do each time again done once, before it, and nothing else?"""

import numpy as np
import pytest

from jitad import jacfwd, jit
from jitad.specialise.once import once
from jitad.tape.ir import walk
from jitad.tape.types import INT
from jitad.values.number import o
from tests.specialise.passes import keeps
from tests.specialise.tapes import IV, M, V, for_, if_, tape_of, while_

A, X = np.array([0.5, 0.7, 1.1, 1.3]), np.array([1.0, -2, 3, 4])
POINTS = [(A, X, 3), (A, X, 1), (A, X, 0), (A, X, -2), (A[:0], X[:0], 2), (A[:1], X[:1], 2)]
INPUTS = [("a", V), ("x", V), ("rounds", INT)]


def deep(block, op):
    """How many loops the innermost of these operations is in."""
    found = [0] if any(e.op == op for e in block.equations) else []
    for e in block.equations:
        inside = [deep(b, op) for b in e.blocks]
        found += [k + (e.op in ("for", "while")) for k in inside if k >= 0]
    return max(found, default=-1)


def ops(block, op):
    return [e for e in walk(block) if e.op == op]


def rounds_of(inner):
    """Rounds that add up what `inner(b, r, a, x, s)` makes of the sum so far."""
    def f(b, a, x, rounds):
        return tuple(for_(b, 0, 1, rounds, [0.0], lambda r, s: [inner(b, r, a, x, s)]))

    return tape_of(INPUTS, f)


def dear(v):
    return o.exp(o.sin(o.exp(v)))


def of_elements(b, x, s, each, start=0, count=None):
    """The sum so far, with something of each element added."""
    n = x.shape[0] if count is None else count
    return for_(b, start, 1, n, [s], lambda i, s: [s + each(i, s)])[0]


def test_an_inner_loop_of_which_a_part_is_the_same():
    tape = rounds_of(lambda b, r, a, x, s: of_elements(
        b, x, s, lambda i, s: dear(o.load(a, i)) * s + o.cast(r, dtype="f8")))  # fmt: skip
    after = keeps(once, tape, *POINTS)
    assert deep(after, "exp") == 1 and deep(after, "mul") == 2


def test_an_inner_loop_that_starts_elsewhere():
    tape = rounds_of(lambda b, r, a, x, s: of_elements(
        b, x, s, lambda i, s: dear(o.load(a, i)) * s + 1.0, 1, x.shape[0] - 1))  # fmt: skip
    assert deep(keeps(once, tape, *POINTS[:4]), "exp") == 1


def test_an_inner_loop_that_is_all_the_same():
    def inner(b, r, a, x, s):
        return s * 0.5 + of_elements(b, x, 0.0, lambda i, t: dear(o.load(a, i)) * t + 1.0)

    after = keeps(once, rounds_of(inner), *POINTS)
    assert deep(after, "exp") == 1 and not ops(after, "blank")


def test_a_loop_in_an_inner_loop():
    def inner(b, r, a, x, s):
        return of_elements(b, x, s, lambda i, s: of_elements(
            b, a, 0.0, lambda j, t: dear(o.load(a, j) * o.load(x, i)) * s, 0, 3))  # fmt: skip

    after = keeps(once, rounds_of(inner), *POINTS[:4])
    assert deep(after, "exp") == 2 and deep(after, "mul") == 3


@pytest.mark.parametrize("there_is_a_matrix", [False, True])
def test_a_number_for_each_pair(there_is_a_matrix):
    """Room for n * n numbers is a surprise where all arrays have n, but not where one has n * n."""
    def f(b, a, m, rounds):
        n, k = m.shape

        def of_pair(i, j, t):
            return dear(o.load(m, i, j) if there_is_a_matrix else o.load(a, i) * o.load(a, j)) * t

        def each(i, s):
            return for_(b, 0, 1, k, [s], lambda j, t: [of_pair(i, j, t)])[0]

        return tuple(for_(b, 0, 1, rounds, [1.0], lambda r, s: [
            for_(b, 0, 1, n, [s], lambda i, s: [each(i, s)])[0]]))  # fmt: skip

    tape = tape_of([("a", V), ("m", M), ("rounds", INT)], f)
    after = keeps(once, tape, (A, A[:, None] + X, 3), (A, A[:, None] + X, 0))
    assert deep(after, "exp") == (2 if there_is_a_matrix else 3)


def test_an_array_on_its_way_of_which_elements_are_read():
    """They are kept: the array has changed when the loop is over."""
    def inner(b, r, a, x, s):
        return for_(b, 1, 1, x.shape[0] - 1, [a, s], lambda i, a, s: [
            o.store(a, dear(o.load(a, i - 1)), i),
            s * o.load(a, i - 1) + o.load(x, i) * o.load(a, i),
        ])[1]  # fmt: skip

    after = keeps(once, rounds_of(inner), *POINTS)
    assert deep(after, "exp") == 1 and len(ops(after, "blank")) == 2


def test_an_array_on_its_way_that_is_read_anywhere():
    """At a place that changes from round to round: it goes with the rounds."""
    def inner(b, r, a, x, s):
        return for_(b, 1, 1, x.shape[0] - 1, [a, s], lambda i, a, s: [
            o.store(a, dear(o.load(a, i - 1)), i), s + o.load(a, o.mod(r, 2)),
        ])[1]  # fmt: skip

    after = keeps(once, rounds_of(inner), *POINTS[:4])
    assert deep(after, "store") == 2


def test_branches_are_taken_apart_too():
    def inner(b, r, a, x, s):
        return of_elements(b, x, s, lambda i, s: if_(
            b, o.gt(o.load(x, i), 0.0), lambda: [dear(o.load(a, i)) * s],
            lambda: [s + dear(o.load(x, i)) + 1.0])[0])  # fmt: skip

    after = keeps(once, rounds_of(inner), *POINTS)
    assert deep(after, "exp") == 1 and len(ops(after, "if")) == 3


def test_what_is_read_stays_in_bounds_where_no_round_runs():
    """The places come from data, which is fit for as many rounds as there are: none."""
    def f(b, k, x, rounds):
        return tuple(for_(b, 0, 1, rounds, [0.0], lambda r, s: [of_elements(
            b, x, s, lambda i, s: dear(o.load(x, o.load(k, i))) * s + 1.0)]))  # fmt: skip

    tape = tape_of([("k", IV), ("x", V), ("rounds", INT)], f)
    there, nowhere = np.array([2, 0, 1, 3]), np.array([9, 9, 9, 9])
    after = keeps(once, tape, (there, X, 3), (nowhere, X, 0))
    assert deep(after, "exp") == 1


@pytest.mark.parametrize(
    "inner",
    {
        "little to save": lambda b, r, a, x, s: of_elements(
            b, x, s, lambda i, s: o.load(a, i) * o.load(x, i) * s),
        "all of it changes": lambda b, r, a, x, s: of_elements(
            b, x, s, lambda i, s: dear(o.load(a, i) * s)),
        "the index counts": lambda b, r, a, x, s: of_elements(
            b, x, s, lambda i, s: dear(o.load(a, i) + o.cast(r, dtype="f8"))),
        "as long as the rounds say": lambda b, r, a, x, s: of_elements(
            b, x, s, lambda i, s: dear(o.load(a, i)) * s, 0, o.minimum(r, x.shape[0])),
        "under a condition of the rounds": lambda b, r, a, x, s: if_(
            b, o.gt(s, 2.0), lambda: [of_elements(b, x, s, lambda i, s: dear(o.load(a, i)) * s)],
            lambda: [s + 1.0])[0],
        "a loop of unknown length": lambda b, r, a, x, s: while_(
            b, [s + 0.1], lambda t: o.lt(t, 9.0), lambda t: [t + dear(t) + 1.0])[0],
    }.items(),
    ids=lambda case: case[0],
)  # fmt: skip
def test_loops_that_stay(inner):
    before = rounds_of(inner[1])
    after = keeps(once, before, *POINTS)
    assert deep(after, "for") == deep(before.body, "for")
    assert deep(after, "exp") in (-1, 2) and not ops(after, "blank")


def chained(theta, data):
    """Each link turns with those before it; how far are its points from where they should be?"""
    places = np.zeros((len(theta), 2), theta.dtype)
    angle = 0.0
    for k in range(len(theta)):
        angle += theta[k]
        places[k] = np.array([np.cos(angle), np.sin(angle)])
        if k > 0:
            places[k] = places[k] + places[k - 1] * np.exp(0.1 * theta[k - 1])
    out = np.zeros(len(data), theta.dtype)
    for i in range(len(data)):
        total = 0.0
        for k in range(len(theta)):
            d = places[k] - data[i]
            total = 0.9 * total + np.sqrt(d[0] * d[0] + d[1] * d[1] + np.exp(data[i, 0]))
        out[i] = total
    return out


def test_a_jacobian_by_several_chunks_computes_the_values_once():
    rng = np.random.default_rng(3)
    theta, data = rng.normal(size=11), rng.normal(size=(6, 2))
    g = jit(jacfwd(chained))
    got = g(theta, data)
    before, chunks = g.tape("once").split(" = for along=True 0 4 ")
    assert " = exp " in before and " = sin " in before
    assert " = exp " not in chunks and " = sin " not in chunks and " = sqrt " not in chunks
    steps = theta + 1e-30j * np.eye(11)
    wanted = np.stack([chained(t, data).imag / 1e-30 for t in steps], 1)
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-13)
