"""How does the work of tracing and of the passes grow with how deep statements are nested?

Counted as calls of Python functions.  A pass that looks into every block again for each block
around it is quadratic in the depth; one that goes into a branch once for every result of every
branch around it is exponential.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import jitad
from tests.engines import kernel_of
from tests.properties.check import forget, load


def branches_in_branches(depth: int) -> str:
    """Sums that every branch adds to, in a loop."""
    lines = ["def program(x, n):", "    p = q = r = s = 0.0", "    for i in range(n):"]
    pad = " " * 8
    for k in range(depth):
        lines.append(f"{pad}if x[i] > {0.1 * k}:")
        pad += "    "
        lines += [f"{pad}{v} = {v} + x[i] * {k + 2}.0" for v in "pqrs"]
    return "\n".join([*lines, "    return p + q * r + s", ""])


def loops_in_loops(depth: int) -> str:
    lines = ["def program(x, n):", "    p = q = r = s = 0.0"]
    pad = "    "
    for k in range(depth):
        lines.append(f"{pad}for i{k} in range(n):")
        pad += "    "
        lines += [f"{pad}{v} = {v} + x[i{k}] * {k + 2}.0" for v in "pqrs"]
    return "\n".join([*lines, "    return p + q * r + s", ""])


def loops_and_branches(depth: int) -> str:
    lines = ["def program(x, n):", "    p = q = r = s = 0.0"]
    pad = "    "
    for k in range(depth):
        lines.append(f"{pad}for i in range(n):" if k % 2 == 0 else f"{pad}if x[i] > p:")
        pad += "    "
        pairs = zip("pqrs", "qrsp", strict=True)
        lines += [f"{pad}{v} = {v} * 0.5 + x[{k % 3}] * {w}" for v, w in pairs]
    return "\n".join([*lines, "    return p + q * r + s", ""])


def calls(run: Callable[[], Any]) -> int:
    """How many Python functions are called."""
    count = 0

    def seen(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("shape", [branches_in_branches, loops_in_loops, loops_and_branches])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_work_grows_no_faster_than_the_square_of_the_depth(
    shape: Callable[[int], str], mode: str
) -> None:
    done = []
    for depth in (3, 6):
        name = f"growth_{shape.__name__}_{mode}_{depth}"
        f = load(shape(depth), name)
        x = np.linspace(0.2, 0.9, 3)
        made = jitad.grad(f) if mode == "reverse" else lambda x, n, f=f: jitad.jvp(
            lambda y: f(y, n), (x,), (x,))  # fmt: skip
        done.append(calls(lambda made=made, x=x: kernel_of(made, x, 3)))
        forget(name)
    assert done[1] <= 4 * done[0], done
