"""How do rows by index arrays become loops?

One nest over what is picked; the index is read once for each position along the picked axis.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from jitad.emit import nests
from jitad.emit.access import Access, Map, identity, of_axis, of_expr
from jitad.emit.demand import Nest
from jitad.emit.print_python import Expr
from jitad.emit.scope import Extents, Scope
from jitad.tape.ir import Atom, Equation, Var


def positions(s: Scope, e: Equation) -> None:
    """Every index is written, and the place moves on only where the mask holds: no branch.

    There is room for all of them; how many there are is known already.
    """
    (mask, count), (v,) = e.ins, e.outs
    assert isinstance(mask, Var)
    extents = s.extents[mask]
    counters = s.counters(1)
    hit = nests.evaluate(s, (e, 9), mask, identity(1), counters).value
    name, place = s.new_name(v), s.names.new("", "k")
    root = s.allocate_as(name, "i8", extents)
    s.page.write(f"{place} = 0")
    with nests.loops(s, counters, extents, {}):
        s.page.write(f"store({name}, {counters[0]}, {place})")
        s.page.write(f"{place} = {place} + np.int64({hit.text})")
    s.bind(v, Access(name, identity(1), partial=True), (s.local(count),))
    s.buffers.place(v, frozenset([root]))
    if v in s.analysis.whole:  # who takes it takes its memory, which is to have no more than it
        name, root = s.allocate(v, s.extents[v])
        nests.copy(s, name, v)
        s.bind(v, Access(name, identity(1)), s.extents[v])
        s.buffers.place(v, frozenset([root]))


def _along(s: Scope, a: Var, index: Atom, axis: int) -> Extents:
    """The extents of what is picked from a."""
    assert isinstance(index, Var)
    return (*s.extents[a][:axis], *s.extents[index], *s.extents[a][axis + 1 :])


Lines = dict[int, list[str]]


def _row(s: Scope, e: Equation, index: Atom, axis: int, counters: list[str]) -> tuple[str, Lines]:
    """A name for the index at the present position, and the lines that read it."""
    nest: Nest = (e, 9)
    name = s.names.new("", "r")
    found = nests.evaluate(s, nest, index, (of_axis(axis),), counters)
    lines = {depth: [*ls] for depth, ls in found.lines.items()}
    lines.setdefault(axis + 1, []).append(f"{name} = {found.value.text}")
    return name, lines


def _loops(
    s: Scope, counters: list[str], extents: Extents, lines: Lines
) -> AbstractContextManager[None]:
    for line in lines.get(0, ()):
        s.page.write(line)
    return nests.loops(s, counters, extents, lines)


def _picked(ndim: int, axis: int, row: str) -> Map:
    return tuple(of_expr(Expr(row)) if k == axis else of_axis(k) for k in range(ndim))


def take(s: Scope, e: Equation) -> None:
    (a, index), (v,) = e.ins, e.outs
    axis: int = e.params["axis"]
    assert isinstance(a, Var)
    extents = _along(s, a, index, axis)
    if v in s.analysis.inline:
        s.extents[v] = extents
        return
    name = s.new_array(v, extents)
    counters = s.counters(len(extents))
    row, lines = _row(s, e, index, axis, counters)
    at = _picked(len(extents), axis, row)
    value = nests.evaluate(s, (e, 8), a, at, counters).value
    with _loops(s, counters, extents, lines):
        nests.write(s, v, Access(name, identity(len(extents))), identity(len(extents)), counters,
                    value, False)  # fmt: skip


def read(s: Scope, e: Equation) -> list[Var]:
    """The arrays in memory that store_take and accum_take read the value and the index from."""
    found: list[Var] = []
    for k, a in ((8, e.ins[1]), (9, e.ins[2])):
        at = identity(len(a.shape))
        found += [x for x, _ in nests.evaluate(s, (e, k), a, at, s.counters(len(at))).reads]
    return found


def store(s: Scope, e: Equation, target: Access) -> None:
    """store_take and accum_take into memory that is ready for it."""
    (a, value, index), axis = e.ins, e.params["axis"]
    assert isinstance(a, Var)
    extents = _along(s, a, index, axis)
    counters = s.counters(len(extents))
    row, lines = _row(s, e, index, axis, counters)
    found = nests.evaluate(s, (e, 8), value, identity(len(extents)), counters)
    for depth, more in found.lines.items():
        lines.setdefault(depth, []).extend(more)
    with _loops(s, counters, extents, lines):
        nests.write(s, a, target, _picked(len(extents), axis, row), counters, found.value,
                    e.op == "accum_take")  # fmt: skip
