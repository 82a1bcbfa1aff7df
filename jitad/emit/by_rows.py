"""Which loop nests, one after the other, go over the same rows, and may do so together?

The largest element of each row, then the sum of `exp` of what is left, then the quotients: three
nests, each of which reads the whole matrix.  Where what one of them writes is touched by the next
in the same row only, both have their inner loops in one outer loop, and a row is still at hand
when it is read again (loop fusion of the outermost loop alone).  The inner loops stay apart, so
each is vectorised as before.

Seen from the lines of a function when all are written, after `contract`: in an inner loop that
followed another one, `a[i, j]` would be no number.
"""

from __future__ import annotations

import re
from typing import Any

from jitad.emit.access import Affine
from jitad.emit.joining import Touch, Written, meet

_MADE = re.compile(r" *([A-Za-z_]\w*) = (?:(?:empty|zeros)\(.*\)|-?[\d.]+|-?np\.inf)")
_NAME = re.compile(r"[A-Za-z_]\w*")


def by_rows(nests: list[Written]) -> None:
    """Write such nests (which lie in their pages) into one outer loop."""
    last: dict[int, Written] = {}
    for nest in nests:
        before = last.get(id(nest.page))
        if before is not None and _follows(before, nest) and _same_rows(before, nest):
            _merge(before, nest)
        else:
            last[id(nest.page)] = nest


def _follows(a: Written, b: Written) -> bool:
    """Is there nothing between the nests but new arrays, and are their outer loops alike?"""
    if not (a.known and b.known and a.heads and b.heads) or a.end > b.heads[0]:
        return False
    if min(len(a.extents), len(b.extents)) < 2 or a.extents[0] != b.extents[0]:
        return False
    if a.counters[0] != b.counters[0] or any(
        n.isdecimal() for x in (a, b) for n in (x.extents[0], *x.extents[1:])
    ):  # short loops are written out, and the outer one is vectorised
        return False
    lines = a.page.lines
    if _margin(lines[a.heads[0]]) != _margin(lines[b.heads[0]]):
        return False
    mine = set(_all_names(lines[a.heads[0] : a.end]))
    for line in _flat(lines[a.end : b.heads[0]]):
        made = _MADE.fullmatch(line)
        if not line.lstrip().startswith("#") and (
            made is None or made[1] in mine or not a.totals.isdisjoint(_names(line))
        ):
            return False
    return True


def _same_rows(a: Written, b: Written) -> bool:
    """Does each row of b wait for the same row of a only, and do they share one?"""
    whole = a.totals - {t.name for t in a.rows}
    if not whole.isdisjoint(_all_names(b.page.lines[b.heads[0] : b.end])):
        return False
    shared = [(x, y) for x in (*a.touched, *a.rows) for y in (*b.touched, *b.rows) if meet(x, y)]
    return any(_in_one_row(x, y) for x, y in shared) and all(
        _in_one_row(x, y) for x, y in shared if x.write or y.write
    )


def _in_one_row(x: Touch, y: Touch) -> bool:
    """Do two iterations of the outer loop reach the same element of both only if they are one?"""
    return x.name == y.name and any(
        p == q and _moves(p) for p, q in zip(x.at, y.at, strict=True)
    )


def _moves(x: Affine) -> bool:
    return len(x.terms) == 1 and x.terms[0][0] == 0 and x.terms[0][1] == 1


def _merge(a: Written, b: Written) -> None:
    """The lines of b's outer loop behind those of a's; the page stays as long as it was."""
    lines = a.page.lines
    between = lines[a.end : b.heads[0]]
    noted = [isinstance(x, str) and x.lstrip().startswith("#") for x in between]
    notes = ["    " + x for x, note in zip(between, noted, strict=True) if note]
    made = [x for x, note in zip(between, noted, strict=True) if not note]
    start, end = a.heads[0], b.end
    lines[start:end] = [
        *made, *lines[start : a.end], *notes, *lines[b.heads[0] + 1 : end], []
    ]  # fmt: skip
    a.heads = [h + len(made) for h in a.heads]
    a.end = end - 1
    a.touched += b.touched
    a.rows += b.rows
    a.totals |= b.totals


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _flat(lines: list[Any]) -> list[str]:
    return [x for y in lines for x in (_flat(y) if isinstance(y, list) else [y])]


def _all_names(lines: list[Any]) -> list[str]:
    return [n for line in _flat(lines) for n in _names(line)]


def _names(line: str) -> list[str]:
    return [] if line.lstrip().startswith("#") else _NAME.findall(line)
