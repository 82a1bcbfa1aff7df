"""How do `for`, `while` and `if` become Python statements, and what happens to carried values?

A carried scalar is a local that is assigned anew at the end of the body.  A carried array is a
name for a buffer; see `buffers` for when a buffer moves in, stays, is exchanged or copied.  All
names are bound at once (parallel assignment), which costs a tuple only where they form a cycle.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from jitad.emit import nests, stacks
from jitad.emit.access import Access, identity, linear_sum
from jitad.emit.buffers import Root, Roots, origins
from jitad.emit.just_stored import waiting
from jitad.emit.print_python import LIMIT, OR, PRODUCT, SUM, TERNARY, Expr, Page, negated
from jitad.emit.scope import Loop, Scope
from jitad.tape.ir import Atom, Block, Equation, Lit, Var
from jitad.tape.types import Scalar, Stack

Pairs = list[tuple[str, Expr]]


@dataclass(slots=True)
class Carried:
    """What a loop carries: parameters that change, with the roots of the arrays among them."""

    scalars: list[tuple[Var, Atom]] = field(default_factory=list)  # (parameter, result)
    arrays: list[tuple[Var, Var, Root]] = field(default_factory=list)
    stacks: list[tuple[Var, Var]] = field(default_factory=list)
    moved: dict[Var, Roots] = field(default_factory=dict)  # what a parameter's buffer was before
    origins: set[Root] = field(default_factory=set)  # buffers that change places in the loop


def assign(page: Page, pairs: Pairs) -> None:
    """Bind all names at once; one by one in an order that keeps what is still to be read."""
    todo = {name: e for name, e in pairs if name != e.text}
    readers: dict[str, int] = defaultdict(int)
    reads = {name: {r for r in re.findall(r"[A-Za-z_]\w*", e.text) if r in todo and r != name}
             for name, e in todo.items()}  # fmt: skip
    for names in reads.values():
        for r in names:
            readers[r] += 1
    ready = [name for name in todo if not readers[name]]
    while ready:
        name = ready.pop()
        page.write(f"{name} = {todo.pop(name).text}")
        for r in reads[name]:
            readers[r] -= 1
            if not readers[r]:
                ready.append(r)
    if todo:
        page.write(f"{', '.join(todo)} = {', '.join(e.text for e in todo.values())}")


# -- loops ----------------------------------------------------------------------------------------


def _enter(s: Scope, e: Equation, init: tuple[Atom, ...], blocks: tuple[Block, ...],
           params: list[Var]) -> Carried:  # fmt: skip
    """Bind the parameters to the initial values: buffers move in where they are free."""
    inside = len(s.loops) + 1
    carried = Carried()
    pairs: Pairs = []
    taken: set[Root] = set()
    reused: set[str] = set()
    arrays: list[tuple[Var, Atom, Atom]] = []
    carries = list(zip(params, init, blocks[-1].results, strict=True))
    # first what never changes: it keeps the names and buffers that it has from being reused
    carries.sort(key=lambda carry: carry[0] is not carry[2])
    for p, i, r in carries:
        if isinstance(p.type, Stack):
            assert isinstance(i, Var) and isinstance(r, Var)
            s.stacks[p] = s.stacks[i]
            carried.stacks.append((p, r))
        elif isinstance(p.type, Scalar):
            x = s.expr(i)
            if r is p:  # never changes
                if not (x.is_name or isinstance(i, Lit)):
                    x = s.temporary(x, "t")
                s.pinned.add(x.text)
                s.exprs[p] = x
                continue
            if _free(s, i, x, blocks) and x.text not in reused:
                name = x.text
                reused.add(name)
                s.sums.pop(name, None)
                s.integers.pop(name, None)
            else:
                name = s.new_name(p)
                pairs.append((name, x))
            s.depth_of[name] = inside
            s.exprs[p] = Expr(name)
            carried.scalars.append((p, r))
        elif r is p:
            assert isinstance(i, Var)
            s.bind(p, s.access[i], s.extents[i])
            s.buffers.place(p, s.buffers.roots[i])
        else:
            arrays.append((p, i, r))
    for p, i, r in arrays:
        assert isinstance(i, Var) and isinstance(r, Var)
        roots = s.buffers.roots[i]
        own_name = _by_their_name(roots, s.access[i].name, len(s.loops))
        if own_name and s.whole(i) and taken.isdisjoint(roots) and s.buffers.writable(i, blocks):
            name = s.access[i].name
        else:
            name, root = s.allocate(p, s.extents[i])
            roots = frozenset([root])
            nests.copy(s, name, i, roots)
        taken |= roots
        carried.moved[p] = roots
        own = Root(True, inside, inside, name=name)
        s.bind(p, Access(name, identity(len(s.extents[i]))), s.extents[i])
        s.buffers.place(p, frozenset([own]))
        carried.arrays.append((p, r, own))
        s.places[r] = p
    assign(s.page, pairs)
    return carried


def _by_their_name(roots: Roots, name: str, inside: int) -> bool:
    """Does binding this name anew give a hoisted buffer away?  The others are new each time."""
    return all(r.name == name or r.depth >= inside for r in roots)


def _free(s: Scope, a: Atom, x: Expr, blocks: tuple[Block, ...] = ()) -> bool:
    """Can the name of this scalar be bound anew?  Not if it is that of another, of which this is
    but a cast."""
    if not isinstance(a, Var) or not x.is_name or x.text in s.pinned or x.text in s.counting:
        return False
    if a in s.analysis.inline:
        return False
    return not s.buffers.live(a, blocks)


def _leave(s: Scope, carried: Carried) -> None:
    """At the end of the body: every result in a buffer of its own, then all names bound."""
    inside = len(s.loops)
    pairs: Pairs = []
    used = set().union(*(origins(s.buffers.roots[r]) for _, r, _ in carried.arrays))
    targets = {s.access[p].name for p, _, _ in carried.arrays}
    taken: set[Root] = set()
    moves: Pairs = []
    copies: list[tuple[Var, Var, Root]] = []
    for p, r, own in carried.arrays:
        roots = s.buffers.roots[r]
        name, target = s.access[r].name, s.access[p].name
        alone = s.whole(r) and taken.isdisjoint(roots) and all(b.owned for b in roots)
        if roots != {own}:
            carried.origins |= carried.moved[p]
        if alone and all(b.depth >= inside for b in roots):
            moves.append((target, Expr(name)))
        elif (alone and own not in used and name not in targets and len(roots) == 1
              and all(b.born >= inside for b in roots)
              and _by_their_name(roots, name, inside)):  # fmt: skip
            carried.origins |= roots
            moves += [(target, Expr(name)), (name, Expr(target))]
        else:
            copies.append((p, r, own))
            continue
        taken |= roots
    for p, a in carried.scalars:
        x = s.expr(a)
        if copies and not (x.is_name or isinstance(a, Lit)):
            x = s.temporary(x, "t")  # it may load what the copies overwrite
        pairs.append((s.exprs[p].text, x))
    for p, r, own in copies:
        target = s.access[p].name
        if own in used:
            name = s.names.new("", "a")
            extents = s.extents[p]
            root = s.allocate_as(name, p.type.dtype, extents, hoist=False)  # type: ignore[union-attr]
            taken.add(root)
            nests.copy(s, name, r)
            pairs.append((target, Expr(name)))
        else:
            nests.copy(s, target, r)
    for p, r in carried.stacks:
        pairs += [(a, Expr(b)) for a, b in zip(s.stacks[p], s.stacks[r], strict=True)]
    assign(s.page, pairs + moves)


def _outs(s: Scope, e: Equation, carried: Carried, params: list[Var]) -> None:
    """The loop's results are what its parameters are bound to after the last iteration."""
    here = len(s.loops)
    apart = origins(frozenset(carried.origins))
    depth = min((b.depth for b in apart), default=here)
    results = {p: (r, own) for p, r, own in carried.arrays}
    for p, v in zip(params, e.outs, strict=True):
        if isinstance(p.type, Stack):
            s.stacks[v] = s.stacks[p]
        elif isinstance(p.type, Scalar):
            s.exprs[v] = s.exprs[p]
        else:
            s.bind(v, s.access[p], s.extents[p])
            if p not in results:
                roots = s.buffers.roots[p]
            elif s.buffers.roots[results[p][0]] == {results[p][1]}:  # stayed where it was
                roots = carried.moved[p]
            else:
                name = s.access[p].name
                roots = frozenset([Root(True, min(depth, here), here, apart, name)])
            s.buffers.place(v, roots)


def for_(s: Scope, e: Equation) -> None:
    start, step, count, *init = e.ins
    (body,) = e.blocks
    index, *params = body.params
    stacks.reserve(s, e)
    carried = _enter(s, e, tuple(init), e.blocks, params)
    before = s.page.slot()
    name = s.new_name(index, "i")
    s.depth_of[name] = len(s.loops) + 1
    s.exprs[index] = Expr(name)
    first: str | None = None
    ends = None
    x, n = s.expr(start), s.expr(count)
    if isinstance(step, Lit) and step.value != 0:
        ends = x.text, int(step.value), n.text
        head = f"for {name} in range({_range(s, x, int(step.value), n)}):"
        if step.value > 0 and (x.text.isdecimal() or x.text in s.natural):
            s.counting.add(name)
    else:
        k = s.names.new("", "k")
        head = f"for {k} in range({n.text}):"
        first = f"{name} = {x.within(SUM)} + {k} * {s.expr(step).within(PRODUCT + 1)}"
    outside, stored = len(s.nests), len(s.stored)
    with s.page.block(head):
        if first:
            s.page.write(first)
        s.loops.append(Loop(before, name, ends))
        s.run(body, lambda: _leave(s, carried), e.blocks)
        s.loops.pop()
    if isinstance(step, Lit):
        s.waiting += waiting(name, int(step.value), s.nests[outside:], s.stored[stored:],
                             lambda n: s.expanded(Expr(n)))  # fmt: skip
    _outs(s, e, carried, params)


def _range(s: Scope, start: Expr, step: int, count: Expr) -> str:
    """The arguments of `range`, sums of a name and a number added up."""
    if start.text == "0" and step == 1:
        return count.text
    (a, m), (b, n) = s.expanded(start), s.expanded(count)
    if step == 1 and not (a and b):
        stop = linear_sum(a or b, m + n).text
    elif step == -1 and a == b:
        stop = str(m - n)
    elif step == -1 and not b:
        stop = linear_sum(a, m - n).text
    elif not a and not b:
        stop = str(m + step * n)
    else:
        by = "" if abs(step) == 1 else f"{abs(step)} * "
        sign = "+" if step > 0 else "-"
        stop = f"{start.within(SUM)} {sign} {by}{count.within(PRODUCT + 1 if by else SUM + 1)}"
    return f"{start.text}, {stop}" + (f", {step}" if step != 1 else "")


def while_(s: Scope, e: Equation) -> None:
    cond, body = e.blocks
    carried = _enter(s, e, e.ins, e.blocks, body.params)
    before = s.page.slot()
    s.loops.append(Loop(before))
    for c, p in zip(cond.params, body.params, strict=True):
        if isinstance(p.type, Stack):
            s.stacks[c] = s.stacks[p]
        elif isinstance(p.type, Scalar):
            s.exprs[c] = s.exprs[p]
        else:
            s.bind(c, s.access[p], s.extents[p])
            s.buffers.place(c, frozenset([Root(owned=False)]))
    outer, s.page = s.page, s.page.inner()
    s.run(cond, lambda: None, e.blocks)
    test, lines = s.expr(cond.results[0]), s.page.lines
    s.page = outer
    with s.page.block("while True:" if lines else f"while {test.text}:"):
        if lines:
            s.page.lines.append(lines)
            with s.page.block(f"if {negated(test).text}:"):
                s.page.write("break")
        s.run(body, lambda: _leave(s, carried), e.blocks)
    s.loops.pop()
    _outs(s, e, carried, body.params)


# -- branches -------------------------------------------------------------------------------------


def if_(s: Scope, e: Equation) -> None:
    test = s.expr(e.ins[0])
    outer = s.page
    pages: list[Page] = []
    for block in e.blocks:
        s.page = outer.inner()
        pages.append(s.page)
        s.run(block, lambda: None)
    s.page = outer
    then, other = e.blocks
    if not pages[0].lines and not pages[1].lines and len(e.outs) == 1:
        yes, no = s_expr(s, then.results[0]), s_expr(s, other.results[0])
        if yes and no and yes.text != no.text and len(yes.text + test.text + no.text) < LIMIT:
            choice = f"{yes.within(OR)} if {test.within(OR)} else {no.within(TERNARY)}"
            s.name(e.outs[0], Expr(choice, TERNARY))
            return
    pairs: tuple[Pairs, Pairs] = ([], [])
    taken: set[str] = set()
    after: list[tuple[Var, str]] = []
    choices = list(zip(e.outs, then.results, other.results, strict=True))
    # first what keeps its name: no other result may take it
    choices.sort(key=lambda choice: not _same_name(s, choice[1], choice[2]))
    for v, a, b in choices:
        if isinstance(v.type, Stack):
            assert isinstance(a, Var) and isinstance(b, Var)
            names = s.stacks[a]
            if names != s.stacks[b]:
                buffer = s.names.new(s.hints.get(v, ""), "kept")
                names = (buffer, s.names.new(f"{buffer}_top"))
                for side, r in zip(pairs, (a, b), strict=True):
                    side += [(n, Expr(m)) for n, m in zip(names, s.stacks[r], strict=True)]
            s.stacks[v] = names
        elif isinstance(v.type, Scalar):
            x, y = s.expr(a), s.expr(b)
            if _same_name(s, a, b):
                s.pinned.add(x.text)
                s.exprs[v] = x
                continue
            name = _either(s, e, ((a, x), (b, y)), taken) or s.new_name(v)
            taken.add(name)
            s.sums.pop(name, None)
            s.depth_of[name] = max(s.depth_of.get(name, 0), len(s.loops))
            s.exprs[v] = Expr(name)
            pairs[0].append((name, x))
            pairs[1].append((name, y))
        else:
            assert isinstance(a, Var) and isinstance(b, Var)
            name = s.access[a].name
            if name != s.access[b].name:
                name = s.new_name(v)
                for side, r in zip(pairs, (a, b), strict=True):
                    side.append((name, Expr(s.access[r].name)))
            extents = s.extents[a]
            if extents != s.extents[b]:
                after.append((v, name))
            s.bind(v, Access(name, identity(len(extents))), extents)
            s.buffers.place(v, s.buffers.roots[a] | s.buffers.roots[b])
    for page, side in zip(pages, pairs, strict=True):
        assign(page, side)
    if pages[0].lines:
        with s.page.block(f"if {test.text}:"):
            s.page.lines.append(pages[0].lines)
        if pages[1].lines:
            with s.page.block("else:"):
                s.page.lines.append(pages[1].lines)
    elif pages[1].lines:
        with s.page.block(f"if {negated(test).text}:"):
            s.page.lines.append(pages[1].lines)
    for v, name in after:
        s.extents[v] = tuple(
            s.temporary(Expr(f"{name}.shape[{k}]"), "n") for k in range(len(s.extents[v]))
        )
        s.natural.update(n.text for n in s.extents[v])


def _same_name(s: Scope, a: Atom, b: Atom) -> bool:
    """Do both branches leave a scalar under one name (or as one literal)?"""
    if not isinstance(a.type, Scalar):
        return a is b
    x, y = s.expr(a), s.expr(b)
    return x.text == y.text and (x.is_name or isinstance(a, Lit))


def s_expr(s: Scope, a: Atom) -> Expr | None:
    return s.expr(a) if isinstance(a.type, Scalar) else None


def _either(
    s: Scope, e: Equation, sides: tuple[tuple[Atom, Expr], ...], taken: set[str]
) -> str | None:
    """The name of an old value that one branch leaves as it is: `if c: s = s + 1`."""
    for (a, x), b in zip(sides, e.blocks, strict=True):
        outside = isinstance(a, Var) and s.analysis.home.get(a) is not b
        if outside and x.text not in taken and _free(s, a, x):
            return x.text
    return None
