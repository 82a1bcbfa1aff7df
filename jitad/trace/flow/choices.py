"""What is an expression of which one part or another counts: `a if c else b`, `and`, `or`?

Where the condition is traced, a branch of two values.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from jitad.tape.build import Leaf
from jitad.tape.ir import Pos
from jitad.trace.context import Region, Trace, position
from jitad.trace.flow.branches import Branches, decided, is_pure, truth
from jitad.trace.flow.raising import raises_for_the_user
from jitad.trace.joins.unset import UNSET, is_optional
from jitad.trace.ongoing import current
from jitad.trace.syntax.hooking import Site
from jitad.values.number import bind

_THIS = ("this expression",)


def choose(condition: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """`then if condition else orelse`."""
    trace = current()
    pos = position(sys._getframe(1)) or (None if trace is None else trace.builder.pos)
    known = decided(condition, pos)
    if isinstance(known, bool):
        return then() if known else orelse()
    assert trace is not None and pos is not None
    trace.at(pos)
    return _of_branches(trace, known, pos, then, orelse, False)


def forked(test: Leaf, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """One of two values, with no name for what they were joined from."""
    trace = current()
    assert trace is not None and trace.builder.pos is not None
    for _, known, side in trace.conditions:  # of two things of one condition, both are its one
        if known.atom is test.atom:
            return then() if side else orelse()
    return _of_branches(trace, test, trace.builder.pos, then, orelse, True)


def _of_branches(
    trace: Trace, known: Leaf, pos: Pos, then: Callable[[], Any], orelse: Callable[[], Any],
    apart: bool,
) -> Any:  # fmt: skip
    site = Site(pos, _THIS, (), frozenset(_THIS), False, frozenset(_THIS))
    session = Branches(trace, known, (UNSET,), site, apart)
    for value in (then, orelse):
        with session:
            session.leave((value(),))
    return session.joined()[0]


def both(first: Any, *rest: Callable[[], Any]) -> Any:
    """`first and ...`"""
    return _junction("logical_and", first, rest, lambda f, r: choose(f, r, lambda: f))


def either(first: Any, *rest: Callable[[], Any]) -> Any:
    """`first or ...`"""
    def there(f: Any) -> Any:
        return f.value if is_optional(f) else f  # what is true is not None

    return _junction("logical_or", first, rest, lambda f, r: choose(f, lambda: there(f), r))


def _junction(name: str, first: Any, rest: tuple[Callable[[], Any], ...], general: Any) -> Any:
    for later in rest:
        known = truth(first)
        if isinstance(known, bool):
            if known == (name == "logical_or"):
                return first
            first = later()
            continue
        trace = current()
        assert trace is not None
        # a bool and a pure operand: no block is needed
        region = Region(trace, escapes=True)
        region.open()
        try:
            value = later()
            simple = _is_bool(first) and _is_bool(value) and not trace.journal.frames[-1]
            simple = simple and trace.regions[-1] is region
            simple = simple and all(map(is_pure, region.block.equations))
        except BaseException as e:
            region.drop()
            if not raises_for_the_user(e):
                raise
            simple = False
        else:
            region.splice() if simple else region.drop()
        first = bind(name, first, value) if simple else general(first, later)
    return first


def _is_bool(value: Any) -> bool:
    if isinstance(value, Leaf):
        return value.type.dtype == "b1"  # type: ignore[union-attr]
    return isinstance(value, bool)


