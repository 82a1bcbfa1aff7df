"""What is an operation on functions, point by point?

Written like a user's code, and traced like it: the functions are the user's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


def mapped(operation: Function, f: Function) -> Function:
    return lambda *args, **kwargs: operation(f(*args, **kwargs))


def combined(operation: Function, f: Function, g: Function) -> Function:
    return lambda *args, **kwargs: operation(f(*args, **kwargs), g(*args, **kwargs))
