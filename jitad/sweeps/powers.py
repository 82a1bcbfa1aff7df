"""Which powers of two in a product of derivatives cancel?

The derivative of a square is a double, that of a root a half, and they meet in every norm:
(0.5 * p) * (e + e) is p * e, to the last bit, but that neither factor can overflow or underflow on
the way.  So it is with sums of doubles, (0.5 * p) * ((e + e) * s + (f + f) * t).  Only the sweeps'
own products are rewritten, and only where the power is gone then.
"""

from __future__ import annotations

import math

from jitad.tape.build import Builder
from jitad.tape.copy import as_type
from jitad.tape.ir import Atom, Lit, Var
from jitad.tape.types import Scalar

_DEPTH = 4  # operations between a product and the power


def cancelled(b: Builder, x: Atom, y: Atom) -> tuple[Atom, Atom]:
    """Two factors with the same product."""
    for p, q in ((x, y), (y, x)):
        root, power = _stripped(b, p)
        if power and (rest := _times(b, q, power, _DEPTH)) is not None:
            found = as_type(b, root, p.type), rest
            return found if p is x else found[::-1]
    return x, y


def _stripped(b: Builder, a: Atom) -> tuple[Atom, int]:
    """What a is a power of two of, and which."""
    e = b.sources.get(a) if isinstance(a, Var) else None
    if e is not None and (e.op == "cast" or (power := _power(e.op, e.ins)) is not None):
        p, k = (e.ins[0], 0) if e.op == "cast" else power  # type: ignore[misc]
        if not isinstance(p, Lit) and _alike(p, a):
            root, more = _stripped(b, p)
            return root, k + more
    return a, 0


def _times(b: Builder, a: Atom, power: int, depth: int) -> Atom | None:
    """a * 2**power where that takes no more operations than a, else None."""
    if power == 0:
        return a
    e = b.sources.get(a) if isinstance(a, Var) else None
    if e is None or depth == 0 or e.op not in ("mul", "add", "sub", "neg", "cast"):
        return None
    if not all(isinstance(p, Lit) or _alike(p, a) for p in e.ins):
        return None
    found: Atom | None
    if (known := _power(e.op, e.ins)) is not None:
        found = _times(b, known[0], known[1] + power, depth - 1)
        return None if found is None else as_type(b, found, a.type)
    if not isinstance(a.type, Scalar):
        return None
    parts = [_times(b, p, power, depth - 1) for p in e.ins]
    if e.op == "mul":
        p, q = e.ins
        if parts[0] is not None:
            return as_type(b, b.emit("mul", parts[0], q), a.type)
        return None if parts[1] is None else as_type(b, b.emit("mul", p, parts[1]), a.type)
    made = [p for p in parts if p is not None]
    return as_type(b, b.emit(e.op, *made, **e.params), a.type) if len(made) == len(parts) else None


def _power(op: str, ins: tuple[Atom, ...]) -> tuple[Atom, int] | None:
    """p and k, if that is p * 2**k."""
    if op == "add" and ins[0] == ins[1]:
        return ins[0], 1
    if op == "mul":
        for p, q in (ins, ins[::-1]):
            if isinstance(q, Lit) and isinstance(q.value, float) and math.isfinite(q.value):
                mantissa, exponent = math.frexp(q.value)
                if mantissa == 0.5:
                    return p, exponent - 1
    return None


def _alike(a: Atom, like: Atom) -> bool:
    return a.type.dtype == like.type.dtype and a.shape == like.shape  # type: ignore[union-attr]
