"""Does a later process find the kernel of a function in which lists grow, and has it room enough?

As in `test_recalled`, whose processes these are.  A kernel's room is found out call by call.
"""

from __future__ import annotations

import pytest

from jitad import jit, jit_value_and_grad
from jitad.trace.traced import FIRST_ROOM
from tests.api.test_recalled import Process, process

__all__ = ["process"]  # the fixture

GROWING = """
def f(x, n):
    kept, rows = [], []
    for i in range(n):
        if x * i > 0.5:
            kept.append(x * x * i)
    while len(rows) < len(kept) // 2:
        rows.append([x * len(rows), [x]])
    return sum(kept) + sum(a * b[0] for a, b in rows)
"""
NESTED = """
def f(x, n):
    outer = []
    for i in range(n):
        inner = []
        for j in range(i):
            if j * x > 1.0:
                inner.append(j * x)
        outer.append(inner)
    return sum(sum(inner) for inner in outer)
"""


@pytest.mark.parametrize("text", [GROWING, NESTED])
@pytest.mark.parametrize("first, later", [(10, 40), (40, 3), (10, 4 * FIRST_ROOM), (700, 2)])
def test_lists_that_grow(process: Process, text: str, first: int, later: int) -> None:
    if text is NESTED:
        first, later = first // 10, later // 10
    for n, traces in ((first, 1), (later, 0), (3 * later + 20, 0), (first, 0)):
        process.traces = 0
        f = process.module(text).f
        g = jit_value_and_grad(f)
        for k in (n, n + 5, n):
            value, slope = g(1.5, k)
            assert value == pytest.approx(f(1.5, k), rel=1e-12)
            h = 1e-30j  # of these polynomials the complex step is exact
            assert slope == pytest.approx(_by_complex_step(text, 1.5, k, h), rel=1e-12)
        assert process.traces == traces


def _by_complex_step(text: str, x: float, n: int, h: complex) -> float:
    """Comparisons are made by the real part."""

    space: dict = {}
    exec(text.replace("x * i > 0.5", "x.real * i > 0.5").replace("j * x > 1.0", "j * x.real > 1.0"),
         space)  # fmt: skip
    return (space["f"](x + h, n)).imag / h.imag


def test_two_functions_of_one_kernel_have_their_own_room(process: Process) -> None:
    text = """
def f(x, n):
    kept = []
    while len(kept) < n:
        kept.append(x)
    return sum(kept)
"""
    assert jit(process.module(text).f)(2.0, 5) == 10.0
    first, second = jit(process.module(text).f), jit(process.module(text).f)
    assert first(2.0, 9 * FIRST_ROOM) == 18.0 * FIRST_ROOM
    assert second(2.0, 5) == 10.0
    rooms = [g._all[0].traced.rooms[0].size for g in (first, second)]
    assert rooms == [64 * FIRST_ROOM, FIRST_ROOM]
