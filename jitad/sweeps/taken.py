"""Which loops keep what one of their iterations computed, so that only this one has a derivative?

The least of many distances, the largest element, the best score so far: a loop carries a number
and replaces it where a comparison says so.  Where what it is replaced by depends on the iteration
alone, not on what the iterations before have left, the number at the end is that of the last
iteration that replaced it.  So the loop, as it is, finds that iteration, and the number is computed
once more, in it alone; that is what the sweeps differentiate.  No iteration is recorded, and
neither tangents nor adjoints go through all of them.
"""

from __future__ import annotations

from jitad.primitives import TABLE
from jitad.tape.build import Builder
from jitad.tape.copy import Env, as_type, copy_block, copy_equation, read
from jitad.tape.flow import active
from jitad.tape.ir import CALLS, STRUCTURED, Atom, Block, Equation, Lit, Var, free_vars, lit, walk
from jitad.tape.types import BOOL, INT, Scalar, is_float


def taken(block: Block) -> Block:
    """The block with such loops followed by the iteration that counts (changed in place)."""
    loops = [e for e in walk(block) if e.op == "for"]
    if loops:
        inputs = [p for p in block.params if is_float(p.type)]
        useful = active(block, inputs, block.results)
        if any(useful.intersection(e.outs) for e in loops):
            _visit(block, useful)
    return block


def _visit(block: Block, useful: set[Var]) -> None:
    out: list[Equation] = []
    for e in block.equations:
        for inner in e.blocks:
            _visit(inner, useful)
        found = _followed(e, useful) if e.op == "for" and useful.intersection(e.outs) else None
        out += [e] if found is None else found
    block.equations = out


def _followed(e: Equation, useful: set[Var]) -> list[Equation] | None:
    """The loop, which also finds the iteration, and what that computes; None for other loops."""
    body = e.blocks[0]
    index, *params = body.params
    made = {v: x for x in body.equations for v in x.outs}
    chosen: dict[int, tuple[Equation, Atom]] = {}
    for k, (p, r, out) in enumerate(zip(params, body.results, e.outs, strict=True)):
        if out in useful or p in useful:
            x = made.get(r) if isinstance(r, Var) else None
            v = _replaced(x, p, r) if isinstance(p.type, Scalar) else None
            if x is None or v is None:
                return None
            chosen[k] = x, v
    whens = {x.ins[0] for x, _ in chosen.values()}
    if len(whens) != 1 or isinstance(when := whens.pop(), Lit):
        return None
    needed = _needed(body, [v for _, v in chosen.values()], [x for x, _ in chosen.values()])
    if needed is None:
        return None
    b = Builder()
    b.pos = e.pos
    at, hit = Var(INT, (), "taken"), Var(BOOL)
    with b.reopen(body):
        ends = [b.emit("where", when, index, at), b.emit("where", when, lit(True), hit)]
    last, some = Var(INT, (), "taken"), Var(BOOL)
    now = {k: Var(e.outs[k].type, e.outs[k].shape, e.outs[k].name) for k in chosen}
    loop = Equation(
        "for", (*e.ins, e.ins[0], lit(False)),
        (*(now.get(k, v) for k, v in enumerate(e.outs)), last, some), e.params,
        (Block([*body.params, at, hit], body.equations, [*body.results, *ends]),), e.pos,
    )  # fmt: skip
    b.append(loop)
    with b.block() as again:
        env: Env = {index: last}
        for x in needed:
            copy_equation(b, x, env, effects=False)
        b.pos = e.pos
        for k, (x, v) in chosen.items():
            if x.op == "if" and isinstance(v, Var) and v not in env:
                copy_block(b, x.blocks[0], env, effects=False)
            again.results.append(as_type(b, read(v, env), e.outs[k].type))
    none = Block([], [], [e.ins[3 + k] for k in chosen])
    b.structured("if", (some,), tuple(e.outs[k] for k in chosen), (again, none))
    return b.blocks[0].equations


def _replaced(x: Equation | None, p: Var, r: Atom) -> Atom | None:
    """What takes the place of a carried number where the condition holds, which else stays."""
    if x is None or x.op not in ("where", "if"):
        return None
    v, other = x.ins[1:] if x.op == "where" else (
        block.results[x.outs.index(r)] for block in x.blocks
    )  # fmt: skip
    return v if other is p and v is not p else None


def _needed(body: Block, values: list[Atom], choices: list[Equation]) -> list[Equation] | None:
    """The equations that the values are computed by; None where they depend on the past."""
    wanted = {v for v in values if isinstance(v, Var)}
    wanted |= {v for x in choices if x.op == "if" for v in free_vars(x.blocks[0])}
    out: list[Equation] = []
    for e in reversed(body.equations):
        if wanted.isdisjoint(e.outs):
            continue
        inside = [e, *(x for block in e.blocks for x in walk(block))]
        if any(x.op in CALLS or (x.op not in STRUCTURED and x.op != "check" and TABLE[x.op].effect)
               for x in inside):  # fmt: skip
            return None
        out.append(e)
        wanted.update(a for a in e.ins if isinstance(a, Var))
        wanted.update(free_vars(*e.blocks))
    return None if wanted.intersection(body.params[1:]) else out[::-1]
