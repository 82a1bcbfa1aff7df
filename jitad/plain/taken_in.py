"""How does a container take in what a generator yields under conditions of the kernel?

As Python does: one after the other, so that the generator sees what has been taken in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any


def extend(target: Any, values: Iterable[Any]) -> None:
    for v in values:
        target.append(v)


def extend_left(target: Any, values: Iterable[Any]) -> None:
    for v in values:
        target.appendleft(v)


def add_all(target: Any, values: Iterable[Any]) -> None:
    for v in values:
        target.add(v)


def put_all(target: Any, pairs: Iterable[Any]) -> None:
    for key, value in pairs:
        target[key] = value


TAKING: dict[tuple[type, str], Callable[..., None]] = {
    (list, "extend"): extend, (deque, "extend"): extend, (deque, "extendleft"): extend_left,
    (set, "update"): add_all, (dict, "update"): put_all,
}  # fmt: skip
