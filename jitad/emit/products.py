"""How do products of matrices and vectors become code: a call of BLAS, or loops?"""

from __future__ import annotations

import numpy as np

from jitad.emit.access import Map, compose, identity, of_axis
from jitad.emit.demand import Nest
from jitad.emit.nests import Inside, evaluate, fill, loops, reads_of, start_of, whole_nest
from jitad.emit.print_python import SUM, Expr
from jitad.emit.scope import Scope
from jitad.tape.ir import Equation, Var


def matmul(s: Scope, e: Equation) -> None:
    """BLAS where both operands are all of their memory, else loops.

    Measured, one thread, n by n: BLAS is as fast at 3 and 1.6, 2.6, 3.8 times as fast at 20, 30,
    50; it compiles no slower than the loops.
    """
    (a, b), (v,) = e.ins, e.outs
    assert isinstance(a, Var) and isinstance(b, Var)
    known = [n.text for n in (*s.extents[a], *s.extents[b][1:])]
    tiny = all(n.isdecimal() for n in known) and np.prod([int(n) for n in known]) <= 512
    left, right = _dense(s, a), _dense(s, b)
    same = {a.type.dtype, b.type.dtype, v.type.dtype}  # type: ignore[union-attr]
    if tiny or left is None or right is None or len(same) > 1 or same.isdisjoint({"f4", "f8"}):
        _multiply(s, e, a, b, v)
    elif not v.shape:  # two vectors: a loop is as fast
        _multiply(s, e, a, b, v)
    else:
        name = s.new_array(v, (*s.extents[a][:-1], *s.extents[b][1:]))
        if left == f"{right}.T":
            _gram(s, right, name, s.extents[b][1])
        elif right == f"{left}.T":
            _gram(s, right, name, s.extents[a][0])
        else:
            s.page.write(f"times({left}, {right}, {name})")


def _gram(s: Scope, a: str, out: str, n: Expr) -> None:
    """A matrix times its transpose is symmetric: one half is computed, the other copied."""
    i, j = s.counters(2)
    s.page.write(f"gram({a}, {out})")
    with s.page.block(f"for {i} in range({n.text}):"), s.page.block(f"for {j} in range({i}):"):
        s.page.write(f"{out}[{j}, {i}] = {out}[{i}, {j}]")


def _dense(s: Scope, a: Var) -> str | None:
    """An array for BLAS: contiguous in rows or columns, nothing left out."""
    if a not in s.access:
        return None
    name, at = s.access[a].name, s.access[a].map
    if s.access[a].partial or len(at) != len(s.extents[a]):
        return None
    owned = bool(s.buffers.roots[a]) and all(r.owned for r in s.buffers.roots[a])
    source = name if owned else f"handed({name})"
    if at == identity(len(at)):
        return source
    return f"{source}.T" if at == identity(2)[::-1] else None


def _multiply(s: Scope, e: Equation, a: Var, b: Var, v: Var) -> None:
    """Loops in the order that reads memory along its rows."""
    rows, columns = s.extents[a][:-1], s.extents[b][1:]
    inner = s.extents[a][-1]
    extents = (*rows, *columns)
    n = len(extents)
    counters = s.counters(n + 1)
    summed = of_axis(n)
    at_a = (*(of_axis(k) for k in range(len(rows))), summed)
    at_b = (summed, *(of_axis(k + len(rows)) for k in range(len(columns))))
    nowhere: Nest = (e, 9)
    left = evaluate(s, nowhere, a, at_a, counters)
    right = evaluate(s, nowhere, b, at_b, counters)
    floating = v.type.dtype[0] == "f"  # type: ignore[union-attr]
    start = start_of("sum", v.type.dtype)  # type: ignore[union-attr]
    term = f"{left.value.within(SUM + 1)} * {right.value.within(SUM + 2)}"

    def added(total: str) -> str:
        if not floating:
            return f"{total} + {term}"
        return f"fadd({total}, {term})"

    over = f"for {counters[n]} in range({inner.text}):"
    if not extents:
        name = s.name(v, Expr(start))
        both = Inside(Expr(term), reads=[*left.reads, *right.reads])
        with whole_nest(s, (inner,), both, reads_of(s, both), (name,)):
            s.page.write(f"{name} = {added(name)}")
        return
    name = s.new_array(v, extents)
    place = f"{name}[{', '.join(counters[:n])}]"
    innermost = b if columns else a
    # does the last loop of the result step along memory in the operand that has that axis?
    along_result = _steps(s, innermost, (at_b if columns else at_a), n - 1)
    if not along_result:
        with loops(s, counters, extents, {}):
            total = s.names.new("", "s")
            s.page.write(f"{total} = {start}")
            with s.page.block(over):
                s.page.write(f"{total} = {added(total)}")
            s.page.write(f"{place} = {total}")
        return
    fill(s, v, s.access[v], extents, Inside(Expr(start)), None)
    with loops(s, counters, extents[:-1], {}), s.page.block(over):
        with s.page.block(f"for {counters[n - 1]} in range({extents[-1].text}):"):
            s.page.write(f"{place} = {added(place)}")


def _steps(s: Scope, a: Var, at: Map, axis: int) -> bool:
    if a not in s.access:
        return True
    last = compose(s.access[a].map, at)[-1]
    return any(k == axis for k, _ in last.terms)
