"""Are Python's integers exact, or an error?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad

OPERATIONS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: -a,
    lambda a, b: a << (b & 63),
    lambda a, b: a ** (b & 15),
    lambda a, b: a * a + b * b - a * b,
]
INTEGERS = (0, 1, -1, 3, -7, 2**31, 10**10, -(2**40), 2**61, 2**62 + 1, 2**63 - 1, -(2**63))


@pytest.mark.parametrize("f", OPERATIONS)
def test_one_operation(f: Callable[[Any, Any], Any]) -> None:
    compiled = jitad.jit(f)
    for a in INTEGERS:
        for b in INTEGERS:
            try:
                got = compiled(a, b)
            except OverflowError:
                assert abs(f(a, b)) >= 2**61 or abs(a) >= 2**31  # a part may be too large
            else:
                assert got == f(a, b)


def test_loops() -> None:
    def fibonacci(n: Any) -> Any:
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    def squares(n: Any) -> Any:
        s = 0
        for i in range(n):
            s += i * i * n
        return s

    def flat(x: Any, rows: Any, columns: Any) -> Any:
        s = 0.0
        for i in range(rows):
            for j in range(columns):
                s += x[i * columns + j] * i
        return s

    for f, sizes in ((fibonacci, (10, 90, 91)), (squares, (10, 1000))):
        compiled = jitad.jit(f)
        for n in sizes:
            assert compiled(n) == f(n)
    with pytest.raises(OverflowError):
        jitad.jit(fibonacci)(100)
    with pytest.raises(OverflowError):
        jitad.jit(squares)(10**5)
    x = np.arange(12.0)
    compiled = jitad.jit(flat)
    assert compiled(x, 3, 4) == flat(x, 3, 4)
    # indices need no check at every element
    inner = compiled.source[compiled.source.index("for ") :]
    assert "Overflow" not in inner
