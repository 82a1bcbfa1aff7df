"""Is code without loops told from code with loops, and is what it computes the same?"""

from __future__ import annotations

import numpy as np
import pytest
from llvmlite import ir

from jitad.emit import native
from jitad.emit.numba_private.straight import functions_without_loops

STRAIGHT = """
import numpy as np
from jitad.emit.preamble import *
from jitad.errors import JitadValueError

def straight(x, n, flag):
    if not x[0] > 0.0:
        raise JitadValueError("not positive", "")
    a = sin(x[0]) * x[1] - 0.5
    b = a
    if flag:
        b = a / x[1]
    elif n == 2:
        b = -a
    y = np.zeros(3)
    y[0] = b if b < 0.0 and x[2] < 1.0 else plus(a, 1.0)
    y[1] = x[n] * a * a
    y[2] = y[0] + -0.0
    return (y, a * b, n - 1)
"""


def _library(kernel):
    (made,) = kernel.overloads.values()
    return made.library


def test_without_loops(monkeypatch):
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    kernel = native.compile(STRAIGHT, "straight")
    for x in (np.array([0.3, 0.7, 1.9]), np.array([2.5, -0.7, 0.9])):
        for n, flag in ((0, True), (2, False), (1, False)):
            got, true = kernel(x, n, flag), kernel.py_func(x, n, flag)
            np.testing.assert_allclose(got[0], true[0], rtol=1e-15)
            assert got[1:] == (pytest.approx(true[1], rel=1e-15), true[2])
    with pytest.raises(ValueError, match="not positive"):
        kernel(np.zeros(3), 0, True)
    assert _library(kernel).straight


def test_a_loop_is_found(monkeypatch):
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    text = "def f(x, n):\n    while x < n:\n        x2 = x\n        break\n    return x\n"
    looped = "def f(x, n):\n    t = x\n    for i in range(n):\n        t = t * x\n    return t\n"
    once, loop = (native.compile(t, "f") for t in (text, looped))
    assert once(2.0, 3) == 2.0 and loop(2.0, 3) == 16.0
    assert not _library(loop).straight


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
    return functions_without_loops(module)


@pytest.mark.parametrize("edges", [
    [(1,), ()], [(2, 3), (), (3,), (1,)], [(3,), (), (1,), (2, 1)], [(1, 2, 3), (3,), (3,), ()],
    [(1, 2), (2,), (3, 4), (4,), ()],
])  # fmt: skip
def test_blocks_in_any_order(edges):
    assert _flow(*edges) == {"f"}


@pytest.mark.parametrize("edges", [
    [(0,)], [(1, 2), (0,), ()], [(2, 1), (), (3,), (2, 1)], [(1, 2, 3), (3,), (1,), (2, 2, 3)],
    [(1, 2), (2, 3), (1,), ()],
])  # fmt: skip
def test_a_way_back(edges):
    assert _flow(*edges) == frozenset()
