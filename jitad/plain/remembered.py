"""What does a function give that keeps its results?  Traced like a user's code."""

from __future__ import annotations

from typing import Any


def remembered(kept: dict[int, Any], key: int, f: Any, args: Any, kwargs: Any) -> Any:
    if key in kept:
        return kept[key]
    found = f(*args, **kwargs)
    kept[key] = found
    return found
