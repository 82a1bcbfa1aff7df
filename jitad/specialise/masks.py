"""Where may arithmetic on the elements that a mask selects run over the whole array instead?

`a[mask] = f(b[mask])` gathers, computes and scatters through a list of indices.  Where f goes
element by element that is `where(mask, f(b), a)`: one nest, without the list.  What f makes of the
elements that were not selected doesn't matter, but it must not do harm: they are replaced by one
before f sees them, so that the cotangent which comes back for them, 0 * inf perhaps, ends there,
too.  A number that f uses becomes such an array as well, for its cotangent is a sum over all.
A sum over selected elements is the sum of f where the mask holds.
"""

from __future__ import annotations

import numpy as np

from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Block, Equation, Lit, Pos, Tape, Var, lit
from jitad.tape.types import Array, Scalar, promote

Pairs = frozenset[tuple[Atom, Atom]]


def masks(tape: Tape) -> Tape:
    """The tape with such selections replaced (in place); dead ones are left behind."""
    _block(tape.body, frozenset())
    return tape


def _block(block: Block, equal: Pairs) -> None:
    """`equal`: pairs of extents that checks have compared."""
    made: dict[Atom, Equation] = {}
    out: list[Equation] = []
    for e in block.equations:
        for b in e.blocks:
            _block(b, equal)
        new: list[Equation] | None = None
        if e.op == "check" and (c := made.get(e.ins[0])) is not None and c.op == "eq":
            equal |= {c.ins, c.ins[::-1]}  # type: ignore[arg-type]
        elif e.op == "store_take" and e.params["axis"] == 0 and len(e.ins[0].shape) == 1:
            new = _stored(e, made, equal)
        elif e.op == "sum" and len(e.ins[0].shape) == 1 and e.ins[0] in made:
            new = _summed(e, made, equal)
        out += [e] if new is None else new
        made.update((v, e) for v in e.outs)
    block.equations = out


def _stored(e: Equation, made: dict[Atom, Equation], equal: Pairs) -> list[Equation] | None:
    a, value, index = e.ins
    spread = _Spread.of(index, made, equal, e.pos)
    if spread is None:
        return None
    whole, old = spread.full(value), spread.whole(a)
    if whole is None or old is None:
        return None
    return spread.ended(spread.emit("where", spread.mask, whole, old), e.outs[0])


def _summed(e: Equation, made: dict[Atom, Equation], equal: Pairs) -> list[Equation] | None:
    index = _index(e.ins[0], made)
    spread = None if index is None else _Spread.of(index, made, equal, e.pos)
    whole = None if spread is None else spread.full(e.ins[0])
    if spread is None or whole is None:
        return None
    chosen = spread.emit("where", spread.mask, whole, _number(0, e.ins[0]))
    axes = tuple(range(len(chosen.shape)))
    return [*spread.out, Equation("sum", (chosen,), e.outs, {"axes": axes}, (), e.pos)]


def _index(a: Atom, made: dict[Atom, Equation]) -> Atom | None:
    """The indices by which the elements of an array were selected, if they were."""
    todo = [a]
    seen: set[Atom] = set()
    while todo:
        a = todo.pop()
        e = made.get(a)
        if e is None or a in seen or not a.shape:
            continue
        seen.add(a)
        if e.op == "take":
            return e.ins[1]
        if e.op == "reshape" or (not e.blocks and TABLE[e.op].elementwise):
            todo += e.ins
    return None


def _number(n: int, like: Atom) -> Lit:
    dtype = like.type.dtype  # type: ignore[union-attr]
    return lit(np.dtype(dtype).type(n), Scalar(dtype))


class _Spread:
    """Values of selected elements, computed for all: in the shape that the mask had, if flat."""

    def __init__(self, mask: Var, flat: Var, made: dict[Atom, Equation], index: Atom,
                 equal: Pairs, pos: Pos | None) -> None:  # fmt: skip
        self.mask, self.flat, self.made, self.index = mask, flat, made, index
        self.equal, self.pos = equal, pos
        self.out: list[Equation] = []
        self.known: dict[Atom, Atom | None] = {}

    @classmethod
    def of(cls, index: Atom, made: dict[Atom, Equation], equal: Pairs,
           pos: Pos | None) -> _Spread | None:  # fmt: skip
        found = made.get(index)
        if found is None or found.op != "positions" or not isinstance(found.ins[0], Var):
            return None
        flat = mask = found.ins[0]
        source = made.get(flat)
        if source is not None and source.op == "reshape" and isinstance(source.ins[0], Var):
            mask = source.ins[0]
        return cls(mask, flat, made, index, equal, pos)

    def emit(self, op: str, *ins: Atom, **params: object) -> Var:
        ((t, shape),) = TABLE[op].infer(*ins, **params)
        v = Var(t, shape)
        self.out.append(Equation(op, ins, (v,), params, (), self.pos))
        return v

    def ended(self, v: Var, out: Var) -> list[Equation]:
        """The equations so far, the last of which gives `out`, in its shape."""
        if self.mask is self.flat:
            self.out[-1].outs = (out,)
        else:
            self.out.append(Equation("reshape", (v, *out.shape), (out,), {}, (), self.pos))
        return self.out

    def whole(self, a: Atom) -> Atom | None:
        """An array of which elements are selected, in the mask's shape."""
        if self.mask is not self.flat:
            source = self.made.get(a)
            if source is None or source.op != "reshape":
                return None
            a = source.ins[0]
        same = len(a.shape) == len(self.mask.shape) and all(
            n == m or (n, m) in self.equal for n, m in zip(a.shape, self.mask.shape, strict=True)
        )
        return a if same else None

    def full(self, a: Atom) -> Atom | None:
        """The value for all elements, one where none was selected; None if it can't be had."""
        if a not in self.known:
            self.known[a] = self._full(a)
        return self.known[a]

    def _full(self, a: Atom) -> Atom | None:
        if isinstance(a, Lit):
            return a
        if not isinstance(a.type, Array):
            return self.emit("where", self.mask, a, _number(1, a))
        e = self.made.get(a)
        match e.op if e is not None else "":
            case "take" if e is not None and e.ins[1] is self.index and e.params["axis"] == 0:
                base = self.whole(e.ins[0])
                return base and self.emit("where", self.mask, base, _number(1, a))
            case "reshape" if e is not None and len(e.ins[0].shape) == len(a.shape) == 1:
                return self.full(e.ins[0])
            case op if e is not None and not e.blocks and TABLE[op].elementwise:
                kind = promote(*(x.type for x in e.ins))[0]
                ins = [self.full(self._adapted(x, kind)) for x in e.ins]
                if any(x is None for x in ins):
                    return None
                return self.emit(op, *ins, **e.params)  # type: ignore[arg-type]
        return None

    def _adapted(self, x: Atom, kind: str) -> Atom:
        """A number of Python's in the dtype that arrays beside it make of it: no array is weak."""
        t = x.type
        weak = isinstance(x, Var) and isinstance(t, Scalar) and t.py and t.dtype not in ("b1", kind)
        return self.emit("cast", x, dtype=kind) if weak else x
