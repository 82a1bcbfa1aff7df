"""What may a kernel do besides computing its result?  It may raise and print, in order.

`check` raises where its operand is false; `exception` is a class, `message` the finished text.
"""

from __future__ import annotations

from typing import Any

from jitad.errors import FINISHED, JitadError
from jitad.primitives.table import Primitive, register


def _check(ok: Any, *, exception: type[Exception], message: str) -> None:
    if not ok:
        raise exception(message, *((FINISHED,) if issubclass(exception, JitadError) else ()))


def _print(*values: Any, parts: tuple[Any, ...]) -> None:
    rest = list(values)
    print(*(rest.pop(0) if p is None else p for p in parts))


register(Primitive("check", _check, lambda ok, **_: (), effect=True))
# parts: the literal texts in print order, None for each traced operand
register(Primitive("print", _print, lambda *_, parts: (), effect=True))
