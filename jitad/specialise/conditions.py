"""What does a condition of the tape say about integers?  A list of sums that are not negative.

`facts(condition, truth)` are consequences; `proved(...)` says whether a condition is sure to hold
(or sure to fail) from what is known.  Conditions are comparisons of integers and what `and`, `or`,
`not` and short-circuiting `if`s make of them.
"""

from __future__ import annotations

from collections.abc import Callable

from jitad.tape.ir import Atom, Equation, Lit
from jitad.tape.linear import Forms, Linear, is_integer
from jitad.tape.prove import Known
from jitad.tape.types import Scalar

Sources = dict[Atom, Equation]
_NEGATED = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}
COMPARISONS = frozenset(_NEGATED)
_DEPTH = 8


def compared(e: Equation, forms: Forms, truth: bool = True) -> list[Linear] | None:
    """The sums that are >= 0 exactly if this comparison has the given truth."""
    if e.op not in _NEGATED or not all(map(is_integer, e.ins)):
        return None
    x, y = map(forms.of, e.ins)
    match e.op if truth else _NEGATED[e.op]:
        case "lt":
            return [(y - x).plus(-1)]
        case "le":
            return [y - x]
        case "gt":
            return [(x - y).plus(-1)]
        case "ge":
            return [x - y]
        case "eq":
            return [x - y, y - x]
    return None


def facts(
    c: Atom, truth: bool, sources: Sources, forms: Forms, depth: int = _DEPTH
) -> list[Linear]:
    """Sums that are >= 0 if the condition c has this truth (some of them)."""
    e = sources.get(c)
    if e is None or not depth or not _is_truth(c):
        return []
    known = compared(e, forms, truth)
    if known is not None:
        return known

    def more(a: Atom, t: bool) -> list[Linear]:
        return facts(a, t, sources, forms, depth - 1)

    match e.op:
        case "logical_and" | "bitand" if truth:
            return more(e.ins[0], True) + more(e.ins[1], True)
        case "logical_or" | "bitor" if not truth:
            return more(e.ins[0], False) + more(e.ins[1], False)
        case "logical_not" | "invert" if _is_truth(e.outs[0]):  # of a Python bool it is an int
            return more(e.ins[0], not truth)
        case "cast":
            return more(e.ins[0], truth)
        case "where":
            # x and y is where(x, y, False), x or y is where(x, True, y)
            return _chosen(e.ins[0], e.ins[1], e.ins[2], truth, more)
        case "if":
            k = e.outs.index(c)
            then, other = (b.results[k] for b in e.blocks)
            return _chosen(e.ins[0], then, other, truth, more)
    return []


def _is_truth(c: Atom) -> bool:
    return isinstance(c.type, Scalar) and c.type.dtype == "b1"


def _chosen(
    c: Atom, then: Atom, other: Atom, truth: bool, more: Callable[[Atom, bool], list[Linear]]
) -> list[Linear]:
    if isinstance(other, Lit) and bool(other.value) != truth:
        return more(c, True) + more(then, truth)
    if isinstance(then, Lit) and bool(then.value) != truth:
        return more(c, False) + more(other, truth)
    return []


def proved(
    c: Atom, truth: bool, sources: Sources, forms: Forms, known: Known, depth: int = _DEPTH
) -> bool:
    """True if c is sure to have this truth."""
    if isinstance(c, Lit):
        return bool(c.value) == truth
    e = sources.get(c)
    if e is None or not depth or not _is_truth(c):
        return False
    goals = compared(e, forms, truth)
    if goals is not None:
        return known.proves_all(goals)

    def sure(a: Atom, t: bool) -> bool:
        return proved(a, t, sources, forms, known, depth - 1)

    match e.op:
        case "eq" | "ne" if all(map(is_integer, e.ins)):  # that they differ: one way or the other
            x, y = map(forms.of, e.ins)
            return known.proves((x - y).plus(-1)) or known.proves((y - x).plus(-1))
        case "logical_and" | "bitand" | "logical_or" | "bitor":
            every = truth == (e.op in ("logical_and", "bitand"))
            return (all if every else any)(sure(a, truth) for a in e.ins)
        case "logical_not":
            return sure(e.ins[0], not truth)
    return False
