"""Which lists of numbers and arrays, or of tuples, lists, dicts of these, are handed on as arrays?

Long ones whose elements are all of one kind: floats, ints, bools, arrays of one shape, or tuples
and lists of these with as many parts, or dicts of them with the same keys.  Each number or array
that an element is made of becomes an array with a row an element, a column.  The trace holds such
a list as one whose length only the kernel knows (`trace/stretch.py`), so its cost does not grow
with the list, and lists of all lengths share a kernel.  Short lists come apart, number by number.

Elements are copies then.  Where the function writes to lists, dicts or arrays from outside, which
may be elements that can be written, such a list comes apart as well (`may_be_written`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from operator import attrgetter, eq, is_
from typing import Any

import numpy as np

from jitad.structures import children_of, is_plain_tuple, rebuilt
from jitad.tape.types import DTYPES, Array

LONG = 64  # elements
NUMBERS = {float: "f8", int: "i8", bool: "b1"}
SAMPLES: dict[Any, Any] = {"f8": 0.0, "i8": 0, "b1": False}

# The dtype of a number, the type of an array, or a class, the keys of the parts and their kinds.
Leaf = str | Array
Kind = Leaf | tuple[type, tuple[Any, ...], tuple[Any, ...]]


class Rows:
    """What stands for such a list among the leaves of the arguments."""

    __slots__ = ("kind", "value")

    def __init__(self, value: Any, kind: Kind) -> None:
        self.value, self.kind = value, kind


def kind_of(value: Any) -> Kind | None:
    """What such a list holds; None if it is none."""
    is_list = type(value) is list or type(value).__module__ == "numba.typed.typedlist"
    return _common(value) if is_list and len(value) > LONG else None


def _common(values: Sequence[Any]) -> Kind | None:
    """The kind of all these."""
    first = type(values[0])
    if set(map(type, values)) != {first}:
        return None
    if first in NUMBERS:
        return NUMBERS[first] if first is not int or _fit(values) else None
    if first is np.ndarray:
        return _arrays(values)
    if first is dict:
        keys = tuple(values[0])
        same = set(map(tuple, values)) == {keys} and {*map(type, keys)} <= {str, int}
    elif first is list or (is_plain_tuple(first) and not first.__dictoffset__):
        keys = tuple(range(len(values[0])))
        same = set(map(len, values)) == {len(keys)}
    else:
        return None
    if not (same and keys):
        return None
    of_dicts = (d.values() for d in values) if first is dict else values
    parts = tuple(map(_common, zip(*of_dicts, strict=True)))
    return None if None in parts else (first, keys, parts)


def _arrays(values: Sequence[Any]) -> Kind | None:
    first = values[0]
    name, dtypes = first.dtype.str[1:], map(attrgetter("dtype"), values)
    if not first.size or not first.ndim or name not in DTYPES or not first.dtype.isnative:
        return None
    if not all(map(is_, dtypes, repeat(first.dtype))):
        return None
    if not all(map(eq, map(attrgetter("shape"), values), repeat(first.shape))):
        return None
    return Array(name, first.ndim)


def _fit(values: Sequence[int]) -> bool:
    return -(2**63) <= min(values) and max(values) < 2**63


def columns(kind: Kind, at: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Leaf]]:
    """Where in an element each of its numbers and arrays is, and what that is."""
    if isinstance(kind, (str, Array)):
        yield at, kind
    else:
        for k, part in zip(*kind[1:], strict=True):
            yield from columns(part, (*at, k))


def column(value: Any, at: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """One number, or array, of each element: an array of its own."""
    for k in at:
        value = [v[k] for v in value]
    if isinstance(value[0], np.ndarray):
        return np.concatenate(value).reshape(len(value), *value[0].shape)
    return np.array(value)


class Columns:
    """The columns of a list, made anew only where it holds other things than at the last call.

    To ask each thing whether it is the one that was there takes a tenth of the time.  What is held
    is handed to a kernel, which does not write to what it is given.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind, self.at = kind, [at for at, _ in columns(kind)]
        self.last: tuple[list[Any], tuple[np.ndarray[Any, Any], ...]] | None = None

    def __call__(self, value: Any) -> tuple[np.ndarray[Any, Any], ...] | None:
        """None where it is no list of this kind.  Threads may call it at the same time."""
        last = self.last
        if last is not None and self._is_as_it_was(value, last[0]):
            return last[1]
        if kind_of(value) != self.kind:
            return None
        made = tuple(column(value, at) for at in self.at)
        if (numbers := self._unchanging(value)) is not None:
            self.last = list(numbers), made
        return made

    def _is_as_it_was(self, value: Any, known: list[Any]) -> bool:
        if type(value) is not list:
            return False
        count = len(value)
        if may_be_written(self.kind) and isinstance(self.kind, tuple):
            of, keys, _ = self.kind
            if set(map(type, value)) != {of}:
                return False
            shapes = map(tuple, value) if of is dict else map(len, value)
            if set(shapes) != {keys if of is dict else len(keys)}:
                return False
            count *= len(keys)
        now = self._unchanging(value)
        return now is not None and count == len(known) and all(map(is_, now, known))

    def _unchanging(self, value: Any) -> Iterable[Any] | None:
        """Numbers and tuples, which are what they were as long as they are the same."""
        if not may_be_written(self.kind):
            return value
        if not isinstance(self.kind, tuple) or any(map(may_be_written, self.kind[2])):
            return None
        if type(value) is not list:
            return None
        if self.kind[0] is dict:
            return chain.from_iterable(map(dict.values, value))
        return chain.from_iterable(value)


def sample(kind: Kind, held: Iterator[Any]) -> Any:
    """Some element of this kind, with rows of the columns that are held for its arrays."""
    if isinstance(kind, (str, Array)):
        column = next(held)
        return SAMPLES[kind] if isinstance(kind, str) else column.row(0)
    of, keys, parts = kind
    given = [sample(part, held) for part in parts]
    if of is dict:
        return dict(zip(keys, given, strict=True))
    return given if of is list else tuple.__new__(of, given)


def may_be_written(kind: Kind) -> bool:
    """Are there arrays, lists or dicts in an element?"""
    if isinstance(kind, (str, Array)):
        return isinstance(kind, Array)
    return not issubclass(kind[0], tuple) or any(map(may_be_written, kind[2]))


def is_content(kind: Kind) -> bool:
    """Does it say all, as no class does that the user has written?"""
    if isinstance(kind, (str, Array)):
        return True
    return kind[0] in (tuple, list, dict) and all(map(is_content, kind[2]))


def packed(value: Any) -> Any:
    """The structure with `Rows` in the place of such lists."""
    kind = kind_of(value)
    if kind is not None:
        return Rows(value, kind)
    found = children_of(value)
    if found is None or not found[1]:
        return value
    children = [packed(c) for c in found[1]]
    if all(c is d for c, d in zip(children, found[1], strict=True)):
        return value
    return rebuilt(value, children)
