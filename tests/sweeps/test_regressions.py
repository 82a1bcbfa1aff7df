"""Do the tapes that once broke a sweep stay mended?  One test a fault, as small as it got."""

from __future__ import annotations

from typing import Any

from jitad.tape.build import Builder
from jitad.tape.types import INT
from jitad.values.number import o
from tests.sweeps.checks import check
from tests.sweeps.handmade import REAL, for_, tape_of


def test_a_loop_without_trips_gives_its_initial_value() -> None:
    """The body ignores what it carries, so only the loop's result depends on the start."""

    def f(b: Builder, x: Any, k: Any) -> Any:
        s = o.sin(x)
        return for_(b, 0, 1, k, [s], lambda i, t: [o.cos(s)])[0]

    for trips in (0, 2):
        check(tape_of([("x", REAL), ("k", INT)], f), [0.3, trips], [0])
