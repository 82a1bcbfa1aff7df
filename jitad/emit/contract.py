"""Which arrays are only handed on inside one loop nest, and need no memory?

Nests that were joined hand elements to each other: what one iteration writes, the same iteration
reads.  An array of which nothing else is ever read is a local number there (array contraction;
Sarkar & Gao 1991, *Optimization of array accesses by collective loop transformations*).  That is
known when a function's lines are all written, and seen from them: an array is such a one if its
name occurs where it is allocated, and otherwise only as `name[counters]` in one nest, first on
the left of an assignment.
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
        where = re.escape(f"[{', '.join(nest.counters)}]")
        body = range(nest.start, nest.end)
        page = nest.page.lines
        inside: Counter[str] = Counter()
        for k in body:
            inside.update(_names(page[k]))
        for name, count in inside.items():
            if name not in made or uses[name] != count + 1:
                continue
            element = re.compile(rf"\b{name}{where}")
            lines_of = [k for k in body if name in _names(page[k])]
            if sum(len(element.findall(page[k])) for k in lines_of) != count:
                continue
            target, _, value = page[lines_of[0]].partition(" = ")
            if not element.fullmatch(target.strip()) or element.search(value):
                continue
            for k in lines_of:
                page[k] = element.sub(name, page[k])
            block, at = made[name]
            block[at] = []


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
