"""What do the iterators of `itertools` yield that never end?

Traced like a user's code (`generators.written`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Count:
    """Where `itertools.count` stands: an attribute, which may be another on each path."""

    def __init__(self, at: Any, step: Any) -> None:
        self.at, self.step = at, step


def counting(count: Count) -> Iterator[Any]:
    while True:
        yield counted_on(count)


def counted_on(count: Count) -> Any:
    k = count.at
    count.at = k + count.step
    return k


def cycling(values: Any) -> Iterator[Any]:
    kept = []
    for v in values:
        kept.append(v)
        yield v
    while len(kept) > 0:
        for v in kept:
            yield v


def repeating(value: Any) -> Iterator[Any]:
    while True:
        yield value
