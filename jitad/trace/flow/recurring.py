"""Does a user's function call itself here, as long as something holds that only the kernel knows?

Calls are noticed while they run: of the same function, with arguments that a trace can't tell
apart, in a block of the tape that may not happen.  Then the trace starts anew, and makes a
function of the tape of it (`recursion`), or, where that can't be, relies on what decides.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType
from typing import Any

from jitad.errors import JitadError, UnknownDepthError
from jitad.tape.build import Leaf
from jitad.trace.context import Again, Region, Trace
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex

MAX_DEPTH = 1000  # calls inside each other
MAX_CONDITIONAL = 6  # calls of a function inside itself, each under a condition of the last
MAX_UNFOLDED = 50  # the same where they are written out


@contextmanager
def noticed(trace: Trace, f: FunctionType, args: Any, kwargs: Any) -> Iterator[None]:
    """A call of a function runs inside."""
    key = (f.__code__, *map(_abstract, args), *(map(_abstract, kwargs.values())))
    here = (len(_conditional(trace)), len(trace.conditions))
    if key in trace.calls and here > trace.calls[key]:
        _recurs(trace, f, trace.calls[key])
    # ints may tell the calls apart, and yet not be what ends them
    around = trace.nested.setdefault(f.__code__, [])
    if len(around) >= MAX_CONDITIONAL and _under_conditions(around, here):
        _recurs(trace, f, around[0])
    if trace.depth > MAX_DEPTH:
        raise JitadError(
            f"more than {MAX_DEPTH} calls inside each other, the last of {f.__qualname__}",
            trace.builder.pos, "If it is a recursion that ends, write it as a loop.",
        )  # fmt: skip
    again = key in trace.calls
    trace.calls.setdefault(key, here)
    around.append(here)
    trace.depth += 1
    try:
        yield
    finally:
        trace.depth -= 1
        around.pop()
        if not again:
            del trace.calls[key]


def _under_conditions(around: list[tuple[int, int]], here: tuple[int, int]) -> bool:
    """Was each of the last calls made under a condition, or in a loop, of the one before it?"""
    last = [*around[-MAX_CONDITIONAL:], here]
    return all(outer[0] < inner[0] for outer, inner in itertools.pairwise(last))


def _conditional(trace: Trace) -> list[Region]:
    """The blocks around that may not happen, or more than once."""
    return [r for r in trace.regions if not r.certain]


def _recurs(trace: Trace, f: FunctionType, since: tuple[int, int]) -> None:
    """A function was found to call itself, depending on conditions of the tape."""
    insight, code = trace.insight, f.__code__
    # In a `while` that can be written out: there a parser knows which word is next, say.
    around = _conditional(trace)
    if any(r.trial for r in (*(r for r in around if not r.rather_rolled), *around[since[0] :])):
        raise JitadError(f"{f.__qualname__} calls itself in this loop", trace.builder.pos)
    if code not in insight.unfolded:
        ending = insight.ending | trace.around()
        raise Again(replace(insight, recursive=insight.recursive | {code}, ending=ending))
    # Recursion ends where its conditions are decided by ints and extents: rely on those.
    example = trace.builder.example
    found = {p for p, test, _ in trace.conditions[since[1] :] if example(test.atom) is not None}
    if not found <= insight.relied:
        raise Again(replace(insight, relied=insight.relied | found))
    if len(trace.nested[code]) < MAX_UNFOLDED:
        return
    unfolded, recursive = insight.unfolded - {code}, insight.recursive | {code}
    raise Again(replace(insight, unfolded=unfolded, recursive=recursive))


def on_tape(
    trace: Trace, f: FunctionType, twin: FunctionType, args: tuple[Any, ...], kwargs: Any
) -> Any:
    """A function of the tape; where that can't be, the trace starts anew and unfolds the calls."""
    from jitad.trace.flow.attempts import is_caught  # which knows of branches
    from jitad.trace.flow.recursion import called

    try:
        return called(trace, f, twin, args, kwargs)
    except (JitadError, TypeError) as error:
        if is_caught(trace, error):
            raise
        insight, code = trace.insight, f.__code__
        if code in insight.tried:
            raise _unknown_depth(trace, error) from None
        raise Again(
            replace(insight, recursive=insight.recursive - {code},
                    unfolded=insight.unfolded | {code}, tried=insight.tried | {code})
        ) from None  # fmt: skip


def _unknown_depth(trace: Trace, error: Exception) -> Exception:
    """Recursion that no function of the tape is, and whose depth numbers decide."""
    if not isinstance(error, JitadError) or isinstance(error, UnknownDepthError):
        return error
    places = trace.insight.ending | trace.around()
    return UnknownDepthError(error.what, error.where, error.remedy, places)


def _abstract(value: Any) -> Any:
    """Equal for arguments that a call can't tell apart while tracing."""
    if isinstance(value, Leaf):
        return value.type
    if isinstance(value, (ArrayHandle, Complex)):
        return value.type
    if isinstance(value, (int, float, str, bool, type(None))):
        return (type(value), value)
    return id(value)
