"""What is a `contextlib.ExitStack`, as a class whose writes a trace sees?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class ExitStack:
    """What is entered, and called at the end, is in a list of the trace's."""

    def __init__(self) -> None:
        self._left: list[Callable[..., Any]] = []

    def __enter__(self) -> Any:
        return self

    def enter_context(self, manager: Any) -> Any:
        value = manager.__enter__()
        self._left.append(manager.__exit__)
        return value

    def push(self, leave: Any) -> Any:
        self._left.append(leave.__exit__ if hasattr(leave, "__exit__") else leave)
        return leave

    def callback(self, f: Any, /, *args: Any, **named: Any) -> Any:
        def called(*_: Any) -> None:
            f(*args, **named)

        self._left.append(called)
        return f

    def pop_all(self) -> Any:
        other = ExitStack()
        other._left = self._left
        self._left = []
        return other

    def close(self) -> None:
        self.__exit__(None, None, None)

    def __exit__(self, kind: Any, error: Any, where: Any) -> bool:
        given, swallowed = error, False
        pending, self._left = self._left, []
        for leave in reversed(pending):
            try:
                if leave(kind, error, where):
                    kind = error = where = None
                    swallowed = True
            except Exception as raised:
                kind, error, where = type(raised), raised, raised.__traceback__
        if error is not given and error is not None:
            raise error
        return swallowed and given is not None
