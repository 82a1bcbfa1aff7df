"""Of which part of an array are all windows that a reverse loop wants?

A stencil reads five windows of an array that is overwritten afterwards, each but a row or a column
apart from the others.  Recorded one by one they would be five records; the smallest slice that has
them all is one, from which both sweeps take them.
"""

from __future__ import annotations

from collections.abc import Iterable

from jitad.sweeps.scope import Scope
from jitad.tape.ir import Atom, Equation, Lit, Var, lit
from jitad.tape.types import BOOL, INT, Array

_FARTHEST = 4  # rows or columns between two windows

Key = tuple[Atom, tuple[Atom, ...], tuple[Atom | None, ...]]


def joined(scope: Scope, slices: Iterable[Equation]) -> bool:
    """Let windows of one array, among these equations of the scope, be windows of their hull.

    True if there are any, so that the forward block is another now.
    """
    groups: dict[Key, list[Equation]] = {}
    for e in slices:
        key = _key(e, scope)
        if key is not None:
            groups.setdefault(key, []).append(e)
    found = [group for group in groups.values() if len(group) > 1 and _near(group)]
    for group in found:
        _join(scope, group)
    return bool(found)


def _key(e: Equation, scope: Scope) -> Key | None:
    """What windows that may be joined have in common."""
    base = e.ins[0]
    if e.op != "slice" or "i" in e.params["kinds"] or base not in scope.owns:
        return None
    if base in scope.hulls or base in scope.versions.ever or scope.current(base) is not None:
        return None
    starts, steps, counts = e.ins[1::3], e.ins[2::3], e.ins[3::3]
    if any(step != lit(1) for step in steps) or any(n in scope.owns for n in counts):
        return None
    return base, counts, tuple(None if isinstance(a, Lit) else a for a in starts)


def _offsets(e: Equation) -> list[int]:
    return [int(a.value) if isinstance(a, Lit) else 0 for a in e.ins[1::3]]


def _near(group: list[Equation]) -> bool:
    return all(max(c) - min(c) <= _FARTHEST for c in zip(*map(_offsets, group), strict=True))


def _join(scope: Scope, group: list[Equation]) -> None:
    first = group[0]
    new: list[Equation] = []

    def emit(op: str, *ins: Atom, out: Var, **params: object) -> Var:
        new.append(Equation(op, ins, (out,), dict(params), (), first.pos))
        scope.owns.add(out)
        scope.sources[out] = new[-1]
        return out

    base, starts, counts = first.ins[0], first.ins[1::3], first.ins[3::3]
    every = list(zip(*map(_offsets, group), strict=True))
    low = [min(c) for c in every]
    sizes: list[Atom] = []
    for n, c in zip(counts, every, strict=True):
        far = max(c) - min(c)
        if not far:
            sizes.append(n)
            continue
        some = emit("gt", n, lit(0), out=Var(BOOL))  # windows of nothing may lie anywhere
        more = emit("add", n, lit(far), out=Var(INT))
        sizes.append(emit("where", some, more, lit(0), out=Var(INT)))
    operands = [
        x for a, k, n in zip(starts, low, sizes, strict=True)
        for x in (lit(k) if isinstance(a, Lit) else a, lit(1), n)
    ]  # fmt: skip
    kind = Array(base.type.dtype, len(sizes))  # type: ignore[union-attr]
    hull = emit("slice", base, *operands, out=Var(kind, tuple(sizes)), **first.params)
    scope.hulls.add(hull)
    equations = scope.forward.equations
    at = min(equations.index(e) for e in group)
    equations[at:at] = new
    for e in group:
        inside = [lit(c - k) for c, k in zip(_offsets(e), low, strict=True)]
        e.ins = (hull, *(x for a, n in zip(inside, counts, strict=True) for x in (a, lit(1), n)))
