"""What do `sorted`, and `min` and `max` with a key, give where the order is traced?

The elements are compared and exchanged, each comparison an `if` of the tape: a straight insertion,
stable as Python's sort is.  So many comparisons are written out that long sequences are refused.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

from jitad.errors import JitadError
from jitad.plain import as_written
from jitad.tape.build import Leaf
from jitad.trace.calls import call
from jitad.trace.containers import lists
from jitad.trace.containers.iterables import begun, sequence
from jitad.trace.flow.branches import truth
from jitad.trace.flow.choices import choose
from jitad.trace.ongoing import current
from jitad.values.array import ArrayHandle
from jitad.values.functions import implementation
from jitad.values.journal import made
from jitad.values.kind import fail
from jitad.values.number import Number, bind
from jitad.values.python_functions import as_number

MAX_SORTED = 32  # elements


def _items(values: Any) -> list[Any]:
    """The elements; a traced length is relied on."""
    counted = begun(values)
    if counted is None:
        return list(values)
    if counted.static is not None:
        return list(counted.static)
    return [counted.item(k) for k in range(counted.count.known("the length of what is sorted"))]


def _listed(values: Any) -> Any:
    """What only the kernel knows the length of, or is long, as a list, which can be ordered."""
    counted = sequence(values)
    if counted is None or not isinstance(counted.count, Leaf):
        return None
    n = counted.count.builder.example(counted.count.atom)
    return None if n is not None and n <= MAX_SORTED else lists.run(as_written.listed, values)


def sorted_(values: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    if (whole := _listed(values)) is not None:
        return call(builtins.sorted, whole, key=key, reverse=reverse)
    items = _items(values)
    keys = list(map(as_number, items if key is None else [call(key, v) for v in items]))
    from jitad.trace import hooks  # where this stands in for functions

    if any(map(hooks.is_ordered, keys)) and not any(isinstance(k, Number) for k in keys):
        try:
            order = builtins.sorted(
                range(len(items)), key=lambda k: _Key(keys[k]), reverse=reverse
            )
            return _made([items[k] for k in order])
        except _Unknown:
            pass
    elif current() is None or not any(isinstance(k, Number) for k in keys):
        order = builtins.sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
        return _made([items[k] for k in order])
    if len(items) > MAX_SORTED:
        raise fail(JitadError, f"more than {MAX_SORTED} traced numbers can't be sorted here",
                   "Sort an array with np.sort.")  # fmt: skip
    pairs = list(zip(keys, items, strict=True))
    for end in range(1, len(pairs)):
        for k in range(end, 0, -1):
            pairs[k - 1 : k + 1] = _in_order(pairs[k - 1], pairs[k], bool(reverse))
    return _made([v for _, v in pairs])


class _Unknown(Exception):
    """The kernel alone knows an order."""


class _Key:
    """A key whose order is the user's."""

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: _Key) -> bool:
        from jitad.trace import hooks  # where this stands in for functions

        less = truth(hooks.Lt(self.key, other.key))  # type: ignore[attr-defined]
        if not isinstance(less, bool):
            raise _Unknown
        return less


def _in_order(first: Any, second: Any, reverse: bool) -> tuple[Any, Any]:
    from jitad.trace import hooks  # where this stands in for functions

    wrong = (hooks.Gt if reverse else hooks.Lt)(second[0], first[0])  # type: ignore[attr-defined]
    out: tuple[Any, Any] = choose(wrong, lambda: (second, first), lambda: (first, second))
    return out


def _made(items: list[Any]) -> list[Any]:
    made(items)
    return items


_MISSING = object()


def _extent(value: Any) -> Any:
    return value.shape[0] if isinstance(value, ArrayHandle) and value.shape else None


def _itself(value: Any) -> Any:
    return value


def _extreme(plain: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, key: Any = None, default: Any = _MISSING) -> Any:
        from jitad.trace import hooks  # where this stands in for functions

        if len(args) == 1 and (whole := _listed(args[0])) is not None:
            more = {} if default is _MISSING else {"default": default}
            return call(plain, whole, key=key, **more)
        if default is not _MISSING and isinstance(n := _extent(args[0]), Leaf):
            there = bind("gt", n, 0)  # else an array has no least element
            return choose(there, lambda: function(args[0], key=key), lambda: default)
        if key is None and len(args) == 1 and isinstance(args[0], Iterator):
            args = (list(args[0]),)
        given = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        if key is None and any(hooks.is_ordered(v) and not isinstance(v, Number) for v in given):
            key = _itself
        if key is None:
            more = {} if default is _MISSING else {"default": default}
            found = implementation(plain)
            return (plain if found is None else found)(*args, **more)
        items = _items(args[0]) if len(args) == 1 else list(args)
        if not items:
            if default is not _MISSING:
                return default
            raise ValueError(f"{plain.__name__}() arg is an empty sequence")
        best = (call(key, items[0]), items[0])
        for v in items[1:]:
            new = (call(key, v), v)
            better = (hooks.Lt if plain is min else hooks.Gt)(new[0], best[0])  # type: ignore
            best = choose(better, lambda new=new: new, lambda best=best: best)  # type: ignore[misc]
        return best[1]

    return function


STAND_INS: dict[Any, Any] = {sorted: sorted_, min: _extreme(min), max: _extreme(max)}
