"""What type has a value that user code meets, and which tape, if any, records it?

`type_of` answers for plain numbers, ndarrays, tape leaves, tagged numbers and array handles
alike.  `building(builder)` is entered by the tracer: inside it new arrays are equations of that
tape, and errors found while tracing carry its present position in the user's source.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from jitad.errors import (
    GuardMiss,
    JitadAttributeError,
    JitadError,
    JitadExtentError,
    JitadTypeError,
    JitadValueError,
    message,
)
from jitad.tape.build import Builder, Leaf
from jitad.tape.ir import Pos
from jitad.tape.types import COMPLEX_DTYPES, DTYPES, Array, Scalar, type_of_constant
from jitad.values.number import Number, bind

E = TypeVar("E", bound=Exception)

class _Builders(threading.local):
    """Of the traces that run in this thread, innermost last."""

    def __init__(self) -> None:
        self.stack: list[Builder] = []


_builders = _Builders()


@contextmanager
def building(builder: Builder) -> Iterator[None]:
    """While inside, arrays that user code makes are equations of this builder's tape."""
    _builders.stack.append(builder)
    try:
        yield
    finally:
        _builders.stack.pop()


def present_builder() -> Builder | None:
    return _builders.stack[-1] if _builders.stack else None


def present_position() -> Pos | None:
    return _builders.stack[-1].pos if _builders.stack else None


def type_of(value: Any) -> Scalar | Array:
    """The tape type of a number or array of any kind."""
    if isinstance(value, np.ndarray):
        return Array(value.dtype.str[1:], value.ndim)
    content_type = getattr(value, "type", None)  # leaves, handles
    if isinstance(content_type, (Scalar, Array)):
        return content_type
    if isinstance(value, Number):
        return type_of(value.primal)  # type: ignore[attr-defined]
    return type_of_constant(value)


def is_python(value: Any) -> bool:
    """True of a Python number (plain, traced or tagged), False of NumPy's and of arrays."""
    t = type_of(value)
    return isinstance(t, Scalar) and t.py


def is_number(value: Any) -> bool:
    """True of what arithmetic takes as a scalar or array content."""
    return isinstance(value, (Number, bool, int, float, complex, np.generic))


def check_dtype(value: Any) -> None:
    """Refuse plain numbers and arrays of a dtype that no tape has."""
    dtype = value.dtype
    if not dtype.isnative or (dtype.str[1:] not in DTYPES and dtype.str[1:] not in COMPLEX_DTYPES):
        one = "arrays of dtype" if isinstance(value, np.ndarray) else "numbers of NumPy's"
        raise fail(JitadTypeError, f"{one} {dtype} are not supported on traced or differentiated "
                   "values", "Convert it first: x.astype(float).")  # fmt: skip


def primal(value: Any) -> Any:
    """A tagged number without its tags: a plain number or a leaf of the tape."""
    while isinstance(value, Number) and value.tag:
        value = value.primal  # type: ignore[attr-defined]
    return value


def fail(exception: type[E], what: str, remedy: str = "") -> E:
    """The error, with the user's present position; for `raise fail(...)`."""
    return exception(what, present_position(), remedy)


def wrong_type(what: str, remedy: str = "") -> JitadTypeError:
    """The same, where Python or NumPy would raise a TypeError, too, which a program may catch."""
    error = fail(JitadTypeError, what, remedy)
    error.of_program = True
    return error


def missing(what: str, remedy: str = "") -> JitadAttributeError:
    """The same, of an attribute that only what stands for the object has not."""
    error = fail(JitadAttributeError, what, remedy)
    error.of_program = False
    return error


def require(ok: Any, exception: type[Exception], what: str, remedy: str = "") -> None:
    """Raise unless `ok`: at once where that is known, by a `check` equation where it is traced."""
    ok = primal(ok)
    if isinstance(ok, Leaf):
        builder = ok.builder
        if exception is JitadExtentError and len(builder.blocks) == 1:
            given = builder.example(ok.atom)
            if given is not None and not given:  # in this call: no kernel has to find it out
                raise fail(exception, what, remedy)
        # One check covers what comes after it: a repeated load is not checked again.
        key = ("check", ok.atom, exception)
        if builder.known(key) is None:
            guard = issubclass(exception, GuardMiss)
            text = what if guard else message(what, builder.pos, remedy)
            bind("check", ok, exception=exception, message=text)
            builder.remember(key, ())  # in a `try` what comes after it is a block of its own
    elif not ok:
        raise fail(exception, what, remedy)


def read_only() -> JitadError:
    return fail(JitadValueError, "assignment destination is read-only", "Write to what it shows.")


def number_or_array() -> JitadError:
    return fail(JitadTypeError, "this is a number on one path and an array without axes on another",
                "Write x = x + 1 instead of x += 1, or make it a number: float(x).")  # fmt: skip
