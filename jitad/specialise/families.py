"""Which products with a vector are, over all iterations of a loop, one product of matrices?

    for i in range(m): c[i, i:] = x[:, i] @ x[:, i:]

Each iteration multiplies another row or column of one matrix with (a part of) another, and both are
there before the loop.  All products together are a product of matrices, from which each iteration
takes its row: the matrices then pass through the caches once, not once an iteration, and so do
their adjoints.  Up to half of what is computed may be left unused (a triangle).

Done where the loop goes over all rows, and fills a matrix of the product's size anyway, so that
its memory is not more than there was.
"""

from __future__ import annotations

from jitad.immutable import immutable
from jitad.tape.ir import Atom, Block, Equation, Tape, Var, lit, walk
from jitad.tape.linear import Forms, constant
from jitad.tape.types import Array

_TURN = {"perm": (1, 0)}
_START, _STEP = lit(0), lit(1)


def families(tape: Tape) -> Tape:
    """The tape with such products made before their loops (in place)."""
    forms = Forms()
    forms.learn(tape.body)
    _visit(tape.body, forms)
    return tape


def _visit(block: Block, forms: Forms) -> None:
    out: list[Equation] = []
    for e in block.equations:
        for b in e.blocks:
            _visit(b, forms)
        if e.op == "for" and e.ins[1] == _STEP:
            out += _Family(e, forms).products()
        out.append(e)
    block.equations = out


@immutable
class _Part:
    """Rows or columns of a matrix: what is taken along each of its axes, an index or a range."""

    base: Var
    axes: tuple[tuple[Atom, ...], ...]


class _Family:
    """The products of one loop."""

    def __init__(self, e: Equation, forms: Forms) -> None:
        self.e, self.forms = e, forms
        self.body = e.blocks[0]
        self.inside = {*self.body.params, *(v for x in walk(self.body) for v in x.outs)}
        self.made = {v: x for x in self.body.equations for v in x.outs}

    def products(self) -> list[Equation]:
        """Products of matrices to be made before the loop, whose own are changed to use them."""
        out: list[Equation] = []
        for k, x in enumerate(self.body.equations):
            if x.op == "matmul" and {len(a.shape) for a in x.ins} == {1, 2}:
                found = self.joined(x)
                if found is not None:
                    self.body.equations[k] = found[-1]
                    out += found[:-1]
        return out

    def joined(self, x: Equation) -> list[Equation] | None:
        """The product of matrices that x is a row of, made step by step, and x as that row."""
        first = len(x.ins[0].shape) == 1
        vector, matrix = x.ins if first else x.ins[::-1]
        row, many = self.part(vector), self.part(matrix)
        if row is None or many is None or vector.type.dtype != matrix.type.dtype:  # type: ignore[union-attr]
            return None
        at = next((k for k, axis in enumerate(row.axes) if len(axis) == 1), None)
        turn = self.is_turned(matrix)
        summed, free = (0, 1) if first != turn else (1, 0)
        if at is None or any(len(axis) != 3 for axis in many.axes):
            return None
        all_of = [(row, 1 - at), (many, summed)]
        if not all(self.whole(p, axis) for p, axis in all_of) or not self.all_rows(row, at):
            return None
        n, rows = row.base.shape[1 - at], row.base.shape[at]
        if not self.same(n, many.base.shape[summed]) or not self.much(many, free):
            return None
        columns = many.base.shape[free]
        if not any(self.fills(p, rows, columns) for p in self.body.params[1:]):
            return None
        out: list[Equation] = []

        def oriented(base: Var, as_is: bool) -> Var:
            if as_is:
                return base
            v = Var(base.type, base.shape[::-1])
            out.append(Equation("transpose", (base,), (v,), dict(_TURN), (), x.pos))
            return v

        factors = oriented(row.base, at == 0), oriented(many.base, summed == 0)
        product = Var(Array(x.outs[0].type.dtype, 2), (rows, columns))  # type: ignore[union-attr]
        out.append(Equation("matmul", factors, (product,), {}, (), x.pos))
        taken = (product, *row.axes[at], *many.axes[free])
        return [*out, Equation("slice", taken, x.outs, {"kinds": "ir"}, (), x.pos)]

    def part(self, a: Atom) -> _Part | None:
        """What part of which matrix from before the loop this is."""
        if not isinstance(a, Var):
            return None
        if a not in self.inside:
            if len(a.shape) != 2:
                return None
            return _Part(a, tuple((_START, _STEP, n) for n in a.shape))
        x = self.made.get(a)
        if x is None:
            return None
        if x.op == "transpose" and x.params == _TURN:
            return self.part(x.ins[0])
        base = x.ins[0]
        if x.op != "slice" or not isinstance(base, Var) or base in self.inside:
            return None
        if len(base.shape) != 2:
            return None
        rest = iter(x.ins[1:])
        kinds = x.params["kinds"]
        return _Part(base, tuple(tuple(next(rest) for _ in range(3 if k == "r" else 1))
                                 for k in kinds))  # fmt: skip

    def is_turned(self, matrix: Atom) -> bool:
        """Is the matrix seen with its axes exchanged?"""
        x = self.made.get(matrix) if isinstance(matrix, Var) else None
        turned = x is not None and x.op == "transpose"
        return turned and not self.is_turned(x.ins[0])  # type: ignore[union-attr]

    def same(self, a: Atom, b: Atom) -> bool:
        return self.forms.of(a) == self.forms.of(b)

    def whole(self, p: _Part, axis: int) -> bool:
        start, step, count = p.axes[axis]
        return start == _START and step == _STEP and self.same(count, p.base.shape[axis])

    def all_rows(self, p: _Part, axis: int) -> bool:
        """Does the loop go through all of this axis?"""
        start, _, count = self.e.ins[:3]
        index = self.forms.of(p.axes[axis][0]) == self.forms.of(self.body.params[0])
        return index and start == _START and self.same(count, p.base.shape[axis])

    def much(self, p: _Part, axis: int) -> bool:
        """Is it half of this axis at least, over all iterations: all of it, or from or up to i?"""
        start, step, count = map(self.forms.of, p.axes[axis])
        index = self.body.params[0]
        if step != constant(1):
            return False
        till_end = start + count == self.forms.of(p.base.shape[axis])
        from_start = start == constant(0)
        moving = start if till_end else count
        one_by_one = moving.coefficient(index) == 1 and len(moving.terms) == 1
        return (till_end and from_start) or ((till_end or from_start) and one_by_one)

    def fills(self, p: Var, rows: Atom, columns: Atom) -> bool:
        """Is this something carried that has as many elements as the product?"""
        if not isinstance(p.type, Array) or len(p.shape) != 2:
            return False
        one, other = p.shape
        return (self.same(one, rows) and self.same(other, columns)) or (
            self.same(one, columns) and self.same(other, rows)
        )
