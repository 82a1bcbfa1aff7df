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

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from jitad.primitives import TABLE
from jitad.primitives.table import CHEAP_ON_ARRAYS, costly
from jitad.sweeps.again import keeps_arrays, needs_no_past, wants
from jitad.sweeps.cut import minimum_cut
from jitad.sweeps.scope import Scope
from jitad.sweeps.settled import Settled, settled
from jitad.sweeps.versions import READ, reads, undo
from jitad.tape.build import Builder
from jitad.tape.ir import Atom, Block, Equation, Var, free_vars, walk
from jitad.tape.types import Array

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
    if e.op in READ:
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


# -- undoing stores -------------------------------------------------------------------------------


class Unwinding:
    """Undo the stores of a block on restored arrays, region by region, as it is gone through."""

    def __init__(self, b: Builder, equations: list[Equation], scope: Scope) -> None:
        self.b, self.scope = b, scope
        self.at: dict[int, int] = {}
        self.floors: dict[int, int] = {}  # by id of a boundary: where the one before it is
        if not scope.versions.current:
            return
        self.at = {id(e): k for k, e in enumerate(equations)}
        self.made = {v: e for e in equations for v in e.outs}
        self.known = reads(equations)
        chain: set[Atom] = set()
        for v in scope.versions.current:
            if v in scope.versions.settled:
                continue
            chain.update(trail(scope.forward, v))
        last = -1
        for k, e in enumerate(equations):
            if e.blocks and (chain.intersection(e.ins) or chain.intersection(free_vars(*e.blocks))):
                self.floors[id(e)] = last
                last = k
        self._to(last)

    def passed(self, e: Equation) -> None:
        """The reverse of e is written; a new region begins if e touches a restored array."""
        if id(e) in self.floors:
            self.scope.versions.region += 1
            self._to(self.floors[id(e)])

    def _to(self, floor: int) -> None:
        scope, versions = self.scope, self.scope.versions
        for v in list(versions.current):
            if v in versions.settled:
                continue
            e = self.made.get(v)
            while e is not None and e.op in READ and self.at[id(e)] > floor:
                old = versions.overwritten(e, self.known)
                scope.owns.add(old)
                scope.sources.setdefault(old, versions.logs.get(id(e), e))
                q = versions.current[v]
                put_back = scope.value(old)
                index = [scope.value(a) for a in e.ins[2:]]
                self.b.pos = e.pos
                new = self.b.emit(undo(e), q, put_back, *index, **e.params)
                versions.undone.append((v, versions.region, self.b.sources[new]))
                previous = e.ins[0]
                assert isinstance(previous, Var)
                versions.step(v, previous, new, versions.region)
                v, e = previous, self.made.get(previous)


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
        elif x.op in READ:
            nest.join(x.ins[0], x.outs[0])
        elif x.op == "implicit":
            for p, init in zip(x.blocks[0].params, x.ins, strict=False):
                nest.join(p, init)
            for init, out in zip(x.ins, x.outs, strict=False):
                nest.join(init, out)
        for b in x.blocks:
            nest.blocks.append(b)
            nest.weight[id(b)] = weight
            todo += [(y, weight * (_INNER if y.op in ("for", "while") else 1))
                     for y in b.equations if y.blocks or y.op in READ]  # fmt: skip
    return nest


def lasting(e: Equation, active: set[Var], scope: Scope) -> dict[int, list[Atom]]:
    """Carried arrays that the reverse of this loop reads as it has left them, with their versions.

    Not where an older version is wanted by the reverse of what came before the loop, nor where
    keeping the last one would copy it in every iteration of a loop around.
    """
    body, params = e.blocks[-1], carried_params(e)
    out: dict[int, list[Atom]] = {}
    for k, j in restorable(e).items():
        v, r = e.outs[k], body.results[k]
        if k != j or r is params[k]:
            continue
        versions = scope.versions
        if v not in versions.settled:
            if e.op != "for" or v in versions.current:
                continue
            if not (scope.visible or scope.available(v)):
                continue
            found = settled(e, k, scope.sources)
            if found is None or (found.lost and not _leaves_less(e, params[k], found.lost, active)):
                continue
            scope.lost.update(found.lost)
            if not scope.runs_again():  # where what was stored before is not wanted: it is gone
                scope.kept.update(found.kept)
        out[k] = trail(body, r)
    return out


def in_place(e: Equation, active: set[Var], scope: Scope) -> dict[int, Settled]:
    """Carried arrays that let the forward part run again in the reverse iteration, as all that it
    reads of them is still there after the loop.

    Empty where something else has a past, or where no inner loop would record arrays: then what
    is asked for is had for less.
    """
    if not scope.visible or not keeps_arrays(e, active, ()):
        return {}
    out: dict[int, Settled] = {}
    reads: set[Var] = set()
    for k, j in restorable(e).items():
        v = e.outs[k]
        if k == j and e.blocks[0].results[k] is not carried_params(e)[k] and (
            v not in scope.versions.current
        ):
            found = settled(e, k, scope.sources)
            if found is not None and not found.lost and not _credited_inside(e, active, found):
                out[k] = found
                reads |= found.reads
    good = keeps_arrays(e, active, reads) and needs_no_past(e, active, scope, reads)
    return out if good else {}


def _credited_inside(e: Equation, active: set[Var], found: Settled) -> bool:
    """Is something with a derivative read of a version that a loop inside carries?  What is read of
    the last version instead would be credited to one that the iteration doesn't know."""
    body = e.blocks[-1]
    own = {*body.params, *(v for x in body.equations for v in x.outs)}
    return any(
        x.op in ("load", "slice") and x.ins[0] in found.versions and x.ins[0] not in own
        and x.outs[0] in active
        for x in walk(body)
    )


def better_recorded(e: Equation, active: set[Var], scope: Scope) -> bool:
    """Is it better not to run the forward part of this loop again, although that could be?

    If it has no loops in it, the cut finds what is dear, and records that alone.  If it has, all
    that is dear must be left in arrays that the loop fills, so that nothing is recorded.
    """
    if not any(x.op in ("for", "while") for x in e.blocks[-1].equations):
        return True
    dear = _wanted(nest := _nest(e), active)
    if not _recorded(nest, dear, None):
        return False
    kept: set[Var] = set()
    for k, j in restorable(e).items():
        v = e.outs[k]
        if v in scope.versions.settled:
            kept.update(scope.kept)
        elif k == j and v not in scope.versions.current and (scope.visible or scope.available(v)):
            found = settled(e, k, scope.sources)
            if found is not None and not found.lost:
                kept.update(found.kept)
    return bool(kept) and not _recorded(nest, dear, None, kept=kept)


def _leaves_less(e: Equation, array: Var, lost: set[Var], active: set[Var]) -> bool:
    """Is less recorded if an array is read as it was left, but for what is lost, than otherwise?"""
    nest = _nest(e)
    root = nest.find(array)
    wanted = _wanted(nest, active)
    last = _recorded(nest, wanted, root, lost)
    return last < _recorded(nest, wanted, None) and last <= (
        _recorded(nest, wanted, root) + _logged(nest, root)
    )


def plan(e: Equation, active: set[Var], scope: Scope, lasting: Iterable[int] = ()) -> list[int]:
    """Numbers of the carried arrays that the reverse of this loop restores."""
    slots = {k: j for k, j in restorable(e).items() if k not in lasting}
    forced = {k for k in slots if scope.versions.undone_of((e.outs[k],))}
    if not forced and not (slots and any(x.op in READ for x in walk(e.blocks[-1]))):
        return []
    nest = _nest(e)
    params = carried_params(e)
    together: dict[Var, list[int]] = {}
    for k in slots:
        together.setdefault(nest.find(params[k]), []).append(k)
    chosen = []
    for root, group in together.items():
        whole = [k for k, p in enumerate(params) if nest.find(p) is root]
        if forced.intersection(group):
            chosen += group
            continue
        if any(k not in slots for k in whole):
            continue  # restoring a part of what changes places is of no use
        start = 0 if scope.visible else _INNER * len(group)
        if _saved(nest, root, active) > start:
            chosen += group
    return sorted(chosen)


def records(e: Equation, active: set[Var], scope: Scope) -> int:
    """What an iteration of this loop records, if nothing of it runs again."""
    nest, params = _nest(e), carried_params(e)
    roots = dict.fromkeys(nest.find(params[k]) for k in plan(e, active, scope))
    most = _recorded(nest, _wanted(nest, active), None)
    return most - sum(_saved(nest, root, active) for root in roots)


def whole(v: Var) -> int:
    """What recording this variable costs, in the same measure."""
    rank = len(v.shape)
    return _WHOLE * _INNER ** (rank - 1) if rank else 1


def _saved(nest: _Nest, root: Var, active: set[Var]) -> int:
    """Records that restoring saves in one iteration, less those it needs."""
    wanted = _wanted(nest, active)
    saved = _recorded(nest, wanted, None) - _recorded(nest, wanted, root)
    return saved - _logged(nest, root)


def _wanted(nest: _Nest, active: set[Var]) -> set[Var]:
    """What the adjoint code of a nest may ask for."""
    return {a for b in nest.blocks for x in b.equations for a in wants(x, active)
            if x.blocks or any(v in active for v in x.outs)}  # fmt: skip


def _recorded(
    nest: _Nest, wanted: set[Var], there: Var | None, lost: Collection[Var] = (),
    kept: Collection[Var] = (),
) -> int:  # fmt: skip
    """What is recorded in one iteration, if the arrays of one family are there to be read, and some
    values `kept` where they were stored."""
    return sum(
        nest.weight[id(b)] * _size(_cut(b, wanted, nest, there, lost, kept)) for b in nest.blocks
    )


def _logged(nest: _Nest, root: Var) -> int:
    """What the stores to the arrays of a family log in one iteration."""
    return sum(
        nest.weight[id(b)] * (_WHOLE if x.op.endswith("_slice") else 1)
        for b in nest.blocks for x in b.equations
        if x.op in READ and nest.find(x.outs[0]) is root
    )  # fmt: skip


def _size(values: set[Var]) -> int:
    return sum(_WHOLE if isinstance(v.type, Array) else 1 for v in values)


def _cut(
    block: Block, wanted: set[Var], nest: _Nest, there: Var | None, lost: Collection[Var],
    kept: Collection[Var],
) -> set[Var]:  # fmt: skip
    """What would be recorded of a block, if what is not lost of one family (or none), and what is
    `kept`, were there."""
    made = {v: e for e in block.equations for v in e.outs}
    owned = set(made) | set(block.params[1:])
    changing = {nest.find(a) for a in nest.family}
    inputs: dict[Var, list[Var]] = {}
    cost: dict[Var, int] = {}
    fixed: set[Var] = set()
    needed = [v for v in owned if v in wanted and nest.find(v) not in changing]
    todo = list(needed)
    while todo:
        v = todo.pop()
        if v in cost:
            continue
        cost[v] = _WHOLE if isinstance(v.type, Array) else 1
        e = made.get(v)
        operands = e.ins if e is not None else ()
        if v in kept:
            inputs[v] = []
            continue
        if e is not None and e.op in ("load", "slice"):
            family = nest.find(e.ins[0]) if isinstance(e.ins[0], Var) else None
            if family in changing and (family is not there or v in lost):
                fixed.add(v)
                continue
            operands = e.ins[1:]
        elif e is None or e.blocks or costly(e) or not (
            TABLE[e.op].elementwise or e.op in CHEAP_ON_ARRAYS
        ):
            fixed.add(v)
            continue
        inputs[v] = [a for a in operands if isinstance(a, Var) and a in owned]
        todo += inputs[v]
    return minimum_cut(inputs, cost, fixed, needed)
