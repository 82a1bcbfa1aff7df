"""How does plain Python stand in for a function of a library, where something is traced?

It is traced as a user's function is, so that it may decide by what only the kernel knows.  What
the original takes and it does not is refused: arguments by name, others by `NotImplementedError`
with what is the matter and, after a semicolon, what to do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jitad.errors import JitadTypeError
from jitad.trace import hooks
from jitad.trace.containers.iterables import with_ints
from jitad.trace.library import native
from jitad.values.active import any_traced
from jitad.values.kind import fail
from jitad.values.registry import of_complex, replaces

REMEDY = "Write it with supported functions, or keep its operands plain."


def stands_for_each(pairs: dict[Any, Callable[..., Any]], complex_too: bool = False) -> None:
    """Enter what stands in for each of these, of real numbers only or `complex_too`."""
    for original, function in pairs.items():
        run = _entered(original, function)
        if complex_too:
            of_complex(original)(run)


def _entered(original: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = with_ints(original, args, kwargs)  # orders, lengths
        if not any_traced((*args, *kwargs.values())):
            return native(original, *args, **kwargs)
        try:
            return hooks.call(function, *args, **kwargs)
        except NotImplementedError as error:
            what, _, remedy = str(error).partition("; ")
            what = f"{what} is not supported on traced or differentiated values"
            remedy = f"{remedy[:1].upper()}{remedy[1:]}." if remedy else REMEDY
            raise fail(JitadTypeError, what, remedy) from None

    replaces(original)(run)
    return run
