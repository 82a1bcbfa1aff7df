"""What happens where an exception that depends on traced values is caught?

Where a check may fail in an attempt (the body of a `try`), what comes after it goes to a block of
its own, which runs where the check holds: a detour.  When the attempt ends, or the branch or pass
through a loop in which the check stands, the detour is joined with the other path: the variables
as they were at the check, and the exception.  From branches and loops on the way out the exception
is handed on as one more variable; what comes after them is a detour again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

from jitad.errors import (
    FINISHED,
    GuardMiss,
    JitadConvergenceError,
    JitadError,
    is_refusal,
)
from jitad.tape.build import Leaf
from jitad.tape.ir import Atom, Lit
from jitad.trace.context import Trace
from jitad.trace.flow.raising import emit_end, is_of_program, raises_for_the_user
from jitad.trace.joins.selected import fork, one_of, spread
from jitad.trace.joins.unset import UNSET, Among, Perhaps, is_optional
from jitad.trace.ongoing import current
from jitad.trace.rewrite import is_rewritten_code
from jitad.trace.syntax.hooking import Site
from jitad.values.number import bind

MOST_DETOURS = 60  # inside each other
RAISED = "_jx"
PLACE = "\n  File "  # what an exception says comes before it


class Thrown(Exception):
    """One of several exceptions is raised; which depends on traced values."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


class Left(Exception):
    """A loop over a generator is left, while the generator waits in a block of the tape."""

    __slots__ = ("loop",)

    def __init__(self, loop: Any) -> None:
        super().__init__()  # the loop is no argument, which paths would take apart
        self.loop = loop


def without(raised: Any, gone: Callable[[Any], bool]) -> Any:
    """What was raised besides exceptions of this kind."""
    inner = _there(raised)
    among = inner.among if type(inner) is Among else (inner,)
    others = [e for e in among if not gone(e)]
    if len(others) == len(among):
        return raised
    if not others:
        return None
    is_other = spread(lambda e: not gone(e), inner)
    flag = bind("logical_and", raised.flag, is_other) if is_optional(raised) else is_other
    return Perhaps(flag, _those(inner, lambda e: not gone(e)), "", True)


def _those(value: Among, may_be: Callable[[Any], bool]) -> Any:
    """The one of several things, given that it is one of these."""
    pairs = zip((*value.flags, True), value.among, strict=True)
    there = [(flag, x) for flag, x in pairs if may_be(x)]
    return one_of([flag for flag, _ in there[:-1]], [x for _, x in there])


def exception_of(error: BaseException) -> Any:
    return error.value if isinstance(error, Thrown) else error


class Attempt:
    """The body of a `try`, which may end early; `joined` gives the exception and the variables."""

    traced = False

    def __init__(
        self, kinds: Callable[[], tuple[Any, ...]], state: tuple[Any, ...], site: Site
    ) -> None:
        self.given, self.state, self.site = kinds, state, site
        self.kinds: tuple[type, ...] = ()
        self.trace = current()
        self.raised: Any = None

    def __enter__(self) -> None:
        self.frame = sys._getframe(1)
        if self.trace is not None:
            self.kinds = _flat(self.given())
            self.trace.attempts.append(self)
            self.depth = len(self.trace.detours)
            self.regions = len(self.trace.regions)
            self.blocks = len(self.trace.builder.blocks)

    def variables(self, joined: dict[str, Any]) -> dict[str, Any]:
        """Those that it hands on and that are read where an exception is raised.

        The frame may still have them from an earlier iteration that is written out, with values
        of a block that is closed.  `joined`: those that it has not been told of yet.
        """
        variables = {**self.frame.f_locals, **joined}
        return {n: variables.get(n, UNSET) for n in self.site.names if n in self.site.live}

    def leave(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def __exit__(self, kind: Any, error: BaseException | None, _: object) -> bool:
        if self.trace is not None:
            # a generator may have been suspended in it, and be closed when others are entered
            self.trace.attempts = [a for a in self.trace.attempts if a is not self]
        if error is not None and (self._takes(error) or self._is_one_of_several(error)):
            self.raised = exception_of(error)
            variables = held(self)
            self.state = tuple(variables.get(n, UNSET) for n in self.site.names)
        elif error is not None:
            if self.trace is None or not dead_end(self.trace, self.depth, error):
                return False
            self.state = at_dead_end(self.site.names)
        if self.trace is not None:
            names = self.site.names
            self.state, self.raised = settled(
                self.trace, self.depth, self, names, self.state, self.raised
            )
        return True

    def _is_one_of_several(self, error: BaseException) -> bool:
        """Has another path raised here what this attempt takes, while one around takes this?"""
        trace = self.trace
        return trace is not None and len(trace.detours) > self.depth and is_caught(trace, error)

    def _takes(self, error: BaseException) -> bool:
        if self.trace is None:
            return takes(_flat(self.given()), error)
        if is_refusal(error) or not is_of_program(error):  # as is a GuardMiss
            return False
        if isinstance(error, Thrown) or not self.kinds:
            return bool(self.kinds) or caught(self.trace, type(error))
        return isinstance(error, self.kinds)

    def joined(self) -> tuple[Any, ...]:
        return (self.raised, *self.state)


def takes(kinds: tuple[type, ...], error: BaseException) -> bool:
    """Does `except kinds` of a function that is differentiated eagerly take this?

    Not what jitad alone refuses: Python could do it.  But those that name jitad's errors mean them.
    """
    if is_refusal(error):
        kinds = tuple(k for k in kinds if issubclass(k, JitadError))
    return isinstance(error, kinds)


def _flat(kinds: Any) -> tuple[type, ...]:
    out: list[Any] = []
    for k in kinds:
        out += _flat(k) if isinstance(k, tuple) else [k]
    return tuple(out)


def held(attempt: Any, after: dict[str, Any] | None = None) -> dict[str, Any]:
    """The variables that an attempt hands on, as they are now.

    Its frame was not told of those after a block, nor of those of a block all of whose paths have
    raised.
    """
    joined, attempt.joined_last = getattr(attempt, "joined_last", {}), {}
    found: dict[str, Any] = attempt.variables({**joined, **(after or {})})
    return found


def user_frame() -> FrameType | None:
    """The innermost function of the user's."""
    at: FrameType | None = sys._getframe(1)
    while at is not None and not is_rewritten_code(at.f_code):
        at = at.f_back
    return at


# -- where it is raised ---------------------------------------------------------------------------


def caught(trace: Trace, kind: type) -> bool:
    """Would an attempt around catch this kind of exception?"""
    if issubclass(kind, GuardMiss) or kind is JitadError or not (
        issubclass(kind, Exception) or kind.__module__.partition(".")[0] != "jitad"
    ):
        return False
    for kinds, regions in trace.sealed:
        if issubclass(kind, kinds) and len(trace.regions) > regions:
            raise JitadError(
                f"{kind.__name__} under a traced condition can't be caught here",
                trace.builder.pos, "Test the condition with `if` instead of `try`.",
            )  # fmt: skip
    return any(issubclass(kind, k) for a in trace.attempts for k in a.kinds) or (
        kind is Thrown and bool(trace.attempts)
    )


def is_caught(trace: Trace, error: BaseException) -> bool:
    """The same of an exception; not of what jitad refuses to trace."""
    return not is_refusal(error) and is_of_program(error) and would_catch(trace, type(error))


def would_catch(trace: Trace, kind: type[BaseException]) -> bool:
    """Does the program catch exceptions of this class where the trace is?"""
    return bool(trace.attempts or trace.sealed) and caught(trace, kind)


def diverted(trace: Trace, ins: tuple[Atom, ...], params: dict[str, Any]) -> bool:
    """A check is about to be made: True where an attempt sees to it."""
    kind = params["exception"]
    if is_refusal(kind) or trace.builder.pos is None or not would_catch(trace, kind):
        return False  # none of the program's business, nor what is read before all of it
    ok = ins[0]
    if isinstance(ok, Lit) and ok.value:
        return True
    text = (params["message"], FINISHED) if issubclass(kind, JitadError) else (params["message"],)
    error = kind(*text)
    error.of_program = True
    if isinstance(ok, Lit):
        raise error
    detour(trace, Leaf(trace.builder, ok), error, held(trace.attempts[-1]))
    return True


def detour(trace: Trace, ok: Leaf, error: Any, values: dict[str, Any]) -> None:
    """From here on, what happens happens where `ok`; elsewhere the exception is raised."""
    attempt = trace.attempts[-1]
    if trace.detours and trace.detours[-1].goes_on(ok, error, values):
        return
    inner = trace.regions[attempt.regions :]
    if len(trace.builder.blocks) - attempt.blocks != len(inner) or not all(
        r.escapes for r in inner
    ):
        raise JitadError(
            "an exception that depends on traced values can't be caught outside of a function "
            "with derivative rules, a batch or a solver", trace.builder.pos,
            "Catch it inside, or test the condition with `if`.",
        )  # fmt: skip
    if len(trace.detours) >= MOST_DETOURS:
        raise JitadError(
            f"more than {MOST_DETOURS} places in one `try`, one after the other, may raise",
            trace.builder.pos, "Loop over range() or an array, or try less at once.",
        )  # fmt: skip
    from jitad.trace.flow.detours import Detour  # which is branches, and those know of attempts

    trace.detours.append(Detour(trace, ok, error, values))


def detours_begun(trace: Trace) -> int:
    """How many detours have begun; what is checked from now on belongs to none of them."""
    if trace.detours:
        trace.detours[-1].whole = True
    return len(trace.detours)


def immaterial(name: str) -> Any:
    """A variable that does not matter where the exception was raised."""
    return False if name.startswith("_j") and name != "_jv" else UNSET


class sealed:
    """Inside, exceptions of these kinds must be known: Python code around catches them."""

    def __init__(self, *kinds: type) -> None:
        self.kinds, self.trace = kinds, current()

    def __enter__(self) -> None:
        if self.trace is not None:
            self.trace.sealed.append((self.kinds, len(self.trace.regions)))

    def __exit__(self, *_: object) -> None:
        if self.trace is not None:
            self.trace.sealed.pop()


# -- where it goes --------------------------------------------------------------------------------


def settled(
    trace: Trace, depth: int, attempt: Any, names: tuple[str, ...], values: tuple[Any, ...],
    raised: Any,
) -> tuple[tuple[Any, ...], Any]:  # fmt: skip
    """The variables and the exception at the end of a block, in which detours may have begun."""
    frame = user_frame() if attempt is None else attempt.frame
    while len(trace.detours) > depth:
        last = trace.detours.pop()
        mine = last.attempt.frame is frame
        values, raised = last.close(mine, names, values, raised)
    return values, raised


def dead_end(trace: Trace, depth: int, error: BaseException) -> bool:
    """An exception that nobody catches, where some paths have left before: the others end here."""
    if len(trace.detours) <= depth or not raises_for_the_user(error):
        return False
    emit_end(trace, error)
    return True


def at_dead_end(names: tuple[str, ...]) -> tuple[Any, ...]:
    """The variables of a block that nobody comes out of at its end."""
    return tuple(map(immaterial, names))


def at_raise(
    trace: Trace, names: tuple[str, ...], begun: Sequence[Any] | None = None
) -> tuple[Any, ...]:
    """The variables of a block in which an exception was raised that is caught further out.

    Those that don't matter there are what they were when the iteration had `begun`, in a loop,
    which never goes on from here, but would take them for variables that may not be set.
    """
    attempt = trace.attempts[-1]
    variables = held(attempt) if user_frame() is attempt.frame else {}
    others = [*map(immaterial, names)]
    if begun is not None:
        others = [b if o is UNSET else o for o, b in zip(others, begun, strict=False)]
    return tuple(variables.get(n, o) for n, o in zip(names, others, strict=True))


def onward(trace: Trace, raised: Any, site: Site, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Go on after a block, where nothing was raised in it."""
    if raised is None:
        return values
    attempt: Any = trace.attempts[-1] if trace.attempts else None
    mine = attempt is not None and attempt.frame is user_frame()
    after = dict(zip(site.names, values, strict=True)) if mine else {}
    if not is_optional(raised):
        if mine:
            attempt.joined_last = after
        raise Thrown(raised) if type(raised) is Among else raised
    detour(trace, bind("logical_not", raised.flag), raised.value, held(attempt, after))
    return tuple(
        surely(v) if n in site.bound else v for n, v in zip(site.names, values, strict=True)
    )


def with_raised(site: Site, *more: str) -> Site:
    """The site of a block that hands on an exception, too."""
    names = (*more, RAISED)
    return replace(site, names=(*site.names, *names), live=site.live | set(names))


# -- hooks ----------------------------------------------------------------------------------------


def surely(value: Any) -> Any:
    """A variable that has a value, since nothing was raised."""
    if type(value) is Among and any(x is UNSET for x in value.among):
        return _those(value, lambda x: x is not UNSET)
    return value.value if isinstance(value, Perhaps) and not value.none else value


def thrown(raised: Any) -> Any:
    """What `except ... as` names: where Python or NumPy would raise, an exception as theirs."""
    return spread(pythons, _there(raised))


def pythons(error: Any) -> Any:
    """Where Python or NumPy would raise, an exception as theirs."""
    if not isinstance(error, JitadError) or is_refusal(error):
        return error
    if isinstance(error, JitadConvergenceError):
        return error  # as jitad's own functions raise it anywhere
    own: Any = next(c for c in type(error).__mro__ if not issubclass(c, JitadError))
    return own(error.what.partition(PLACE)[0])


def cause(error: Any) -> Any:
    """raise ... from error: what an exception came from is not kept where a trace chose it."""
    return error if isinstance(error, BaseException | type) else None


def _there(raised: Any) -> Any:
    """The exception, where there is one."""
    return raised.value if is_optional(raised) else raised


def catches(raised: Any, kinds: Any) -> Any:
    """Is the exception of one of these kinds?"""
    return spread(lambda e: isinstance(e, kinds) and type(e) is not Left, _there(raised))


def raise_(error: Any) -> Any:
    """raise error"""
    error = _there(error)
    if type(error) is Among:
        return spread(raise_, error)
    raise error


def rethrow(raised: Any) -> None:
    """After a `finally`: raise what was raised before it."""
    if raised is None:
        return
    if not is_optional(raised):
        raise_(raised)
    fork(raised.flag, lambda: raise_(raised.value), lambda: None)
