"""How do stacks of records become growable buffers?

A stack is used linearly, so all its versions are one flat buffer and one top.  A push into a full
buffer doubles it; before a loop that pushes a number of records known in advance, the room is
reserved at once: the loop then has neither check nor new buffer, and the address of a push is
affine in the loop's counter, so that LLVM can vectorise it.
"""

from __future__ import annotations

from jitad.emit.access import element, identity
from jitad.emit.lanes import Lane
from jitad.emit.nests import evaluate, fill, loops
from jitad.emit.print_python import PRODUCT, Expr, dtype_name
from jitad.emit.scope import Extents, Scope, Unused, product
from jitad.emit.slabs import at_top, on_top
from jitad.tape.ir import Atom, Block, Equation, Lit, Var, is_array, walk
from jitad.tape.linear import Forms, Linear, constant
from jitad.tape.types import Array, Stack


def create(s: Scope, e: Equation) -> None:
    (v,) = e.outs
    assert isinstance(v.type, Stack)
    if v in s.lanes.leader:
        s.stacks[v] = s.stacks[s.lanes.leader[v]]
        return
    buffer, top = s.stacks[v] = names(s, v)
    # one buffer for all iterations of the loops around: it is empty again when they come round
    page = s.loops[0].before if s.loops else s.page.slot()
    dtype = dtype_name(v.type.element.dtype)
    page.write(f"{buffer} = empty({dtype}, 0)")
    s.page.write(f"{top} = 0")
    if not s.loops:
        s.unused[buffer] = Unused(s.page, s.page.indent, page, dtype)


def names(s: Scope, v: Var) -> tuple[str, str]:
    """What its buffer and its top are called."""
    buffer = s.names.new(s.hints.get(v, ""), "kept")
    return buffer, s.names.new(f"{buffer}_top")


_ALONE = Lane(0, 1, True, True)


def _place(top: str, lane: Lane) -> str:
    return f"{top} + {lane.number}" if lane.number else top


def push(s: Scope, e: Equation) -> None:
    stack, value = e.ins
    assert isinstance(stack, Var)
    buffer, top = s.stacks[e.outs[0]] = s.stacks[stack]
    if not is_array(value):
        lane = s.lanes.at.get(e, _ALONE)
        s.unused.pop(buffer, None)
        if e not in s.reserved and lane.first:
            _grow(s, buffer, top, str(lane.width))
        s.page.write(f"store({buffer}, {s.expr(value).text}, {_place(top, lane)})")
        if lane.last:
            s.page.write(f"{top} += {lane.width}")
        return
    assert isinstance(value, Var)
    extents = s.extents[value]
    size = product(extents)
    s.unused.pop(buffer, None)
    if e not in s.reserved:
        _grow(s, buffer, top, size.text)
    if e not in s.ahead:
        counters = s.counters(len(extents))
        inside = evaluate(s, (e, 0), value, identity(len(extents)), counters)
        fill(s, value, on_top(s, buffer, top, extents), extents, inside, frozenset())


def _grow(s: Scope, buffer: str, top: str, size: str) -> None:
    with s.page.block(f"if {top} + {size} > len({buffer}):"):
        s.page.write(f"{buffer} = grown({buffer}, {top} + {size})")


def pop(s: Scope, e: Equation) -> None:
    (stack, *dims), (rest, v) = e.ins, e.outs
    assert isinstance(stack, Var)
    buffer, top = s.stacks[rest] = s.stacks[stack]
    if not is_array(v):
        lane = s.lanes.at.get(e, _ALONE)
        if lane.first:
            s.page.write(f"{top} -= {lane.width}")
        s.name(v, Expr(f"load({buffer}, {_place(top, lane)})"))
        return
    extents: Extents = s.locals(dims)
    s.page.write(f"{top} -= {product(extents).text}")
    here = at_top(s, buffer, top, extents)
    if v in s.analysis.virtual:
        s.bind(v, here, extents)
        s.buffers.place(v, frozenset())
        return
    name = s.new_array(v, extents)
    counters = s.counters(len(extents))
    with loops(s, counters, extents, {}):
        straight = identity(len(extents))
        value = element(here, straight, counters, s.counting)
        s.page.write(f"{name}[{', '.join(counters)}] = {value.text}")


# -- reserving ------------------------------------------------------------------------------------


def reserve(s: Scope, loop: Equation) -> None:
    """Room for all that a counted loop pushes on stacks from outside, where that is known."""
    count = s.expr(loop.ins[2])
    body = loop.blocks[0]
    for init, p in zip(loop.ins[3:], body.params[1:], strict=True):
        if not isinstance(p.type, Stack) or init not in s.stacks:
            continue
        assert isinstance(init, Var)
        found: list[Equation] = []
        size = _pushed(s, body, p, found)
        lane = next((s.lanes.at[e] for e in found if e in s.lanes.at), _ALONE)
        if not lane.first or (lane.width > 1 and size != "1"):
            continue  # the first of a record asks for the room of all of it
        if size is None and (total := _foreseen(s, loop, p)) is not None:
            buffer, top = s.stacks[init]
            _make_room(s, buffer, top, total)
            continue
        if size is None or not found or all(e in s.reserved for e in found):
            continue
        s.reserved.update(found)
        buffer, top = s.stacks[init]
        size = str(lane.width) if lane.width > 1 else size
        total = count.within(PRODUCT) if size == "1" else f"{count.within(PRODUCT)} * {size}"
        _make_room(s, buffer, top, total)


def _make_room(s: Scope, buffer: str, top: str, size: str) -> None:
    """Room for so many numbers; a buffer that nothing is in yet is made with it.

    LLVM is told that nothing else points to a new array.  Of one that may have been another
    before it doesn't know, and stores to it hold up all loads.
    """
    new = s.unused.pop(buffer, None)
    if new is None or s.loops or new.page is not s.page or new.indent != s.page.indent:
        _grow(s, buffer, top, size)
        return
    new.line.lines.clear()
    least = size if size.isdecimal() else f"max({size}, 0)"
    s.page.write(f"{buffer} = empty({new.dtype}, {least})")


def _foreseen(s: Scope, loop: Equation, p: Var) -> str | None:
    """How many numbers go on a stack in inner loops, or as arrays, one time more than the other.

    Where an inner loop's trip count, or an extent, is affine in the counter of this one, its
    average is that of the first and the last.  The room saves making the buffer anew each time
    that it is full; the inner loops look all the same whether there is enough.
    """
    start, step, count = loop.ins[:3]
    body = loop.blocks[0]
    if not isinstance(step, Lit):
        return None
    forms = Forms()
    forms.learn(body)
    parts = []
    index = body.params[0]
    for e in body.equations:
        if e.op == "push" and e.ins[0] is p:
            many = [d for d in e.ins[1].shape if _outside(s, d) is None]
            if len(many) > 1:
                return None
            others = [_outside(s, d) or "" for d in e.ins[1].shape if d not in many]
            each, p = " * ".join(others) or "1", e.outs[0]
            times = forms.of(many[0]) if many else constant(1)
        elif e.op == "for" and p in e.ins[3:]:
            inner = e.blocks[0]
            found = _pushed(s, inner, inner.params[e.ins[3:].index(p) + 1], [])
            if found is None:
                return None
            each, p = found, e.outs[e.ins[3:].index(p)]
            times = forms.of(e.ins[2])
        else:
            continue
        first = Forms().of(start)
        last = first + (Forms().of(count).plus(-1)) * int(step.value)
        twice = _sum_text(s, times.replace(index, first) + times.replace(index, last))
        if twice is None:
            return None
        total = f"{s.expr(count).within(PRODUCT)} * {twice}"
        parts.append(f"{total} // 2" if each == "1" else f"{total} // 2 * {each}")
    return " + ".join(parts) or None


def _sum_text(s: Scope, form: Linear) -> str | None:
    if not all(v in s.exprs for v, _ in form.terms):
        return None
    terms = [(c, s.exprs[v].within(PRODUCT + 1)) for v, c in form.terms]
    parts = [name if c == 1 else f"{c} * {name}" for c, name in terms]
    return f"({' + '.join([*parts, str(form.constant)] if form.constant else parts or ['0'])})"


def _pushed(s: Scope, block: Block, v: Var, found: list[Equation]) -> str | None:
    """How many numbers this block pushes on a stack at most, as text; None if that's unknown."""
    parts: list[str] = []
    for e in block.equations:
        if v not in e.ins:
            if e.op == "if" and v in _read_in(s, e):
                return None
            continue
        match e.op:
            case "push":
                size = "1"
                if isinstance(t := e.ins[1].type, Array):
                    known = [_outside(s, a) for a in e.ins[1].shape]
                    if len(known) != t.ndim or None in known:
                        return None
                    size = " * ".join(k for k in known if k)
                parts.append(size)
                found.append(e)
                v = e.outs[0]
            case "for":
                k = e.ins[3:].index(v)
                times = _outside(s, e.ins[2])
                inner = _pushed(s, e.blocks[0], e.blocks[0].params[k + 1], found)
                if inner is None or (times is None and inner != "0"):
                    return None
                parts.append("0" if inner == "0" else f"{times} * {inner}")
                v = e.outs[k]
            case "pop" | "pops":
                v = e.outs[0]
            case _:
                return None
    parts = [p for p in parts if p != "0"]
    if not parts:
        return "0"
    if all(p.isdecimal() for p in parts):
        return str(sum(map(int, parts)))
    return parts[0] if len(parts) == 1 else f"({' + '.join(parts)})"


def _outside(s: Scope, a: object) -> str | None:
    """The text of an integer that is known before the loop."""
    if isinstance(a, Lit):
        return str(int(a.value)) if a.value >= 0 else None
    if isinstance(a, Var) and a in s.exprs and s.exprs[a].is_name:
        return s.exprs[a].text
    return None


def _read_in(s: Scope, branches: Equation) -> set[Atom]:
    """What equations in branches read, found once for all stacks and the loops around."""
    if branches not in s.read_in:
        s.read_in[branches] = {a for b in branches.blocks for e in walk(b) for a in e.ins}
    return s.read_in[branches]
