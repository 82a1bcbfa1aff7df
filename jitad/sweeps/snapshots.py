"""How does a scheduled loop run forwards, and backwards from its snapshots?

The rule of the equation that `schedule` puts in the place of a loop:

    forward    runs the loop and takes snapshots: in one array for each carried value, a row a slot
    backward   while there are snapshots: takes the last one away, runs the loop on from there,
               taking more, until no more steps are left than a leaf has; records and reverses those

Going on with snapshots on the way is the same in both (`_descend`).  A leaf is a loop like any
other, and swept like any other; what it adds to the adjoints of what it takes from around it goes
in and out, so that these are added up in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jitad.immutable import immutable
from jitad.primitives.custom import Rule
from jitad.primitives.schedules import Memory
from jitad.sweeps.calls import Library
from jitad.tape.build import Builder
from jitad.tape.copy import (
    Env,
    as_type,
    copy_block,
    copy_equation,
    lit_zero,
    read,
    structured,
    zero,
)
from jitad.tape.dead import remove_dead
from jitad.tape.ir import Atom, Block, Equation, Var, free_vars, lit
from jitad.tape.types import INT, Array, Scalar, Type, is_float
from jitad.values.number import in_rules


@immutable
class Room:
    """How many steps a leaf has, and how many slots there are for snapshots."""

    leaf: Atom
    slots: Atom


@immutable(eq=False)
class Loop:
    """A loop and the derivative of a leaf of it.

    `swept`: (first step, steps, state, captured, adjoints of the active state, adjoints so far of
    active captured values) -> (adjoints of the active state, adjoints of active captured values).
    """

    e: Equation
    init: tuple[Atom, ...]  # what it carries, at first
    captured: tuple[Var, ...]  # what it takes from around it
    active: tuple[int, ...]  # carried values that have adjoints
    added: tuple[Var, ...]  # captured values that have
    swept: Block
    needed: tuple[int, ...]  # carried values that derivatives depend on

    @property
    def params(self) -> list[Var]:
        """The parameters of the body that are carried."""
        return self.e.blocks[-1].params[1 if self.e.op == "for" else 0 :]

    def starting(self, init: Sequence[Atom]) -> Loop:
        return replace(self, init=tuple(init))

    @staticmethod
    def of(e: Equation, varied: set[Var], library: Library) -> Loop:
        """The loop e, of which these variables depend on what is differentiated by."""
        head = 3 if e.op == "for" else 0
        params = e.blocks[-1].params[1 if head else 0 :]
        taken = [a for a in e.ins[: min(head, 2)] if isinstance(a, Var)]
        captured = tuple(dict.fromkeys([*taken, *free_vars(*e.blocks)]))
        active = tuple(k for k, p in enumerate(params) if p in varied)
        added = tuple(v for v in captured if v in varied and is_float(v.type))
        loop = Loop(e, e.ins[head:], captured, active, added, Block(), ())
        swept = _leaf(loop, library)
        equations = [x for x in swept.equations if x.op != "dim"]
        used = set(free_vars(Block([], equations, swept.results)))
        state = swept.params[2 : 2 + len(params)]
        needed = tuple(k for k, p in enumerate(state) if p in used)
        return replace(loop, swept=swept, needed=needed)


@in_rules
def _leaf(loop: Loop, library: Library) -> Block:
    """The derivative of some steps of the loop (`Loop.swept`)."""
    from jitad.sweeps.reverse import vjp_block  # which uses rules
    from jitad.sweeps.schedule import scheduled

    b, env = Builder(), dict[Var, Atom]()
    at, count = b.input(INT, "at"), b.input(INT, "steps")
    state = _params(b, [p.type for p in loop.params], [p.name for p in loop.params])
    captured = _enter(b, loop.captured, env)
    for p, a in zip(state, loop.init, strict=True):
        _measure(b, p, a, env)
    leaf = b.blocks[0]
    leaf.results = steps(b, loop, env, at, count, state, effects=False)
    first = 2 + len(state)
    added = [first + loop.captured.index(v) for v in loop.added]
    moved = [*(2 + k for k in loop.active), *added]
    assert len(captured) == len(loop.captured)
    leaf = scheduled(leaf, moved, library)  # loops inside that say so themselves
    swept = vjp_block(leaf, moved, loop.active, library, added=added)
    swept.results = swept.results[len(leaf.results) :]
    return remove_dead(swept)


# -- blocks of their own --------------------------------------------------------------------------


def _params(
    b: Builder, types: Sequence[Type], names: Sequence[str]
) -> list[Var]:
    made = [Var(t, (), name) for t, name in zip(types, names, strict=True)]
    b.blocks[0].params += made
    return made


def _enter(b: Builder, operands: Sequence[Var], env: Env) -> list[Var]:
    """Parameters for what a block takes from around it; their extents are those outside."""
    made = _params(b, [v.type for v in operands], [v.name for v in operands])
    env.update(zip(operands, made, strict=True))
    for p, v in zip(made, operands, strict=True):
        _measure(b, p, v, env)
    return made


def _measure(b: Builder, p: Var, like: Atom, env: Env) -> None:
    """Give a parameter the extents of what it stands for."""
    if not isinstance(p.type, Array):
        return
    if len(like.shape) != p.type.ndim:
        b.measure(p)
        return
    for k, d in enumerate(like.shape):
        if isinstance(d, Var) and d not in env:
            env[d] = b.emit("dim", p, axis=k)
    p.shape = tuple(read(d, env) for d in like.shape)


# -- steps ----------------------------------------------------------------------------------------


def once(
    b: Builder, loop: Loop, env: Env, k: Atom, state: Sequence[Atom], effects: bool
) -> list[Atom]:
    """What is carried after step number k."""
    e = loop.e
    now: Env = {**env, **dict(zip(loop.params, state, strict=True))}
    if e.op == "for":
        start, step = (read(a, env) for a in e.ins[:2])
        now[e.blocks[0].params[0]] = b.emit("add", start, b.emit("mul", step, k))
    return copy_block(b, e.blocks[-1], now, effects)


def goes_on(b: Builder, loop: Loop, env: Env, state: Sequence[Atom]) -> Atom:
    """The condition of a `while`."""
    cond = loop.e.blocks[0]
    (out,) = copy_block(b, cond, {**env, **dict(zip(cond.params, state, strict=True))})
    return out


def steps(
    b: Builder, loop: Loop, env: Env, at: Atom, count: Atom, state: Sequence[Atom], effects: bool
) -> list[Atom]:
    """What is carried after this number of steps from step `at` on."""
    j = Var(INT, (), "j")
    inside = _fresh(loop.params, state)
    with b.block(j, *inside) as body:
        body.results = once(b, loop, env, b.emit("add", at, j), inside, effects)
    return list(structured(
        b, "for", (lit(0), lit(1), count, *state), (body,), [p.type for p in loop.params]
    ))  # fmt: skip


def _fresh(types: Sequence[Atom], like: Sequence[Atom]) -> list[Var]:
    """Variables of these types, with the extents of the others."""
    return [
        Var(t.type, a.shape, t.name if isinstance(t, Var) else "")
        for t, a in zip(types, like, strict=True)
    ]


# -- snapshots ------------------------------------------------------------------------------------


@immutable
class _Shelf:
    """The snapshots: which step each is of, and a row of each array."""

    places: Atom
    rows: tuple[Atom, ...]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return (self.places, *self.rows)

    @staticmethod
    def of(atoms: Sequence[Atom]) -> _Shelf:
        return _Shelf(atoms[0], tuple(atoms[1:]))


def _shelf(b: Builder, loop: Loop, state: Sequence[Atom], slots: Atom) -> _Shelf:
    """Room for snapshots."""
    rows = []
    for k in loop.needed:
        t = loop.params[k].type
        assert isinstance(t, (Scalar, Array))
        rows.append(b.emit("full", lit_zero(t.dtype), slots, *state[k].shape, dtype=t.dtype))
    return _Shelf(b.emit("full", lit_zero("i8"), slots, dtype="i8"), tuple(rows))


def _row(a: Atom, slot: Atom) -> tuple[tuple[Atom, ...], str]:
    """Operands and kinds of a slice that is one row."""
    whole = [x for d in a.shape[1:] for x in (lit(0), lit(1), d)]
    return (slot, *whole), "i" + "r" * (len(a.shape) - 1)


def _put(b: Builder, a: Atom, slot: Atom, v: Atom) -> Atom:
    operands, kinds = _row(a, slot)
    if len(kinds) == 1:
        out: Atom = b.emit("store", a, v, slot)
    else:
        out = b.emit("store_slice", a, v, *operands, kinds=kinds)
    return out


def _get(b: Builder, a: Atom, slot: Atom) -> Atom:
    operands, kinds = _row(a, slot)
    out: Atom = b.emit("load", a, slot) if len(kinds) == 1 else (
        b.emit("slice", a, *operands, kinds=kinds)
    )
    return out


def _keep(
    b: Builder, loop: Loop, shelf: _Shelf, slot: Atom, at: Atom, state: Sequence[Atom]
) -> _Shelf:
    rows = zip(shelf.rows, loop.needed, strict=True)
    places = _put(b, shelf.places, slot, at)
    return _Shelf(places, tuple(_put(b, a, slot, state[k]) for a, k in rows))


def _descend(
    b: Builder, loop: Loop, env: Env, at: Atom, used: Atom, end: Atom, state: Sequence[Atom],
    shelf: _Shelf, room: Room, effects: bool,
) -> tuple[Atom, Atom, list[Atom], _Shelf]:  # fmt: skip
    """Run on from step `at` until no more than a leaf is left before `end`, taking snapshots."""
    ints = [Var(INT, (), "at"), Var(INT, (), "used")]
    init = (at, used, *state, *shelf.atoms)
    like = [*ints, *_fresh([*loop.params, *shelf.atoms], init[2:])]
    seen = _fresh(like, like)
    with b.block(*seen) as cond:
        cond.results = [b.emit("gt", b.emit("sub", end, seen[0]), room.leaf)]
    with b.block(*like) as body:
        at, used, state = like[0], like[1], like[2 : 2 + len(state)]
        shelf = _keep(b, loop, _Shelf.of(like[2 + len(state) :]), used, at, state)
        left = b.emit("sub", room.slots, used)
        by = b.emit("advance", b.emit("sub", end, at), room.leaf, left)
        state = steps(b, loop, env, at, by, state, effects)
        used = b.emit("add", used, lit(1))
        body.results = [b.emit("add", at, by), used, *state, *shelf.atoms]
    outs = structured(b, "while", init, (cond, body), [v.type for v in like])
    return outs[0], outs[1], list(outs[2 : 2 + len(state)]), _Shelf.of(outs[2 + len(state) :])


def _windows(
    b: Builder, loop: Loop, env: Env, state: Sequence[Atom], shelf: _Shelf, room: Room
) -> tuple[Atom, Atom, list[Atom], _Shelf]:
    """Run a `while` to its end, with a snapshot every so many steps: every second of them goes,
    and the windows get twice as long, each time that half of the slots are in use."""
    n = len(state)
    half = b.emit("maximum", b.emit("floordiv", room.slots, lit(4)), lit(1))
    most = b.emit("mul", half, lit(2))
    only_one = b.emit("lt", room.slots, lit(2))
    window = b.emit("where", only_one, lit(1 << 62), room.leaf)
    ints = [Var(INT, (), name) for name in ("at", "used", "window")]
    init = (lit(0), lit(0), window, *state, *shelf.atoms)
    like = [*ints, *_fresh([*loop.params, *shelf.atoms], init[3:])]
    seen = _fresh(like, like)
    with b.block(*seen) as cond:
        cond.results = [goes_on(b, loop, env, seen[3 : 3 + n])]
    with b.block(*like) as body:
        at, used, window = like[:3]
        full = b.emit("ge", used, most)
        shelf = _thinned(b, _Shelf.of(like[3 + n :]), b.emit("where", full, half, lit(0)))
        used = b.emit("where", full, half, used)
        window = b.emit("where", full, b.emit("mul", window, lit(2)), window)
        shelf = _keep(b, loop, shelf, used, at, like[3 : 3 + n])
        k, *now = _window(b, loop, env, at, window, like[3 : 3 + n])
        used = b.emit("add", used, lit(1))
        body.results = [b.emit("add", at, k), used, window, *now, *shelf.atoms]
    outs = structured(b, "while", init, (cond, body), [v.type for v in like])
    return outs[0], outs[1], list(outs[3 : 3 + n]), _Shelf.of(outs[3 + n :])


def _thinned(b: Builder, shelf: _Shelf, count: Atom) -> _Shelf:
    """Every second one of the first snapshots, so many in all."""
    like = _fresh(shelf.atoms, shelf.atoms)
    j = Var(INT, (), "j")
    with b.block(j, *like) as body:
        other = b.emit("mul", j, lit(2))
        body.results = [_put(b, a, j, _get(b, a, other)) for a in like]
    ins = (lit(0), lit(1), count, *shelf.atoms)
    return _Shelf.of(structured(b, "for", ins, (body,), [v.type for v in like]))


def _window(
    b: Builder, loop: Loop, env: Env, at: Atom, window: Atom, state: Sequence[Atom]
) -> tuple[Atom, ...]:
    """Run a `while` on for so many steps at most; how many they were, and what is carried."""
    like = [Var(INT, (), "k"), *_fresh(loop.params, state)]
    seen = _fresh(like, like)
    with b.block(*seen) as cond:
        within = b.emit("lt", seen[0], window)
        cond.results = [b.emit("logical_and", within, goes_on(b, loop, env, seen[1:]))]
    with b.block(*like) as body:
        now = once(b, loop, env, b.emit("add", at, like[0]), like[1:], effects=True)
        body.results = [b.emit("add", like[0], lit(1)), *now]
    return structured(b, "while", (lit(0), *state), (cond, body), [v.type for v in like])


# -- the rule -------------------------------------------------------------------------------------


def rule(loop: Loop, room: Room) -> tuple[Rule, list[Var]]:
    """The rule of a loop's equation, and the equation's operands.

    Results are what the loop carries in the end; of a `for`, before its last leaf, and the number
    of steps that have been done then.
    """
    head = loop.e.ins[:3] if loop.e.op == "for" else ()
    of = [*(loop.init[k] for k in loop.active), *loop.added]
    every = [*of, *loop.init, *loop.captured, *head, room.leaf, room.slots]
    operands = list(dict.fromkeys(a for a in every if isinstance(a, Var)))
    primals = list(dict.fromkeys(a for a in of if isinstance(a, Var)))
    assert operands[: len(primals)] == primals
    forward, kept = _forward(loop, room, operands, primals)
    backward = _backward(loop, room, operands, primals, kept)
    count = len(forward.results) - len(kept) - len(primals)
    function = Block(forward.params, forward.equations, forward.results[:count])
    made = Rule(
        "a scheduled loop", len(primals), function, None, forward, backward,
        tuple(range(len(primals))), resolved=True,
    )  # fmt: skip
    return made, operands


def checkpointed(loop: Loop, memory: Memory) -> tuple[Rule, list[Var]]:
    """The same for a loop that leaves no snapshots: its reverse runs all of it again, scheduled."""
    e = loop.e
    head = e.ins[:3] if e.op == "for" else ()
    of = [*(loop.init[k] for k in loop.active), *loop.added]
    operands = list(dict.fromkeys(
        a for a in (*of, *loop.init, *loop.captured, *head) if isinstance(a, Var)
    ))  # fmt: skip
    b, env = Builder(), dict[Var, Atom]()
    _enter(b, operands, env)
    marked = Equation(e.op, e.ins, e.outs, {"memory": memory}, e.blocks, e.pos)
    copy_equation(b, marked, env)
    block = b.blocks[0]
    block.results = [env[v] for v in e.outs]
    primals = len({a for a in of if isinstance(a, Var)})
    return Rule("a scheduled loop", primals, block, resolved=True), operands


def _forward(
    loop: Loop, room: Room, operands: Sequence[Var], primals: Sequence[Var]
) -> tuple[Block, list[Atom]]:
    """(operands) -> (results, what the backward block takes first); the latter as well."""
    b, env = Builder(), dict[Var, Atom]()
    b.pos = loop.e.pos
    _enter(b, operands, env)
    at_hand = Room(read(room.leaf, env), read(room.slots, env))
    state = [read(a, env) for a in loop.init]
    shelf = _shelf(b, loop, state, at_hand.slots)
    if loop.e.op == "for":
        end = b.emit("maximum", read(loop.e.ins[2], env), lit(0))
        at, used, state, shelf = _descend(
            b, loop, env, lit(0), lit(0), end, state, shelf, at_hand, effects=True
        )
        results = [*state, at]
    else:
        at, used, state, shelf = _windows(b, loop, env, state, shelf, at_hand)
        results = list(state)
    kept = [at, used, *shelf.atoms]
    block = b.blocks[0]
    block.results = [*results, *kept, *(env[v] for v in primals)]
    return block, kept


@in_rules
def _backward(
    loop: Loop, room: Room, operands: Sequence[Var], primals: Sequence[Var], kept: Sequence[Atom]
) -> Block:
    """(kept, primals, other operands, sensitivities of float results) -> those of the primals."""
    b, env = Builder(), dict[Var, Atom]()
    b.pos = loop.e.pos
    names = ["end", "used", *("" for _ in kept[2:])]
    at, used, *rows = _params(b, [a.type for a in kept], names)
    _enter(b, operands, env)
    floats = [k for k, p in enumerate(loop.params) if is_float(p.type)]
    results = [loop.params[k] for k in floats]
    seeds = _params(b, [v.type for v in results], [f"{v.name}_bar" for v in results])
    for s, k in zip(seeds, floats, strict=True):
        _measure(b, s, loop.init[k], env)
    at_hand = Room(read(room.leaf, env), read(room.slots, env))
    for v, k in zip(rows[1:], loop.needed, strict=True):
        init = read(loop.init[k], env)
        v.shape = (at_hand.slots, *init.shape)
    rows[0].shape = (at_hand.slots,)
    bars: list[Atom] = [seeds[floats.index(k)] for k in loop.active]
    totals = [zero(b, read(v, env)) for v in loop.added]
    outs = _reversed(b, loop, env, at, used, bars, totals, _Shelf.of(rows), at_hand)
    sums: dict[Var, Atom] = {}
    ends = [loop.init[k] for k in loop.active]
    for at_start, a in zip([*ends, *loop.added], outs, strict=True):
        if isinstance(at_start, Var):
            sums[at_start] = b.emit("add", sums[at_start], a) if at_start in sums else a
    block = b.blocks[0]
    block.results = [sums[v] for v in primals]
    return block


def _reversed(
    b: Builder, loop: Loop, env: Env, end: Atom, used: Atom, bars: Sequence[Atom],
    totals: Sequence[Atom], shelf: _Shelf, room: Room,
) -> list[Atom]:  # fmt: skip
    """Go back to the first step, leaf by leaf; the adjoints of what the loop starts with and of
    what it takes from around it."""
    n = len(bars) + len(totals)
    init = (end, used, *bars, *totals, *shelf.atoms)
    ints = [Var(INT, (), "end"), Var(INT, (), "used")]
    like = [*ints, *_fresh(init[2:], init[2:])]
    seen = _fresh(like, like)
    with b.block(*seen) as cond:
        cond.results = [b.emit("gt", seen[1], lit(0))]
    with b.block(*like) as body:
        end, adjoints = like[0], like[2 : 2 + n]
        shelf = _Shelf.of(like[2 + n :])
        top = b.emit("sub", like[1], lit(1))
        at = as_type(b, _get(b, shelf.places, top), INT)
        state = [read(a, env) for a in loop.init]
        for k, a in zip(loop.needed, shelf.rows, strict=True):
            state[k] = as_type(b, _get(b, a, top), loop.params[k].type)
        at, top, state, shelf = _descend(
            b, loop, env, at, top, end, state, shelf, room, effects=False
        )
        given = [*state, *(env[v] for v in loop.captured), *adjoints]
        args = dict(zip(loop.swept.params, [at, b.emit("sub", end, at), *given], strict=True))
        found = copy_block(b, loop.swept, args, effects=False)
        body.results = [at, top, *found, *shelf.atoms]
    outs = structured(b, "while", init, (cond, body), [v.type for v in like])
    return list(outs[2 : 2 + n])
