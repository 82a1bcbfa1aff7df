"""What stands for a variable that has a value on some paths only, or another thing on each?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jitad.errors import JitadTypeError
from jitad.immutable import immutable
from jitad.values.journal import MISSING
from jitad.values.kind import fail
from jitad.values.number import bind


class Unset:
    """The value of a name that is unbound; rewritten code deletes the name again."""

    def __repr__(self) -> str:
        return "<unset>"


UNSET = Unset()


@dataclass(eq=False)
class OrDefault:
    """Reads a place where paths meet; where it has no value of its own, it is that of the class."""

    read: Callable[[], Any]
    default: Any
    taken: bool = False  # is there a path without one of its own?

    def __call__(self) -> Any:
        value = self.read()
        self.taken |= value is MISSING
        return self.default if value is MISSING else value


def of_its_own(read: Callable[[], Any]) -> Any:
    """What a place has, MISSING where that is nothing."""
    return read.read() if isinstance(read, OrDefault) else read()


@immutable(slots=True, eq=False)
class Perhaps:
    """A value that is there where `flag` is true: a name bound in one branch, or in a loop.

    With `none` it is None elsewhere, a value like others; without, nothing at all.
    """

    flag: Any
    value: Any
    name: str
    none: bool = False

    def _refuse(self, *_: Any) -> Any:
        """What the interpreter asks of it, without asking a hook, it would answer wrongly."""
        what = f"{self.name or 'a value'} is {'None' if self.none else 'unbound'} on some paths"
        raise fail(JitadTypeError, f"{what}, and can't be used here",
                   "Test it with `is None` first.")  # fmt: skip

    __bool__ = __eq__ = __str__ = __format__ = __index__ = __float__ = __hash__ = _refuse


@immutable(slots=True, eq=False)
class Among:
    """One of several things that are not numbers of one kind: strings, objects, functions.

    `flags` say for all but the last whether it is this one; see `among`.
    """

    called = "a value that is another kind of thing on each path"  # in messages

    flags: tuple[Any, ...]
    among: tuple[Any, ...]

    def _refuse(self, *_: Any) -> Any:
        """As of `Perhaps`."""
        kinds = " or ".join(sorted({type(x).__name__ for x in self.among}))
        raise fail(
            JitadTypeError, f"a value ({kinds}) that a condition on traced values chose can't be "
            "used here", "Use it under the condition.",
        )  # fmt: skip

    __bool__ = __eq__ = __str__ = __format__ = __index__ = __float__ = __iter__ = _refuse
    __len__ = __contains__ = __getitem__ = __call__ = __add__ = __radd__ = __mod__ = _refuse
    __lt__ = __gt__ = __le__ = __ge__ = __hash__ = _refuse


def among_none(value: Any) -> Any:
    """What is None on some paths, as one of several things, of which None is one."""
    if not is_optional(value):
        return value
    inner = value.value
    flags, among = (inner.flags, inner.among) if type(inner) is Among else ((), (inner,))
    here = value.flag
    if not flags:
        return Among((here,), (inner, None))
    return Among((bind("logical_not", here), *flags), (None, *among))


def is_among(values: Any) -> bool:
    """Is one of these one of several things, with None or without?"""
    return any(type(v) is Among or (is_optional(v) and type(v.value) is Among) for v in values)


def is_optional(value: Any) -> bool:
    """Is it one thing on some paths, and None on the others?"""
    return type(value) is Perhaps and value.none
