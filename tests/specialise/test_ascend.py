"""Do reverse loops whose iterations commute run upwards, with the same results, and no others?

The numbers are small integers, whose sums are exact in any order: results must be equal.
"""

import numpy as np
import pytest

from jitad import jit_grad
from jitad.specialise.ascend import ascend
from jitad.tape.ir import lit
from jitad.tape.types import INT, Scalar
from jitad.values.number import o
from tests.emit.running import check
from tests.specialise.passes import keeps, twin
from tests.specialise.tapes import V, for_, if_, in_loops, ops, tape_of

X = np.array([3.0, -1, 4, 1, -5, 9, 2])
POINTS = [(X, n) for n in (7, 2, 1, 0, -3)]


def downwards(body, pushes=1, start=None):
    """Push functions of x[i] for all i, then run `body(b, x, i, popped, total, y)` from the end."""
    def f(b, x, n):
        kept = b.leaf(b.emit("stack", element=Scalar("f8")))

        def forward(i, kept):
            for k in range(pushes):
                kept = b.leaf(b.emit("push", b.atom(kept), b.atom(o.load(x, i) * (k + 2.0))))
            return [kept]

        (kept,) = for_(b, 0, 1, n, [kept], forward)

        def backward(i, kept, total, y):
            popped = []
            for _ in range(pushes):
                kept, v = map(b.leaf, b.emit("pop", b.atom(kept)))
                popped.append(v)
            return [kept, *body(b, x, i, popped, total, y)]

        first = n - 1 if start is None else start
        y = o.full(1.0, 9, dtype="f8")
        _, total, y = for_(b, first, -1, n, [kept, 0.5, y], backward)
        return total, y

    return tape_of([("x", V), ("n", INT)], f)


def weighted(popped, i):
    return sum(((k + 1.0) * (v * i) for k, v in enumerate(popped)), start=0.0)


COMMUTING = {
    "sum": lambda b, x, i, vs, s, y: [s + weighted(vs, i), y],
    "difference": lambda b, x, i, vs, s, y: [s - weighted(vs, i), y],
    "store": lambda b, x, i, vs, s, y: [s, o.store(y, weighted(vs, i), i + 1)],
    "read and stored": lambda b, x, i, vs, s, y: [
        s + o.load(y, i) * 3.0, o.store(o.accum(y, vs[0], i), o.load(y, i) + vs[0] * 2.0, i)],
    "added around": lambda b, x, i, vs, s, y: [s, o.accum(o.accum(y, vs[0], i + 1), vs[0] * i, i)],
    "never used": lambda b, x, i, vs, s, y: [s, y],
}  # fmt: skip
ORDERED = {
    "product": lambda b, x, i, vs, s, y: [s * vs[0], y],
    "sum that is read": lambda b, x, i, vs, s, y: [s + vs[0], o.store(y, s, i)],
    "one place": lambda b, x, i, vs, s, y: [s, o.store(y, vs[0], 1)],
    "neighbour": lambda b, x, i, vs, s, y: [s, o.store(y, o.load(y, i + 1) + vs[0], i)],
    "two places": lambda b, x, i, vs, s, y: [s, o.store(o.store(y, vs[0], i), 2.0 * vs[0], i + 1)],
    "a place that is data": lambda b, x, i, vs, s, y: [
        s, o.store(y, vs[0], o.floordiv(i, 2))],
}  # fmt: skip


@pytest.mark.parametrize("pushes", [1, 2, 3])
@pytest.mark.parametrize("name", COMMUTING)
def test_loops_that_commute(name, pushes):
    tape = downwards(COMMUTING[name], pushes)
    after = keeps(ascend, tape, *POINTS)
    assert len(ops(after, "pops")) == 1 and not ops(after, "pop")
    check(ascend(twin(tape)), X, 7, exact=True)


@pytest.mark.parametrize("name", ORDERED)
def test_loops_that_have_an_order(name):
    after = keeps(ascend, downwards(ORDERED[name]), *POINTS)
    assert not ops(after, "pops") and len(in_loops(after, "pop")) == 1


def test_records_of_branches_keep_their_order():
    def body(b, x, i, vs, s, y):
        return [if_(b, o.gt(vs[0], 0.0), lambda: [s + vs[0]], lambda: [s])[0], y]

    assert not ops(keeps(ascend, downwards(body), *POINTS), "pops")


def test_an_index_that_ends_elsewhere_stays():
    tape = downwards(lambda b, x, i, vs, s, y: [s, o.store(y, vs[0], i)], start=lit(7))
    assert not ops(keeps(ascend, tape, *POINTS), "pops")


def relaxed(u, r, steps):
    v = u.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            v[i] = u[i] + r * u[i] * (u[i + 1] - u[i - 1])
        u, v = v, u
    return np.sum(u * u)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_a_stencil_in_two_arrays(n):
    u = np.linspace(0.2, 1.0, n) ** 2
    slope = jit_grad(relaxed, argnums=(0, 1))
    bar, r_bar = slope(u, 0.1, 3)
    h = 1e-30
    for k in range(n):
        moved = u + 0j
        moved[k] += 1j * h
        assert bar[k] == pytest.approx(relaxed(moved, 0.1, 3).imag / h, rel=1e-13)
    assert r_bar == pytest.approx(relaxed(u + 0j, 0.1 + 1j * h, 3).imag / h, rel=1e-13, abs=1e-15)
    if n > 2:
        found = slope.source
        assert "opaque(" in found, found
