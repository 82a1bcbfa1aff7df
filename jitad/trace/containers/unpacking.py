"""What is taken apart, by a star or by several targets of an assignment?"""

from __future__ import annotations

import sys
from typing import Any

from jitad.errors import JitadValueError
from jitad.plain import as_written
from jitad.tape.build import Leaf
from jitad.trace import protocols
from jitad.trace.calls import call, special
from jitad.trace.containers import lists, partial, tabled
from jitad.trace.containers.iterables import Counted
from jitad.trace.containers.spread_out import Spread
from jitad.trace.containers.stretch import stretched
from jitad.trace.flow.generators import listed
from jitad.trace.joins.optional import present
from jitad.trace.joins.selected import among_parts, spread
from jitad.trace.joins.unset import is_among
from jitad.trace.ongoing import current
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.journal import made
from jitad.values.kind import require
from jitad.values.number import bind


def unpack(value: Any, count: int | tuple[int, int]) -> Any:
    """The parts of a value that is assigned to so many targets, or to so many around a star."""
    value = listed(partial.items(among_parts(present(value))))
    if isinstance(value, (ArrayHandle, Complex)) and isinstance(count, int):
        n = value.shape[0]
        if isinstance(n, Leaf):
            require(bind("eq", n, count), JitadValueError, f"expected {count} values to unpack")
            return [value.row(k) for k in range(count)]
    if stretched(value) is not None:
        n = lists.length(value)
        if isinstance(count, tuple):
            return lists.around_star(value, *count)
        require(bind("eq", n, count), JitadValueError, f"expected {count} values to unpack")
        return [lists.get(value, k) for k in range(count)]
    return protocols.items(value)


def starred(value: Any, argument: bool = False) -> Any:
    """What is spread out by a star, maybe as arguments of a call."""
    value = listed(partial.items(among_parts(present(value))))
    if stretched(value) is not None:  # Python would find one element in it
        trace = current()
        if trace is not None:
            trace.step(sys._getframe(1))
        if argument and trace is not None:
            return (Spread(value),)
        raise lists.refused("spread out by a star")
    return protocols.items(value)


def part(value: Any) -> Any:
    """What a star spreads out in a list or tuple that is written down."""
    value = present(value)
    if is_among((value,)):
        return value
    value = listed(partial.items(value))
    if isinstance(value, ArrayHandle) and value.shape and isinstance(n := value.shape[0], Leaf):
        if n.builder.rely(n.atom) is None:
            return lists.run(as_written.listed, value)
    if type(value) is Counted and value.static is None:
        return lists.run(as_written.listed, value)
    return value if stretched(value) is not None else tuple(protocols.items(value))


def listed_with(*parts: Any) -> Any:
    """`[a, *b, c]`, of parts that are tuples, or lists of a length that only the kernel knows."""
    if is_among(parts):
        return spread(listed_with, *parts)
    parts = tuple(map(part, parts))
    if any(stretched(p) is not None for p in parts):
        trace = current()
        if trace is not None:
            trace.step(sys._getframe(1))
        return lists.run(as_written.chained, parts)
    out = [x for p in parts for x in p]
    made(out)
    return out


def tuple_with(*parts: Any) -> Any:
    """`(a, *b, c)`"""
    return spread(tuple_with, *parts) if is_among(parts) else lists.call_tuple(listed_with(*parts))


def displayed(*parts: tuple[Any, ...]) -> dict[Any, Any]:
    """A dict that is written down, maybe with others in it: `{**a, key: v}`."""
    from jitad.trace.places import set_item  # which takes apart what it is given

    trace = current()
    if trace is not None:
        trace.step(sys._getframe(1))
    out: dict[Any, Any] = {}
    made(out)
    tabled.begun(out)
    for given in parts:
        if len(given) == 2 and isinstance(given[0], str) and not tabled.is_tabled(out):
            partial.put(out, *given)
        elif len(given) == 2:
            set_item(given[1], out, given[0])
        else:
            other = present(given[0])
            if tabled.is_tabled(other) and not tabled.is_tabled(out):
                tabled.takes(out)
            partial.update(out, other if type(other) is dict else {**mapping(other)})
    return out


def mapping(value: Any) -> Any:
    """What is spread out by two stars."""
    if (trace := current()) is not None:
        trace.step(sys._getframe(1))
    value = present(value)
    partial.checked("spread out by two stars", value)
    keys = special(value, "keys")
    if keys is None:
        return value
    from jitad.trace.places import get_item  # which unpacks

    return {k: get_item(value, k) for k in protocols.items(call(keys, value))}
