"""In which code does LLVM find nothing to improve?

What passes over the tape leave of code without loops is free of what could be folded, shared or
dropped.  All of LLVM's passes take a third of its time over such code, and the machine code they
lead to is as fast as what a few of them do.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir


def functions_without_loops(module: Any) -> frozenset[str]:
    """The names of a module's functions, if all that it defines has no loop; else none."""
    written = [f for f in module.functions if f.blocks]
    if any(_has_loop(f) for f in written):
        return frozenset()
    return frozenset(f.name for f in written)


def _has_loop(function: Any) -> bool:
    """Does a walk along branches come to a block that it is still on its way from?"""
    on_the_way: set[Any] = set()
    done: set[Any] = set()
    rows = [iter([function.entry_basic_block])]
    path: list[Any] = []
    while rows:
        block = next(rows[-1], None)
        if block is None:
            rows.pop()
            if path:
                done.add(last := path.pop())
                on_the_way.discard(last)
        elif block in on_the_way:
            return True
        elif block not in done:
            on_the_way.add(block)
            path.append(block)
            rows.append(_following(block))
    return False


def _following(block: Any) -> Any:
    end = block.terminator
    if isinstance(end, ir.SwitchInstr):
        return iter([end.default, *(target for _, target in end.cases)])
    return iter([x for x in end.operands if isinstance(x, ir.Block)])
