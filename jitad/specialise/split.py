"""Which loops go in three parts, because a condition in them holds in a range of iterations?

Of a grid the border is treated in another way than the inside: `if 0 < i and i < n - 1`.  Where a
branch of an innermost loop depends on the index alone, and by inequalities that hold from one
iteration to another, the loop becomes three: before, inside and behind, one after the other.  In
each of them the condition is known, and the middle one, which as a rule is almost all, has no
branch (index set splitting; Wolfe 1996, *High Performance Compilers for Parallel Computing*, 9.5).
"""

from __future__ import annotations

from jitad.specialise.conditions import compared
from jitad.tape.build import Builder
from jitad.tape.copy import Env, copy_block, renew
from jitad.tape.ir import Atom, Block, Equation, Tape, Var, lit, walk
from jitad.tape.linear import Forms, Linear

ONE, ZERO = lit(1), lit(0)


def split(tape: Tape) -> Tape:
    """The tape with such loops in three parts (changed in place)."""
    forms = Forms()
    forms.learn(tape.body)
    _visit(tape.body, forms)
    return tape


def _visit(block: Block, forms: Forms) -> None:
    out: list[Equation] = []
    for e in block.equations:
        found = _in_parts(e, forms) if e.op == "for" else None
        if found is None:
            for inner in e.blocks:
                _visit(inner, forms)
        out += [e] if found is None else found
    block.equations = out


def _in_parts(e: Equation, forms: Forms) -> list[Equation] | None:
    body = e.blocks[0]
    if e.ins[1] != ONE or any(x.op in ("for", "while") for x in walk(body)):
        return None
    sources: dict[Atom, Equation] = {v: x for x in body.equations for v in x.outs}
    inner = {*body.params, *sources}
    for x in body.equations:
        c = x.ins[0] if x.op == "if" else None
        if isinstance(c, Var) and c in sources:
            found = _range(c, body.params[0], sources, inner, forms)
            if found is not None:
                return _parts(e, c, *found)
    return None


Bounds = tuple[list[Linear], list[Linear], list[Linear], list[Atom]]


def _range(
    c: Atom, index: Var, sources: dict[Atom, Equation], inner: set[Atom], forms: Forms
) -> Bounds | None:
    """The condition holds where the index is at least all of the first sums, less than all of the
    second, the third are not negative, and the atoms hold; None if it isn't of this kind."""
    low: list[Linear] = []
    high: list[Linear] = []
    always: list[Linear] = []
    others: list[Atom] = []
    todo = [c]
    while todo:
        a = todo.pop()
        if a not in inner:
            others.append(a)
            continue
        x = sources.get(a)
        if x is None:
            return None
        if x.op in ("logical_and", "bitand"):
            todo += x.ins
            continue
        if x.op == "eq" or (sums := compared(x, forms)) is None:
            return None
        for s in sums:  # s >= 0
            k = s.coefficient(index)
            rest = s + Linear(((index, -k),)) if k else s
            if abs(k) > 1 or any(v in inner for v, _ in rest.terms):
                return None
            if k == 0:
                always.append(rest)
            elif k == 1:
                low.append(rest * -1)
            else:
                high.append(rest.plus(1))
    return (low, high, always, others) if low or high else None


def _parts(
    e: Equation, condition: Var, low: list[Linear], high: list[Linear], always: list[Linear],
    others: list[Atom],
) -> list[Equation]:  # fmt: skip
    b, body = Builder(), e.blocks[0]
    b.pos = e.pos
    start, _, count, *init = e.ins
    n = b.emit("maximum", count, ZERO)

    def written(s: Linear) -> Atom:
        now: Atom = lit(s.constant)
        for v, c in s.terms:
            now = b.emit("add", now, b.emit("mul", v, lit(c)))
        return now

    def iteration(bound: Linear) -> Atom:
        """The number of the iteration in which the index is that, within the loop."""
        k = b.emit("sub", written(bound), start)
        out: Atom = b.emit("minimum", b.emit("maximum", k, ZERO), n)
        return out

    first: Atom = ZERO
    for bound in low:
        first = b.emit("maximum", first, iteration(bound))
    behind: Atom = n
    for bound in high:
        behind = b.emit("minimum", behind, iteration(bound))
    for a in (*others, *(b.emit("ge", written(s), ZERO) for s in always)):
        behind = b.emit("where", a, behind, ZERO)
    behind = b.emit("maximum", first, behind)
    carried: list[Atom] = list(init)
    ends = ((ZERO, first, False), (first, behind, True), (behind, n, False))
    for k, (begin, end, holds) in enumerate(ends):
        env: Env = {condition: lit(holds)}
        index = renew(body.params[0], None, env)
        params = [renew(p, a, env) for p, a in zip(body.params[1:], carried, strict=True)]
        block = Block(body.params, [x for x in body.equations if condition not in x.outs],
                      body.results)  # fmt: skip
        with b.block(index, *params) as new:
            new.results = copy_block(b, block, env)
        outs = e.outs if k == 2 else tuple(renew(p, p, {}) for p in params)
        at = b.emit("add", start, begin)
        b.structured("for", (at, ONE, b.emit("sub", end, begin), *carried), outs, (new,))
        carried = list(outs)
    return b.blocks[0].equations
