"""What do sets and deques do, written over a list of their elements?

Traced like a user's code (`lists.run`): what is in the list, and how long it is, may be traced.
The elements of a set differ, and so do those of what is made here.
"""

from __future__ import annotations

from typing import Any


def distinct(values: Any) -> list[Any]:
    out: list[Any] = []
    for v in values:
        if v not in out:
            out.append(v)
    return out


# -- sets -----------------------------------------------------------------------------------------


def add(target: list[Any], value: Any) -> None:
    if value not in target:
        target.append(value)


def discard(target: list[Any], value: Any) -> None:
    if value in target:
        target.remove(value)


def take_out(target: list[Any], value: Any) -> None:
    if value not in target:
        raise KeyError(value)
    target.remove(value)


def update(target: list[Any], *others: Any) -> None:
    for other in others:
        for v in other:
            if v not in target:
                target.append(v)


def keep(target: list[Any], values: list[Any]) -> None:
    """The elements become others, which were computed from them."""
    target.clear()
    for v in values:
        target.append(v)


def union(target: list[Any], *others: Any) -> list[Any]:
    out = list(target)
    for other in others:
        for v in other:
            if v not in out:
                out.append(v)
    return out


def intersection(target: list[Any], *others: Any) -> list[Any]:
    out = list(target)
    for other in others:
        out = [v for v in out if v in other]
    return out


def difference(target: list[Any], *others: Any) -> list[Any]:
    out = list(target)
    for other in others:
        out = [v for v in out if v not in other]
    return out


def symmetric_difference(target: list[Any], other: Any) -> list[Any]:
    out = [v for v in target if v not in other]
    for v in other:
        if v not in target and v not in out:
            out.append(v)
    return out


def is_subset(target: list[Any], other: Any) -> bool:
    for v in target:
        if v not in other:
            return False
    return True


def is_superset(target: list[Any], other: Any) -> bool:
    for v in other:
        if v not in target:
            return False
    return True


def is_same(target: list[Any], other: Any) -> bool:
    return len(target) == len(other) and is_subset(target, other)


def is_other(target: list[Any], other: Any) -> bool:
    return not is_same(target, other)


def is_smaller(target: list[Any], other: Any) -> bool:
    return len(target) < len(other) and is_subset(target, other)


def is_larger(target: list[Any], other: Any) -> bool:
    return len(target) > len(other) and is_superset(target, other)


def is_disjoint(target: list[Any], other: Any) -> bool:
    for v in target:
        if v in other:
            return False
    return True


def are_small(target: list[Any]) -> bool:
    """Are all these ints smaller than the table that a set of so many has at least?

    Then each lies at its own place of it, and they come in the order of their size.
    """
    table = 8
    while table * 3 <= len(target) * 5:
        table = table * 2
    for v in target:
        if v < 0 or v >= table:
            return False
    return True


# -- deques ---------------------------------------------------------------------------------------


def append_right(limit: int | None, target: list[Any], value: Any) -> None:
    target.append(value)
    if limit is not None and len(target) > limit:
        target.pop(0)


def append_left(limit: int | None, target: list[Any], value: Any) -> None:
    target.insert(0, value)
    if limit is not None and len(target) > limit:
        target.pop()


def extend_right(limit: int | None, target: list[Any], values: Any) -> None:
    for v in values:
        append_right(limit, target, v)


def extend_left(limit: int | None, target: list[Any], values: Any) -> None:
    for v in values:
        append_left(limit, target, v)


def put_in(limit: int | None, target: list[Any], index: int, value: Any) -> None:
    if limit is not None and len(target) >= limit:
        raise IndexError("deque already at its maximum size")
    target.insert(index, value)


def pop_right(target: list[Any]) -> Any:
    if not target:
        raise IndexError("pop from an empty deque")
    return target.pop()


def pop_left(target: list[Any]) -> Any:
    if not target:
        raise IndexError("pop from an empty deque")
    return target.pop(0)


def rotate(target: list[Any], n: int = 1) -> None:
    if target:
        k = len(target) - n % len(target)
        values = target[k:] + target[:k]
        target.clear()
        for v in values:
            target.append(v)
