"""Do loops in three parts give the same, wherever the border is?"""

from __future__ import annotations

from typing import Any

import pytest

from jitad.specialise.split import split
from jitad.tape.ir import walk
from jitad.tape.types import INT
from jitad.values.number import o
from tests.specialise.passes import keeps
from tests.specialise.tapes import for_, if_, in_loops, tape_of

INPUTS = [("low", INT), ("high", INT), ("k", INT), ("n", INT)]
POINTS = [
    (low, high, k, n)
    for low in (-3, 0, 2, 9) for high in (-1, 3, 5, 40) for k in (0, 1) for n in (-1, 0, 1, 7)
]  # fmt: skip


def weighted(condition: Any, start: int = 0, step: int = 1) -> Any:
    """A number that tells which iterations went which way, in which order."""

    def f(b: Any, low: Any, high: Any, k: Any, n: Any) -> Any:
        def body(i: Any, s: Any) -> Any:
            holds = condition(i, low, high, k)
            return if_(b, holds, lambda: [o.add(o.mul(s, 2.0), i)],
                       lambda: [o.sub(o.mul(s, 3.0), i)])  # fmt: skip

        return for_(b, start, step, n, [1.0], body)[0]

    return tape_of(INPUTS, f)


CONDITIONS = {
    "range": lambda i, low, high, k: o.logical_and(o.ge(i, low), o.lt(i, high)),
    "below": lambda i, low, high, k: o.le(o.add(i, low), high),
    "above": lambda i, low, high, k: o.gt(i, o.add(low, k)),
    "turned": lambda i, low, high, k: o.gt(high, i),
    "and from outside": lambda i, low, high, k: o.logical_and(o.eq(k, 1), o.lt(i, high)),
    "and a sum": lambda i, low, high, k: o.logical_and(o.lt(low, high), o.ge(i, low)),
}


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("start", [0, 2])
def test_three_parts(name: str, start: int) -> None:
    after = keeps(split, weighted(CONDITIONS[name], start), *POINTS)
    if name != "and from outside":  # its first comparison is an equality
        assert not in_loops(after, "if")
        assert sum(e.op == "for" for e in walk(after)) == 3


def test_what_stays_one_loop() -> None:
    for condition, step in (
        (lambda i, low, high, k: o.eq(i, low), 1),
        (lambda i, low, high, k: o.lt(i, high), 2),
        (lambda i, low, high, k: o.lt(o.mul(i, i), high), 1),
        (lambda i, low, high, k: o.lt(o.mul(i, 2), high), 1),
    ):
        assert in_loops(keeps(split, weighted(condition, 0, step), *POINTS), "if")
