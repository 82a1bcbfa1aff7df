"""Is a part of an array set to a number only when what was there has been read?"""

import numpy as np
import pytest

import jitad
from jitad.specialise.sink import sink
from jitad.values.number import o
from tests.emit.running import check
from tests.engines import emitted_once
from tests.specialise.passes import keeps, twin
from tests.specialise.tapes import M, V, for_, tape_of

X = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0])


def inner(v):
    return o.slice(v, 1, 1, 4, kinds="r")


def cleared(v, value=0.0):
    return o.store_slice(v, value, 1, 1, 4, kinds="r")


def read_late(b, x):
    """In a loop, the rest is set to zero before the part is used."""
    def body(i, u, total):
        part, u = inner(u), cleared(u)
        total = total + o.sum(part * part, axes=(0,)) * o.load(part, 2)
        return [u + o.sum(u, axes=(0,)) * 2.0, total]

    return tuple(for_(b, 0, 1, 3, [x, 0.0], body))


def test_no_copy_is_left():
    tape = tape_of([("x", V)], read_late)
    keeps(sink, tape, (X,))
    arrays = [check(t, X).count("= empty(") for t in (sink(twin(tape)), tape)]
    assert arrays[0] < arrays[1]


@pytest.mark.parametrize(
    "f",
    [
        lambda b, x: (cleared(cleared(x, 1.0), 2.0), inner(x)),
        lambda b, x: (cleared(x), cleared(x, 3.0), x),
        lambda b, x: o.sum(inner(cleared(x, 2.0)) * inner(x), axes=(0,)),
        lambda b, x: o.store_slice(cleared(x), inner(x), 2, 1, 4, kinds="r"),
        lambda b, x: (cleared(x) * 2.0, o.store_slice(cleared(x, 7.0), inner(x), 0, 1, 4,
                                                      kinds="r")),
    ],
)  # fmt: skip
def test_nothing_else_changes(f):
    tape = tape_of([("x", V)], f)
    keeps(sink, tape, (X,), (X * 2.0,))
    check(sink(twin(tape)), X, exact=True)


def test_inner_blocks_use_it():
    def f(b, a):
        a = o.store_slice(a, 5.0, 0, 1, 2, 1, 1, 2, kinds="rr")
        return for_(b, 0, 1, 2, [0.0], lambda i, s: [s + o.load(a, i, 1)])[0]

    keeps(sink, tape_of([("a", M)], f), (np.arange(9.0).reshape(3, 3),))


def behind_a_check(b, x):
    """Whether there are such elements is found out before the store, and after a loop."""
    def body(i, total):
        return [total + o.load(x, i)]

    (total,) = for_(b, 0, 1, 3, [0.0], body)
    b.emit("check", b.atom(o.ge(o.dim(x, axis=0), 4)), exception=IndexError, message="too short")
    return total, cleared(x)


def test_a_store_stays_behind_its_check():
    ops = [e.op for e in sink(tape_of([("x", V)], behind_a_check)).body.equations]
    assert ops.index("check") < ops.index("store_slice")


@pytest.mark.parametrize("extent", [0, 1, 2, 5])
@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("step", [1, 2])
def test_nothing_is_stored_where_there_is_nothing(extent, loops, step):
    """The adjoint of a part that ends behind the array, by kernels made for places inside."""
    def f(c, n):
        z = c[1:1 + extent] * 2.0
        for r in c if loops else ():
            z[:] *= r
        z[n:n + 1:step] = 1.0
        return z

    def with_pullback(c, seed, n):
        value, pullback = jitad.vjp(lambda c: f(c, n), c)
        return value, pullback(seed)[0]

    c, seed = np.linspace(0.5, 1.5, 6), np.linspace(1.0, 2.0, extent)
    compiled, emitted = jitad.jit(with_pullback), emitted_once(with_pullback)
    for n in (0, 1, extent, 10**9, -(10**9), -1, 3):
        want = with_pullback(c, seed, n)
        for engine in (emitted, compiled):
            for got, right in zip(engine(c, seed, n), want, strict=True):
                np.testing.assert_allclose(got, right, rtol=1e-13)
