"""How does an exception leave a function of the tape, or one that is differentiated?

As one of its results: what was raised, or None.  An attempt around the whole function (`Boundary`)
takes what anyone around the calls would catch, so that all of the function's paths come to its end;
after a call, what was raised is raised again (`handed_on`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jitad.trace.context import Trace
from jitad.trace.flow.attempts import Attempt, is_caught, onward, raise_, rethrow
from jitad.trace.joins.forms import Record
from jitad.trace.joins.join import _container
from jitad.trace.joins.selected import fork, kind_of_exception, one_of
from jitad.trace.joins.snapshot import snapshot
from jitad.trace.joins.state import Rec
from jitad.trace.joins.unset import UNSET, Among, Perhaps, is_optional
from jitad.trace.syntax.hooking import Site
from jitad.values.chosen import each
from jitad.values.number import bind

Kinds = tuple[type, ...]
_RESULT = ("_jv",)


def wanted(trace: Trace, before: Kinds = ()) -> Kinds:
    """The kinds of exception that are caught around the present place."""
    found = (k for a in trace.attempts for k in a.kinds)
    return tuple(dict.fromkeys((*before, *found)))


class Boundary(Attempt):
    """The whole function, whose result it is left with; nobody else's variables matter in it."""

    def __init__(self, trace: Trace, kinds: Kinds) -> None:
        assert trace.builder.pos is not None
        super().__init__(lambda: kinds, (UNSET,), Site(trace.builder.pos, _RESULT))
        self.of = trace

    def __enter__(self) -> None:
        self.around, self.of.attempts = self.of.attempts, []
        super().__enter__()

    def variables(self, joined: dict[str, Any]) -> dict[str, Any]:
        return {}

    def __exit__(self, kind: Any, error: BaseException | None, tb: object) -> bool:
        try:
            return super().__exit__(kind, error, tb)
        finally:
            self.of.attempts = self.around

    def ended(self) -> tuple[Any, Any]:
        """The result, `UNSET` where no path has one, and what was raised."""
        raised, value = self.joined()
        return value, merged(raised)


def merged(raised: Any) -> Any:
    """What was raised, with one exception of each kind at most."""
    inner = raised.value if is_optional(raised) else raised
    if type(inner) is not Among:
        return raised
    groups: dict[Any, list[tuple[Any, BaseException]]] = {}
    for flag, e in zip((*inner.flags, None), inner.among, strict=True):
        groups.setdefault(kind_of_exception(snapshot(e)), []).append((flag, e))
    *others, last = sorted(groups.values(), key=lambda group: group[-1][0] is None)
    flags = [_any(flag for flag, _ in group) for group in others]
    found = one_of(flags, [_one(group) for group in (*others, last)])
    return Perhaps(raised.flag, found, raised.name, True) if is_optional(raised) else found


def _any(flags: Iterable[Any]) -> Any:
    out, *more = flags
    for flag in more:
        out = bind("logical_or", out, flag)
    return out


def _one(group: list[tuple[Any, BaseException]]) -> BaseException:
    """The exception of this kind, with the values of the one that was raised."""
    flags, found = zip(*group, strict=True)
    s = snapshot(found[0])
    if not isinstance(s, Rec) or len(found) == 1:
        return found[0]

    def parts(e: BaseException) -> tuple[Any, ...]:
        return tuple(e.args if k == "args" else vars(e)[k] for k in s.keys)

    return _container(Record(s, ()), list(each(fork, flags[:-1], found, parts)))


def handed_on(trace: Trace, raised: Any) -> None:
    """After a call: raise what was raised in it."""
    inner = raised.value if is_optional(raised) else raised
    among = inner.among if type(inner) is Among else (inner,)
    if not is_optional(raised):
        if raised is not None:
            raise_(raised)
    elif all(is_caught(trace, e) for e in among):
        assert trace.builder.pos is not None
        onward(trace, raised, Site(trace.builder.pos, ()), ())
    else:
        rethrow(raised)
