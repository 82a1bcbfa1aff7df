"""How does plain Python stand in for a function of a library, where something is traced?

It is traced as a user's function is, so that it may decide by what only the kernel knows.  What
the original takes and it does not is refused by name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jitad.trace import hooks
from jitad.values.registry import of_complex, replaces


def stands_for_each(pairs: dict[Any, Callable[..., Any]]) -> None:
    """Enter what stands in for each of these."""
    for original, function in pairs.items():
        _enter(original, function)


def _enter(original: Any, function: Callable[..., Any]) -> None:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return hooks.call(function, *args, **kwargs)

    replaces(original)(run)
    of_complex(original)(run)
