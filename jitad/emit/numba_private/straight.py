"""In which code does LLVM find nothing to improve?

What passes over the tape leave of straight-line code is free of what could be folded, shared or
dropped.  All of LLVM's passes take a third of its time over such code, and the machine code they
lead to is as fast as what a few of them do.  Where branches come together again that is not quite
so, and of loops not at all.

Nor does it pay to think long about which value lies in which register where calls come all the
time: no register outlives a call.  LLVM's allocator of registers takes most of the time of such
code, since it looks for places among all values that are alive.  The one that goes from
instruction to instruction (`-O0`) makes code that takes 1.07 to 1.1 of the time, for a sixth less
of the first call: worth it up to some 300,000 calls, whatever the length.  Without calls it would
take twice the time: values would be sent to memory at random, and no product is added at once.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from llvmlite import ir

from jitad.emit.numba_private.on_stack import IN_FRAME


def straight_functions(module: Any) -> frozenset[str]:
    """The names of a module's functions, if none of those that it defines goes different ways, but
    to its end; else none.  What gives memory is short and is not looked at."""
    written = [f for f in module.functions if f.blocks]
    straight = all(f.name.endswith(IN_FRAME) or _is_straight(f) for f in written)
    return frozenset(f.name for f in written) if straight else frozenset()


_LONG = 2500  # instructions: some 45 ms of LLVM's, of which three quarters are spared
_FAR = 100  # instructions from call to call, on average


def is_interrupted(module: Any) -> bool:
    """Is it long code that calls functions again and again?"""
    written = [i for f in module.functions for block in f.blocks for i in block.instructions]
    if len(written) < _LONG:
        return False
    calls = sum(_leaves(i) for i in written if isinstance(i, ir.CallInstr))
    return calls * _FAR > len(written)


def _leaves(call: Any) -> bool:
    """Does it become a call in machine code?  LLVM's own functions are mostly instructions."""
    return isinstance(call.callee, ir.Function) and not call.callee.name.startswith("llvm.")


def _is_straight(function: Any) -> bool:
    """Do ways meet only where nothing is decided any more?  Those of a loop meet at its head."""
    ways = Counter(target for block in function.blocks for target in _following(block))
    ways[function.entry_basic_block] += 1
    return all(_ends(block) for block, count in ways.items() if count > 1)


def _ends(block: Any) -> bool:
    """Is there one way from here to the end?"""
    seen = set()
    while block not in seen:
        seen.add(block)
        match _following(block):
            case []:
                return True
            case [block]:
                pass
            case _:
                return False
    return False


def _following(block: Any) -> list[Any]:
    end = block.terminator
    if isinstance(end, ir.SwitchInstr):
        return [end.default, *(target for _, target in end.cases)]
    return [x for x in end.operands if isinstance(x, ir.Block)]
