"""What do lists of unknown length, and functions of iterables, do that is a loop?

Written as a user would, and traced like a user's code (`lists.run`): conditions, and lengths, may
be traced.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import Any


def extend(target: list[Any], values: Any) -> None:
    for v in values:
        target.append(v)


def listed(values: Any) -> list[Any]:
    out = []
    for v in values:
        out.append(v)
    return out


def each_column(rows: Any) -> Iterator[Any]:
    """zip(*rows)"""
    least = len(rows[0]) if len(rows) > 0 else 0
    for row in rows:
        if len(row) < least:
            least = len(row)
    for k in range(least):
        yield tuple([row[k] for row in rows])


def chained(parts: Any) -> list[Any]:
    return [v for p in parts for v in p]


def repeat(target: list[Any], n: int) -> None:
    if n < 1:
        target.clear()
    else:
        once = list(target)
        for _ in range(n - 1):
            for v in once:
                target.append(v)


def repeated(a: list[Any], n: int) -> list[Any]:
    return [v for _ in range(n) for v in a]


def equal(a: list[Any], b: list[Any]) -> bool:
    if len(a) != len(b):
        return False
    for k in range(len(a)):
        if a[k] != b[k]:
            return False
    return True


def count(target: list[Any], value: Any) -> int:
    n = 0
    for v in target:
        if v == value:
            n += 1
    return n


def contains(target: list[Any], value: Any) -> bool:
    for v in target:
        if v == value:
            return True
    return False


def place(target: list[Any], value: Any) -> int:
    for k in range(len(target)):
        if target[k] == value:
            return k
    return -1


def index(target: list[Any], value: Any) -> int:
    k = place(target, value)
    if k < 0:
        raise ValueError("the value is not in list")
    return k


def remove(target: list[Any], value: Any) -> None:
    target.pop(target.index(value))


def insert(target: list[Any], index: Any, value: Any) -> None:
    n = len(target)
    k = min(max(index + n, 0), n) if index < 0 else min(index, n)
    target.append(value)
    while n > k:
        target[n] = target[n - 1]
        n -= 1
    target[k] = value


def put_steps(target: list[Any], start: Any, count: Any, step: Any, values: Any) -> None:
    if len(values) != count:
        raise ValueError("attempt to assign sequence to extended slice of another size")
    k = start
    for v in values:
        target[k] = v
        k += step


def reverse(target: list[Any]) -> None:
    i, j = 0, len(target) - 1
    while i < j:
        target[i], target[j] = target[j], target[i]
        i += 1
        j -= 1


def least(values: Any, key: Any) -> Any:
    best = values[0]
    low = key(best)
    for v in values:
        at = key(v)
        if at < low:
            best, low = v, at
    return best


def greatest(values: Any, key: Any) -> Any:
    best = values[0]
    high = key(best)
    for v in values:
        at = key(v)
        if at > high:
            best, high = v, at
    return best


def any_of(values: Any) -> bool:
    for v in values:
        if v:
            return True
    return False


def all_of(values: Any) -> bool:
    for v in values:
        if not v:
            return False
    return True


def mapped(f: Any, values: Any) -> list[Any]:
    return [f(v) for v in values]


def first_yielded(values: Any) -> Any:
    for v in values:
        return v
    raise StopIteration


def first_yielded_or(values: Any, default: Any) -> Any:
    for v in values:
        return v
    return default


def least_of(values: Any) -> Any:
    best = values[0]
    for v in values:
        if v < best:
            best = v
    return best


def greatest_of(values: Any) -> Any:
    best = values[0]
    for v in values:
        if v > best:
            best = v
    return best


def reduced(f: Any, values: list[Any]) -> Any:
    if not values:
        raise TypeError("reduce() of empty iterable with no initial value")
    so_far = values[0]
    for k in range(1, len(values)):
        so_far = f(so_far, values[k])
    return so_far


def reduced_from(f: Any, values: Any, so_far: Any) -> Any:
    for v in values:
        so_far = f(so_far, v)
    return so_far


def insert_left(target: list[Any], x: Any) -> None:
    target.insert(bisect.bisect_left(target, x), x)


def insert_right(target: list[Any], x: Any) -> None:
    target.insert(bisect.bisect_right(target, x), x)


def pairs_of_both(first: Any, second: Any) -> list[Any]:
    return [(a, b) for a in first for b in second]


def pairs_of(values: list[Any]) -> list[Any]:
    out = []
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            out.append((values[i], values[j]))
    return out


def bisected_left(values: Any, x: Any) -> int:
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def bisected_right(values: Any, x: Any) -> int:
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if x < values[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def least_or(values: list[Any], key: Any, default: Any) -> Any:
    if values:
        return least_of(values) if key is None else least(values, key)
    return default


def greatest_or(values: list[Any], key: Any, default: Any) -> Any:
    if values:
        return greatest_of(values) if key is None else greatest(values, key)
    return default


def comparison(fields: list[str], name: str) -> Any:
    """What `dataclass` generates."""

    def method(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        mine = tuple([getattr(self, f) for f in fields])
        theirs = tuple([getattr(other, f) for f in fields])
        match name:
            case "__eq__":
                return mine == theirs
            case "__lt__":
                return mine < theirs
            case "__le__":
                return mine <= theirs
            case "__gt__":
                return mine > theirs
        return mine >= theirs

    return method


# -- heaps, as Python's library keeps them --------------------------------------------------------


def risen(heap: Any, item: Any, first: Any, k: Any) -> None:
    """The item goes to place k, or as far above as its parents are larger."""
    while k > first:
        parent = (k - 1) // 2
        if not item < heap[parent]:
            break
        heap[k] = heap[parent]
        k = parent
    heap[k] = item


def sunk(rise: Any, heap: Any, item: Any, k: Any) -> None:
    """Place k is free: smaller children move up, down to the last; there the item rises."""
    first, n = k, len(heap)
    child = 2 * k + 1
    while child < n:
        if child + 1 < n and not heap[child] < heap[child + 1]:
            child += 1
        heap[k] = heap[child]
        k = child
        child = 2 * k + 1
    rise(heap, item, first, k)


def pushed(rise: Any, heap: Any, item: Any) -> None:
    heap.append(item)
    rise(heap, item, 0, len(heap) - 1)


def popped(sink: Any, heap: Any) -> Any:
    last = heap.pop()
    if not heap:
        return last
    least = heap[0]
    sink(heap, last, 0)
    return least


def replaced(sink: Any, heap: Any, item: Any) -> Any:
    least = heap[0]
    sink(heap, item, 0)
    return least


def pushed_and_popped(sink: Any, heap: Any, item: Any) -> Any:
    if not heap or not heap[0] < item:
        return item
    least = heap[0]
    sink(heap, item, 0)
    return least


def heaped(sink: Any, heap: Any) -> None:
    for k in range(len(heap) // 2 - 1, -1, -1):
        sink(heap, heap[k], k)


def merged(a: Any, b: Any, less: Any) -> Any:
    out = []
    i, j = 0, 0
    while i < len(a) and j < len(b):
        if less(b[j], a[i]):
            out.append(b[j])
            j += 1
        else:
            out.append(a[i])
            i += 1
    while i < len(a):
        out.append(a[i])
        i += 1
    while j < len(b):
        out.append(b[j])
        j += 1
    return out


# -- iterators of a generator ---------------------------------------------------------------------


def enumerated(values: Any, start: Any) -> Iterator[Any]:
    k = start
    for v in values:
        yield k, v
        k += 1


def each_there(keys: Any, found: Any) -> Iterator[Any]:
    for key in keys:
        there, item = found(key)
        if there:
            yield item


def each_of_chosen(ways: Any) -> Iterator[Any]:
    for chosen, values in ways:
        if chosen:
            for v in values:  # noqa: UP028  of which need not be known how many there are
                yield v


def each_mapped_over(f: Any, values: Any) -> Iterator[Any]:
    for v in zip(*values, strict=False):
        yield f(*v)


def each_mapped(f: Any, values: Any) -> Iterator[Any]:
    for v in values:
        yield f(v)


def each(values: Any) -> Iterator[Any]:
    for v in values:  # noqa: UP028  of which need not be known how many there are
        yield v


def each_one(values: Any) -> Iterator[Any]:
    for v in values:  # noqa: UP028  which is told where it goes on
        yield v


def each_beside(values: Any, order: Any) -> Iterator[Any]:
    """zip(*before, values, *after), where it is not known how many values there are."""
    order.begin()
    k = 0
    for v in values:
        if not order.began(k) or not order.reach("after", k):
            break
        yield *order.items("before", k), v, *order.items("after", k)
        order.go_on()
        k += 1
        if not order.reach("before", k):
            break


def each_together(several: Any) -> Iterator[Any]:
    k = 0
    while all_reach(several, k):
        yield (*[values[k] for values in several],)
        k += 1


def all_reach(several: Any, k: Any) -> bool:
    for values in several:
        if k >= len(values):
            return False
    return True


def each_accumulated(values: Any, f: Any) -> Iterator[Any]:
    if len(values) > 0:
        so_far = values[0]
        yield so_far
        k = 1
        while k < len(values):
            so_far = f(so_far, values[k])
            yield so_far
            k += 1


def each_accumulated_from(values: Any, f: Any, so_far: Any) -> Iterator[Any]:
    yield so_far
    for v in values:
        so_far = f(so_far, v)
        yield so_far


def each_as_long_as_there_are(values: Any) -> Iterator[Any]:
    k = 0
    while k < len(values):
        yield values[k]
        k += 1


def each_group(keys: Any, values: Any, order: Any) -> Iterator[Any]:
    order.go_on()
    k = 0
    while k < len(values):
        end = k + 1
        while end < len(values) and keys[end] == keys[k]:
            end += 1
        yield keys[k], values[k:end]
        order.go_on()
        k = end


def each_of(several: Any) -> Iterator[Any]:
    for values in several:
        yield from values


def first_few(values: Any, count: Any) -> Iterator[Any]:
    k = 0
    if count > 0:
        for v in values:
            yield v
            k += 1
            if k >= count:
                break
