"""Do loops that compute first and write afterwards give the same, and which are they?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad.specialise.strips import strips
from jitad.tape.ir import Block, walk
from jitad.tape.types import INT
from jitad.values.number import bind, o
from tests.specialise.passes import keeps
from tests.specialise.tapes import IV, V, for_, ops, tape_of

RNG = np.random.default_rng(2)


def points(*counts: int) -> list[tuple[Any, ...]]:
    """(x, places, count), several iterations writing to one place."""
    return [(RNG.random(200), RNG.integers(0, 9, 200), n) for n in counts]


def scatter(b: Any, x: Any, at: Any, n: Any) -> Any:
    """Stores and additions, in an order that matters."""

    def body(i: Any, out: Any) -> Any:
        v = o.sqrt(o.load(x, i))
        k = o.load(at, i)
        out = o.accum(out, o.mul(v, o.load(x, i)), k)
        return [o.store(out, v, o.sub(8, k))]

    return for_(b, 0, 1, n, [o.full(0.0, 9, dtype="f8")], body)[0]


INPUTS = [("x", V), ("at", IV), ("n", INT)]


def is_in_strips(block: Block) -> bool:
    return bool(ops(block, "blank"))


def test_a_scatter_is_computed_first() -> None:
    after = keeps(strips, tape_of(INPUTS, scatter), *points(-1, 0, 1, 63, 64, 65, 130, 200))
    assert is_in_strips(after)
    for e in walk(after):
        if e.op == "for" and any(x.op == "sqrt" for x in e.blocks[0].equations):
            assert not any(x.op in ("accum", "load") and x.ins[0] is e.blocks[0].params[-1]
                           for x in e.blocks[0].equations)  # fmt: skip


@pytest.mark.parametrize("step", [1, -2])
def test_strides_and_branches_about_places(step: int) -> None:
    def f(b: Any, x: Any, at: Any, n: Any) -> Any:
        def body(i: Any, out: Any) -> Any:
            v = o.exp(o.load(x, i))
            k = o.where(o.gt(i, 40), o.load(at, i), 3)
            return [o.accum(out, v, k)]

        first = 0 if step > 0 else 199
        return for_(b, first, step, n, [o.full(0.0, 9, dtype="f8")], body)[0]

    assert is_in_strips(keeps(strips, tape_of(INPUTS, f), *points(0, 70, 100)))


def refused(body: Any) -> None:
    def f(b: Any, x: Any, at: Any, n: Any) -> Any:
        return for_(b, 0, 1, n, [o.full(0.0, 9, dtype="f8")], lambda i, a: body(x, at, i, a))[0]

    assert not is_in_strips(keeps(strips, tape_of(INPUTS, f), *points(0, 9, 70)))


def test_loops_that_stay() -> None:
    # what is computed depends on what was written
    refused(lambda x, at, i, a: [
        o.store(a, o.sqrt(o.add(o.load(a, o.load(at, i)), o.load(x, i))), o.load(at, i))
    ])  # fmt: skip
    # nothing dear
    refused(lambda x, at, i, a: [o.accum(a, o.mul(o.load(x, i), 2.0), o.load(at, i))])

    def checked(x: Any, at: Any, i: Any, a: Any) -> Any:
        bind("check", o.ge(o.load(at, i), 0), exception=IndexError, message="")
        return [o.accum(a, o.sqrt(o.load(x, i)), o.load(at, i))]

    refused(checked)
    # a float decides about the place
    refused(lambda x, at, i, a: [
        o.accum(a, o.sqrt(o.load(x, i)), o.where(o.gt(o.load(x, i), 0.5), 1, 2))
    ])  # fmt: skip
