"""Are whole-array operations put side by side, and does nothing change but their order?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import jit
from jitad.errors import JitadValueError
from jitad.specialise.together import together
from jitad.tape.interpret import interpret
from jitad.tape.ir import Tape
from jitad.tape.verify import verify
from jitad.values.number import o
from tests.emit.programs import random_tape
from tests.emit.running import check
from tests.emit.test_random import arguments
from tests.specialise.passes import keeps, twin
from tests.specialise.tapes import M, V, get, tape_of

A = np.arange(12.0).reshape(4, 3) - 5.0
X = np.array([3.0, -1.0, 4.0, 1.0])


def alternating(b: Any, a: Any, x: Any) -> Any:
    """A sum, what is done with it, the next sum, as a sweep writes them."""
    out = []
    for k in (1.0, 2.0, 3.0):
        rows = o.sum(a * (a + k), axes=(1,))
        x = o.store_slice(x, rows * x, 0, 1, 4, kinds="r")
        out.append(o.sum(a - k, axes=(0,)))
    return (x, *out)


def test_sums_over_the_same_array_are_one_nest() -> None:
    tape = tape_of([("a", M), ("x", V)], alternating)
    keeps(together, tape, (A, X))
    before, after = (check(t, A, X).count("for i") for t in (tape, together(twin(tape))))
    assert after < before


def test_reads_stay_before_writes() -> None:
    """Or what is read late would need a copy of the array."""

    def f(b: Any, a: Any, x: Any) -> Any:
        first = o.sum(a, axes=(1,))
        old = o.slice(x, 0, 1, 2, kinds="r")
        y = o.store_slice(x * 1.5, o.slice(first, 0, 1, 2, kinds="r"), 0, 1, 2, kinds="r")
        second = o.sum(a * a, axes=(1,))
        z = o.store_slice(y, old + o.slice(second, 0, 1, 2, kinds="r"), 1, 1, 2, kinds="r")
        return z, second

    tape = tape_of([("a", M), ("x", V)], f)
    keeps(together, tape, (A, X))
    arrays = [check(t, A, X).count("= empty(") for t in (tape, together(twin(tape)))]
    assert arrays[1] <= arrays[0]


def test_nothing_passes_a_check() -> None:
    """A load stays behind the check of its index."""

    def f(b: Any, a: Any, x: Any) -> Any:
        rows = o.sum(a, axes=(1,))
        got = get(x, o.cast(o.load(x, 0), dtype="i8", py=True))
        return rows + got, o.sum(a * 2.0, axes=(1,))

    tape = tape_of([("a", M), ("x", V)], f)
    keeps(together, tape, (A, X), (A, X * 0.0), (A, X * 9.0))
    names = [e.op for e in together(twin(tape)).body.equations]
    assert names.index("check") < [k for k, n in enumerate(names) if n == "load"][-1]


@pytest.mark.parametrize("seed", range(40))
def test_random_tapes(seed: int) -> None:
    tape, _ = random_tape(seed, 7)
    args = arguments(seed)
    want = interpret(tape.body, list(args), functions=tape.functions)
    after = verify(together(Tape(tape.name, tape.body, tape.pos, tape.functions)), "together")
    got = interpret(after.body, list(args), functions=tape.functions)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)
    check(after, *args, numba=False, exact=True)


def test_it_has_something_to_do() -> None:
    tape = tape_of([("a", M), ("x", V)], alternating)
    order = [[e.op for e in t.body.equations] for t in (tape, together(twin(tape)))]
    assert order[0] != order[1]


def test_checks_of_extents_cut_no_nest() -> None:
    def f(x: Any, y: Any) -> Any:
        z = np.exp(x)
        return np.sum(z * y)

    g = jit(f)
    assert np.isclose(g(A, A), np.sum(np.exp(A) * A), rtol=1e-14)
    assert "empty(" not in g.source
    with pytest.raises(JitadValueError, match="broadcast"):
        g(A, A[:2])


def test_zeros_come_where_they_are_added_to() -> None:
    """Or they would be held, and drop out of the cache, while all that comes before is computed."""

    def f(b: Any, a: Any, x: Any) -> Any:
        n, m = map(b.leaf, a.atom.shape)
        zeros = o.full(0.0, n, m, dtype="f8")
        rows = o.sum(o.exp(a), axes=(1,))
        return o.accum_slice(zeros, a, 0, 1, n, 0, 1, m, kinds="rr"), o.sum(rows, axes=(0,))

    tape = together(tape_of([("a", M), ("x", V)], f))
    ops = [e.op for e in tape.body.equations]
    assert ops.index("full") == ops.index("accum_slice") - 1
