"""Where is a value computed: in a statement of its own, or inside the statement that uses it?

One pass over a block, last equation first, so that all uses of a variable are known when its
definition is met.  Nothing dear is computed twice:

* a scalar used once is written inside its use (a load only if nothing is written in between);
* an elementwise array whose elements are all used by one loop nest, at one index, has no memory:
  the nest computes the element (deforestation, Wadler 1990; "pull arrays", Axelsson et al. 2010).
  The nest's equations are its *members*.  Elements of a few operations are computed by several
  nests: that is no more work than storing and loading them, and none where nests become one;
* slices, transposes and broadcasts are index maps, `full` and `iota` formulas, unless somebody
  needs them as memory: a result, a carried value, the base of a store.

The pass knows then where every variable is *really* used last, which the buffers need.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jitad.emit.writes import VIEWS, Writes
from jitad.immutable import immutable
from jitad.primitives import TABLE
from jitad.tape.ir import (
    CALLS,
    STRUCTURED,
    Atom,
    Block,
    Equation,
    Lit,
    Var,
    free_vars,
    is_array,
    lit,
)
from jitad.tape.lent import STORES
from jitad.tape.rounding import Deciding, rounded
from jitad.tape.types import Scalar

REDUCTIONS = ("sum", "amax", "amin")
FORMULAS = ("full", "iota")

_WRITING = frozenset((*STORES, *STRUCTURED, *CALLS))
_LIGHT = 4  # operations that are made again rather than stored and loaded ...
_OFTEN = 4  # ... by so many nests

Nest = tuple[Equation, int]  # a loop nest: the equation that it is for, and which operand


@dataclass(slots=True)
class Demand:
    """What is known of a variable's uses, all of them later in the block."""

    count: int = 0
    nest: Nest | None = None  # the nest that reads it ...
    nests: dict[Nest | None, None] = field(default_factory=dict)  # all that do
    shared: bool = False  # ... or several do, or something that isn't a nest
    aligned: bool = True  # read at the nest's own index, not through a view
    repeated: bool = False  # each element is read several times
    memory: bool = False  # must be in a buffer of its own ...
    whole: bool = False  # ... and be all of it
    local: bool = False  # a scalar that must have a name
    last: int = -1


@immutable(slots=True)
class Onto:
    """A sum's only use: `add` gives it and `to` together, which nothing else reads from then on."""

    add: Equation
    to: Var
    end: int  # where in its block the addition stands


@dataclass(slots=True)
class Analysis:
    """What the pass found, for all blocks of a tape."""

    inline: set[Var] = field(default_factory=set)  # computed where it is used
    virtual: set[Var] = field(default_factory=set)  # views and formulas without memory
    dead: set[Equation] = field(default_factory=set)
    members: dict[Nest, list[Equation]] = field(default_factory=dict)  # in order
    last: dict[Block, dict[Var, int]] = field(default_factory=dict)
    home: dict[Var, Block] = field(default_factory=dict)
    loose: set[Equation] = field(default_factory=set)  # sums whose order is free
    pushed: dict[Var, Equation] = field(default_factory=dict)  # arrays that their block records
    rounded: set[Equation] = field(default_factory=set)  # sums after rounded products
    whole: set[Var] = field(default_factory=set)  # needed as all of a buffer of their own
    equal: dict[Equation, tuple[Atom, ...]] = field(default_factory=dict)  # what checks compared
    onto: dict[Equation, Onto] = field(default_factory=dict)  # sums that are added to an array
    pushing: frozenset[str] = frozenset()  # functions that push on stacks


def analyse(
    body: Block, known: Mapping[str, Deciding], mine: Deciding | None = None,
    pushing: frozenset[str] = frozenset(),
) -> Analysis:  # fmt: skip
    """`known`: the functions that the body calls, `pushing` those of them that push on stacks;
    `mine`: itself, if it is one."""
    out = Analysis(pushing=pushing)
    _visit(out, body)
    out.rounded |= rounded(body, known, mine)
    made = {v: e for e in body.equations if e.op == "eq" for v in e.outs}
    out.equal = {e: made[e.ins[0]].ins for e in body.equations  # type: ignore[index]
                 if e.op == "check" and e.ins[0] in made}  # fmt: skip
    return out


def _visit(out: Analysis, block: Block) -> dict[Var, Demand]:
    """The demands on variables from outside the block."""
    demands: dict[Var, Demand] = {}
    members: dict[Nest, list[Equation]] = defaultdict(list)
    equations = block.equations
    end = len(equations)
    recorded: dict[Atom, Equation] = {}
    writes, pushes = [0], [0]
    for e in equations:
        writes.append(writes[-1] + (e.op in _WRITING))
        by_call = e.op in CALLS and e.params["function"] in out.pushing
        pushes.append(pushes[-1] + (e.op == "push" or e.op in STRUCTURED or by_call))
    for p in block.params:
        out.home[p] = block
    whole_ones = [(k, e) for k, e in enumerate(equations) if not _of_numbers(e)]
    weights, near, held = _weights([e for _, e in whole_ones])
    written = Writes(whole_ones)
    runs = {e.outs[0] for e in equations if e.op == "slice" and _is_run(e)}
    added: dict[Var, Onto] = {}  # what may be added to an array where that lies
    sums: list[tuple[int, Equation, Onto]] = []

    def undisturbed(since: int, until: int) -> bool:
        return writes[until] == writes[since + 1]

    def need(atom: Atom, when: int, nest: Nest | None = None, *, aligned: bool = True,
             repeated: bool = False, memory: bool = False, whole: bool | None = None,
             local: bool = False) -> None:  # fmt: skip
        if isinstance(atom, Lit):
            return
        d = demands.get(atom)
        if d is None:
            d = demands[atom] = Demand()
        d.shared |= nest is None or (d.count > 0 and d.nest != nest)
        d.nest = nest
        d.nests[nest] = None
        d.count += 1
        d.aligned &= aligned
        d.repeated |= repeated
        d.memory |= memory
        d.whole |= memory if whole is None else whole
        d.local |= local
        d.last = max(d.last, when)

    def use(atoms: tuple[Atom, ...], when: int) -> None:
        """As `need`, for what is no nest: most of what there is."""
        for a in atoms:
            if type(a) is Var:
                d = demands.get(a)
                if d is None:
                    d = demands[a] = Demand()
                d.nest, d.nests[None], d.shared = None, None, True
                d.count += 1
                if when > d.last:
                    d.last = when

    def locals_(atoms: tuple[Atom, ...], when: int) -> None:
        for a in atoms:
            need(a, when, local=True)

    def operand(a: Atom, when: int, nest: Nest, d: Demand | None = None) -> None:
        """An operand of a nest's equation, whose own demand is `d` if it is a member."""
        if is_array(a):
            need(a, when, nest, aligned=d is None or d.aligned,
                 repeated=d is not None and d.repeated)  # fmt: skip
        else:
            need(a, when, local=True)

    for a in block.results:
        need(a, end, memory=is_array(a))
    carries = dict(zip(reversed(block.results), reversed(block.params), strict=False))

    def early(e: Equation, k: int, d: Demand) -> bool:
        """Is it what the next iteration gets, and better computed before the stores that follow?

        LLVM vectorises a value handed on to the next iteration only if it is computed before
        the one of this iteration is used in a store.  Sums are another matter.
        """
        if d.last != end or writes[end] == writes[k + 1]:
            return False
        return e.outs[0] in carries and carries[e.outs[0]] not in e.ins

    for k in range(end - 1, -1, -1):
        e = equations[k]
        for v in e.outs:
            out.home[v] = block
        if e.op == "push" and is_array(e.ins[1]):
            recorded[e.ins[1]] = e
        if recorded:
            out.pushed.update(
                (v, recorded[v]) for v in e.outs if v in recorded and not demands[v].memory
            )
        if e.op in STRUCTURED:
            for inner in e.blocks:
                for v, d in _visit(out, inner).items():
                    need(v, k, memory=d.memory, whole=d.whole, local=True)
            _structured(out, e, k, need)
            continue
        row = TABLE[e.op]
        wanted = [demands[v] for v in e.outs if v in demands]
        if not wanted and not row.effect:
            out.dead.add(e)
            continue
        d = wanted[0] if wanted else Demand()
        array = bool(e.outs) and is_array(e.outs[0])
        own: Nest = (e, 0)
        if e.op in VIEWS and array:
            base, *operands = e.ins
            locals_(tuple(operands), k)
            if not is_array(base):  # a scalar everywhere
                if not d.memory:
                    out.virtual.add(e.outs[0])
                need(base, k, local=True)
            elif d.memory or (
                e.op == "slice" and written.between(written.families(base), k, d.last)
            ):
                need(base, k, own, aligned=False, repeated=_repeats(e))
            else:
                out.virtual.add(e.outs[0])
                unique = not d.shared and (d.count == 1 or d.aligned)
                need(base, d.last, d.nest if unique else None, aligned=d.aligned and _is_start(e),
                     repeated=d.repeated or _repeats(e), local=d.local)  # fmt: skip
                if unique and d.nest is not None:
                    members[d.nest].append(e)
        elif e.op in FORMULAS:
            if not d.memory:
                out.virtual.add(e.outs[0])
            locals_(e.ins, k)
        elif row.elementwise and array:
            inside = (
                not (d.shared or d.memory or d.local)
                and (d.count == 1 or d.aligned)
                and not (d.repeated and (row.dear or weights[e.outs[0]] > 1))
                and not written.between(written.families(e.outs[0]), k, d.last)
            )
            again = (
                d.shared and d.aligned and not (d.memory or d.local or d.repeated)
                and None not in d.nests and len(d.nests) <= _OFTEN
                and (weights[e.outs[0]] <= _LIGHT or (
                    near[e.outs[0]] <= _LIGHT  # ... and what it takes is there anyway
                    and all(a in demands and demands[a].last >= d.last for a in held[e.outs[0]])
                ))
                and not written.between(written.families(e.outs[0]), k, d.last)
                and e.outs[0] not in recorded
            )  # fmt: skip
            inside = again or (inside and d.nest is not None)
            if inside:
                out.inline.add(e.outs[0])
            elif e.op == "add" and e.outs[0] not in recorded:
                for a, b in (e.ins, e.ins[::-1]):
                    if isinstance(a, Var) and isinstance(b, Var) and a.type == b.type:
                        added[a] = Onto(e, b, k)
            for nest in d.nests if inside else [own]:
                assert nest is not None
                members[nest].append(e)
                for a in e.ins:
                    operand(a, d.last if inside else k, nest, d if inside else None)
        elif e.op == "take" and d.nest is not None and d.count == 1 and not (
            d.shared or d.memory or d.local or d.repeated
            or written.between(written.families(e.outs[0]), k, d.last)
        ):
            out.inline.add(e.outs[0])
            members[d.nest].append(e)
            need(e.ins[0], d.last)
            first = e.params["axis"] == 0
            need(e.ins[1], d.last, d.nest, aligned=d.aligned and first, repeated=not first)
        elif row.elementwise or e.op == "load" or (e.op == "slice" and not array):
            inside = d.count == 1 and not d.local and (row.elementwise or undisturbed(k, d.last))
            inside = inside and not early(e, k, d)
            if inside:
                out.inline.add(e.outs[0])
            use(e.ins, d.last if inside else k)
        else:
            if e.op == "pop" and is_array(v := e.outs[1]) and v in demands:
                d = demands[v]  # read off the stack, if nothing is pushed meanwhile
                if not (d.memory or d.local) and pushes[min(d.last + 1, end)] == pushes[k + 1]:
                    out.virtual.add(v)
            elif e.op == "pops":
                out.virtual.add(e.outs[1])
            elif e.op == "sum" and d.count == 1 and e.outs[0] in added and _is_floats(e.outs[0]):
                sums.append((k, e, added[e.outs[0]]))
            if e.op in CALLS:  # which may be lent a part of an array where it lies
                for a in e.ins:
                    need(a, k, memory=is_array(a) and a not in runs)
            else:
                _statement(e, k, need, operand, locals_)
    place = {e: k for k, e in enumerate(equations)} if sums else {}
    for k, e, onto in sums:
        users = [place[n[0]] if n else end for n in demands[onto.to].nests]
        if all(n <= k or n == onto.end for n in users):
            out.onto[e] = onto
    out.last[block] = {v: d.last for v, d in demands.items()}
    out.whole.update(v for v, d in demands.items() if d.whole)
    out.members.update((nest, found[::-1]) for nest, found in members.items())
    return {v: d for v, d in demands.items() if out.home.get(v) is not block}


def _is_floats(v: Var) -> bool:
    return v.type.dtype[0] == "f"  # type: ignore[union-attr]


def _of_numbers(e: Equation) -> bool:
    """Has it neither arrays nor blocks?"""
    for v in e.outs:
        if type(v.type) is not Scalar:
            return False
    for a in e.ins:
        if type(a.type) is not Scalar:
            return False
    return not e.blocks


def _weights(
    equations: list[Equation],
) -> tuple[dict[Atom, float], dict[Atom, float], dict[Atom, frozenset[Var]]]:
    """How many operations an element takes, from what is in memory or in a view of it.

    And how many where what several equations use, and takes too many to be made again, is taken
    for memory, as it will be; and which arrays of these are read then.
    """
    all_: dict[Atom, float] = {}
    near: dict[Atom, float] = {}
    held: dict[Atom, frozenset[Var]] = {}
    kept: set[Atom] = set()  # what is taken for memory
    users: Counter[Atom] = Counter()
    for e in equations:
        used = {*e.ins, *free_vars(*e.blocks)} if e.blocks else set(e.ins)
        users.update([a for a in used if is_array(a)])
    for e in equations:
        view = e.op in VIEWS
        if not view and (e.blocks or e.op not in TABLE or not TABLE[e.op].elementwise):
            continue
        if not is_array(e.outs[0]):
            continue
        v, arrays = e.outs[0], [a for a in e.ins if isinstance(a, Var) and is_array(a)]
        own = 0.0 if view else math.inf if TABLE[e.op].dear else 2.0 if e.op == "div" else 1.0
        all_[v] = own + sum(all_.get(a, 0.0) for a in arrays)
        near[v] = own + sum(near.get(a, 0.0) for a in arrays if a not in kept)
        held[v] = frozenset().union(*([a] if a in kept else held.get(a, ()) for a in arrays))
        if users[v] > 1 and near[v] > _LIGHT and not view:
            kept.add(v)
    return all_, near, held


def _structured(out: Analysis, e: Equation, k: int, need: Any) -> None:
    match e.op:
        case "for":
            start, step, count, *init = e.ins
            simple = isinstance(start, Lit) and isinstance(step, Lit)
            need(start, k, local=True)
            need(step, k, local=True)
            need(count, k, local=not simple)
            _loose_sums(out, e)
        case "if":
            need(e.ins[0], k)
            init = []
        case _:
            init = list(e.ins)
    for a in init:
        need(a, k, memory=is_array(a))


def _statement(e: Equation, k: int, need: Any, operand: Any, locals_: Any) -> None:
    match e.op:
        case "store" | "accum":
            need(e.ins[0], k, memory=True)
            for a in e.ins[1:]:
                need(a, k)
        case "store_slice" | "accum_slice":
            need(e.ins[0], k, memory=True)
            operand(e.ins[1], k, (e, 0))
            locals_(e.ins[2:], k)
        case "store_take" | "accum_take":
            need(e.ins[0], k, memory=True)
            operand(e.ins[1], k, (e, 8))
            _picking(e, k, need)
        case "concatenate":
            for j, a in enumerate(e.ins[:-1]):
                operand(a, k, (e, j))
            locals_(e.ins[-1:], k)
        case "push":
            need(e.ins[0], k)
            if is_array(e.ins[1]):
                operand(e.ins[1], k, (e, 0))
            else:
                need(e.ins[1], k)
        case "pop" | "pops":
            need(e.ins[0], k)
            locals_(e.ins[1:], k)
        case "pad":
            operand(e.ins[0], k, (e, 0))
            locals_(e.ins[1:], k)
        case "reshape":
            need(e.ins[0], k, memory=True)
            locals_(e.ins[1:], k)
        case "pack" | "check" | "print" | "call" | "act" | "spread" | "callback":
            for a in e.ins:
                need(a, k, memory=is_array(a))
        case "dim":
            need(e.ins[0], k)
        case _ if e.op in REDUCTIONS or e.op == "copy":
            operand(e.ins[0], k, (e, 0))
        case _ if TABLE[e.op].emit:  # handed over whole
            for a in e.ins:
                need(a, k, memory=is_array(a), local=not is_array(a))
        case "take":  # reads any access of the array, and at any place
            need(e.ins[0], k)
            _picking(e, k, need)
        case _:  # matmul: reads any access, several times
            for a in e.ins:
                need(a, k, local=not is_array(a))


def _picking(e: Equation, k: int, need: Any) -> None:
    """The index array of what picks: an index is read for each position along the axis."""
    need(e.ins[-1], k, (e, 9), repeated=e.params["axis"] > 0)


def _is_run(e: Equation) -> bool:
    """Does a slice take elements that lie side by side, all in one row?"""
    kinds: str = e.params["kinds"]
    return kinds.endswith("r") and kinds.count("r") == 1 and e.ins[-2] == lit(1)


def _is_start(e: Equation) -> bool:
    """Does a slice have the elements that are at the same indices of the array?"""
    if e.op != "slice" or e.params["kinds"].strip("r"):
        return False
    return all(a == lit(k % 3 % 2) for k, a in enumerate(e.ins[1:]) if k % 3 < 2)


def _repeats(e: Equation) -> bool:
    """Does a broadcast put a new axis outside of an old one, so that a nest comes by again?"""
    if e.op != "broadcast":
        return False
    axes: tuple[int, ...] = e.params["axes"]
    return any(new < max(axes, default=-1) for new in range(len(e.ins) - 1) if new not in axes)


def _loose_sums(out: Analysis, e: Equation) -> None:
    """Sums of a pure accumulator: a float that the loop only adds to, and reads nowhere else.

    Their order is free (they are `fadd`), as a compensated sum's is not: it reads its sum.
    """
    body = e.blocks[0]
    uses: dict[Atom, list[Equation]] = defaultdict(list)
    for q in body.equations:
        for a in set(q.ins):
            uses[a].append(q)
        for inner in q.blocks:
            for v in free_vars(inner):
                uses[v] += [q, q]  # not a plain use
    results: dict[Atom, int] = defaultdict(int)
    for a in body.results:
        results[a] += 1
    for p, r in zip(body.params[1:], body.results, strict=True):
        if not (isinstance(p.type, Scalar) and p.type.dtype[0] == "f") or p is r:
            continue
        chain: list[Equation] = []
        at: Atom = p
        while len(uses[at]) == 1 and results[at] == 0:
            q = uses[at][0]
            if q.op not in ("add", "sub") or q.ins[0] is q.ins[1]:
                break
            result = q.outs[0].type
            if not (isinstance(result, Scalar) and result.dtype == p.type.dtype):
                break
            if q.op == "sub" and q.ins[0] is not at:
                break
            chain.append(q)
            at = q.outs[0]
        if at is r and not uses[r] and results[r] == 1:
            alone = len(chain) == 1 and _waits_a_step(body)
            (out.rounded if alone else out.loose).update(chain)


def _waits_a_step(body: Block) -> bool:
    """Is there a product whose factor is that of the iteration before, as the power of a number?

    Such a loop doesn't run in lanes, whatever the order of its sums, and is as fast as what an
    iteration waits for: an addition takes less time after a product of its own than with it, in
    one instruction.
    """
    made = {v: e for e in body.equations for v in e.outs}
    return any(
        isinstance(r, Var) and r in made and made[r].op == "mul" and p in made[r].ins
        and isinstance(p.type, Scalar)
        for p, r in zip(body.params[1:], body.results, strict=True)
    )  # fmt: skip
