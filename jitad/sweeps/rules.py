"""What do the rows of the primitive table give for one equation: its tangent, its contributions?

The only reader of derivative rules on tapes; both sweeps and nothing else call it.  Zeros are
symbolic (None): a rule never multiplies by zero, so an infinity in an unused part stays there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.primitives import TABLE, Into, Primitive
from jitad.primitives.array import STORES
from jitad.primitives.table import Chain, Unknown, tame
from jitad.sweeps.powers import cancelled
from jitad.sweeps.untouched import without
from jitad.tape.build import Builder, Leaf
from jitad.tape.copy import zero
from jitad.tape.ir import Atom, Equation, Lit, Var, is_array, lit
from jitad.values.number import Operations, bind, o


class _Making(Operations):
    """What a rule is given on a tape: the arrays that it makes anew are equations, not ndarrays."""

    def __init__(self, b: Builder) -> None:
        super().__init__()
        self._builder = b

    def __getattr__(self, name: str) -> Any:
        return getattr(o, name)

    def iota(self, n: Any, **params: Any) -> Any:
        b = self._builder
        return b.leaf(b.emit("iota", b.atom(n), **params))

    def full(self, value: Any, *dims: Any, **params: Any) -> Any:
        b = self._builder
        return b.leaf(b.emit("full", b.atom(value), *map(b.atom, dims), **params))


Contribution = Atom | Into | None


def scaled(factor: Any, v: Any) -> Any:
    """factor * v, where a literal one costs nothing."""
    if isinstance(factor, Chain):
        return scaled(scaled(factor.inner, v), factor.outer)
    if isinstance(factor, (int, float)):
        if factor == 1.0:
            return v
        if factor == -1.0:
            return -v
    if isinstance(factor, Leaf) and isinstance(v, Leaf):
        b = v.builder
        factor, v = map(b.leaf, cancelled(b, factor.atom, v.atom))
    return factor * v


def _chosen(b: Builder, ct: Any) -> tuple[Any, Any, bool] | None:
    """(c, v, True) of a cotangent where(c, v, 0.0), (c, v, False) of where(c, 0.0, v)."""
    source = b.sources.get(ct.atom) if isinstance(ct, Leaf) else None
    if source is None or source.op != "where":
        return None
    c, x, y = source.ins
    for v, other, then in ((x, y, True), (y, x, False)):
        if isinstance(other, Lit) and other.value == 0.0:
            return b.leaf(c), b.leaf(v), then
    return None


def _reached(b: Builder, ct: Any, depth: int = 8) -> Any:
    """Where the elements of a sum of chosen terms are chosen in one of them; None: anywhere."""
    source = b.sources.get(ct.atom) if isinstance(ct, Leaf) and depth else None
    if source is None or not is_array(source.outs[0]):
        return None
    chosen = _chosen(b, ct)
    if chosen is not None:
        c, v, then = chosen
        c, inner = c if then else o.logical_not(c), _reached(b, v, depth - 1)
        return c if inner is None else o.logical_and(c, inner)
    if source.op in ("neg", "cast"):
        return _reached(b, b.leaf(source.ins[0]), depth - 1)
    if source.op != "add":
        return None
    one, two = (_reached(b, b.leaf(a), depth - 1) for a in source.ins)
    return None if one is None or two is None else o.logical_or(one, two)


def times(b: Builder, factor: Any, ct: Any, chooses: bool = False, wild: bool = False,
          watched: bool = False) -> Any:  # fmt: skip
    """factor * ct, where a zero that stands for a branch not taken stays one.

    The factor may be infinite or nan there: np.where(x > 0, np.sqrt(x), 0.0) at negative x.  Of
    what `chooses` among its operands, zero is the factor of one not taken: there ct may be.
    `wild`: it may be so where all that there is is finite; then sums of chosen terms count, too.
    `watched`: ct tells what nothing was added to.
    """
    chosen = _chosen(b, ct)
    if chosen is None and watched:
        chosen = o.touched(ct), ct, True
    if chosen is None and wild:
        c = _reached(b, ct)
        chosen = None if c is None else (c, ct, True)
    if chosen is not None:
        c, v, then = chosen
        part = times(b, factor, v, chooses, wild and v is not ct)
    else:
        chosen = _chosen(b, factor) if chooses else None
        if chosen is None:
            return scaled(factor, ct)
        c, v, then = chosen
        part = scaled(v, ct)
    return o.where(c, part, 0.0) if then else o.where(c, 0.0, part)


def plus(b: Builder, x: Atom, y: Atom) -> Atom:
    """The sum of two contributions; of two by the same choice it is chosen as well."""
    one, two = _chosen(b, b.leaf(x)), _chosen(b, b.leaf(y))
    if one is None or two is None or one[2] != two[2] or b.atom(one[0]) != b.atom(two[0]):
        return b.emit("add", x, y)
    total = one[1] + two[1]
    return b.atom(o.where(one[0], total, 0.0) if one[2] else o.where(one[0], 0.0, total))


def tangent(b: Builder, e: Equation, ins: list[Atom], tangents: list[Atom | None],
            outs: tuple[Atom, ...]) -> Atom | None:  # fmt: skip
    """Tangent of a primitive's result, in terms of its operands and their tangents."""
    row = TABLE[e.op]
    xs = [b.leaf(a) for a in ins]
    ts = [None if t is None else b.leaf(t) for t in tangents]
    y = b.leaf(outs[0])
    if row.partials is not None and row.elementwise:
        total: Any = None
        partials = _joined(b, row.partials(_Making(b), *xs, y, **e.params), ins)
        for p, t in zip(partials, ts, strict=True):
            if t is not None and p is not None:
                part = times(b, p, t, row.chooses, not tame(e))
                total = part if total is None else b.leaf(plus(b, b.atom(total), b.atom(part)))
        return None if total is None else conform(b, b.atom(total), outs[0])
    if row.linear:
        operands = [
            (ts[k] if ts[k] is not None else b.leaf(zero(b, ins[k]))) if k in row.linear else xs[k]
            for k in range(len(xs))
        ]
        if row.name == "load" and ts[0] is None:
            return None
        return conform(b, b.atom(bind(e.op, *operands, **e.params)), outs[0])
    if row.jvp is not None:
        t = row.jvp(_Making(b), xs, ts, y, **e.params)
        return None if t is None else conform(b, b.atom(t), outs[0])
    raise missing(e, row)


def _joined(b: Builder, partials: tuple[Any, ...], ins: list[Atom]) -> list[Any]:
    """The partials, an operand that occurs twice having the sum of both: x * x has x + x once.

    None where it is zero whatever the operands are, as beside a zero written down in a matrix;
    but what nobody knows is asked for even then.
    """
    out = list(partials)
    for k, a in enumerate(ins):
        first = ins.index(a)
        if first < k and isinstance(a, Var) and out[first] is not None and out[k] is not None:
            out[first], out[k] = out[first] + out[k], None
    return out if b.unknown else [None if _is_zero(p) else p for p in out]


def _is_zero(p: Any) -> bool:
    return isinstance(p, (int, float, np.floating)) and p == 0


def factors(
    b: Builder, e: Equation, ins: list[Atom], out: Atom, wanted: list[bool]
) -> list[Atom | None]:
    """The partial derivatives of an elementwise result, None where they are zero or not wanted.

    A literal stays one; what belongs to an operand that occurs twice is with its first place.
    """
    row = TABLE[e.op]
    if row.partials is None:
        raise missing(e, row)
    partials = _joined(b, row.partials(_Making(b), *map(b.leaf, ins), b.leaf(out), **e.params), ins)
    found: list[Atom | None] = []
    for p, want in zip(partials, wanted, strict=True):
        if p is None or not want:
            found.append(None)
            continue
        p = p.product if isinstance(p, Chain) else p
        a = b.atom(p * 1.0 if isinstance(p, Unknown) else p)
        dtype = out.type.dtype  # type: ignore[union-attr]
        if isinstance(a, Lit):
            a = lit(np.dtype(dtype).type(a.value)) if dtype != "f8" else lit(float(a.value))
        elif a.type.dtype != dtype:  # type: ignore[union-attr]
            a = b.emit("cast", a, dtype=dtype)
        found.append(a)
    return found


def contributions(b: Builder, e: Equation, ins: list[Atom], out: Atom, cotangent: Atom,
                  wanted: list[bool], watched: bool = False) -> list[Contribution]:  # fmt: skip
    """What a primitive passes on to the adjoint of each operand, None where that is zero.

    `watched`: the cotangent is that of a watched array (`untouched`).
    """
    row = TABLE[e.op]
    xs = [b.leaf(a) for a in ins]
    y, ct = b.leaf(out), b.leaf(cotangent)
    given: list[Any]
    if row.vjp is not None:
        given = list(row.vjp(_Making(b), ct, *xs, y, **e.params))
    elif row.partials is not None:
        partials = _joined(b, row.partials(_Making(b), *xs, y, **e.params), ins)
        given = [
            times(b, p, ct, row.chooses, not tame(e), watched) if p is not None and want else None
            for p, want in zip(partials, wanted, strict=True)
        ]
    else:
        raise missing(e, row)
    if watched and row.name in STORES:
        without(b, given[0])
    result: list[Contribution] = []
    for a, want, g in zip(ins, wanted, given, strict=True):
        if g is None or not want:
            result.append(None)
        elif isinstance(g, Into):
            result.append(Into(g.op, tuple(map(b.atom, g.args)), g.params))
        else:
            result.append(conform(b, b.atom(g), a))
    return result


def conform(b: Builder, g: Atom, to: Atom) -> Atom:
    """A derivative in the extents and the dtype of what it belongs to (broadcasting undone)."""
    if is_array(g) and not is_array(to):
        g = b.emit("sum", g, axes=tuple(range(len(g.shape))))
    elif is_array(to) and not is_array(g):
        g = b.emit("broadcast", g, *to.shape, axes=()) if not isinstance(g, Lit) else b.emit(
            "full", g, *to.shape, dtype=to.type.dtype)  # type: ignore[union-attr]  # fmt: skip
    dtype = to.type.dtype  # type: ignore[union-attr]
    if g.type.dtype != dtype:  # type: ignore[union-attr]
        g = b.emit("cast", g, dtype=dtype)
    return g


def missing(e: Equation, row: Primitive) -> JitadError:
    return JitadError(
        f"{row.name} has no derivative rule", e.pos,
        "Write it with operations that have one, or give it a rule with jitad.primitive.",
    )  # fmt: skip


