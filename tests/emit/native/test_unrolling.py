"""Are the loops unrolled that should be, and do they compute what they did?

The truth is the same text run by CPython.
"""

from __future__ import annotations

import numpy as np
import pytest
from llvmlite import binding, ir

from jitad.emit import native
from jitad.emit.numba_private import unrolling
from jitad.emit.numba_private.unrolling import Unrolling

HEAD = "import numpy as np\nfrom jitad.emit.preamble import *\n\n\n"
RANGES = ("range(0)", "range(1)", "range(5)", "range(4, -1, -1)", "range(1, 9, 3)",
          "range(3, 3)", "range(n)", "range(2, n)", "range(300)")  # fmt: skip


def nests() -> str:
    """Each kind of range around each other one, with a sum carried through."""
    lines = ["def f(x, n):", "    total = 0.0"]
    for k, outer in enumerate(RANGES):
        for m, inner in enumerate(RANGES[:-1]):
            i, j = f"i{k}_{m}", f"j{k}_{m}"
            lines += [f"    for {i} in {outer}:", f"        for {j} in {inner}:",
                      f"            total = total * 0.5 + x[{j}] * ({i} + 1)"]  # fmt: skip
    return "\n".join([*lines, "    return total"]) + "\n"


@pytest.mark.parametrize("long", [0, 10**9])
def test_nests_of_all_ranges(monkeypatch: pytest.MonkeyPatch, long: int) -> None:
    monkeypatch.setenv("JITAD_CACHE_DIR", "")
    monkeypatch.setattr(unrolling, "LONG", long)
    monkeypatch.setattr(native, "_loaded", {})
    space: dict[str, object] = {}
    exec(HEAD + nests(), space)
    f = native.compile(HEAD + nests(), "f")
    for n in (0, 1, 2, 7):
        x = np.random.default_rng(n).normal(size=9)
        assert f(x, n) == pytest.approx(space["f"](x, n), rel=1e-12)  # type: ignore[operator]
    (made,) = f.overloads.values()
    assert list(made.metadata["pipeline_times"]) == ["source"]
    assert made.library.is_long == (long == 0)


def loop(b: ir.IRBuilder, of: Unrolling, start: object, stop: object, inside: object) -> bool:
    """Write a loop; was it marked?"""
    word = ir.IntType(64)
    before, head, body, after = b.block, *(b.append_basic_block() for _ in range(3))
    b.branch(head)
    b.position_at_end(head)
    counter = b.phi(word)
    counter.add_incoming(start, before)
    b.cbranch(b.icmp_signed("<", counter, stop), body, after)
    b.position_at_end(body)
    inside(counter)  # type: ignore[operator]
    counter.add_incoming(b.add(counter, word(1)), b.block)
    back = b.branch(head)
    of.close(back, counter, stop)
    b.position_at_end(after)
    return "llvm.loop" in back.metadata


def test_short_loops_of_constant_counts_are_marked() -> None:
    word = ir.IntType(64)
    module = ir.Module()
    f = ir.Function(module, ir.FunctionType(word, [word]), "f")
    b = ir.IRBuilder(f.append_basic_block())
    of = Unrolling(b)
    found = []

    def work(counter: object) -> None:
        for _ in range(20):
            b.mul(f.args[0], counter)

    def nest(counter: object) -> None:
        found.append(loop(b, of, word(0), word(10), work))

    found.append(loop(b, of, word(0), word(10), work))
    found.append(loop(b, of, word(0), word(1000), work))
    found.append(loop(b, of, word(0), f.args[0], work))
    found.append(loop(b, of, f.args[0], word(10), work))
    found.append(loop(b, of, word(0), word(10), nest))  # hundred times the inner one
    found.append(loop(b, of, word(0), word(2), nest))

    def stays(counter: object) -> None:
        found.append(loop(b, of, word(0), f.args[0], work))

    found.append(loop(b, of, word(0), word(4), stays))  # or there would be four of the inner one
    found.append(loop(b, of, word(0), word(1), stays))
    b.ret(f.args[0])
    assert found == [True, False, False, False, True, False, True, True, *[False] * 3, True]
    binding.parse_assembly(str(module)).verify()
    assert str(module).count("distinct") == 5
