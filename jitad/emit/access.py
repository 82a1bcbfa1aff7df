"""Where in memory is element (i, j, ...) of an array value?  At indices that are affine in i, j.

Slices, transposes and broadcasts are never made: an `Access` is a Python array with one `Affine`
index an axis of it, over the axes of the value; a view composes them.  The same maps say at
which indices of an operand a loop nest reads ("index maps" of the polyhedral tradition).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jitad.emit.print_python import ATOM, SUM, UNARY, Expr
from jitad.immutable import immutable

Coefficient = int | str  # a number, or the name of an integer


@immutable(slots=True)
class Affine:
    """constant + names + sum(coefficient * index[axis])"""

    constant: int = 0
    names: tuple[tuple[str, Coefficient], ...] = ()
    terms: tuple[tuple[int, Coefficient], ...] = ()


Map = tuple[Affine, ...]


@immutable(slots=True)
class Access:
    """The value's elements are `name[...]` at the map's indices, `partial`ly read or repeated."""

    name: str
    map: Map
    partial: bool = False


def identity(ndim: int) -> Map:
    return tuple(Affine(terms=((k, 1),)) for k in range(ndim))


def of_axis(axis: int) -> Affine:
    return Affine(terms=((axis, 1),))


_SUM = re.compile(r"([A-Za-z_]\w*)? ?([+-]? ?\d+)?")


def of_expr(e: Expr) -> Affine:
    """An index that doesn't vary: a name, a number or a sum of both is taken apart."""
    name, constant = linear(e)
    return Affine(constant, ((name, 1),) if name else ())


def linear(e: Expr) -> tuple[str, int]:
    """(name, number) of `name + number`; an expression of another form is its own name."""
    if found := _SUM.fullmatch(e.text):
        return found[1] or "", int((found[2] or "0").replace(" ", ""))
    return e.within(SUM), 0


def linear_sum(name: str, number: int) -> Expr:
    if not name:
        return Expr(str(number), ATOM if number >= 0 else UNARY)
    if not number:
        return Expr(name, ATOM if name.isidentifier() else SUM)
    return Expr(f"{name} {'+' if number > 0 else '-'} {abs(number)}", SUM)


def times(a: Coefficient, b: Coefficient) -> Coefficient:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 1:
        return b
    return a if b == 1 else f"{a} * {b}"


def plus(x: Affine, y: Affine) -> Affine:
    return Affine(x.constant + y.constant, x.names + y.names, x.terms + y.terms)


def scaled(c: Coefficient, x: Affine) -> Affine:
    if c == 1:
        return x
    names = tuple((_factor(n), times(c, k)) for n, k in x.names)
    terms = tuple((a, times(c, k)) for a, k in x.terms)
    if isinstance(c, int):
        return Affine(c * x.constant, names, terms)
    if x.constant:
        names += ((c, x.constant),)
    return Affine(0, names, terms)


def _factor(name: str) -> str:
    return name if name.isidentifier() else f"({name})"


def compose(outer: Map, inner: Map) -> Map:
    """Index with `outer`, whose axes are themselves indexed by `inner`."""
    out = []
    for affine in outer:
        total = Affine(affine.constant, affine.names)
        for axis, c in affine.terms:
            total = plus(total, scaled(c, inner[axis]))
        out.append(total)
    return tuple(out)


def deepest(map_: Map) -> int:
    """How many loops, outermost first, an element at these indices depends on."""
    return max((axis + 1 for affine in map_ for axis, _ in affine.terms), default=0)


def names_in(map_: Map) -> list[str]:
    return [n for affine in map_ for n, _ in affine.names]


def apart(one: Map, other: Map) -> bool:
    """Can no element be reached by both?  They stay at places of one axis that always differ."""
    return any(
        not x.terms and not y.terms and x.names == y.names and x.constant != y.constant
        for x, y in zip(one, other, strict=False)
    )


def in_step(one: Map, other: Map, axes: int) -> bool:
    """Is an element reached by both in the same iteration, if at all?  Of all loops, each counts
    along an axis of its own, in both the same way; along further axes it may be what it will."""
    along = {
        x.terms[0][0]
        for x, y in zip(one, other, strict=False)
        if x == y and len(x.terms) == 1 and isinstance(x.terms[0][1], int) and x.terms[0][1]
    }
    return len(along) == axes


def index(x: Affine, counters: Sequence[str]) -> Expr:
    """The index as Python."""
    parts: list[tuple[str, Coefficient]] = [(counters[a], c) for a, c in x.terms]
    parts += x.names
    # a positive part first, so that none needs a unary minus
    parts.sort(key=lambda p: isinstance(p[1], int) and p[1] < 0)
    text = ""
    for name, c in parts:
        minus = isinstance(c, int) and c < 0
        c = abs(c) if isinstance(c, int) else c
        if c == 0:
            continue
        simple = c == 1 and not (minus and text)
        part = name if simple else (_factor(name) if c == 1 else f"{c} * {_factor(name)}")
        if not text:
            text = f"-{_factor(part)}" if minus else part
        else:
            text += f" - {part}" if minus else f" + {part}"
    if not text:
        return Expr(str(x.constant), ATOM if x.constant >= 0 else UNARY)
    if x.constant:
        text += f" - {-x.constant}" if x.constant < 0 else f" + {x.constant}"
    return Expr(text, ATOM if text.isidentifier() else SUM)


def element(access: Access, at: Map, counters: Sequence[str], counting: set[str]) -> Expr:
    """The element as Python; `counting` are names of loop counters from zero.

    The one place, with `assignment`, that knows of Numba's negative indices: `a[k]` adds the
    extent where k < 0, at run time.  Indices here are never negative, and LLVM sees that by
    itself for loop counters; any other index goes to `load`, which trusts it.
    """
    parts = [index(x, counters).text for x in compose(access.map, at)]
    if all(_plain(p, counting) for p in parts):
        return Expr(f"{access.name}[{', '.join(parts)}]")
    return Expr(f"load({access.name}, {', '.join(parts)})")


def assignment(
    access: Access, at: Map, counters: Sequence[str], counting: set[str], value: Expr
) -> str:
    """The statement that stores to an element."""
    parts = [index(x, counters).text for x in compose(access.map, at)]
    if all(_plain(p, counting) for p in parts):
        return f"{access.name}[{', '.join(parts)}] = {value.text}"
    return f"store({access.name}, {value.text}, {', '.join(parts)})"


def _plain(text: str, counting: set[str]) -> bool:
    return text.isdecimal() or text in counting
