"""Is an exception that a trace meets the program's own, and how does it end a path?"""

from __future__ import annotations

import dis

from jitad.errors import GuardMiss, JitadError, JitadIntegerError
from jitad.tape.ir import lit
from jitad.trace.context import Bottom, DeadPath, Trace


def raises_for_the_user(error: BaseException) -> bool:
    """True of what the program raises when it runs; False of what jitad refuses to trace."""
    if isinstance(error, JitadError):  # of the second, a kernel raises it when it gets there
        return error.of_program or isinstance(error, JitadIntegerError)
    if isinstance(error, TypeError):
        return _raised_by_statement(error) or getattr(error, "of_program", False)
    return is_of_program(error) or isinstance(error, DeadPath)


def is_of_program(error: BaseException) -> bool:
    """Is it no way out of a trace, and no interrupt from the keyboard while there is one?"""
    if isinstance(error, Exception):
        return not is_mistake(error)
    if type(error).__module__.startswith("jitad."):
        return False
    return not isinstance(error, KeyboardInterrupt) or _raised_by_statement(error)


def is_mistake(error: BaseException) -> bool:
    """Has the tracer asked something of its own for what it does not have?

    What is said of it is nothing that the program could raise, or catch.
    """
    if not isinstance(error, AttributeError) or error.obj is None:
        return False
    return type(error.obj).__module__.startswith(_OWN)


_OWN = ("jitad.trace.", "jitad.tape.")


def _raised_by_statement(error: BaseException) -> bool:
    """True where user code says `raise`; library code given a traced number raises otherwise."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is None:
        return False
    return dis.opname[at.tb_frame.f_code.co_code[at.tb_lasti]].startswith("RAISE")


def emit_end(trace: Trace, error: BaseException) -> None:
    """What ends a path of which the trace knows no more."""
    if isinstance(error, Bottom):
        trace.builder.emit("check", lit(False), exception=GuardMiss, message="nowhere")
    elif not isinstance(error, DeadPath):
        emit_raise(trace, error)


def emit_raise(trace: Trace, error: BaseException) -> None:
    """The exception, as a check that fails."""
    from jitad.trace.effects import record_raise  # results are joined values

    record_raise(trace.builder, lit(False), error)
