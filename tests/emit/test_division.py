"""Does a function that is cut into parts do what its source does, and are the parts small?"""

import numpy as np
import pytest

from jitad.emit import native
from jitad.emit.numba_private import division

HEAD = '''
import numpy as np
from jitad.emit.preamble import *
'''
TEXT = '''
def kernel(x, n, a):
    first = x * 3.0
    total = 0.0
    count = n
    for i in range(n):
        total = fadd(total, first * x)
        count = count + i
    y = exp(-x) + first
    if y == 2.0:
        raise ValueError("y is two")
    p = x > 0.5
    z = total / y if p else total - y
    kept = empty(np.float64, n)
    for i in range(n):
        kept[i] = z + a[i] * i
    if count > 20:
        raise OverflowError("too many")
    total = total + z
    small = zeros(np.float64, 3)
    small[1] = total
    w = sin(z)
    while total > 1.0:
        total = total / 2.0
        if total == 0.625:
            raise KeyError("in a loop")
        if total < w:
            break
    u = small[1] + first
    if n < 0 or u > 1e6:
        raise ValueError(u)
    a2 = empty(np.float64, n)
    for i in range(n):
        a2[i] = kept[n - 1 - i] * u
    return (total, count, y + w, kept, a2, p)
'''
CALLS = [(0.3, 4, 0.5), (0.9, 3, -1.0), (0.0, 5, 2.0), (2.5, 1, 0.0), (1.5, 0, 1.0),
         (0.2, 9, 1.0), (1e4, 3, 1.0), (1.0, 2, 1.0)]  # fmt: skip


@pytest.fixture
def cut(monkeypatch):
    """Kernels are cut into parts of this many instructions, whatever their length."""
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    monkeypatch.setattr(native, "_loaded", {})
    monkeypatch.setattr(division, "LONG", 0)
    monkeypatch.setattr(division, "LOOK", 1)
    return lambda size: monkeypatch.setattr(division, "PART", size)


def parts_of(dispatcher) -> int:
    """How many functions its machine code has for parts."""
    (text,) = dispatcher.inspect_llvm().values()
    return sum(line.startswith("define") and ".part" in line for line in text.splitlines())


def outcome(function, x, n, value):
    try:
        return function(x, n, np.full(max(n, 0), value))
    except Exception as e:
        return type(e).__name__, e.args


@pytest.mark.parametrize("size", [1, 7, 40])
def test_parts_do_what_the_source_does(cut, size):
    cut(size)
    kernel = native.compile(HEAD + TEXT, "kernel")
    for call in CALLS:
        got, true = outcome(kernel, *call), outcome(kernel.py_func, *call)
        assert len(got) == len(true) and isinstance(got[0], str) == isinstance(true[0], str)
        for a, b in zip(got, true, strict=True):
            if isinstance(b, (str, tuple)):
                assert a == b
            else:
                np.testing.assert_allclose(a, b, rtol=1e-14)
    assert parts_of(kernel) > (3 if size < 40 else 1)


def test_no_part_is_long_however_long_the_function(monkeypatch):
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    monkeypatch.setattr(native, "_loaded", {})
    lengths = []
    moved = division._Cut.moved

    def watched(self, part):
        lengths.append(sum(len(x.instructions) for x in part.blocks))
        return moved(self, part)

    monkeypatch.setattr(division._Cut, "moved", watched)
    lines = ["    v0 = x", "    v1 = x * 0.5"]
    for k in range(2, 2500):
        lines.append(f"    v{k} = plus(v{k - 1} * 0.75, v{k - 2} * x) / (1.5 + v{k // 2} * x)")
    text = "\n".join(["def kernel(x):", *lines, "    return v2499 + v700", ""])
    kernel = native.compile(HEAD + text, "kernel")
    assert kernel(0.7) == pytest.approx(kernel.py_func(0.7), rel=1e-12)
    assert len(lengths) > 5
    assert max(lengths) < division.PART + 20 * division.LOOK
