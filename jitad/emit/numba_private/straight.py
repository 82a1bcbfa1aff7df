"""In which code does LLVM find nothing to improve?

What passes over the tape leave of straight-line code is free of what could be folded, shared or
dropped.  All of LLVM's passes take a third of its time over such code, and the machine code they
lead to is as fast as what a few of them do.  Where branches come together again that is not quite
so, and of loops not at all.
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
