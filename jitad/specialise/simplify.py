"""What folds by itself when a tape is emitted again?

Copying a block through a builder folds literals, applies exact identities, shares equal
equations, writes index sums one way and drops what loops carry unchanged; then dead code goes.
"""

from __future__ import annotations

from jitad.specialise.affine import AffineBuilder
from jitad.tape.copy import rebuilt
from jitad.tape.ir import Block, Tape


def simplify(tape: Tape) -> Tape:
    """Copy the tape, folding and sharing, and remove what is dead."""
    return Tape(tape.name, simplify_block(tape.body), tape.pos)


def simplify_block(block: Block) -> Block:
    return rebuilt(AffineBuilder(), block)
