"""Around which loops are there short ones?  What is known of trip counts without any numbers.

Short are the loops of a triangle, whose counts depend on the index of a loop around them, and those
of a few iterations.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitad.tape.ir import Block, Equation, Lit, lit, walk
from jitad.tape.linear import Forms

_SHORT = 8  # iterations that are few


def has_short_loops(e: Equation) -> bool:
    """Is there a nest of loops in this one whose innermost ones are short?"""
    if e.ins[1] != lit(1) or (isinstance(e.ins[2], Lit) and e.ins[2].value <= _SHORT):
        return False
    forms = Forms()
    forms.learn(e.blocks[0])
    return any(
        _is_short(inner, outer, forms)
        for outer in _loops(e.blocks[0]) for inner in _loops(outer.blocks[0])
        if not any(_loops(inner.blocks[0]))
    )  # fmt: skip


def _loops(block: Block) -> Iterator[Equation]:
    return (x for x in walk(block) if x.op == "for")


def _is_short(inner: Equation, outer: Equation, forms: Forms) -> bool:
    count = forms.of(inner.ins[2])
    if not count.terms:
        return count.constant <= _SHORT
    return bool(count.coefficient(outer.blocks[0].params[0]))
