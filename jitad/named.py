"""Under which name does a module have what a decorator has made?  By that name it is pickled.

The function inside goes by the same name, which is no longer its own: `pickle` refuses it.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from operator import attrgetter
from typing import Any


def name_of(made: Any) -> tuple[str, str] | None:
    """The module and the name in it; None of what no name there stands for."""
    inside = inspect.unwrap(made)
    module, name = (getattr(inside, key, "") for key in ("__module__", "__qualname__"))
    try:
        found = attrgetter(name)(sys.modules[module])
    except (AttributeError, KeyError, TypeError):
        return None
    return (module, name) if found is made else None


def named(module: str, name: str) -> Any:
    """What goes by that name."""
    return attrgetter(name)(importlib.import_module(module))
