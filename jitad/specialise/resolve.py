"""How do derivative operators leave the tape?  Innermost first, each replaced by its sweep.

An application `vjp` or `jvp` differentiates its block with respect to the block's own, fresh
parameters.  That is what its tag stands for: what an inner function takes from outside is another
variable, constant for this application, however deep the nesting.  Perturbations can't be
confused, because each has variables of its own (Siskind & Pearlmutter 2005 call it lambda-lifting
by tag).  The sweep's result is inlined where the operator stood; folding and sharing happen on
the way, so the value that `vjp` computes and the caller's own copy of it become one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jitad.specialise.affine import AffineBuilder
from jitad.specialise.confine import confine
from jitad.specialise.overwrite import privatise
from jitad.specialise.scalarise import scalarise
from jitad.specialise.simplify import simplify_block
from jitad.specialise.still import ALONG, only_tangents_differ
from jitad.specialise.systems import systems
from jitad.specialise.triangles import triangles
from jitad.sweeps.calls import Library, hushed
from jitad.sweeps.custom import inline_customs
from jitad.sweeps.forward import jvp_block
from jitad.sweeps.implicit import settled
from jitad.sweeps.preaccumulate import preaccumulate
from jitad.sweeps.reverse import vjp_block
from jitad.sweeps.schedule import scheduled
from jitad.sweeps.taken import taken
from jitad.tape.build import Builder
from jitad.tape.copy import Env, begin, copy_block, copy_equation, read
from jitad.tape.dead import remove_dead
from jitad.tape.ir import Atom, Block, Equation, Lit, Tape, Var, free_vars, lit, walk
from jitad.tape.types import Scalar
from jitad.values.number import in_rules


def resolve(tape: Tape) -> Tape:
    """A plain tape: no `vjp` or `jvp` is left, and no function with rules of its own."""
    library = _Functions(tape.functions)
    library.outermost = True
    body = inline_customs(_resolve_block(tape.body, library))
    used = _plain(body, library)
    library.functions = hushed(body, used)
    return settled(Tape(tape.name, body, tape.pos, library.used_by(body)))


def _plain(body: Block, library: Library) -> dict[str, Tape]:
    """The functions that are called from a block, and from those, without rules."""
    out: dict[str, Tape] = {}
    todo = [body]
    while todo:
        for e in walk(todo.pop()):
            name = e.params.get("function")
            if name is not None and name not in out:
                block = inline_customs(library.body(name))
                out[name] = Tape(name, block, library.functions[name].pos)
                todo.append(block)
    return out


class _Functions(Library):
    """A library whose functions are resolved when one is first asked for."""

    def __init__(self, functions: dict[str, Tape]) -> None:
        super().__init__({})
        self.raw = dict(functions)
        self.names = set(functions)
        self.prepare, self.finish = prepare, simplify_block

    def resolved(self, name: str) -> None:
        raw = self.raw.pop(name, None)
        if raw is not None:
            self.functions[name] = Tape(name, _resolve_block(raw.body, self), raw.pos)

    def body(self, name: str) -> Block:
        self.resolved(name)
        return super().body(name)

    def has(self, name: str) -> bool:
        return name in self.raw or super().has(name)

    def used_by(self, block: Block) -> dict[str, Tape]:
        for name in list(self.raw):
            self.resolved(name)
        return super().used_by(block)


def _resolve_block(block: Block, library: Library) -> Block:
    """The block with every derivative operator in it, at any depth, expanded."""
    if not _has_operator(block):
        return block
    b = AffineBuilder()
    env = begin(b, block)
    new = b.blocks[0]
    new.results = _expand(b, block, env, library)
    return remove_dead(new)


def _expand(b: Builder, block: Block, env: Env, library: Library) -> list[Atom]:
    for e in block.equations:
        if e.op in ("vjp", "jvp"):
            _apply(b, e, env, library)
        elif e.op == "custom":
            rule = e.params["rule"]
            if not rule.resolved:
                rule = rule.changed(lambda x: _resolve_block(x, library), resolved=True)
            copy_equation(b, Equation(e.op, e.ins, e.outs, {"rule": rule}, (), e.pos), env)
        elif any(map(_has_operator, e.blocks)):
            along = {ALONG: True} if library.outermost and only_tangents_differ(e) else {}
            blocks = tuple(_expanded_inside(x, library) for x in e.blocks)
            params = {**e.params, **along}
            copy_equation(b, Equation(e.op, e.ins, e.outs, params, blocks, e.pos), env)
        else:
            copy_equation(b, e, env)
    return [read(a, env) for a in block.results]


def _expanded_inside(block: Block, library: Library) -> Block:
    """An inner block with its operators expanded; it keeps its parameters."""
    if not _has_operator(block):
        return block
    b = AffineBuilder()
    b.blocks[0].params = block.params
    block_env: Env = {}
    results = _expand(b, block, block_env, library)
    return Block(block.params, b.blocks[0].equations, results)


def _apply(b: Builder, e: Equation, env: Env, library: Library) -> None:
    ins = [read(a, env) for a in e.ins]
    copies, outermost = library.copies, library.outermost
    library.outermost = False
    if e.op == "jvp":  # what is kept inside has tangents, in each direction
        library.copies *= 1 + len(e.params.get("directions", "1"))
    function = _resolve_block(e.blocks[0], library)
    library.copies, library.outermost = copies, outermost
    # Prepared first, so that the sweep meets every value once; dead code is not differentiated.
    plain = prepare(function, e.ins)
    # A derivative in a direction that is literally zero, or of a result without sensitivity, is
    # none: gradients by forward mode have such directions.
    primals, given = ins[: len(plain.params)], ins[len(plain.params) :]
    with in_rules:  # a literal times an array of the tape is a content, not a user's handle
        if e.op == "vjp":
            seeds = zip(e.params["seeded"], given, strict=True)
            known = [(k, a) for k, a in seeds if not _is_zero(a)]
            given = [a for _, a in known]
            plain = preaccumulate(plain, e.params["active"], library)
            library.memory = library.share(e.params.get("memory"))
            plain = scheduled(plain, e.params["active"], library)
            swept = vjp_block(plain, e.params["active"], tuple(k for k, _ in known), library)
        else:
            moved: list[list[int]] = []
            supply, given = iter(given), []
            for active in e.params.get("directions") or (e.params["active"],):
                known = [(k, a) for k, a in zip(active, supply, strict=False) if not _is_zero(a)]
                moved.append([k for k, _ in known])
                given += [a for _, a in known]
            swept = jvp_block(plain, moved[0], library, *moved[1:])
    swept = remove_dead(swept)  # what is left folds while it is copied
    args = [*primals, *given]
    if _has_float32(swept):
        args = [_of_type(a, p) for a, p in zip(args, swept.params, strict=True)]
    inner: Env = dict(zip(swept.params, args, strict=True))
    for v in _captured(swept, env):
        inner[v] = env[v]
    outs = copy_block(b, swept, inner)
    env.update(zip(e.outs, outs, strict=True))


def _has_float32(block: Block) -> bool:
    """Is there a number beside which a float of Python is one of float32, and one of NumPy not?"""
    made = (v for e in walk(block) for v in e.outs)
    return any(getattr(v.type, "dtype", "") == "f4" for v in (*block.params, *made))


def _of_type(a: Atom, like: Var) -> Atom:
    """A float of Python's as one of NumPy's, where it takes the place of one."""
    if isinstance(a, Lit) and isinstance(a.value, float) and like.type == Scalar("f8"):
        return lit(np.float64(a.value))
    return a


def _is_zero(a: Atom) -> bool:
    return isinstance(a, Lit) and a.value == 0.0


def prepare(block: Block, given: Sequence[Atom] = ()) -> Block:
    """A function block as the sweeps like it: folded, small arrays apart, scratch made private,
    what a branch wants in it, what one iteration decides by itself.

    `given`: what its parameters stand for, where the block speaks of other values, too.
    """
    tape = Tape("function", simplify_block(block))
    body = privatise(scalarise(systems(triangles(tape))), given).body
    return taken(confine(body if body is tape.body else simplify_block(body)))


def _captured(block: Block, env: Env) -> list:
    return [v for v in free_vars(block) if v in env]


def _has_operator(block: Block) -> bool:
    return any(
        e.op in ("vjp", "jvp") or any(map(_has_operator, e.blocks))
        or (e.op == "custom" and not e.params["rule"].resolved)
        for e in block.equations
    )
