"""Is straight-line code told from code with loops and branches, and does it compute the same?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from llvmlite import ir

from benchmarks.bench_compile import straight_line
from jitad import grad, jit_grad
from jitad.emit import native
from jitad.emit.numba_private.straight import straight_functions

STRAIGHT = """
import numpy as np
from jitad.emit.preamble import *
from jitad.errors import JitadValueError

def straight(x, n):
    if not x[0] > 0.0:
        raise JitadValueError("not positive", "")
    a = sin(x[0]) * x[1] - 0.5
    b = a
    if n > 7:
        raise JitadValueError("too far", "")
    b = where(n == 0, a / x[1], where(n == 2, -a, b))
    y = empty(np.float64, 3)
    y[0] = b if b < 0.0 and a < 1.0 else plus(a, 1.0)
    y[1] = x[n] * a * a
    y[2] = y[0] + -0.0
    return (y, a * b, n - 1)
"""


def _library(kernel):
    (made,) = kernel.overloads.values()
    return made.library


def test_one_way(monkeypatch):
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    kernel = native.compile(STRAIGHT, "straight")
    for x in (np.array([0.3, 0.7, 1.9]), np.array([2.5, -0.7, 0.9])):
        for n in range(3):
            got, true = kernel(x, n), kernel.py_func(x, n)
            np.testing.assert_allclose(got[0], true[0], rtol=1e-15)
            assert got[1:] == (pytest.approx(true[1], rel=1e-15), true[2])
    with pytest.raises(ValueError, match="not positive"):
        kernel(np.zeros(3), 0)
    assert _library(kernel).straight


def test_others_are_found(monkeypatch):
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    looped = "def f(x, n):\n    t = x\n    for i in range(n):\n        t = t * x\n    return t\n"
    either = "def f(x, n):\n    t = x\n    if n > 2:\n        t = x * x\n    s = t * x\n"
    either += "    if n > 3:\n        s = s * t\n    return s\n"
    loop, branch = (native.compile(t, "f") for t in (looped, either))
    assert loop(2.0, 3) == 16.0 and branch(2.0, 3) == 8.0
    assert not _library(loop).straight and not _library(branch).straight


def _flow(*edges: tuple[int, ...]) -> frozenset[str]:
    """Of a function whose blocks branch to these."""
    module = ir.Module()
    f = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.IntType(1), ir.IntType(8)]), "f")
    blocks = [f.append_basic_block() for _ in edges]
    for block, targets in zip(blocks, edges, strict=True):
        b = ir.IRBuilder(block)
        match [blocks[t] for t in targets]:
            case []:
                b.ret_void()
            case [only]:
                b.branch(only)
            case [yes, no]:
                b.cbranch(f.args[0], yes, no)
            case [other, *cases]:
                switch = b.switch(f.args[1], other)
                for k, case in enumerate(cases):
                    switch.add_case(k, case)
    return straight_functions(module)


@pytest.mark.parametrize("edges", [
    [(1,), ()], [(2, 3), (), (3,), (1,)], [(3,), (), (1,), (2, 1)], [(1, 2, 3), (3,), (3,), ()],
    [(1, 4), (2, 4), (3, 4), (5,), (5,), ()],
])  # fmt: skip
def test_blocks_in_any_order(edges):
    assert _flow(*edges) == {"f"}


@pytest.mark.parametrize("edges", [
    [(0,)], [(1, 2), (0,), ()], [(2, 1), (), (3,), (2, 1)], [(1, 2, 3), (3,), (1,), (2, 2, 3)],
    [(1, 2), (2, 3), (1,), ()], [(1,), (2,), (1,)], [(1, 2), (2,), (3, 4), (4,), ()],
])  # fmt: skip
def test_ways_that_meet_and_go_on(edges):
    assert _flow(*edges) == frozenset()


def test_the_gradient_of_such_code() -> None:
    f = straight_line(900, False)
    compiled = jit_grad(f, argnums=(0, 1))
    for at in ((0.3, 0.7), (-1.2, 0.4)):
        assert compiled(*at) == pytest.approx(grad(f, argnums=(0, 1))(*at), rel=1e-9)
    assert _library(compiled._all[0].kernel.dispatcher).is_interrupted


def _long(lines: int, call_each: int) -> str:
    """A sum over sines of what was before, or of products where no call is due."""
    body = ["    v0 = x", "    v1 = 0.5 * x"]
    for k in range(2, lines):
        p, q = f"v{k - 1}", f"v{k - 2}"
        now = f"{p} * 0.6 + {q} * x" if k % call_each else f"sin({p}) * {q}"
        body.append(f"    v{k} = {now}")
    head = ["from jitad.emit.preamble import sin", "def long(x):", *body]
    return "\n".join([*head, f"    return (v{lines - 1},)", ""])


@pytest.mark.parametrize("lines, call_each, expected", [
    (2000, 3, True), (1400, 30, True), (200, 3, False), (2000, 90, False), (2000, 10**6, False),
])  # fmt: skip
def test_code_that_calls_all_the_time(lines: int, call_each: int, expected: bool) -> None:
    """Is found where it is long, and computes what Python does."""
    source = _long(lines, call_each)
    kernel = native.compile(source, "long")
    space: dict[str, Any] = {}
    exec(source.replace("jitad.emit.preamble", "math"), space)
    for x in (0.2, 0.35):
        assert kernel(x)[0] == pytest.approx(space["long"](x)[0], rel=1e-9, abs=1e-250)
    assert _library(kernel).straight
    assert _library(kernel).is_interrupted == expected
