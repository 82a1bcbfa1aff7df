"""When do two loops or branches compute the same?

If they are equal up to the names of what they define, on the same operands: one of them is enough.
Two derivatives of one function often begin with the same loop.
"""

from __future__ import annotations

from typing import Any

from jitad.primitives import TABLE
from jitad.tape.ir import STRUCTURED, Atom, Block, Equation, Var, walk
from jitad.tape.types import Scalar

Key = tuple[Any, ...]


def rough_key(
    op: str, ins: tuple[Atom, ...], blocks: tuple[Block, ...], types: list
) -> Key | None:
    """Equal for equations that may compute the same; None for those that are never shared.

    Arrays and stacks are not: later equations may write to them in place.  It does not look into
    the blocks of blocks: those that nest deeply would be read once for each that is around them.
    """
    if op not in ("for", "while", "if") or not all(isinstance(t, Scalar) for t in types):
        return None
    return ("same", op, ins, tuple(tuple(e.op for e in b.equations) for b in blocks))


def compute_the_same(a: tuple[Block, ...], b: tuple[Block, ...]) -> bool:
    """Are they equal, up to names, and made of what may be shared?"""
    return not any(_is_own(e) for x in a for e in walk(x)) and _key(a) == _key(b)


def _is_own(e: Equation) -> bool:
    return e.op == "print" or (e.op not in STRUCTURED and TABLE[e.op].fresh)


def _key(blocks: tuple[Block, ...]) -> Key:
    numbers: dict[Var, int] = {}
    return tuple(_block(b, numbers) for b in blocks)


def _block(block: Block, numbers: dict[Var, int]) -> Key:
    for p in block.params:
        numbers[p] = len(numbers)
    kinds = tuple(p.type for p in block.params)
    equations = tuple([_equation(e, numbers) for e in block.equations])
    return kinds, equations, tuple([_atom(a, numbers) for a in block.results])


def _equation(e: Equation, numbers: dict[Var, int]) -> Key:
    ins = tuple([_atom(a, numbers) for a in e.ins])
    blocks = tuple([_block(b, numbers) for b in e.blocks])
    for v in e.outs:
        numbers[v] = len(numbers)
    return e.op, ins, tuple(sorted(e.params.items())), blocks


def _atom(a: Atom, numbers: dict[Var, int]) -> object:
    return ("own", numbers[a]) if a in numbers else a  # type: ignore[index]
