"""Which lists of numbers and arrays, or of tuples, lists, dicts of these, are handed on as arrays?

Long ones whose elements are all of one kind: floats, ints, bools, arrays of one shape, or tuples
and lists of these with as many parts, or dicts of them with the same keys; and lists of lists of
numbers of one kind.  Each number or array that an element is made of becomes an array with a row an
element, a column.  The trace holds such a list as one whose length only the kernel knows
(`trace/stretch.py`), so its cost does not grow with the list, and lists of all lengths share a
kernel.  Short lists come apart, number by number.

Elements are copies then.  Where the function writes to lists, dicts or arrays from outside, which
may be elements that can be written, such a list comes apart as well (`may_be_written`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from operator import attrgetter, eq, is_
from typing import Any

import numpy as np

from jitad.immutable import immutable
from jitad.structures import children_of, is_plain_tuple, rebuilt
from jitad.tape.types import DTYPES, Array

LONG = 64  # elements, or numbers in lists in a list
FEW = 8  # numbers of lists in a list, where they are columns
NUMBERS = {float: "f8", int: "i8", bool: "b1"}
COUNT, PADDED = None, ...  # the columns of lists: how many numbers each has, and these


@immutable
class Many:
    """Lists of numbers of one dtype, each of as many as it has."""

    dtype: str


# The dtype of a number, the type of an array, or a class, the keys of the parts and their kinds.
Leaf = str | Array
Kind = Leaf | Many | tuple[type, tuple[Any, ...], tuple[Any, ...]]


class Rows:
    """What stands for such a list among the leaves of the arguments."""

    __slots__ = ("kind", "value")

    def __init__(self, value: Any, kind: Kind) -> None:
        self.value, self.kind = value, kind


def kind_of(value: Any) -> Kind | None:
    """What such a list holds; None if it is none."""
    if type(value) is not list and type(value).__module__ != "numba.typed.typedlist":
        return None
    if len(value) <= LONG:
        of_lists = value and set(map(type, value)) == {list} and sum(map(len, value)) > LONG
        found = _common(value) if of_lists else None
        return found if isinstance(found, Many) else None
    return _common(value)


def _common(values: Sequence[Any]) -> Kind | None:
    """The kind of all these."""
    first = type(values[0])
    if set(map(type, values)) != {first}:
        return None
    if first in NUMBERS:
        return NUMBERS[first] if first is not int or _fit(values) else None
    if first is np.ndarray:
        return _arrays(values)
    if first is list and (many := _many(values)):
        return many
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


def _many(lists: Sequence[list[Any]]) -> Many | None:
    counts = set(map(len, lists))
    if len(counts) == 1 and max(counts) <= FEW:
        return None
    numbers = list(chain.from_iterable(lists))
    kind = _common(numbers) if type(numbers[0]) in NUMBERS else None
    return Many(kind) if isinstance(kind, str) else None


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
    elif isinstance(kind, Many):
        yield (*at, COUNT), "i8"
        yield (*at, PADDED), Array(kind.dtype, 1)
    else:
        for k, part in zip(*kind[1:], strict=True):
            yield from columns(part, (*at, k))


def column(value: Any, at: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """One number, or array, of each element: an array of its own."""
    for k in at:
        if k is PADDED:
            return _padded(value)
        value = list(map(len, value)) if k is COUNT else [v[k] for v in value]
    if isinstance(value[0], np.ndarray):
        return np.concatenate(value).reshape(len(value), *value[0].shape)
    return np.array(value)


def _padded(lists: Sequence[list[Any]]) -> np.ndarray[Any, Any]:
    """A row a list, with zeros behind those that are shorter."""
    numbers, counts = np.array(list(chain.from_iterable(lists))), np.array(list(map(len, lists)))
    most = counts.max()
    if len(numbers) == len(lists) * most:
        return numbers.reshape(len(lists), most)
    out = np.zeros((len(lists), most), numbers.dtype)
    out[np.arange(most) < counts[:, np.newaxis]] = numbers
    return out


class Columns:
    """The columns of a list, made anew only where it holds other things than at the last call.

    To ask each thing whether it is the one that was there takes a tenth of the time.  What is held
    is handed to a kernel, which does not write to what it is given.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind, self.at = kind, [at for at, _ in columns(kind)]
        self.last: tuple[Any, list[Any], tuple[np.ndarray[Any, Any], ...]] | None = None

    def __call__(self, value: Any) -> tuple[np.ndarray[Any, Any], ...] | None:
        """None where it is no list of this kind.  Threads may call it at the same time."""
        last = self.last
        if last is not None and type(value) is list:
            shape, numbers = self._content(value)
            if shape == last[0] and all(map(is_, numbers, last[1])):
                return last[2]
        if kind_of(value) != self.kind:
            return None
        made = tuple(column(value, at) for at in self.at)
        if type(value) is list and self._has_content:
            shape, numbers = self._content(value)
            self.last = shape, list(numbers), made
        return made

    @property
    def _has_content(self) -> bool:
        """Is it known what it holds as long as that is the same things?"""
        kind = self.kind
        if isinstance(kind, tuple) and not issubclass(kind[0], tuple):
            return not any(map(may_be_written, kind[2]))
        return isinstance(kind, Many) or not may_be_written(kind)

    def _content(self, value: list[Any]) -> tuple[Any, Iterable[Any]]:
        """How many numbers, or tuples of them, are where, and these."""
        kind = self.kind
        if not may_be_written(kind):
            return len(value), value
        of = dict if isinstance(kind, tuple) and kind[0] is dict else list
        if set(map(type, value)) != {of}:
            return None, ()
        if of is dict:
            return list(map(tuple, value)), chain.from_iterable(map(dict.values, value))
        return list(map(len, value)), chain.from_iterable(value)


def may_be_written(kind: Kind) -> bool:
    """Are there arrays, lists or dicts in an element?"""
    if not isinstance(kind, tuple):
        return not isinstance(kind, str)
    return not issubclass(kind[0], tuple) or any(map(may_be_written, kind[2]))


def is_content(kind: Kind) -> bool:
    """Does it say all, as no class does that the user has written?"""
    if not isinstance(kind, tuple):
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
