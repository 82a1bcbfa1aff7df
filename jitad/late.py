"""How does a kernel print, raise the user's exceptions and call his functions, with its values?

A kernel holds a key and the values; what is made of them is kept here, in Python.  A key says what
is made (`MyError('too small', ...)`), so equal programs have equal kernels; where two different
things would have one key, the second gets a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jitad.immutable import immutable


@immutable(eq=False)
class Late:
    """What is made of a kernel's values: a printed line, or an exception."""

    key: str
    make: Callable[[Sequence[Any]], Any]

    def __str__(self) -> str:
        return self.key


_made: dict[str, tuple[Any, Late]] = {}


def late(description: str, identity: Any, make: Callable[[Sequence[Any]], Any]) -> Late:
    """Things with equal descriptions and equal identities may take each other's places."""
    key, n = description, 1
    while key in _made and _made[key][0] != identity:
        n += 1
        key = f"{description} #{n}"
    found = Late(key, make)
    _made[key] = (identity, found)
    return found


PLAIN = late("print({})", None, lambda values: print(*values))


class Raise(Exception):
    """`raise Raise(key, *values)` raises what belongs to the key."""

    def __new__(cls, key: Any, *values: Any) -> Any:
        return key if isinstance(key, BaseException) else _made[key][1].make(values)


def show(key: str, *values: Any) -> None:
    """Print what belongs to the key."""
    _made[key][1].make(values)


def answer(key: str, *values: Any) -> tuple[Any, ...]:
    """What a function gives that only Python can run."""
    return tuple(_made[key][1].make(values))


def ask(key: str, kinds: str, *values: Any) -> tuple[Any, ...]:
    """The same as emitted code says it: compiled code must know what kinds of values come back."""
    return answer(key, *values)
