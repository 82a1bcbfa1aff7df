"""Which iteration of an inner loop reads the element that was stored last, and had better wait?

Where a triangular system is solved, an iteration of the outer loop stores `x[i]`, and the inner
loop of the next one sums up over `x[:i + 1]`.  A vector that holds an element just stored can't be
read before the store has come to the cache: store buffers hand on what one store has written as a
whole (Fog, *The microarchitecture of Intel, AMD and VIA CPUs*, "store forwarding").  So that
iteration is taken out of the loop and comes after the others, by itself: one number is handed on at
once, and the others' sum doesn't wait for it.  Nests compute arrays element by element and sums in
an order that is free, so any of their iterations may come last.

Which one it is, is known while loops are written; lines are changed when all of a function are,
after `contract` and `by_rows`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from jitad.emit.access import Affine, Map
from jitad.emit.joining import Written
from jitad.emit.print_python import Names, Page
from jitad.immutable import immutable

_COUNTER = "the inner loop's counter"

Place = tuple[dict[str, int], ...]  # along each axis: names with their factors, "" for one


@immutable(slots=True)
class Stored:
    """One element that was stored, outside of any nest, and the page's length before that."""

    page: Page
    line: int
    name: str
    at: Map


@immutable(slots=True)
class Waiting:
    """A nest's first or last iteration, which reads what was stored just before."""

    nest: Written
    first: bool


def waiting(counter: str, step: int, nests: Sequence[Written], stores: Sequence[Stored],
            linear: Callable[[str], tuple[str, int]]) -> Iterator[Waiting]:  # fmt: skip
    """Such iterations in the body of the loop over `counter`, of its nests and what it stores.

    `linear` gives (name, number) of an extent that is their sum.
    """
    places = {id(x): _place(x.at) for x in stores}
    for nest in nests:
        if len(nest.heads) != 1 or not nest.known or nest.extents[0].isdecimal():
            continue
        near = [
            (x.name, at if same else _moved(at, counter, -step))
            for x in stores
            if x.page is nest.page and (at := places[id(x)]) is not None
            for same in ((True, False) if x.line < nest.start else (False,))
        ]  # fmt: skip
        if near and (edge := _edge(nest, near, linear(nest.extents[0]))) is not None:
            yield Waiting(nest, edge)


def _edge(nest: Written, stored: list[tuple[str, Place]], extent: tuple[str, int]) -> bool | None:
    """Does its first iteration read one of the places (True), or its last (False)?"""
    name, number = extent
    for t in nest.touched:
        at = None if t.write else _place(t.at)
        if at is None or sum(_COUNTER in x for x in at) != 1:
            continue
        for first in (True, False):
            there = _with(at, _COUNTER, {} if first else {name: 1, "": number - 1})
            if (t.name, there) in stored:
                return first
    return None


def _place(at: Map) -> Place | None:
    """The index along each axis as a sum of names times numbers; None if it is none."""
    out = tuple(map(_sum, at))
    return None if any(x is None for x in out) else out  # type: ignore[return-value]


def _sum(x: Affine) -> dict[str, int] | None:
    out = {"": x.constant}
    for name, c in (*x.names, *((_COUNTER, c) for _, c in x.terms)):
        if not isinstance(c, int):
            return None
        out[name] = out.get(name, 0) + c
    return _tidy(out)


def _tidy(x: dict[str, int]) -> dict[str, int]:
    return {name: c for name, c in x.items() if c}


def _with(at: Place, name: str, value: dict[str, int]) -> Place:
    """The place with a sum in the place of a name."""
    out = []
    for x in at:
        rest = dict(x)
        c = rest.pop(name, 0)
        for n, k in value.items():
            rest[n] = rest.get(n, 0) + c * k
        out.append(_tidy(rest))
    return tuple(out)


def _moved(at: Place, name: str, by: int) -> Place:
    return _with(at, name, {name: 1, "": by})


def take_out(found: Sequence[Waiting], names: Names) -> None:
    """Write those iterations behind their loops; pages stay as long as they were."""
    for x in found:
        nest, lines = x.nest, x.nest.page.lines
        (head,), (counter,), (extent,) = nest.heads, nest.counters, nest.extents
        body = lines[head + 1 : nest.end]
        if not all(isinstance(line, str) for line in body):
            continue
        margin = lines[head].partition("for ")[0]
        less = f"{extent} - 1" if extent.isidentifier() else f"({extent}) - 1"
        alone = names.new(counter)
        lines[head] = f"{margin}for {counter} in range({f'1, {extent}' if x.first else less}):"
        lines[nest.end - 1] = [
            lines[nest.end - 1],
            f"{margin}if {extent} > 0:",
            f"{margin}    {alone} = {'0' if x.first else less}",
            *(re.sub(rf"\b{counter}\b", alone, line) for line in body),
        ]
