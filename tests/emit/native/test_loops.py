"""Do translated loops run as often as Python's, in which nest ever, with empty ranges among them?

A nest is asked in front of it whether all of its loops run.  Random nests, some of whose bounds are
counters of loops around, or change on the way, leave a trace of every iteration; the truth is the
same text run by CPython.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.emit.native.test_translate import by_python, compiled, is_translated

SIZES = [(0, 3), (3, 0), (1, 2), (2, 3), (-1, 2), (4, 1)]


def random_nest(seed: int) -> str:
    """The text of a function of a trace and two integers."""
    rng = random.Random(seed)
    lines = ["def f(out, n, m):", "    c = 2"]

    def bound(around: list[str]) -> str:
        return rng.choice(["n", "m", "c", "0", "2", "3", *around, *around])

    def over(around: list[str]) -> str:
        a, b = bound(around), bound(around)
        return rng.choice([
            f"range({a})", f"range({a})", f"range({a}, {b})", f"range({a}, {b}, -1)",
            f"range({a}, {b}, 2)", f"range({a}, -1, -1)", f"range({a}, -2, -2)", f"range({a} - 1)",
        ])  # fmt: skip

    def visit(around: list[str], margin: str) -> None:
        seen = " + ".join(f"{k + 3} * {x}" for k, x in enumerate(around)) or "1"
        lines.append(f"{margin}out[0] = (out[0] * 7.0 + {seen} + c) % 1009.0")

    def block(around: list[str], margin: str) -> None:
        if rng.random() < 0.25:
            visit(around, margin)
        if len(around) == 4 or (around and rng.random() < 0.2):
            visit(around, margin)
            if around and rng.random() < 0.3:
                lines.append(f"{margin}if out[0] > 900.0:")
                lines.append(f"{margin}    break")
            return
        for _ in range(rng.choice([1, 1, 1, 2])):
            name = rng.choice("ijkl")  # may be that of a loop around
            if name in around:
                name = f"{name}{len(around)}"
            lines.append(f"{margin}for {name} in {over(around)}:")
            block([*around, name], margin + "    ")
        if rng.random() < 0.25:
            lines.append(f"{margin}c = (c + 1) % 4")
            visit(around, margin)

    for _ in range(3):
        block([], "    ")
    return "\n".join([*lines, "    return (out[0], c)", ""])


@pytest.mark.parametrize("seed", range(60))
def test_random_nests(seed: int) -> None:
    text = random_nest(seed)
    f, true = compiled(text), by_python(text)
    for n, m in SIZES:
        got = f(np.array([1.0]), n, m)
        assert tuple(got) == tuple(true(np.array([1.0]), n, m)), text
    assert is_translated(f)


NESTS: dict[str, Any] = {
    "an inner loop without iterations": """
def f(out, n, m):
    for i in range(n):
        for j in range(m):
            out[0] = out[0] + 1.0
    return (out[0],)
""",
    "a bound that has the name of the loop's own counter": """
def f(out, n, m):
    for i in range(n):
        for j in range(i):
            for k in range(j):
                out[0] = out[0] + 1.0 * i + j + k
    return (out[0],)
""",
    "one counter for two loops, one after the other": """
def f(out, n, m):
    for i in range(n):
        out[0] = out[0] * 2.0 + i
    for j in range(m):
        for i in range(n):
            for k in range(i):
                out[0] = out[0] + k
    return (out[0],)
""",
    "a counter that is called as one further out": """
def f(out, n, m):
    for i in range(n):
        out[0] = out[0] + i
        for i in range(m):
            for k in range(i):
                out[0] = out[0] * 2.0 + k
    return (out[0],)
""",
    "a bound that the nest changes": """
def f(out, n, m):
    c = n
    for i in range(m):
        for j in range(c):
            c = c - 1
            out[0] = out[0] * 2.0 + j
    return (out[0], c)
""",
}


@pytest.mark.parametrize("what", NESTS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_nests(what: str, size: tuple[int, int]) -> None:
    f, true = compiled(NESTS[what]), by_python(NESTS[what])
    assert f(np.array([1.0]), *size) == true(np.array([1.0]), *size)
    assert is_translated(f)
