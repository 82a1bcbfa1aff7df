"""How does a checkpointed loop run?  Plain Python, rewritten as user code is."""

from __future__ import annotations

from typing import Any


def times(step: Any, state: Any, first: Any, last: Any, args: tuple[Any, ...]) -> Any:
    """The state after these steps."""
    for k in range(first, last):
        state = step(k, state, *args)
    return state


def until(step: Any, state: Any, goes_on: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The state when the condition no longer holds, and the number of steps till then."""
    k = 0
    while goes_on(state, *args):
        state = step(k, state, *args)
        k += 1
    return state, k
