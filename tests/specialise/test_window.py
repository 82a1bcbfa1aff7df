"""Do sliding windows give the same arrays to the bit, and are they there where they should be?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitad.specialise.simplify import simplify
from jitad.specialise.window import slide
from jitad.tape.interpret import interpret
from jitad.tape.ir import Block
from jitad.tape.types import INT
from jitad.tape.verify import verify
from jitad.values.number import o
from tests.specialise.tapes import M, V, for_, in_loops, tape_of


def both(inputs: Any, f: Any) -> tuple[Block, Block]:
    plain = verify(simplify(tape_of(inputs, f))).body
    return plain, verify(slide(simplify(tape_of(inputs, f)))).body


def same(plain: Block, fast: Block, *args: Any) -> None:
    for x, y in zip(interpret(plain, list(args)), interpret(fast, list(args)), strict=True):
        np.testing.assert_array_equal(x, y)  # not even rounding differs


X = np.random.default_rng(0).normal(size=9) * 1e3


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 5), min_size=2, max_size=5), st.sampled_from([1, -1]),
    st.sampled_from([1, -1]), st.booleans(),
)  # fmt: skip
def test_additions_along_a_line(offsets: list[int], step: int, turn: int, literal: bool) -> None:
    def f(b: Any, x: Any, m: Any) -> Any:
        start = 3 if (step > 0) == (turn > 0) else -3 * turn * step

        def body(i: Any, a: Any) -> list[Any]:
            for k, c in enumerate(offsets):
                a = o.accum(a, o.load(x, k) * o.sin(o.cast(i, dtype="f8") + k), turn * i + c)
            return [a]

        first = start if turn > 0 else -start
        if (turn > 0) != (step > 0):
            first = turn * 3
        return for_(b, first, step, 3 if literal else m, [o.copy(x)], body)[0]

    plain, fast = both([("x", V), ("m", INT)], f)
    near = 0 < max(offsets) - min(offsets) <= 4
    assert bool(in_loops(fast, "accum")) != near
    for m in (-1, 0, 1, 2, 3):
        same(plain, fast, np.concatenate([X, X]), m)


def test_rows_of_a_plate() -> None:
    def f(b: Any, u: Any, out: Any) -> Any:
        def row(i: Any, out: Any) -> list[Any]:
            def cell(j: Any, out: Any) -> list[Any]:
                v = o.load(u, i, j)
                for p, q, c in ((-1, 0, 1.0), (1, 0, 0.7), (0, -1, 1.3), (0, 1, 0.1), (0, 0, -4.0)):
                    out = o.accum(out, v * c, i + p, j + q)
                return [out]

            return for_(b, 1, 1, u.shape[1] - 2, [out], cell)

        return for_(b, 1, 1, u.shape[0] - 2, [out], row)[0]

    plain, fast = both([("u", M), ("out", M)], f)
    assert len(set(in_loops(plain, "accum"))) == 5
    assert len(set(in_loops(fast, "accum"))) == 2  # of other rows
    for shape in ((4, 5), (3, 3), (2, 2), (2, 5), (5, 2), (0, 0)):
        u = np.random.default_rng(1).normal(size=shape)
        same(plain, fast, u, u * 1e5)


CONFLICTS = {
    "the array is read": lambda x, i, a, m: o.accum(
        o.accum(a, o.load(a, i), i), 2.0, i + 1),
    "unknown distance": lambda x, i, a, m: o.accum(
        o.accum(o.accum(a, o.load(x, i), i), 2.0, i + 1), 3.0, i + m),
    "a place that stays": lambda x, i, a, m: o.accum(
        o.accum(o.accum(a, o.load(x, i), i), 2.0, i + 1), 3.0, m),
    "steps of two": lambda x, i, a, m: o.accum(
        o.accum(a, o.load(x, i), 2 * i), 2.0, 2 * i + 1),
    "overwritten": lambda x, i, a, m: o.accum(
        o.store(o.accum(a, o.load(x, i), i), 0.5, 2), 2.0, i + 1),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_left_alone(name: str) -> None:
    plain, fast = both(
        [("x", V), ("m", INT)],
        lambda b, x, m: for_(b, 0, 1, 3, [o.copy(x)], lambda i, a: [
            CONFLICTS[name](x, i, a, m)])[0],
    )  # fmt: skip
    assert in_loops(fast, "accum")
    for m in (0, 1, 2):
        same(plain, fast, X, m)


def test_a_gradient_scatters_in_one_store() -> None:
    from jitad.specialise.simplify import simplify_block
    from jitad.sweeps.reverse import vjp_block
    from jitad.tape.ir import Tape
    from tests.sweeps.programs import PROGRAMS

    gradient = simplify_block(vjp_block(simplify_block(PROGRAMS["rosenbrock"].block()), [0]))
    assert len(in_loops(gradient, "accum")) == 2
    fast = slide(Tape("f", simplify_block(gradient))).body
    assert not in_loops(fast, "accum") and len(in_loops(fast, "store")) == 1
    for n in (1, 2, 3, 7):
        x = X[:n] / 1e3
        value, slope = interpret(fast, [x, 1.0])
        again, expected = interpret(gradient, [x, 1.0])
        np.testing.assert_array_equal(slope, expected)
        assert value == again
