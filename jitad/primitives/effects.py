"""What may a kernel do besides computing its result?  It may raise and print, in order.

`check` raises where its first operand is false; `exception` is a class, `message` the finished
text.  With `late`, the exception is made of the other operands (`jitad.late`), and so is what
`print` prints.
"""

from __future__ import annotations

from typing import Any

from jitad.errors import FINISHED, GuardMiss, JitadError
from jitad.late import PLAIN, Late
from jitad.primitives.table import Primitive, register


def _check(
    ok: Any, *values: Any, exception: type[Exception], message: str, late: Late | None = None
) -> None:
    if not ok:
        if late is not None:
            raise late.make(values)
        whole = issubclass(exception, JitadError) and exception is not GuardMiss
        raise exception(message, *((FINISHED,) if whole else ()))


def _print(*values: Any, late: Late = PLAIN) -> None:
    late.make(values)


register(Primitive("check", _check, lambda *_, **__: (), effect=True))
register(Primitive("print", _print, lambda *_, **__: (), effect=True))
