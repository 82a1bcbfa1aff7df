"""How is a block carried over into another tape?  By emitting its equations again.

The target builder folds and shares as it goes, so copying is also the simplification pass.
`env` maps variables of the source to atoms of the target; what it doesn't know stays as it is.
"""

from __future__ import annotations

from jitad.errors import GuardMiss
from jitad.tape.build import Builder
from jitad.tape.dead import remove_dead
from jitad.tape.ir import CALLS, Atom, Block, Equation, Lit, Var, lit
from jitad.tape.same import compute_the_same, rough_key
from jitad.tape.types import Array, Scalar, Type

Env = dict[Var, Atom]


class Around:
    """What is around a call while its function is open, by the names it has where the call is.

    The function was traced around one place; in a copy of that place its variables are others.
    """

    def __init__(self, *envs: Env) -> None:
        self.envs = envs

    def of(self, var: Var) -> Atom:
        """The variable that the function takes from around it, as it is called here."""
        atom: Atom = var
        for env in self.envs:
            atom = read(atom, env)
        return atom


def read(atom: Atom, env: Env) -> Atom:
    return env.get(atom, atom) if isinstance(atom, Var) else atom


def copy_block(b: Builder, block: Block, env: Env, effects: bool = True) -> list[Atom]:
    """Emit the block's equations into the open block of `b`; gives its results there.

    Without `effects` checks and prints are left out: they have happened already.
    """
    for eqn in block.equations:
        copy_equation(b, eqn, env, effects)
    return [read(a, env) for a in block.results]


def copy_equation(b: Builder, eqn: Equation, env: Env, effects: bool = True) -> None:
    """Emit one equation and enter its results into `env`."""
    b.pos = eqn.pos
    if b.again(eqn, env):
        return
    ins = tuple([env.get(a, a) if type(a) is Var else a for a in eqn.ins])
    outs: tuple[Atom, ...]
    if eqn.blocks:
        outs = _copy_structured(b, eqn, ins, env, effects)
    elif eqn.op in ("check", "print") and not effects:
        return
    else:
        op, params = eqn.op, eqn.params
        if op in CALLS and not effects:
            op, params = "call", {**params, "quiet": True}
        if op in CALLS and "around" in params:
            params = {**params, "around": Around(*params["around"].envs, env)}
        if op == "custom" and not effects:
            params = {"rule": params["rule"].silent}
        out = b.emit(op, *ins, **params)
        if type(out) is not tuple:
            env[eqn.outs[0]] = out
            if type(out) is Var and not out.name:
                out.name = eqn.outs[0].name
            return
        outs = out
    for old, new in zip(eqn.outs, outs, strict=False):
        env[old] = new
        if isinstance(new, Var) and not new.name:
            new.name = old.name


def begin(b: Builder, block: Block) -> Env:
    """Give an empty tape the parameters of a block, with extents of their own.

    Extents that are parameters themselves, as those of the tape's functions may be, stay so.
    """
    env: Env = {p: b.input(p.type, p.name) for p in block.params}
    for p in block.params:
        new = env[p]
        assert isinstance(new, Var)
        shape = list(new.shape)
        for k, d in enumerate(p.shape):
            if isinstance(d, Lit):
                # A literal extent stays one; what it is taken on trust from folds away, hence
                # the guard goes along.
                test = b.emit("eq", shape[k], d)
                b.emit("check", test, exception=GuardMiss, message=f"an extent of {p.name} is {d}")
                shape[k] = d
            elif d in env:
                shape[k] = env[d]
        new.shape = tuple(shape)
    return env


def rebuilt(b: Builder, block: Block) -> Block:
    """A whole block by the emissions of an empty builder, without what is dead then."""
    env = begin(b, block)
    new = b.blocks[0]
    new.results = copy_block(b, block, env)
    return remove_dead(new)


def renew(var: Var, like: Atom | None, env: Env) -> Var:
    """A fresh twin of a block parameter, with the extents of the value it starts from."""
    shape = like.shape if like is not None else tuple(read(a, env) for a in var.shape)
    new = Var(var.type, shape, var.name)
    env[var] = new
    return new


def _copy_structured(
    b: Builder, eqn: Equation, ins: tuple[Atom, ...], env: Env, effects: bool
) -> tuple[Atom, ...]:
    blocks: list[Block] = []
    match eqn.op:
        case "if" if isinstance(ins[0], Lit):
            return tuple(copy_block(b, eqn.blocks[0 if ins[0].value else 1], env, effects))
        case "for" if isinstance(ins[2], Lit) and ins[2].value <= 0:
            return ins[3:]
        case "for" | "while" if any(_fixed_carries(eqn)):
            return _without_fixed(b, eqn, ins, env, effects)
        case "for":
            init: list[Atom | None] = [None, *ins[3:]]
            starts = [init]
        case "while":
            starts = [list(ins), list(ins)]
        case "if":
            starts = [[], []]
        case _:  # jvp, vjp, implicit: parameters are the first operands
            starts = [list(ins[: len(eqn.blocks[0].params)])]
    for inner, start in zip(eqn.blocks, starts, strict=True):
        params = [renew(p, a, env) for p, a in zip(inner.params, start, strict=True)]
        with b.block(*params) as new:
            new.results = copy_block(b, inner, env, effects)
        blocks.append(new)
    return structured(b, eqn.op, ins, tuple(blocks), [v.type for v in eqn.outs], eqn.params)


def _fixed_carries(eqn: Equation) -> list[bool]:
    """Which carried values every iteration hands on unchanged."""
    body = eqn.blocks[-1]
    params = body.params[1:] if eqn.op == "for" else body.params
    return [p is r for p, r in zip(params, body.results, strict=True)]


def _without_fixed(
    b: Builder, eqn: Equation, ins: tuple[Atom, ...], env: Env, effects: bool
) -> tuple[Atom, ...]:
    """Copy a loop; what it carries unchanged is used from outside instead."""
    fixed = _fixed_carries(eqn)
    first = 3 if eqn.op == "for" else 0
    for block in eqn.blocks:
        skip = len(block.params) - len(fixed)
        for p, a, f in zip(block.params[skip:], ins[first:], fixed, strict=True):
            if f:
                env[p] = a

    def moving(items: list | tuple, skip: int = 0) -> list:
        return list(items[:skip]) + [x for x, f in zip(items[skip:], fixed, strict=True) if not f]

    blocks = []
    for block in eqn.blocks:
        results = moving(block.results) if block is eqn.blocks[-1] else block.results
        params = moving(block.params, len(block.params) - len(fixed))
        blocks.append(Block(params, block.equations, results))
    rest = Equation(
        eqn.op, eqn.ins, tuple(moving(eqn.outs)), eqn.params, tuple(blocks), eqn.pos
    )
    outs = iter(_copy_structured(b, rest, tuple(moving(ins, first)), env, effects))
    return tuple(a if f else next(outs) for a, f in zip(ins[first:], fixed, strict=True))


def structured(
    b: Builder,
    op: str,
    ins: tuple[Atom, ...],
    blocks: tuple[Block, ...],
    types: list,
    params: dict | None = None,
) -> tuple[Atom, ...]:
    """Append a `for`, `while` or `if` (or jvp, vjp) with fresh results, whose extents are known
    from the initial values or read off; or give the results of an equal one that is there."""
    key = rough_key(op, ins, blocks, types)
    for e in b.alike(key):
        if compute_the_same(e.blocks, blocks):
            return e.outs
    outs = []
    for k, t in enumerate(types):
        shape: tuple[Atom, ...] = ()
        if isinstance(t, Array):
            if op == "for":
                shape = ins[3 + k].shape
            elif op in ("while", "implicit"):
                shape = ins[k].shape
            elif op == "if":
                shape = _common_shape(blocks, k)
        outs.append(Var(t, shape, ""))
    made = b.structured(op, ins, tuple(outs), blocks, dict(params or {}))
    b.remember_alike(key)
    return made


def _common_shape(branches: tuple[Block, ...], k: int) -> tuple[Atom, ...]:
    """The extents of an `if` result, where both branches have them from outside."""
    one, other = (branch.results[k].shape for branch in branches)
    inside = {v for branch in branches for e in branch.equations for v in e.outs}
    if one == other and not any(a in inside for a in one if isinstance(a, Var)):
        return one
    return ()


def zero(b: Builder, like: Atom) -> Atom:
    """Zero of an atom's type and extents."""
    t = like.type
    if isinstance(t, Array):
        return b.emit("full", lit_zero(t.dtype), *like.shape, dtype=t.dtype)
    return lit_zero(t.dtype)  # type: ignore[union-attr]


def as_type(b: Builder, a: Atom, t: Type) -> Atom:
    """A number as one of this type; an array stays as it is."""
    if a.type == t or not isinstance(t, Scalar):
        return a
    return b.emit("cast", a, dtype=t.dtype, py=t.py)


def lit_zero(dtype: str) -> Lit:
    """Zero of a dtype, as a Python number where that is the same thing."""
    import numpy as np

    match dtype:
        case "f8":
            return lit(0.0)
        case _:
            return lit(np.dtype(dtype).type(0))
