"""What does a call raise, if all that its trace comes to is an exception of Python's?

Whatever the arguments, such a function raises at that place at the latest.  Which exception of
those in front of it, and what its text shows, only a run with the values says: so it is run once,
in Python or in the eager engine.  Where that gives a value, or what raises is library code that may
have taken traced or differentiated values for something else, the user's line is named.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, NoReturn

from jitad.errors import (
    JitadAttributeError,
    JitadError,
    JitadIndexError,
    JitadTypeError,
    JitadValueError,
)
from jitad.tape.ir import Pos


def raise_as_python(
    error: Exception, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> NoReturn:
    """What f(*args, **kwargs) raises, of which a trace raised this error."""
    if isinstance(error, JitadError):
        raise error  # says itself what is the matter, of all values
    from jitad.trace import hooks  # not needed where all goes well
    from jitad.trace.around.outside import Outside

    try:
        with Outside(copies=False):
            hooks.call(f, *args, **kwargs)
    except Exception as own:
        error = own
    raise_located(error)


def raise_located(error: Exception, refused: Exception | None = None) -> NoReturn:
    """What a run raised; or why it was not compiled, where the run says no more than that."""
    located = _located(error)
    if isinstance(refused, JitadError) and isinstance(located, (JitadError, RecursionError)):
        raise refused from None
    if located is not error:
        raise located from None
    raise error


_LOCATED: dict[type, type[JitadError]] = {
    TypeError: JitadTypeError, ValueError: JitadValueError, IndexError: JitadIndexError,
    AttributeError: JitadAttributeError,
}  # fmt: skip


def _located(error: Exception) -> Exception:
    """What library code raises, at the user's line; what the user's functions raise stays."""
    kind = _LOCATED.get(type(error))
    at, pos = error.__traceback__, None
    from jitad.trace.rewrite import is_rewritten_code  # not needed where all goes well

    while at is not None:
        users = is_rewritten_code(at.tb_frame.f_code)
        if users:
            code = at.tb_frame.f_code
            _, _, column, _ = next(islice(code.co_positions(), at.tb_lasti // 2, None))
            pos = Pos(code.co_filename, at.tb_lineno, column or 0)
        at = at.tb_next
    if kind is None or pos is None or users:
        return error
    return kind(
        str(error), pos, "If that is right without traced or differentiated values, it is not made "
        "for them: compute it before, and pass the result as an argument.",
    )  # fmt: skip
