"""Which arrays are only handed on inside one loop nest, and need no memory?

Nests that were joined hand elements to each other: what one iteration writes, the same iteration
reads.  An array of which nothing else is ever read is a local number there (array contraction;
Sarkar & Gao 1991, *Optimization of array accesses by collective loop transformations*).  That is
known when a function's lines are all written, and seen from them: an array is such a one if its
name occurs where it is allocated, and otherwise only as `name[counters]` in one nest, first on
the left of an assignment.  The counters are those of all its loops, or of the outer ones, between
which and the inner ones it is assigned then: the total of a row.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from jitad.emit.joining import Written

_EMPTY = re.compile(r" *([A-Za-z_]\w*) = empty\((np\.(?:float64|int64|bool_)), .*\)")
_NAME = re.compile(r"[A-Za-z_]\w*")


def contract(lines: list[Any], nests: list[Written]) -> None:
    """Make such arrays numbers, in these lines (lists of lines among them) of a function."""
    if not nests:
        return
    uses: Counter[str] = Counter()
    made: dict[str, tuple[list[Any], int]] = {}
    _survey(lines, uses, made)
    for nest in nests:
        body = range(nest.start, nest.end)
        page = nest.page.lines
        inside: Counter[str] = Counter()
        for k in body:
            inside.update(_names(page[k]))
        for name, count in inside.items():
            if name not in made or uses[name] != count + 1:
                continue
            lines_of = [k for k in body if name in _names(page[k])]
            element = _element(nest, name, count, [page[k] for k in lines_of])
            if element is None:
                continue
            for k in lines_of:
                page[k] = element.sub(name, page[k])
            block, at = made[name]
            block[at] = []


def _element(nest: Written, name: str, count: int, lines: list[str]) -> re.Pattern[str] | None:
    """What all of these lines call the array by, if it may be a number."""
    for n in range(len(nest.counters), 0, -1):
        where = re.escape(f"[{', '.join(nest.counters[:n])}]")
        element = re.compile(rf"\b{name}{where}")
        if sum(len(element.findall(line)) for line in lines) != count:
            continue
        target, _, value = lines[0].partition(" = ")
        outside = n == len(nest.counters) or nest.depth_of(lines[0]) == n
        if outside and element.fullmatch(target.strip()) and not element.search(value):
            return element
    return None


def _survey(lines: list[Any], uses: Counter[str], made: dict[str, tuple[list[Any], int]]) -> None:
    """How often each name occurs, and where arrays are allocated."""
    for k, line in enumerate(lines):
        if isinstance(line, list):
            _survey(line, uses, made)
            continue
        uses.update(_names(line))
        if found := _EMPTY.fullmatch(line):
            made[found[1]] = (lines, k)


def _names(line: str) -> list[str]:
    return [] if line.lstrip().startswith("#") else _NAME.findall(line)
