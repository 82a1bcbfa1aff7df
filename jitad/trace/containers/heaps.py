"""What do the functions of `heapq` do to lists that hold traced values?

They compare and exchange as those of Python's library do (`plain/as_written.py`): elements come to
lie at the same places.
"""

from __future__ import annotations

import functools
import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.plain import as_written
from jitad.trace import hooks
from jitad.trace.calls import WRITTEN_OUT, call
from jitad.trace.containers.listcalls import FINE
from jitad.trace.containers.lists import run
from jitad.trace.containers.stretch import stretched
from jitad.trace.hooks import is_ordered
from jitad.trace.library import native
from jitad.values.array import ArrayHandle

_rise = functools.partial(run, as_written.risen)
_sink = functools.partial(run, as_written.sunk, _rise)


def _instead(original: Any, written: Any, *by: Any) -> Callable[..., Any]:
    def replacement(heap: Any, *item: Any) -> Any:
        traced = stretched(heap) is not None or any(map(is_ordered, (*heap, *item)))
        return run(written, *by, heap, *item) if traced else native(original, heap, *item)

    return replacement


def _few(reverse: bool) -> Callable[..., Any]:
    """nsmallest, nlargest: the first of all in order."""

    def replacement(n: Any, values: Any, key: Any = None) -> Any:
        few = slice(call(max, n, 0))
        if isinstance(values, ArrayHandle) and values.ndim == 1 and key is None:
            in_order = call(np.sort, values)
            return call(list, (in_order[::-1] if reverse else in_order)[few])
        # Only the kernel may know how many there are: the hook knows such lists.
        return hooks.get_item(call(sorted, values, key=key, reverse=reverse), few)

    return replacement


def _merge(*parts: Any, key: Any = None, reverse: Any = False) -> Any:
    def less(a: Any, b: Any) -> Any:
        a, b = (a, b) if key is None else (call(key, a), call(key, b))
        return hooks.Gt(a, b) if reverse else hooks.Lt(a, b)  # type: ignore[attr-defined]

    lists = [call(list, p) for p in parts]
    return functools.reduce(lambda a, b: run(as_written.merged, a, b, less), lists, [])


def _while_tracing(by: Callable[..., Any]) -> Callable[..., Any]:
    def written(trace: Any, f: Any, args: Any, kwargs: Any) -> Any:
        return f(*args, **kwargs) if trace is None else by(*args, **kwargs)

    return written


STAND_INS: dict[Any, Any] = {
    heapq.heappush: _instead(heapq.heappush, as_written.pushed, _rise),
    heapq.heappop: _instead(heapq.heappop, as_written.popped, _sink),
    heapq.heapify: _instead(heapq.heapify, as_written.heaped, _sink),
    heapq.heapreplace: _instead(heapq.heapreplace, as_written.replaced, _sink),
    heapq.heappushpop: _instead(heapq.heappushpop, as_written.pushed_and_popped, _sink),
}
_SORTED: dict[Any, Any] = {
    heapq.nsmallest: _few(False), heapq.nlargest: _few(True), heapq.merge: _merge
}  # fmt: skip
WRITTEN_OUT.update({f.__code__: _while_tracing(by) for f, by in _SORTED.items()})
FINE.update((run, _rise, _sink, *STAND_INS, *_SORTED))
