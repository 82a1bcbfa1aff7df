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

BRANCH, LOOP = "if x[i{0}] > 0.1 * {1}:", "for i{0} in range(n):"
SHAPES = {"branches": BRANCH, "loops": LOOP, "both": None}  # what statements are nested in


def nested(shape: str, depth: int) -> str:
    """Sums that are added to at each depth of statements in statements, in a loop."""
    lines = ["def program(x, n):", "    p = q = r = s = 0.0", "    for i0 in range(n):"]
    index = 0
    for k in range(depth):
        pad = " " * (8 + 4 * k)
        head = SHAPES[shape] or (LOOP if k % 2 == 0 else BRANCH)
        index = k + 1 if head is LOOP else index
        lines.append(pad + head.format(index, k))
        pairs = zip("pqrs", "qrsp", strict=True)
        lines += [f"{pad}    {v} = {v} * 0.5 + x[i{index}] * {w}" for v, w in pairs]
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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_work_grows_no_faster_than_the_square_of_the_depth(shape: str, mode: str) -> None:
    done = []
    for depth in (3, 6):
        name = f"growth_{shape}_{mode}_{depth}"
        f = load(nested(shape, depth), name)
        x = np.linspace(0.2, 0.9, 3)
        made = jitad.grad(f) if mode == "reverse" else lambda x, n, f=f: jitad.jvp(
            lambda y: f(y, n), (x,), (x,))  # fmt: skip
        done.append(calls(lambda made=made, x=x: kernel_of(made, x, 3)))
        forget(name)
    assert done[1] <= 4 * done[0], done


def sliced(count: int) -> str:
    """Products of slices that all ask about one extent, each for another number of elements."""
    lines = ["def program(x):", "    s = 0.0"]
    for i in range(count):
        lines.append(f"    s += (x[{i}:{i + 3 + i % 7}] * x[{i + 1}:{i + 4 + i % 7}]).sum()")
    return "\n".join([*lines, "    return s", ""])


def test_work_grows_as_the_slices_of_one_array() -> None:
    done = []
    for count in (50, 200):
        name = f"growth_slices_{count}"
        f = load(sliced(count), name)
        done.append(calls(lambda f=f: kernel_of(jitad.grad(f), np.ones(300))))
        forget(name)
    assert done[1] <= 5 * done[0], done
