"""What may a kernel do besides computing its result?  Raise, print and call Python, in order.

`callback` calls a function that only Python can run (`jitad.opaque`): `late` is made of the
operands and gives a tuple of numbers and arrays, `kinds` says of which ("f8p", "i8", "f8:2", ...).
One that is `idle` need not be made where nothing wants what it gives: it reads a clock.

`check` raises where its first operand is false; `exception` is a class, `message` the finished
text.  With `late`, the exception is made of the other operands (`late.py`), and so is what `print`
prints.
"""

from __future__ import annotations

from typing import Any

from jitad.errors import FINISHED, GuardMiss, JitadError
from jitad.late import PLAIN, Late
from jitad.primitives.table import Inferred, Primitive, register
from jitad.tape.ir import Atom
from jitad.tape.types import Array, Scalar, Type


def _check(
    ok: Any, *values: Any, exception: type[Exception], message: str, late: Late | None = None
) -> None:
    if not ok:
        if late is not None:
            raise late.make(values)
        whole = issubclass(exception, JitadError) and not issubclass(exception, GuardMiss)
        raise exception(message, *((FINISHED,) if whole else ()))


def _print(*values: Any, late: Late = PLAIN) -> None:
    late.make(values)


register(Primitive("check", _check, lambda *_, **__: (), effect=True))
register(Primitive("print", _print, lambda *_, **__: (), effect=True))


def _callback(*values: Any, late: Late, kinds: tuple[str, ...], idle: bool = False) -> Any:
    out = tuple(late.make(values))
    return out[0] if len(kinds) == 1 else out


def _answered(
    *operands: Atom, late: Late, kinds: tuple[str, ...], idle: bool = False
) -> Inferred:
    """Extents are read off what comes back."""
    out: list[tuple[Type, tuple[Atom, ...]]] = []
    for kind in kinds:
        dtype, _, ndim = kind.partition(":")
        out.append((Array(dtype, int(ndim)) if ndim else Scalar(dtype[:2], dtype[2:] == "p"), ()))
    return tuple(out)


register(Primitive("callback", _callback, _answered, effect=True))
