"""Which products of matrices are better written another way?

A product with a vector uses each element of the matrix once.  Where the matrix is computed element
by element for this product alone, it is a sum in the nest that computes it, and the matrix has no
memory.  The transpose of a product is the product of the transposes, which are only views; and
two products with one factor in common, added up, are one product of it with a sum: the adjoint of
`a.T @ a` is such a pair.
"""

from __future__ import annotations

from collections import Counter

from jitad.primitives import TABLE
from jitad.tape.ir import Atom, Block, Equation, Tape, Var, free_vars, walk
from jitad.tape.types import Array

_TURN = {"perm": (1, 0)}


def products(tape: Tape) -> Tape:
    """The tape with such products replaced (in place)."""
    if any(e.op in ("matmul", "transpose") for e in walk(tape.body)):
        _block(tape.body, {})
    return tape


def _block(block: Block, same: dict[Atom, Atom]) -> None:
    """`same`: arrays that were turned twice, and what they are."""
    uses: Counter[Atom] = Counter(block.results)
    for e in block.equations:
        uses.update(e.ins)
        uses.update(free_vars(*e.blocks))
    made: dict[Atom, Equation] = {}
    out: list[Equation] = []
    for e in block.equations:
        e.ins = tuple(same.get(a, a) for a in e.ins)
        for b in e.blocks:
            _block(b, same)
        match e.op:
            case "matmul" if {len(a.shape) for a in e.ins} == {1, 2}:
                new = _as_sum(e, made, uses)
            case "transpose" if e.params == _TURN:
                source = made.get(e.ins[0])
                if source is not None and source.op == "transpose" and source.params == _TURN:
                    same[e.outs[0]] = source.ins[0]
                    uses[source.ins[0]] += uses[e.outs[0]]
                    continue
                new = _turned(e, made, uses)
            case "add" if isinstance(e.outs[0].type, Array):
                new = _factored(e, made, uses)
            case _:
                new = [e]
        out += new
        made.update((v, x) for x in new for v in x.outs)
    block.equations = out
    block.results = [same.get(a, a) for a in block.results]


def _as_sum(e: Equation, made: dict[Atom, Equation], uses: Counter[Atom]) -> list[Equation]:
    at = 0 if len(e.ins[0].shape) == 2 else 1  # which operand is the matrix
    matrix, vector = e.ins[at], e.ins[1 - at]
    source, turn = made.get(matrix), None
    if source is not None and source.op == "transpose" and uses[matrix] == 1:
        matrix, turn = source.ins[0], source
        source = made.get(matrix)
    if source is None or source.blocks or not TABLE[source.op].elementwise or uses[matrix] != 1:
        return [e]
    if {a.type.dtype for a in (matrix, vector)} != {"f8"}:  # type: ignore[union-attr]
        return [e]
    summed = 1 - at if turn is None else at  # axis of the matrix that goes with the vector
    stretched, product = (Var(Array("f8", 2), matrix.shape) for _ in range(2))
    axes = {"axes": (summed,)}
    return [
        Equation("broadcast", (vector, *matrix.shape), (stretched,), axes, (), e.pos),
        Equation("mul", (matrix, stretched), (product,), {}, (), e.pos),
        Equation("sum", (product,), e.outs, {"axes": (summed,)}, (), e.pos),
    ]


def _product(a: Atom, made: dict[Atom, Equation], uses: Counter[Atom]) -> Equation | None:
    """The equation of a product of two matrices that is used once."""
    e = made.get(a)
    if e is None or e.op != "matmul" or uses[a] != 1:
        return None
    return e if all(len(x.shape) == 2 for x in e.ins) else None


def _turned(e: Equation, made: dict[Atom, Equation], uses: Counter[Atom]) -> list[Equation]:
    product = _product(e.ins[0], made, uses)
    if product is None:
        return [e]
    out: list[Equation] = []
    factors = []
    for a in reversed(product.ins):
        source = made.get(a)
        if source is not None and source.op == "transpose" and source.params == _TURN:
            factors.append(source.ins[0])
            continue
        v = Var(a.type, (a.shape[1], a.shape[0]))
        out.append(Equation("transpose", (a,), (v,), dict(_TURN), (), e.pos))
        factors.append(v)
    return [*out, Equation("matmul", tuple(factors), e.outs, {}, (), e.pos)]


def _factored(e: Equation, made: dict[Atom, Equation], uses: Counter[Atom]) -> list[Equation]:
    one, other = (_product(a, made, uses) for a in e.ins)
    if one is None or other is None:
        return [e]
    for k in (0, 1):
        x, y = one.ins[1 - k], other.ins[1 - k]
        if one.ins[k] is other.ins[k] and x.type == y.type == e.outs[0].type:
            total = Var(x.type, x.shape)
            factors = (one.ins[k], total) if k == 0 else (total, one.ins[k])
            return [Equation("add", (x, y), (total,), {}, (), e.pos),
                    Equation("matmul", factors, e.outs, {}, (), e.pos)]  # fmt: skip
    return [e]
