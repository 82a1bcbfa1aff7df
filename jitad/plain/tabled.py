"""What does a dict do, written over a list of its keys and a list of its values?

Traced like a user's code (`lists.run`): what is in the lists, and how long they are, may be traced.
The keys differ, and stand in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitad.plain.as_written import place


def contains(keys: list[Any], values: list[Any], key: Any) -> bool:
    return place(keys, key) >= 0


def get(keys: list[Any], values: list[Any], key: Any) -> Any:
    at = place(keys, key)
    if at < 0:
        raise KeyError(key)
    return values[at]


def get_or(keys: list[Any], values: list[Any], key: Any, default: Any = None) -> Any:
    at = place(keys, key)
    return values[at] if at >= 0 else default


def put(keys: list[Any], values: list[Any], key: Any, value: Any) -> None:
    at = place(keys, key)
    if at >= 0:
        values[at] = value
    else:
        keys.append(key)
        values.append(value)


def set_default(keys: list[Any], values: list[Any], key: Any, default: Any = None) -> Any:
    at = place(keys, key)
    if at < 0:
        at = len(keys)
        keys.append(key)
        values.append(default)
    return values[at]


def made_if_missing(
    keys: list[Any], values: list[Any], make: Callable[[], Any], key: Any
) -> Any:
    at = place(keys, key)
    if at < 0:
        at = len(keys)
        keys.append(key)
        values.append(make())
    return values[at]


def take(keys: list[Any], values: list[Any], key: Any) -> Any:
    at = place(keys, key)
    if at < 0:
        raise KeyError(key)
    keys.pop(at)
    return values.pop(at)


def take_or(keys: list[Any], values: list[Any], key: Any, default: Any) -> Any:
    at = place(keys, key)
    if at < 0:
        return default
    keys.pop(at)
    return values.pop(at)


def delete(keys: list[Any], values: list[Any], key: Any) -> None:
    take(keys, values, key)


def take_last(keys: list[Any], values: list[Any]) -> tuple[Any, Any]:
    if not keys:
        raise KeyError("popitem(): dictionary is empty")
    return keys.pop(), values.pop()


def clear(keys: list[Any], values: list[Any]) -> None:
    keys.clear()
    values.clear()


def put_all(keys: list[Any], values: list[Any], pairs: Any) -> None:
    for key, value in pairs:
        put(keys, values, key, value)


def count_all(target: Any, given: Any) -> None:
    for key in given:
        target[key] = target[key] + 1


def add_counts(target: Any, pairs: Any) -> None:
    for key, count in pairs:
        target[key] = count + target[key]


def backwards(values: list[Any]) -> list[Any]:
    return values[::-1]


def most_common(pairs: Any, count: int | None) -> list[Any]:
    out = sorted(pairs, key=lambda p: p[1], reverse=True)
    return out if count is None else out[:count]


def sorted_keys(keys: list[Any], values: list[Any]) -> list[Any]:
    return sorted(keys)


def sorted_values(values: list[Any]) -> list[Any]:
    return sorted(values)


def sorted_items(keys: list[Any], values: list[Any]) -> list[Any]:
    order = sorted(range(len(keys)), key=lambda k: keys[k])
    return [(keys[k], values[k]) for k in order]
