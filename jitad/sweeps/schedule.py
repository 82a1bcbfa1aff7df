"""Which loops does a reverse sweep run again from snapshots, instead of recording all of them?

A recorded loop of n steps keeps n records.  A *scheduled* one keeps snapshots of its state at a few
steps; its reverse goes to the last snapshot, runs the loop on from there, taking more snapshots in
the slots that are free, records a *leaf* of l steps, reverses it, and so on back to the first step.

**Known trip count.**  With s slots and no step run more than r times besides, the longest loop has
b(s, r) = (s + r)! / (s! r!) leaves: the first part, up to the next snapshot, is run once more than
the rest, which has one slot less, b(s, r) = b(s, r-1) + b(s-1, r).  For m leaves, r the least with
b(s, r) >= m, the least number of leaves that are run without being recorded is

    t(m, s) = r m - b(s + 1, r - 1)                     (Griewank 1992; Griewank & Walther 2000)

and `primitives.schedules.advance` attains it.  The forward sweep is a part of that: it leaves the
snapshots where the reversal wants them, and the last leaf, a loop of its own, is recorded as it
runs.  So a loop whose records fit in memory is just recorded: l and s are computed in the kernel,
from the trip count and the sizes of arrays.

**Unknown trip count** (`while`, or `for` with `break`).  The first steps, as many as fit in a
quarter of the memory, are recorded.  From there a snapshot is taken every d steps, d = l at first;
when c = 2 [s / 4] slots are in use, every other one is given up, and d doubles.  After n steps
d = l or c d / 2 < n <= c d.  Each of the windows of d steps is then reversed as a loop of known
length, with the slots that are free, more than half of them.  So no step is run more than r + 1
times again, r being that of a window: the least with b(s / 2, r) >= d / l, d < 4 n / (s - 3).
(Wang, Moin & Iaccarino 2009 and Stumm & Walther 2010 place snapshots better than that, by up to
one run; they decide at each step.)

What is done again is silent: checks and prints have happened.  Of the loop's state only what the
recorded steps depend on is kept and computed again, so sums and arrays that are only written to
cost nothing.  A scheduled loop is an equation with a rule (`primitives.custom`), made for the sweep
that follows: the derivative of the result needs nothing new.  `snapshots` writes the rule.

Sources: A. Griewank, *Achieving logarithmic growth of temporal and spatial complexity in reverse
automatic differentiation*, OMS 1 (1992); A. Griewank & A. Walther, *Algorithm 799: revolve*, ACM
TOMS 26 (2000); Q. Wang, P. Moin & G. Iaccarino, *Minimal repetition dynamic checkpointing algorithm
for unsteady adjoint calculation*, SISC 31 (2009); P. Stumm & A. Walther, *New algorithms for
optimal online checkpointing*, SISC 32 (2010).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from jitad.errors import JitadMemoryError, message
from jitad.immutable import immutable
from jitad.primitives import TABLE
from jitad.primitives.custom import Rule
from jitad.primitives.schedules import Memory, Snapshots
from jitad.sweeps.calls import Library
from jitad.sweeps.snapshots import Loop, Room, checkpointed, goes_on, once, rule
from jitad.tape.build import Builder
from jitad.tape.copy import Env, begin, copy_equation, read, structured
from jitad.tape.flow import closure, differentiable_edge, predecessors, successors
from jitad.tape.ir import CALLS, STRUCTURED, Atom, Block, Equation, Lit, Var, lit, walk
from jitad.tape.types import INT, Array, Scalar, Stack, is_float

_CACHE = 1 << 18  # bytes that are near to a processor: longer leaves would gain nothing
_MOST_SLOTS = 4096  # of loops whose length isn't known

_REMEDY = "Give more memory, or let an inner function be a jitad.checkpoint."


def scheduled(block: Block, active: Sequence[int], library: Library) -> Block:
    """The block with loops that record in the form of rules, as far as `library.memory` demands, or
    what a loop itself says (`checkpointed_loop`)."""
    every = [e for e in walk(block) if e.op in ("for", "while")]
    if not every or (library.memory is None and not any("memory" in e.params for e in every)):
        return block
    inputs = [block.params[k] for k in active]
    varied = closure(inputs, successors(predecessors(block, differentiable_edge)))
    memory, library.memory = library.memory, None
    found = list(_recording(block, varied, library, memory, False))
    library.memory = memory
    if not found:
        return block
    common = sum("memory" not in job.loop.e.params for job in found)
    if isinstance(memory, int):
        memory = max(memory // max(common, 1), 1)
    jobs = {id(job.loop.e): replace(job, memory=job.memory or memory) for job in found}
    b = Builder()
    env = begin(b, block)
    new = b.blocks[0]
    new.results = _copied(b, block, env, jobs)
    return new


@immutable
class _Job:
    """A loop to be scheduled.  One that runs in every iteration of another, which records, must
    leave no snapshots to be recorded: it is a checkpoint, which runs again."""

    loop: Loop
    inside: bool
    memory: Memory | None = None


def _recording(
    block: Block, varied: set[Var], library: Library, memory: Memory | None, inside: bool
) -> Iterator[_Job]:
    """The loops whose derivatives record something: the outermost ones."""
    for e in block.equations:
        recorded = False
        if e.op in ("for", "while") and any(v in varied for v in e.outs):
            wanted = e.params.get("memory", memory)
            if wanted is not None and _repeatable(e):
                loop = Loop.of(e, varied, library)
                if any(_is_recorded(x) for x in loop.swept.equations):
                    yield _Job(loop, inside, e.params.get("memory"))
                    continue
            elif any("memory" in x.params for inner in e.blocks for x in walk(inner)):
                recorded = True
        if e.op in ("for", "while", "if"):
            for inner in e.blocks:
                yield from _recording(inner, varied, library, memory, inside or recorded)


def _repeatable(e: Equation) -> bool:
    """May the steps of the loop be run again?  Not those that ask Python, or have schedules."""
    if any(x.op in ("callback", "advance") for b in e.blocks for x in _all(b)):
        return False
    if any(isinstance(a.type, Stack) for a in e.ins):
        return False
    cond = walk(e.blocks[0]) if e.op == "while" else ()
    return not any(
        x.op == "act" or (x.op not in STRUCTURED and TABLE[x.op].effect and x.op != "check")
        for x in cond
    )


def _all(block: Block) -> Iterator[Equation]:
    """The equations of a block, and of what stands for functions with rules in it."""
    for e in walk(block):
        yield e
        if e.op == "custom":
            for inner in e.params["rule"].blocks:
                yield from _all(inner)


def _is_recorded(e: Equation) -> bool:
    return e.op == "for" and any(isinstance(a.type, Stack) for a in e.ins)


def _copied(b: Builder, block: Block, env: Env, jobs: dict[int, _Job]) -> list[Atom]:
    """Emit a block in which these loops are scheduled; gives its results."""
    for e in block.equations:
        job = jobs.get(id(e))
        if job is not None:
            b.pos = e.pos
            env.update(zip(e.outs, _one(b, job, env), strict=True))
        elif any(id(x) in jobs for inner in e.blocks for x in walk(inner)):
            blocks = tuple(_inside(x, jobs) for x in e.blocks)
            copy_equation(b, Equation(e.op, e.ins, e.outs, e.params, blocks, e.pos), env)
        else:
            copy_equation(b, e, env)
    return [read(a, env) for a in block.results]


def _inside(block: Block, jobs: dict[int, _Job]) -> Block:
    b = Builder()
    results = _copied(b, block, {}, jobs)
    return Block(block.params, b.blocks[0].equations, results)


def _one(b: Builder, job: _Job, env: Env) -> list[Atom]:
    loop, memory = job.loop, job.memory
    assert memory is not None
    if job.inside:
        made, operands = checkpointed(loop, memory)
        return _custom(b, loop, made, operands, env)
    return _known(b, loop, env, memory) if loop.e.op == "for" else _online(b, loop, env, memory)


# -- one loop -------------------------------------------------------------------------------------


def _known(b: Builder, loop: Loop, env: Env, memory: Memory) -> list[Atom]:
    """A loop of known trip count: all but its last leaf scheduled."""
    e = loop.e
    start, step, count = (read(a, env) for a in e.ins[:3])
    count = b.emit("maximum", count, lit(0))
    if isinstance(memory, Snapshots):
        room = Room(lit(memory.steps), lit(memory.count))
    else:
        record, state = _sizes(b, loop, env)
        if record is None:  # how much a step records is known when it has
            leaf: Atom = lit(1)
            slots = b.emit("maximum", b.emit("floordiv", lit(memory // 2), state), lit(1))
        else:
            leaf = b.emit("leaf_of", count, record, state, lit(memory))
            slots = b.emit("slots_of", count, leaf, record, state, lit(memory))
            _suffices(b, leaf, loop)
        room = Room(leaf, slots)
    *state_now, done = _custom(b, loop, *rule(loop, room), env)
    tail_start = b.emit("add", start, b.emit("mul", step, done))
    rest = b.emit("sub", count, done)
    now: Env = dict(env)
    ins: list[Atom] = []
    for a in (tail_start, step, rest, *state_now):
        v = Var(a.type, a.shape, "")
        now[v] = a
        ins.append(v)
    tail = Equation("for", tuple(ins), e.outs, {}, e.blocks, e.pos)
    copy_equation(b, tail, now)
    return [now[v] for v in e.outs]


def _online(b: Builder, loop: Loop, env: Env, memory: Memory) -> list[Atom]:
    """A loop of unknown trip count: all but its first steps scheduled."""
    if isinstance(memory, Snapshots):
        room = Room(lit(memory.steps), lit(memory.count))
        return _custom(b, loop, *rule(loop, room), env)
    record, state = _sizes(b, loop, env)
    quarter = lit(memory // 4)
    slots = b.emit("floordiv", lit(memory // 2), state)
    slots = b.emit("minimum", slots, lit(_MOST_SLOTS))
    init: Sequence[Atom] = [read(a, env) for a in loop.init]
    leaf: Atom = lit(1)
    if record is not None:
        most = b.emit("floordiv", quarter, record)
        near = b.emit("maximum", b.emit("floordiv", lit(_CACHE), record), lit(1))
        leaf = b.emit("minimum", most, near)
        init = _first_steps(b, loop, env, most)
    _suffices(b, b.emit("minimum", slots, leaf), loop)
    now: Env = dict(env)
    ins = []
    for old, a in zip(loop.init, init, strict=True):
        v = Var(a.type, old.shape, old.name if isinstance(old, Var) else "")
        now[v] = a
        ins.append(v)
    return _custom(b, loop, *rule(loop.starting(ins), Room(leaf, slots)), now)


def _first_steps(b: Builder, loop: Loop, env: Env, most: Atom) -> list[Atom]:
    """The loop as it is, but for no more than these steps."""
    init = [lit(0), *(read(a, env) for a in loop.init)]
    like = [Var(INT), *(Var(p.type, a.shape, p.name)
                        for p, a in zip(loop.params, init[1:], strict=True))]  # fmt: skip
    seen = [Var(v.type, v.shape, v.name) for v in like]
    with b.block(*seen) as cond:
        more = b.emit("lt", seen[0], most)
        cond.results = [b.emit("logical_and", more, goes_on(b, loop, env, seen[1:]))]
    with b.block(*like) as body:
        k = b.emit("add", like[0], lit(1))
        body.results = [k, *once(b, loop, env, like[0], like[1:], effects=True)]
    outs = structured(b, "while", tuple(init), (cond, body), [v.type for v in like])
    return list(outs[1:])


def _custom(
    b: Builder, loop: Loop, made: Rule, operands: Sequence[Var], env: Env
) -> list[Atom]:
    """An equation with a rule, in the place of the loop."""
    out = b.emit("custom", *(read(a, env) for a in operands), rule=made)
    outs = list(out) if isinstance(out, tuple) else [out]
    for k, p in enumerate(loop.params):  # a rule is not to say that results vary which don't
        if is_float(p.type) and k not in loop.active:
            outs[k] = b.emit("frozen", outs[k])
    return outs


def _suffices(b: Builder, number: Atom, loop: Loop) -> None:
    """A check that there is room for a leaf and a snapshot."""
    what = message(
        "the memory given does not suffice for the derivative of this loop: for the records of one "
        "step and a snapshot of what the loop carries", loop.e.pos, _REMEDY,
    )  # fmt: skip
    ok = b.emit("gt", number, lit(0))
    b.emit("check", ok, exception=JitadMemoryError, message=what)


# -- sizes ----------------------------------------------------------------------------------------


class _NotKnown(Exception):
    """How much is recorded hangs on what happens in the loop."""


def _sizes(b: Builder, loop: Loop, env: Env) -> tuple[Atom | None, Atom]:
    """Bytes of what one step records, None where that isn't known before; and of a snapshot."""
    state: Atom = lit(8)  # where it was taken
    for k in loop.needed:
        a = read(loop.init[k], env)
        dims = a.shape if isinstance(a, Var) else ()
        state = b.emit("add", state, _bytes(b, loop.params[k].type, dims))
    swept = loop.swept
    given = (None, None, *loop.init, *loop.captured)
    meaning = {p: read(a, env) for p, a in zip(swept.params, given, strict=False) if a is not None}
    made = {v: e for e in swept.equations for v in e.outs}

    def outside(a: Atom) -> Atom:
        if isinstance(a, Lit):
            return a
        if a in meaning:
            return meaning[a]
        e = made.get(a)
        if e is None or e.op not in TABLE:
            raise _NotKnown
        if e.op == "dim" and e.ins[0] in meaning:
            return meaning[e.ins[0]].shape[e.params["axis"]]  # type: ignore[index]
        if not TABLE[e.op].elementwise or a.type != INT:
            raise _NotKnown
        out: Atom = b.emit(e.op, *map(outside, e.ins), **e.params)
        return out

    record: Atom = lit(0)
    try:
        for e in swept.equations:
            if _is_recorded(e):
                record = b.emit("add", record, _pushed(b, e.blocks[0], outside))
    except _NotKnown:
        return None, state
    return b.emit("maximum", record, lit(1)), state


def _pushed(b: Builder, block: Block, outside: Callable[[Atom], Atom]) -> Atom:
    """Bytes that one run of a block pushes, both branches of an `if` counting."""
    total: Atom = lit(0)
    for e in block.equations:
        part: Atom = lit(0)
        if e.op == "push":
            v = e.ins[1]
            t = v.type
            assert isinstance(t, (Scalar, Array))
            if isinstance(t, Array) and len(v.shape) != t.ndim:
                raise _NotKnown
            part = _bytes(b, t, tuple(map(outside, v.shape)))
        elif e.op == "for":
            part = _pushed(b, e.blocks[0], outside)
            if part != lit(0):
                part = b.emit("mul", part, b.emit("maximum", outside(e.ins[2]), lit(0)))
        elif e.op == "while" or e.op in CALLS:
            if any(isinstance(a.type, Stack) for a in e.ins):
                raise _NotKnown
        elif e.op == "if":
            for inner in e.blocks:
                part = b.emit("add", part, _pushed(b, inner, outside))
        total = b.emit("add", total, part)
    return total


def _bytes(b: Builder, t: object, dims: Sequence[Atom]) -> Atom:
    assert isinstance(t, (Scalar, Array))
    out: Atom = lit(np.dtype(t.dtype).itemsize)
    for d in dims:
        out = b.emit("mul", out, d)
    return out
