"""Are arrays put together that are read at the same places, and is nothing confused by it?"""

import numpy as np
import pytest

from jitad import jacfwd, jit
from jitad.emit.sides import MARK
from jitad.specialise.braid import braid
from jitad.tape.ir import walk
from jitad.tape.types import INT
from jitad.values.number import o
from tests.specialise.passes import keeps
from tests.specialise.tapes import IV, V, for_, if_, tape_of, while_

K, X = np.array([2, 0, 1, 3, 2, 2]), np.array([1.0, -2, 3, 4, 0.5, 7])
POINTS = [(K, X, 3), (K, X, 0), (K[:1] * 0, X[:1], 2), (K[:0], X[:0], 1)]
INPUTS = [("k", IV), ("x", V), ("rounds", INT)]


def deepest(block):
    """The number of axes of the largest array."""
    return max((len(v.shape) for e in walk(block) for v in e.outs), default=0)


def zeros(x, count=4, value=0.0):
    return [o.full(value, x.shape[0], dtype="f8") for _ in range(count)]


def written(b, k, x, arrays, way=lambda a, v, i, d: o.store(a, v, i)):
    """Something else in each, at places from a table."""
    return for_(b, 0, 1, x.shape[0], arrays, lambda i, *arrays: [
        way(a, o.load(x, i) * (d + 1.0), o.load(k, i), d) for d, a in enumerate(arrays)
    ])  # fmt: skip


def added_up(b, k, x, arrays, rounds, read=lambda a, i, k, d: o.load(a, o.load(k, i))):
    """The sum of all that is read in some rounds, element for element."""
    def round_(r, *sums):
        return for_(b, 0, 1, x.shape[0], list(sums), lambda i, *sums: [
            s + read(a, i, k, d) for d, (s, a) in enumerate(zip(sums, arrays, strict=True))
        ])  # fmt: skip

    return tuple(for_(b, 0, 1, rounds, [0.0] * len(arrays), round_))


def test_four_that_are_read_at_places_from_a_table():
    tape = tape_of(INPUTS, lambda b, k, x, n: added_up(b, k, x, written(b, k, x, zeros(x)), n))
    assert deepest(keeps(braid, tape, *POINTS)) == 2


def test_of_five_the_last_four():
    tape = tape_of(INPUTS, lambda b, k, x, n: added_up(b, k, x, written(b, k, x, zeros(x, 5)), n))
    after = keeps(braid, tape, *POINTS)
    assert sum(e.op == "full" for e in walk(after)) == 2


def test_what_is_added_to_under_a_condition():
    def maybe(a, v, i, d):
        return o.accum(a, v, i)

    def f(b, k, x, n):
        arrays = zeros(x)
        arrays = if_(b, o.gt(n, 1), lambda: written(b, k, x, arrays, maybe), lambda: arrays)
        return (*added_up(b, k, x, arrays, n), o.sum(arrays[2], axes=(0,)))

    assert deepest(keeps(braid, tape_of(INPUTS, f), *POINTS)) == 2


def test_small_ones_made_of_numbers():
    def f(b, k, x, n):
        def element(i, *sums):
            a = [o.pack(o.load(x, i), 2.0 * d, 1.0) for d in range(4)]
            at = o.load(k, i)
            return for_(b, 0, 1, 3, list(sums), lambda j, *sums: [
                s * 0.5 + o.load(p, o.mod(at * j, 3)) for s, p in zip(sums, a, strict=True)])

        return tuple(for_(b, 0, 1, x.shape[0], [0.0] * 4, element))  # fmt: skip

    after = keeps(braid, tape_of(INPUTS, f), *POINTS)
    assert deepest(after) == 2 and not any(e.op == "pack" for e in walk(after))


def old(b, k, x, n):
    """The version before is read again when the next one is there."""
    before = zeros(x, value=1.0)
    after = written(b, k, x, before)
    return (*added_up(b, k, x, after, n), *added_up(b, k, x, before, n))


def swapped(b, k, x, n):
    """Each takes the other's place."""
    def round_(r, p, q, s, t):
        return [q, p, t, s]

    arrays = for_(b, 0, 1, n, written(b, k, x, zeros(x)), round_)
    return added_up(b, k, x, arrays, n)


def one_on_its_own(b, k, x, n):
    """Only the first is written in the loop."""
    p, *rest = zeros(x)
    (p,) = for_(b, 0, 1, x.shape[0], [p], lambda i, p: [o.store(p, 2.0, o.load(k, i))])
    return added_up(b, k, x, [p, *rest], n)


def results(b, k, x, n):
    """They are handed out."""
    arrays = written(b, k, x, zeros(x))
    return (*added_up(b, k, x, arrays, n), *arrays)


def in_a_loop_of_unknown_length(b, k, x, n):
    arrays = zeros(x)

    def more(i, *arrays):
        return [i + 1, *(o.store(a, 1.0 + d, 0) for d, a in enumerate(arrays))]

    _, *arrays = while_(b, [0, *arrays], lambda i, *_: o.lt(i, o.minimum(n, x.shape[0])), more)
    return added_up(b, k, x, arrays, n)


def element_by_element(b, k, x, n):
    """The loop runs through them: it has its lanes."""
    arrays = written(b, k, x, zeros(x))
    return added_up(b, k, x, arrays, n, lambda a, i, k, d: o.load(a, i))


def at_other_places(b, k, x, n):
    arrays = written(b, k, x, zeros(x))
    return added_up(b, k, x, arrays, n, lambda a, i, k, d: o.load(a, o.load(k, i) // (d + 1)))


def of_other_kinds(b, k, x, n):
    arrays = [o.full(float(d), x.shape[0], dtype="f8") for d in range(4)]
    return added_up(b, k, x, written(b, k, x, arrays), n)


@pytest.mark.parametrize(
    "f", [old, swapped, one_on_its_own, results, in_a_loop_of_unknown_length, element_by_element,
          at_other_places, of_other_kinds],
)  # fmt: skip
def test_arrays_that_stay_apart(f):
    assert deepest(keeps(braid, tape_of(INPUTS, f), *POINTS)) == 1


def looked_up(theta, which):
    """Points turn by angles of their own; a table says which of them are seen."""
    places = np.zeros((len(theta), 3), theta.dtype)
    for j in range(len(theta)):
        places[j, 0] = np.cos(theta[j])
        places[j, 1] = np.sin(theta[j]) * theta[0]
        places[j, 2] = theta[j] * theta[j]
    out = np.zeros(len(which), theta.dtype)
    for i in range(len(which)):
        total = 0.0
        for c in range(3):
            x, y, z = places[which[i, c]]
            total = 0.5 * total + x * y + z
        out[i] = total
    return out


def test_the_tangents_of_four_directions_lie_side_by_side():
    rng = np.random.default_rng(5)
    theta, which = rng.normal(size=10), rng.integers(0, 10, (6, 3))
    g = jit(jacfwd(looked_up))
    got = g(theta, which)
    assert f"{MARK} = True" in g.source
    steps = theta + 1e-30j * np.eye(10)
    wanted = np.stack([looked_up(t, which).imag / 1e-30 for t in steps], 1)
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-13)
