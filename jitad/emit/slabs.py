"""Which arrays are computed right where they are recorded?

An array that its block pushes on a stack with room for it needs no memory of its own: it is
written to its place on the stack, and read from there.
"""

from __future__ import annotations

from jitad.emit.access import Access
from jitad.emit.print_python import Expr
from jitad.emit.scope import Extents, Scope, product, row_major
from jitad.tape.ir import Var


def slab(s: Scope, v: Var, extents: Extents) -> Access | None:
    """The place that a value will have on the stack that it is pushed on."""
    e = s.analysis.pushed.get(v)
    # The stack's present version is the operand: then nothing is pushed or popped meanwhile.
    if e is None or e not in s.reserved or e in s.ahead or e.ins[0] not in s.stacks:
        return None
    stack = e.ins[0]
    assert isinstance(stack, Var)
    s.ahead.add(e)
    return on_top(s, *s.stacks[stack], extents)


def on_top(s: Scope, buffer: str, top: str, extents: Extents) -> Access:
    """Memory on top of a stack that has room for it.

    The top moves on at once: then nothing stands between the nest and the one that follows.
    """
    at = s.names.new("", "from")
    s.depth_of[at] = len(s.loops)
    s.pinned.add(at)
    s.early([f"{at} = opaque({top})", f"{top} += {product(extents).text}"])
    return Access(buffer, row_major(at, extents), partial=True)


def at_top(s: Scope, buffer: str, top: str, extents: Extents) -> Access:
    """Memory that begins where a stack ends now.

    LLVM is not told how this place moves from iteration to iteration: it would make one check of
    overlaps for all of them, in front of the loop, and that check gives up where places descend.
    """
    at = s.temporary(Expr(f"opaque({top})"), "from")
    return Access(buffer, row_major(at.text, extents), partial=True)
