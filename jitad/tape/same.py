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


def key_of(op: str, ins: tuple[Atom, ...], blocks: tuple[Block, ...], types: list) -> Key | None:
    """Equal for equations that compute the same; None for those that are never shared.

    Arrays and stacks are not: later equations may write to them in place.
    """
    if op not in ("for", "while", "if") or not all(isinstance(t, Scalar) for t in types):
        return None
    if any(e.op == "print" or (e.op not in STRUCTURED and TABLE[e.op].fresh)
           for b in blocks for e in walk(b)):  # fmt: skip
        return None
    numbers: dict[Var, int] = {}
    return (op, ins, *(_block(b, numbers) for b in blocks))


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
