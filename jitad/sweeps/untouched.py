"""Which elements of an adjoint has nothing been added to?

What is read of an array by slices, indices or masks gives an adjoint to these elements alone.  That
of the others is zero because nothing depends on them, and not a number that happens to be zero: the
factor of a rule may be infinite there, and 0 * inf is nan.  `np.sqrt(d)[np.triu_indices(n, 1)]` of
distances, which are zero on the diagonal, is the usual case.

Such a zero is told by its sign.  An adjoint starts from -0.0, to which nothing but -0.0 adds up to
-0.0; so what is added has 0.0 added to it before, after which it is -0.0 no more (IEEE 754, 6.3).
Only adjoints of *watched* arrays are made so (`watched`): all others would pay for it, and have no
use for it.
"""

from __future__ import annotations

from typing import Any

from jitad.primitives import Into
from jitad.primitives.array import STORES
from jitad.tape.build import Builder, Leaf
from jitad.tape.copy import lit_zero
from jitad.tape.ir import Atom, Lit, Var


def nothing(dtype: str) -> Lit:
    """The zero that an adjoint of a watched array starts from."""
    zero = lit_zero(dtype)
    return Lit(-zero.value, zero.type)


def unsigned(b: Builder, part: Atom | Into) -> Atom | Into:
    """A contribution to the adjoint of a watched array: no element of it is -0.0."""
    if isinstance(part, Into):
        return Into(part.op, (unsigned(b, part.args[0]), *part.args[1:]), part.params)
    dtype = part.type.dtype  # type: ignore[union-attr]
    source = b.sources.get(part) if isinstance(part, Var) else None
    chosen = source
    while chosen is not None and chosen.op == "cast":
        chosen = b.sources.get(chosen.ins[0])  # type: ignore[arg-type]
    if chosen is not None and chosen.op == "where" and any(map(_is_zero, chosen.ins[1:])):
        c, *branches = chosen.ins
        return b.emit("where", c, *(
            nothing(dtype) if _is_zero(x) else b.emit("unsigned", b.emit("cast", x, dtype=dtype))
            for x in branches
        ))  # fmt: skip
    if source is not None and source.op in ("full", "broadcast"):
        if isinstance(source.ins[0], Lit) and source.ins[0].value > 0:
            return part
    return b.emit("unsigned", part)


def _is_zero(a: Atom) -> bool:
    return isinstance(a, Lit) and a == lit_zero(a.type.dtype)


def without(b: Builder, ct: Any) -> None:
    """The adjoint of a watched array before a store: what was overwritten has no part in it."""
    source = b.sources.get(ct.atom) if isinstance(ct, Leaf) else None
    if source is not None and source.op in STORES:
        now, zero, *rest = source.ins
        source.ins = (now, nothing(zero.type.dtype), *rest)  # type: ignore[union-attr]
