"""Which overwritten arrays does a reverse loop put back, instead of recording what was read?

A loop that overwrites an array it carries hides what it read from its reverse.  Either every
number that the adjoint code needs is recorded as it is read, or every store logs the number it
overwrites and the reverse loop, which starts from the array's last version, stores it back: at
each place it then has the version of the array that the forward code had there, to read from as
often as it likes.  A stencil in place needs one record a point instead of one a neighbour.

A *trail* leads from a version of an array back through the stores, loops and branches of one block.
An array is restorable if the trails of a loop's results lead to the loop's parameters, each
reached by one result (arrays that change places each time round, `u, un = un, u`, are restorable
together).  It is restored if that needs fewer records, inner loops counting more.
Source: Hascoet & Pascual 2013, section 4 (to-be-recorded analysis); Griewank & Walther, ch. 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jitad.primitives import TABLE
from jitad.sweeps.again import wants
from jitad.sweeps.cut import minimum_cut
from jitad.sweeps.scope import Scope
from jitad.tape.ir import Atom, Block, Equation, Var, walk
from jitad.tape.types import Array

STORES = {"store": "load", "accum": "load", "store_slice": "slice", "accum_slice": "slice"}
_INNER = 16  # how often an inner loop is taken to run
_WHOLE = 64  # what recording an array costs, in numbers


def head_of(e: Equation) -> int:
    """Operands before the initial values of a loop's carried values."""
    return 3 if e.op == "for" else 0


def carried_params(e: Equation) -> list[Var]:
    return e.blocks[-1].params[1 if e.op == "for" else 0 :]


def before(e: Equation, v: Var) -> Var | None:
    """The version that became v by equation e of the same block; None where no trail leads on."""
    a: Atom | None = None
    if e.op in STORES:
        a = e.ins[0]
    elif e.op in ("for", "while"):
        k = e.outs.index(v)
        a = e.ins[head_of(e) + k] if k in restorable(e) else None
    elif e.op == "if":
        k = e.outs.index(v)
        ends = [trail(b, b.results[k])[-1] for b in e.blocks]
        inside = {w for b in e.blocks for x in b.equations for w in x.outs}
        if ends[0] is ends[1] and ends[0] not in inside:
            a = ends[0]
    return a if isinstance(a, Var) else None


def trail(block: Block, end: Atom) -> list[Atom]:
    """Versions of an array from `end` back to one that this block doesn't make by changing it."""
    made = {v: e for e in block.equations for v in e.outs}
    out = [end]
    while isinstance(end, Var) and end in made:
        previous = before(made[end], end)
        if previous is None:
            break
        out.append(previous)
        end = previous
    return out


def restorable(e: Equation) -> dict[int, int]:
    """For carried arrays that can be restored: number of the result -> of the parameter."""
    body = e.blocks[-1]
    params = carried_params(e)
    number = {p: k for k, p in enumerate(params)}
    leads: dict[int, int] = {}
    for k, p in enumerate(params):
        if isinstance(p.type, Array):
            root = trail(body, body.results[k])[-1]
            if isinstance(root, Var) and root in number:
                leads[k] = number[root]
    while True:
        reached = set(leads.values())
        kept = {k: j for k, j in leads.items() if j in leads and k in reached}
        if len(set(kept.values())) < len(kept):  # one parameter, two results: keep neither
            kept = {k: j for k, j in kept.items() if list(kept.values()).count(j) == 1}
        if len(kept) == len(leads):
            return kept
        leads = kept


# -- whether it pays ------------------------------------------------------------------------------


@dataclass
class _Nest:
    """What is in the blocks of a loop nest: who defines what, and how deep."""

    weight: dict[int, int] = field(default_factory=dict)  # of blocks, by id
    blocks: list[Block] = field(default_factory=list)
    family: dict[Var, Var] = field(default_factory=dict)

    def find(self, v: Var) -> Var:
        while v in self.family:
            v = self.family[v]
        return v

    def join(self, a: Atom, b: Atom) -> None:
        if isinstance(a, Var) and isinstance(b, Var) and isinstance(a.type, Array):
            x, y = self.find(a), self.find(b)
            if x is not y:
                self.family[x] = y


def _nest(e: Equation) -> _Nest:
    nest = _Nest()
    todo = [(e, 1)]
    while todo:
        x, weight = todo.pop()
        if x.op in ("for", "while"):
            body = x.blocks[-1]
            for p, r, init, out in zip(
                carried_params(x), body.results, x.ins[head_of(x) :], x.outs, strict=True
            ):
                for a in (r, init, out):
                    nest.join(p, a)
        elif x.op == "if":
            for b in x.blocks:
                for r, out in zip(b.results, x.outs, strict=True):
                    nest.join(r, out)
        elif x.op in STORES:
            nest.join(x.ins[0], x.outs[0])
        for b in x.blocks:
            nest.blocks.append(b)
            nest.weight[id(b)] = weight
            todo += [(y, weight * (_INNER if y.op in ("for", "while") else 1))
                     for y in b.equations if y.blocks or y.op in STORES]  # fmt: skip
    return nest


def plan(e: Equation, active: set[Var], scope: Scope) -> list[int]:
    """Numbers of the carried arrays that the reverse of this loop restores."""
    slots = restorable(e)
    forced = {k for k in slots if scope.current(e.outs[k]) is not None}
    if not slots or not any(x.op in STORES for x in walk(e.blocks[-1])):
        return sorted(forced)
    nest = _nest(e)
    params = carried_params(e)
    together: dict[Var, list[int]] = {}
    for k in slots:
        together.setdefault(nest.find(params[k]), []).append(k)
    chosen = []
    for root, group in together.items():
        whole = [k for k, p in enumerate(params) if p in nest.family or p is root]
        if any(nest.find(params[k]) is root and k not in slots for k in whole):
            continue  # restoring a part of what changes places is of no use
        start = 0 if scope.visible else sum(_INNER for k in group if k not in forced)
        if forced.intersection(group) or _saved(nest, root, active) > start:
            chosen += group
    return sorted(chosen)


def _saved(nest: _Nest, root: Var, active: set[Var]) -> int:
    """Records that restoring saves in one iteration, less those it needs."""
    equations = [(b, x) for b in nest.blocks for x in b.equations]
    wanted = {a for _, x in equations for a in wants(x, active)
              if x.blocks or any(v in active for v in x.outs)}  # fmt: skip
    saved = 0
    for b in nest.blocks:
        weight = nest.weight[id(b)]
        recorded = _cut(b, wanted, nest, None)
        remaining = _cut(b, wanted, nest, root)
        saved += weight * (_size(recorded) - _size(remaining))
        for x in b.equations:
            if x.op in STORES and nest.find(x.outs[0]) is root:
                saved -= weight * (_WHOLE if x.op.endswith("_slice") else 1)
    return saved


def _size(values: set[Var]) -> int:
    return sum(_WHOLE if isinstance(v.type, Array) else 1 for v in values)


def _cut(block: Block, wanted: set[Var], nest: _Nest, restored: Var | None) -> set[Var]:
    """What would be recorded of a block, if the arrays of one family (or none) were restored."""
    made = {v: e for e in block.equations for v in e.outs}
    owned = set(made) | set(block.params[1:])
    changing = {nest.find(a) for a in nest.family}
    inputs: dict[Var, list[Var]] = {}
    cost: dict[Var, int] = {}
    fixed: set[Var] = set()
    needed = [v for v in owned if v in wanted and not isinstance(v.type, Array)]
    todo = list(needed)
    while todo:
        v = todo.pop()
        if v in cost:
            continue
        cost[v] = _WHOLE if isinstance(v.type, Array) else 1
        e = made.get(v)
        operands = e.ins if e is not None else ()
        if e is not None and e.op in ("load", "slice"):
            family = nest.find(e.ins[0]) if isinstance(e.ins[0], Var) else None
            if family in changing and family is not restored:
                fixed.add(v)
                continue
            operands = e.ins[1:]
        elif e is None or e.blocks or TABLE[e.op].dear or not TABLE[e.op].elementwise:
            fixed.add(v)
            continue
        inputs[v] = [a for a in operands if isinstance(a, Var) and a in owned]
        todo += inputs[v]
    return minimum_cut(inputs, cost, fixed, needed)
