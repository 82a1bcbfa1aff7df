"""Which of the things that are iterated over does a function of Python's pass on?

Traced like a user's code (`generators.written`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def each_kept(f: Any, values: Any) -> Iterator[Any]:
    for v in values:
        if v if f is None else f(v):
            yield v


def each_not_kept(f: Any, values: Any) -> Iterator[Any]:
    for v in values:
        if not (v if f is None else f(v)):
            yield v


def each_after(f: Any, values: Any) -> Iterator[Any]:
    waiting = True
    for v in values:
        waiting = waiting and f(v)
        if not waiting:
            yield v


def each_while(f: Any, values: Any) -> Iterator[Any]:
    for v in values:
        if not f(v):
            break
        yield v
