"""When do two loops or branches compute the same?

If they are equal up to the names of what they define, on the same operands: one of them is enough.
Two derivatives of one function often begin with the same loop.  And whole blocks (`is_copy`): a
pass that gave a copy of what it was handed has nothing more to do there.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def is_copy(one: Block, other: Block) -> bool:
    """Is it the same block with new variables?  What can't be told apart at a glance is not."""
    pairs: dict[Var, Var] = {}
    # extents may be read off further on than what has them
    return _pair_blocks(one, other, pairs) and all(
        _equal(v.shape, w.shape, pairs) for v, w in pairs.items()
    )


def _pair_blocks(one: Block, other: Block, pairs: dict[Var, Var]) -> bool:
    return (
        len(one.equations) == len(other.equations)
        and _pair_vars(one.params, other.params, pairs)
        and all(_pair(e, f, pairs) for e, f in zip(one.equations, other.equations, strict=True))
        and _equal(one.results, other.results, pairs)
    )


def _pair(one: Equation, other: Equation, pairs: dict[Var, Var]) -> bool:
    return (
        one.op == other.op
        and one.pos == other.pos
        and len(one.blocks) == len(other.blocks)
        and _equal(one.ins, other.ins, pairs)
        and _same_params(one.params, other.params)
        and all(_pair_blocks(b, c, pairs) for b, c in zip(one.blocks, other.blocks, strict=True))
        and _pair_vars(one.outs, other.outs, pairs)
    )


def _same_params(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one is other or (
        one.keys() == other.keys()
        and all(v is other[k] or (type(v) in _PLAIN and v == other[k]) for k, v in one.items())
    )


_PLAIN = (int, bool, str, tuple)


def _pair_vars(one: Sequence[Var], other: Sequence[Var], pairs: dict[Var, Var]) -> bool:
    if len(one) != len(other):
        return False
    for v, w in zip(one, other, strict=True):
        if v.type != w.type or v.name != w.name:
            return False
        pairs[v] = w
    return True


def _equal(one: Sequence[Atom], other: Sequence[Atom], pairs: dict[Var, Var]) -> bool:
    return len(one) == len(other) and all(
        pairs.get(a, a) is b if isinstance(a, Var) else a is b or a == b
        for a, b in zip(one, other, strict=True)
    )
