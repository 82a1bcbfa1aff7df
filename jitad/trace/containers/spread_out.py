"""What is called with as many arguments as a list is long, which only the kernel knows?

`f(a, *values)`: parameters that have a name get elements, where the kernel checks that they are
there; `*rest` gets the others, a tuple of unknown length.
"""

from __future__ import annotations

import inspect
import itertools
from typing import Any

from jitad.errors import JitadError, JitadWrongTypeError
from jitad.plain import as_written
from jitad.trace.containers import lists, writtenback
from jitad.trace.containers.grown import variables
from jitad.trace.containers.lists import refused, run
from jitad.trace.containers.stretch import Stretch, stretched
from jitad.trace.joins.forms import Grown, Record
from jitad.trace.joins.state import CONTENT
from jitad.trace.ongoing import current
from jitad.values.array import ArrayHandle
from jitad.values.journal import made
from jitad.values.kind import require
from jitad.values.number import bind


class Spread:
    """Arguments of a call, which are as many as the list is long."""

    def __init__(self, values: Any) -> None:
        self.values = values


def called(f: Any, *args: Any, **kwargs: Any) -> Any:
    """f(*args, **kwargs), where some of the arguments are a `Spread`."""
    from jitad.trace.calls import call  # which asks here first
    from jitad.trace.containers.listcalls import is_users

    if f is zip and len(args) == 1 and isinstance(args[0].values[0].element, Grown):
        from jitad.trace.flow import generators  # which are loops

        return generators.written(as_written.each_column, args[0].values)
    if f is zip and len(args) == 1:
        out = iter(_columns(args[0].values))
        made(out)
        return out
    if f is itertools.chain:
        return run(as_written.chained, _all(args))
    if f is max or f is min:
        values = _all(args)
        require(bind("ge", lists.length(values), 2), JitadWrongTypeError,
                f"{f.__name__} of the elements of a list that has one element or none")  # fmt: skip
        return call(f, values, **kwargs)
    if not is_users(f):
        raise refused("spread out by a star")
    return call(f, *_bound(f, args, kwargs), **kwargs)


def _all(args: tuple[Any, ...]) -> list[Any]:
    """All arguments, in a list."""
    from jitad.trace.containers.unpacking import listed_with  # which calls

    return listed_with(*(a.values if type(a) is Spread else (a,) for a in args))


def _bound(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments one by one; those for `*rest` as the content of the tuple that it becomes."""
    named, rest = _parameters(f, kwargs)
    known = next(k for k, a in enumerate(args) if type(a) is Spread)
    if any(p.default is not p.empty for p in named[known:]):
        raise refused("spread out by a star, where parameters have defaults")
    if rest and known >= len(named):
        return [*args[: len(named)], stretched(_rest(_all(args[len(named) :]), 0))]
    values = _all(args[known:])
    missing = len(named) - known
    count = lists.length(values)
    fits = bind("ge" if rest else "eq", count, missing)
    require(fits, JitadWrongTypeError, f"{_name(f)} got another number of arguments than it takes")
    first = [lists.get(values, k) for k in range(missing)]
    return [*args[:known], *first, *([stretched(_rest(values, missing))] if rest else [])]


def _rest(values: list[Any], start: int) -> tuple[Any, ...]:
    trace = current()
    assert trace is not None
    left = lists.sliced(values, slice(start, None)) if start else values
    return lists.frozen(left)


def _parameters(f: Any, kwargs: dict[str, Any]) -> tuple[list[inspect.Parameter], bool]:
    """Those that arguments without names go to, and whether there is a `*rest`."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        raise refused("spread out by a star") from None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = [p for p in parameters if p.kind in kinds and p.name not in kwargs]
    return named, any(p.kind is p.VAR_POSITIONAL for p in parameters)


def _name(f: Any) -> str:
    return getattr(f, "__qualname__", type(f).__name__)


def _columns(values: Any) -> list[Any]:
    """What all elements have in the first place, what they have in the second, and so on."""
    (stretch,) = values
    form = stretch.element
    whole = isinstance(form, Record) and isinstance(form.of.value, (tuple, list))
    if not isinstance(form, Record) or not whole or CONTENT in form.of.keys:
        raise refused("given to zip by a star, unless it holds tuples of one length")
    require(bind("ge", stretch.count, 1), JitadError,
            "zip(*values) of an empty list: how much it gives must be known")  # fmt: skip
    trace = current()
    assert trace is not None
    stores = iter(stretch.stores)
    out = []
    for part in form.parts:
        writtenback.copied(trace, part)
        mine = tuple(ArrayHandle(next(stores).content) for _ in variables(part))
        out.append((Stretch(stretch.count, mine, part, 0),))
    return out
