"""How is a primitive emitted that is a call of a function on whole arrays?

The row says which function; its operands are handed over as C-contiguous arrays of their own, and
what it gives is a new array, or a number.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from jitad.emit.access import Access, identity
from jitad.emit.buffers import Root
from jitad.emit.print_python import Expr
from jitad.emit.scope import Extents, Scope
from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Equation, Var, is_array


def blank(s: Scope, e: Equation) -> None:
    """An array that will be written to."""
    s.new_array(e.outs[0], s.locals(e.ins), e.params["start"])


def call(s: Scope, e: Equation) -> None:
    """Write the call, and bind its result."""
    row, (v,) = TABLE[e.op], e.outs
    operands = [_operand(s, a) for a in e.ins]
    text = row.emit.format(*operands, all=", ".join(operands), **e.params)
    if not is_array(v):
        s.name(v, Expr(text), any(map(is_array, e.ins)))
        return
    extents = _extents(s, e)
    name = s.new_name(v)
    s.page.write(f"{name} = {text}")
    s.bind(v, Access(name, identity(len(extents))), extents)
    s.buffers.place(v, frozenset([Root(True, len(s.loops), len(s.loops))]))


def _operand(s: Scope, a: Atom) -> str:
    if not isinstance(a, Var) or not is_array(a):
        return s.local(a).text
    name = s.access[a].name
    owned = all(r.owned for r in s.buffers.roots[a])
    return name if owned else f"np.ascontiguousarray({name})"


def _extents(s: Scope, e: Equation) -> Extents:
    """The result's extents, by the row's own rule from those of the operands."""

    def seen(a: Atom) -> Any:
        if isinstance(a, Var) and is_array(a):
            return SimpleNamespace(type=a.type, shape=s.extents[a])
        return a

    inferred: Any = TABLE[e.op].infer(*map(seen, e.ins), **e.params)
    ((_, shape),) = inferred
    return tuple(n if isinstance(n, Expr) else s.local(n) for n in shape)
