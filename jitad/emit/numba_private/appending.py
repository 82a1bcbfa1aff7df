"""How is an operation on two floats added to a block?  As llvmlite does it, in a third of the time.

Most instructions of a long function are of this kind.  llvmlite looks at types that are known to be
equal, and finds each a name through four classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir


def appended(opname: str) -> Callable[[Any, Any, Any], Any]:
    """A function that adds this operation where a builder is; both operands are of one type."""
    in_full = getattr(ir.IRBuilder, opname)

    def write(b: Any, x: Any, y: Any) -> Any:
        if b.debug_metadata is not None:
            return in_full(b, x, y)
        block = b._block
        scope = block.scope
        number = scope._basenamemap[""] + 1
        name = f".{number}"
        if name in scope._useset:
            return in_full(b, x, y)
        scope._basenamemap[""] = number
        scope._useset.add(name)
        made = ir.Instruction.__new__(ir.Instruction)
        made.parent, made.type, made._name = block, x.type, name
        made.opname, made.operands, made.flags, made.metadata = opname, (x, y), [], {}
        block.instructions.insert(b._anchor, made)
        b._anchor += 1
        return made

    return write
