"""How are functions of SciPy named before SciPy is imported, which takes longer than all of jitad?

It is imported when the first of them is called, or when the user's code hands one over: it has
imported SciPy then.
"""

from __future__ import annotations

import importlib
from typing import Any

from jitad.immutable import immutable


@immutable
class Unloaded:
    """A function of a module that may not be imported yet."""

    module: str
    name: str

    @property
    def function(self) -> Any:
        return getattr(importlib.import_module(self.module), self.name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def loaded(f: Any) -> Any:
    """The function itself; imports what it stands in."""
    return f.function if isinstance(f, Unloaded) else f
