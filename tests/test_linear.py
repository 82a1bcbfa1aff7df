"""Does the work of a first call grow no faster than the function?

Counted, not timed: all calls of Python functions and of built-in ones, from the plain function
to its gradient.  A pass that goes through all it has for each thing it meets shows as soon as
there are some hundred of them.  What calls don't show (sets of everything that is alive, one a
check) is looked at apart.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.bench_compile import straight_line
from jitad import jit_grad
from jitad.emit.numba_private import compiler, lowering


def calls_of(run: Callable[[], object]) -> int:
    count = 0

    def count_it(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(count_it)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("arrays", [False, True])
def test_work_grows_with_the_lines(arrays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    jit_grad(straight_line(10, arrays), argnums=(0, 1))(0.5, 0.7)  # what is done once only
    sizes = [40, 80, 160]
    few, some, many = (
        calls_of(lambda n=n: jit_grad(straight_line(n, arrays), argnums=(0, 1))(0.5, 0.7))
        for n in sizes
    )
    assert many - some < 2.4 * (some - few)  # 2 where it is linear, 4 where it is quadratic


def test_the_source_is_not_searched_for_each_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Upwards to the head of the function: for its name, and for errors that nobody saw."""
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    read = 0
    lines = compiler.numba_ir.Loc.get_lines

    def counted(self: Any) -> list[str]:
        nonlocal read
        read += 1
        return lines(self)

    monkeypatch.setattr(compiler.numba_ir.Loc, "get_lines", counted)
    jit_grad(straight_line(33, False), argnums=(0, 1))(0.5, 0.7)
    assert read < 5


def test_only_what_holds_references_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that raises was the end of every number that was alive there."""
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    ends: list[str] = []
    delvar = lowering.Lower.delvar

    def noted(self: Any, name: str) -> None:
        ends.append(name)
        delvar(self, name)

    monkeypatch.setattr(lowering.Lower, "delvar", noted)
    found = []
    for n in (30, 60):
        ends.clear()
        jit_grad(straight_line(n, False), argnums=(0, 1))(0.5, 0.7)
        found.append(len(ends))
    assert found[0] == found[1] < 20
