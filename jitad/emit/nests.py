"""How do array equations become loops?

Every equation over whole arrays is one nest of counted loops.  The nest computes the elements of
its members (see `demand`) on the way: index maps go down from the equation to what it reads,
values come up.  A temporary stands at the outermost loop that has all of its indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from jitad.emit.access import (
    Access,
    Affine,
    Map,
    apart,
    assignment,
    compose,
    deepest,
    element,
    identity,
    index,
    of_axis,
    of_expr,
    plus,
    scaled,
)
from jitad.emit.arithmetic import compute
from jitad.emit.buffers import Roots, origins
from jitad.emit.demand import Nest
from jitad.emit.joining import Touch, Written, meet
from jitad.emit.just_stored import Stored
from jitad.emit.print_python import LIMIT, SUM, Expr, cast, dtype_name
from jitad.emit.scope import Extents, Formula, Scope
from jitad.emit.slabs import slab
from jitad.emit.writes import VIEWS
from jitad.tape.ir import Atom, Equation, Lit, Var, is_array


@dataclass(slots=True)
class Inside:
    """What a nest computes: lines by depth, the value, and which memory is read where."""

    value: Expr
    lines: dict[int, list[str]] = field(default_factory=dict)
    reads: list[tuple[Var, Map]] = field(default_factory=list)


def evaluate(s: Scope, nest: Nest, atom: Atom, at: Map, counters: list[str]) -> Inside:
    """The element of a value at an index, with the nest's members computed on the way."""
    if not isinstance(atom, Var) or not is_array(atom):
        return Inside(s.local(atom))
    need: dict[Var, Map] = {atom: at}
    uses: dict[Var, int] = {}
    members = [
        e
        for e in s.analysis.members.get(nest, ())
        if e.outs[0] not in s.access and e.outs[0] not in s.formulas
    ]
    for e in reversed(members):
        mine = need[e.outs[0]]
        inner = compose(view_map(s, e), mine) if e.op in VIEWS else mine
        operands = e.ins
        if e.op == "take":  # at the index that its index array has here
            inner, operands = (mine[e.params["axis"]],), e.ins[1:]
        for a in operands:
            if isinstance(a, Var) and is_array(a):
                assert need.setdefault(a, inner) == inner or a in s.access or a in s.formulas
                uses[a] = uses.get(a, 0) + 1
    out = Inside(Expr(""))
    values: dict[Var, Expr] = {}

    def read(a: Atom, where: Map) -> Expr:
        if not isinstance(a, Var) or not is_array(a):
            return s.local(a)
        if a in values:
            return values[a]
        if a in s.formulas:
            return formula(s.formulas[a], where, counters, a.type.dtype)  # type: ignore[union-attr]
        access = s.access[a]
        out.reads.append((a, compose(access.map, where)))
        return element(access, where, counters, s.counting)

    for e in members:
        v = e.outs[0]
        if e.op in VIEWS:
            values[v] = read(e.ins[0], compose(view_map(s, e), need[v]))
            continue
        if e.op == "take":
            (a, picking), axis = e.ins, e.params["axis"]
            row, where = s.names.new("", "r"), (need[v][axis],)
            line = f"{row} = {read(picking, where).text}"
            out.lines.setdefault(deepest(where), []).append(line)
            at_row = of_expr(Expr(row))
            values[v] = read(a, (*need[v][:axis], at_row, *need[v][axis + 1 :]))
            continue
        text = compute(s, e, [read(a, need[v]) for a in e.ins])
        if v is not atom and (uses[v] > 1 or len(text.text) > LIMIT):
            name = s.names.new(s.hints.get(v, ""), "e")
            out.lines.setdefault(deepest(need[v]), []).append(f"{name} = {text.text}")
            text = Expr(name)
        values[v] = text
    out.value = read(atom, at)
    return out


def formula(f: Formula, where: Map, counters: list[str], dtype: str) -> Expr:
    if isinstance(f.value, Expr):
        return f.value
    (at,) = compose((f.value,), where)
    e = index(at, counters)
    return e if dtype == "i8" else cast(e, dtype)


def view_map(s: Scope, e: Equation) -> Map:
    """Where a view reads its base."""
    match e.op:
        case "slice":
            return slice_map(s, e.params["kinds"], e.ins[1:])
        case "transpose":
            perm: tuple[int, ...] = e.params["perm"]
            return tuple(of_axis(perm.index(k)) for k in range(len(perm)))
        case _:
            return tuple(of_axis(k) for k in e.params["axes"])


def slice_map(s: Scope, kinds: str, operands: tuple[Atom, ...]) -> Map:
    rest = iter(operands)
    out: list[Affine] = []
    axis = 0
    for kind in kinds:
        at = of_expr(s.local(next(rest)))
        if kind == "r":
            step = next(rest)
            next(rest)
            c = int(step.value) if isinstance(step, Lit) else s.local(step).text
            at = plus(at, scaled(c, of_axis(axis)))
            axis += 1
        out.append(at)
    return tuple(out)


@contextmanager
def loops(
    s: Scope, counters: list[str], extents: Extents, lines: dict[int, list[str]], start: int = 0
) -> Iterator[None]:
    """The loops of a nest (from the one numbered `start` on), each with its lines."""
    extents = s.same(extents)
    with ExitStack() as stack:
        for k in range(start, len(extents)):
            stack.enter_context(s.page.block(f"for {counters[k]} in range({extents[k].text}):"))
            for line in lines.get(k + 1, ()):
                s.page.write(line)
        yield


def write(
    s: Scope, v: Atom, access: Access, at: Map, counters: list[str], value: Expr, add: bool
) -> None:
    """access[at] = value, or += value in an order that is free."""
    dtype = v.type.dtype[0]  # type: ignore[union-attr]
    if not counters:
        there = s.resolved(compose(access.map, at))
        s.stored.append(Stored(s.page, len(s.page.lines), access.name, there))
    if add and dtype in "fiu":
        where = ", ".join(index(x, counters).text for x in compose(access.map, at))
        s.page.write(f"accum({access.name}, {value.text}, {where})")
        return
    if add:
        old = element(access, at, counters, s.counting)
        value = Expr(f"{old.text} + {value.within(SUM + 1)}", SUM)
    s.page.write(assignment(access, at, counters, s.counting, value))


@contextmanager
def whole_nest(
    s: Scope, extents: Extents, inside: Inside, touched: list[Touch] | None,
    totals: Iterable[str] = (), last: Mapping[int, list[str]] = MappingProxyType({}),
    rows: Iterable[Touch] = (), alone: bool = False, after: bool = False,
) -> Iterator[None]:  # fmt: skip
    """A nest with all that it computes, in loops of its own or, unless `alone`, in those right
    before it; if it may, `after` the inner ones of these.

    `touched` is all memory that it reads and writes (None: not known), `totals` the names of what
    it sums up, by `rows` or as a whole, `last` lines after inner loops, by depth.
    """
    page = s.page
    extents = s.same(extents)
    names = tuple(x.text for x in extents)
    first = inside.lines.get(0, [])
    texts = [inside.value.text, *(line for ls in inside.lines.values() for line in ls)]
    nest = None if alone else s.last_nest
    if nest is not None and touched is not None and nest.takes(page, names, touched, texts):
        nest.put_before(first)
    elif nest is not None and touched is not None and after and nest.ends_with(
        page, names, touched, texts, inside.lines
    ):
        nest.put_before(first)
        with nest.end_of_rows(len(names), inside.lines.get(len(names), [])):
            yield
        nest.touched += touched
        return
    else:
        for line in first:
            page.write(line)
        nest = Written.open(page, names, s.counters(len(extents)))
        s.nests.append(nest)
        s.last_nest = nest if touched is not None and names and not alone else None
    with nest.body(inside.lines, last):
        yield
    nest.touched += touched or ()
    nest.totals.update(totals)
    nest.rows += rows
    nest.known &= touched is not None


def reads_of(s: Scope, inside: Inside) -> list[Touch]:
    roots = s.buffers.roots
    return [Touch(s.access[a].name, roots[a], s.resolved(at)) for a, at in inside.reads]


def fill(s: Scope, v: Atom, target: Access, extents: Extents, inside: Inside,
         roots: Roots | None, add: bool = False) -> None:  # fmt: skip
    """target = (or +=) the value, over all indices; the memory has v's type.

    `roots` are of the target, None where they are not known.
    """
    touched = None
    if roots is not None:
        at = s.resolved(target.map)
        touched = [*reads_of(s, inside), Touch(target.name, roots, at, write=True)]
    counters = s.counters(len(extents))
    with whole_nest(s, extents, inside, touched, after=True):
        write(s, v, target, identity(len(extents)), counters, inside.value, add)


def materialise(s: Scope, v: Var, nest: Nest, source: Atom, at: Map, extents: Extents) -> None:
    """Give a value memory and compute it, in an operand's memory if that is free."""
    counters = s.counters(len(extents))
    inside = evaluate(s, nest, source, at, counters)
    if recorded := slab(s, v, extents):
        s.bind(v, recorded, extents)
        s.buffers.place(v, frozenset())
    elif not (_reuse(s, v, inside, extents) or _take_place(s, v, inside, extents)):
        s.new_array(v, extents)
    fill(s, v, s.access[v], extents, inside, s.buffers.roots[v])


def _reuse(s: Scope, v: Var, inside: Inside, extents: Extents) -> bool:
    """Element by element, an operand that is read for the last time can be overwritten."""
    straight, wanted = identity(len(extents)), s.same(extents)
    seen: set[Var] = set()
    home = s.places.get(v)
    for a, at in sorted(inside.reads, key=lambda read: read[0] is not home):
        if a in seen or at != straight or a.type != v.type or s.same(s.extents[a]) != wanted:
            continue
        seen.add(a)
        roots = s.buffers.roots[a]
        if not s.whole(a) or not s.buffers.writable(a):
            continue
        if all(at == straight or roots.isdisjoint(s.buffers.roots[b]) for b, at in inside.reads):
            s.bind(v, s.access[a], extents)
            s.buffers.place(v, roots)
            return True
    return False


def _take_place(s: Scope, v: Var, inside: Inside, extents: Extents) -> bool:
    """What a loop carries on can be written where it was, once nobody wants what was there.

    Exchanging two buffers instead would do as well, but then LLVM can't tell them apart.
    """
    p = s.places.get(v)
    if p is None or p.type != v.type or not s.whole(p) or not s.buffers.writable(p):
        return False
    roots = s.buffers.roots[p]
    if not all(roots.isdisjoint(origins(s.buffers.roots[a])) for a, _ in inside.reads):
        return False
    s.bind(v, s.access[p], extents)
    s.buffers.place(v, roots)
    return True


def copy(s: Scope, name: str, v: Var, roots: Roots | None = None) -> None:
    """name[...] = v, for a value that is somewhere in memory; `roots` as in `fill`."""
    extents = s.extents[v]
    counters = s.counters(len(extents))
    straight = identity(len(extents))
    inside = evaluate(s, (None, -1), v, straight, counters)  # type: ignore[arg-type]
    fill(s, v, Access(name, straight), extents, inside, roots)


def store_slice(s: Scope, e: Equation, target: Access, copied: bool) -> None:
    """target[slice] = or += value; through a temporary where the value reads what is written."""
    base, v, *operands = e.ins
    kinds: str = e.params["kinds"]
    at = slice_map(s, kinds, tuple(operands))
    counts = _counts(kinds, tuple(operands))
    extents = s.locals(counts)
    counters = s.counters(len(extents))
    from_axis = len(extents) - len(v.shape) if is_array(v) else 0
    where = tuple(of_axis(k + from_axis) for k in range(len(v.shape)))
    inside = evaluate(s, (e, 0), v, where, counters)
    here = compose(target.map, at)
    assert isinstance(base, Var)
    written = s.buffers.roots[base]
    place = s.resolved(here)
    clash = not copied and any(
        not written.isdisjoint(s.buffers.roots[a]) and read != here
        and not (s.access[a].name == target.name and apart(s.resolved(read), place))
        for a, read in inside.reads
    )  # fmt: skip
    if clash:
        name = s.names.new("", "a")
        s.allocate_as(name, v.type.dtype, extents)  # type: ignore[union-attr]
        straight = identity(len(extents))
        aside = Access(name, straight)
        fill(s, v, aside, extents, inside, None)
        inside = Inside(element(aside, straight, counters, s.counting))
    known = None if clash else written
    fill(s, base, Access(target.name, here), extents, inside, known, e.op == "accum_slice")


def _counts(kinds: str, operands: tuple[Atom, ...]) -> list[Atom]:
    out, at = [], 0
    for kind in kinds:
        if kind == "r":
            out.append(operands[at + 2])
        at += 1 if kind == "i" else 3
    return out


def shifted(axis: int, offset: Expr, ndim: int) -> Map:
    """Every index as it is, but one moved."""
    return tuple(
        plus(of_expr(offset), of_axis(k)) if k == axis else of_axis(k) for k in range(ndim)
    )


# -- reductions -----------------------------------------------------------------------------------


def reduce(s: Scope, e: Equation) -> None:
    """sum, amax, amin over some axes."""
    (a,), (v,) = e.ins, e.outs
    axes: tuple[int, ...] = e.params["axes"]
    assert isinstance(a, Var)
    extents = s.extents[a]
    counters = s.counters(len(extents))
    inside = evaluate(s, (e, 0), a, identity(len(extents)), counters)
    kept = [k for k in range(len(extents)) if k not in axes]
    start = Expr(start_of(e.op, v.type.dtype))  # type: ignore[union-attr]
    value = inside.value
    of, into = a.type.dtype, v.type.dtype  # type: ignore[union-attr]
    if e.op == "sum" and of != into and of[0] in "biu":  # NumPy adds up what is wide enough
        value = cast(value, into)
    n = len(kept)
    alone = e.op != "sum"  # LLVM puts sums into lanes together with anything else
    touched = reads_of(s, inside)
    to = _added_to(s, e, inside)
    if kept == list(range(n)):  # the inner loops reduce, to a scalar
        total = s.names.new("", "s") if n else s.new_name(v)
        inside.lines.setdefault(n, []).append(f"{total} = {start.text}")
        ends: dict[int, list[str]] = {}
        rows: list[Touch] = []
        if n:
            outer = tuple(extents[:n])
            name = s.access[to].name if to else s.new_array(v, outer)
            place = f"{name}[{', '.join(counters[:n])}]"
            ends[n] = [f"{place} = {f'fadd({place}, {total})' if to else total}"]
            rows = [Touch(name, s.buffers.roots[to or v], identity(n), write=True)]
        else:
            name = total
            s.exprs[v] = Expr(name)
        with whole_nest(s, extents, inside, touched, (name, total), ends, rows, alone):
            s.page.write(f"{total} = {_joined(s, e, total, value)}")
        return
    name = s.access[to].name if to else s.cleared(v, tuple(extents[k] for k in kept), start)
    if to:
        touched.append(Touch(name, s.buffers.roots[to], tuple(map(of_axis, kept)), write=True))
    place = f"{name}[{', '.join(counters[k] for k in kept)}]"
    with whole_nest(s, extents, inside, touched, (name,), alone=alone):
        s.page.write(f"{place} = {_joined(s, e, place, value)}")


def _added_to(s: Scope, e: Equation, inside: Inside) -> Var | None:
    """The array that the sums are added to at once, where it lies, if that is all that is done with
    both: what that gives."""
    onto = s.analysis.onto.get(e)
    if onto is None:
        return None
    s.done.discard(onto.add)  # of the block as it was written before
    if onto.to not in s.access or not s.whole(onto.to):
        return None
    w, (new,) = onto.to, onto.add.outs
    level, roots = s.buffers.levels[-1], s.buffers.roots[w]
    here = s.analysis.home.get(w) is level.block and s.analysis.last[level.block][w] == onto.end
    if not here or not all(r.owned and not s.buffers.occupied(r, but=w) for r in roots):
        return None
    if not all(origins(roots).isdisjoint(origins(s.buffers.roots[a])) for a, _ in inside.reads):
        return None
    s.bind(new, s.access[w], s.extents[w])
    s.buffers.place(new, roots)
    s.done.add(onto.add)
    nest, target = s.last_nest, Touch(s.access[w].name, roots, ())
    if nest is not None and any(meet(target, t) for t in (*nest.touched, *nest.rows)):
        s.last_nest = None  # it waits for all of that nest, or the other way round
    return new


def _joined(s: Scope, e: Equation, total: str, value: Expr) -> str:
    floating = e.outs[0].type.dtype[0] == "f"  # type: ignore[union-attr]
    if e.op == "sum" and not floating:
        return f"{total} + {value.within(SUM + 1)}"
    function = {"sum": "fadd", "amax": "highest", "amin": "lowest"}[e.op]
    return f"{function}({total}, {value.text})"


def start_of(op: str, dtype: str) -> str:
    name = dtype_name(dtype)
    kind = dtype[0]
    if op == "sum":
        return {"f8": "0.0", "i8": "0", "c16": "complex(0.0, 0.0)"}.get(dtype, f"{name}(0)")
    if kind == "f":
        bound = "-np.inf" if op == "amax" else "np.inf"
        return bound if dtype == "f8" else f"{name}({bound})"
    if kind == "b":
        return "False" if op == "amax" else "True"
    info = np.iinfo(dtype)
    return f"{name}({info.min if op == 'amax' else info.max})"
