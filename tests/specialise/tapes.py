"""Tapes written by hand: the forms of Python's control flow over a Builder."""

from __future__ import annotations

import numpy as np

from jitad.errors import JitadIndexError
from jitad.specialise.simplify import simplify
from jitad.tape.build import Builder
from jitad.tape.interpret import interpret
from jitad.tape.ir import Block, Equation, Tape, Var, walk
from jitad.tape.types import INT, Array, Scalar
from jitad.tape.verify import verify
from jitad.values.number import bind, o

F = Scalar("f8")
V = Array("f8", 1)
M = Array("f8", 2)
IV = Array("i8", 1)


def tape_of(inputs, f) -> Tape:
    """The tape of f(builder, *leaves) for inputs given as (name, type)."""
    b = Builder()
    leaves = [b.leaf(b.input(t, n)) for n, t in inputs]
    out = f(b, *leaves)
    b.blocks[0].results = [b.atom(v) for v in (out if isinstance(out, tuple) else (out,))]
    return verify(Tape("f", b.blocks[0]))


def block_of(inputs, f) -> Block:
    return verify(simplify(tape_of(inputs, f))).body


def for_(b, start, step, count, init, body):
    init = [b.atom(i) for i in init]
    i = Var(INT, (), "i")
    params = [Var(a.type, a.shape) for a in init]
    with b.block(i, *params) as block:
        results = body(b.leaf(i), *map(b.leaf, params))
        block.results = [b.atom(r) for r in results]
    outs = tuple(Var(p.type, p.shape) for p in params)
    b.structured("for", (b.atom(start), b.atom(step), b.atom(count), *init), outs, (block,))
    return [b.leaf(v) for v in outs]


def if_(b, c, then, other):
    with b.block() as t:
        t.results = [b.atom(v) for v in then()]
    with b.block() as e:
        e.results = [b.atom(v) for v in other()]
    outs = tuple(Var(r.type, r.shape) for r in t.results)
    b.structured("if", (b.atom(c),), outs, (t, e))
    return [b.leaf(v) for v in outs]


def while_(b, init, cond, body):
    init = [b.atom(i) for i in init]
    ps = [Var(a.type, a.shape) for a in init]
    qs = [Var(a.type, a.shape) for a in init]
    with b.block(*qs) as cb:
        cb.results = [b.atom(cond(*map(b.leaf, qs)))]
    with b.block(*ps) as bb:
        bb.results = [b.atom(v) for v in body(*map(b.leaf, ps))]
    outs = tuple(Var(p.type, p.shape) for p in ps)
    b.structured("while", tuple(init), outs, (cb, bb))
    return [b.leaf(v) for v in outs]


def checked(a, i, message="out of bounds"):
    """A Python index as the tracer emits it: wrapped, then checked on both sides."""
    n = a.shape[0]
    i = o.where(o.lt(i, 0), o.add(i, n), i)
    bind("check", o.ge(i, 0), exception=JitadIndexError, message=message)
    bind("check", o.lt(i, n), exception=JitadIndexError, message=message)
    return i


def get(a, i, message="out of bounds"):
    return o.load(a, checked(a, i, message))


def put(a, v, i, message="out of bounds"):
    return o.store(a, v, checked(a, i, message))


def ops(block: Block, op: str) -> list[Equation]:
    return [e for e in walk(block) if e.op == op]


def in_loops(block: Block, op: str) -> list[Equation]:
    """Equations with this operation inside any loop."""
    return [
        e for loop in walk(block) if loop.op in ("for", "while")
        for inner in loop.blocks for e in walk(inner) if e.op == op
    ]  # fmt: skip


def run(block: Block, *args):
    return interpret(block, [np.array(a, float) if isinstance(a, list) else a for a in args])


def outcome(block: Block, *args):
    """The results, or the class of the exception."""
    try:
        return [np.asarray(r).tolist() for r in run(block, *args)]
    except Exception as e:
        return type(e)
