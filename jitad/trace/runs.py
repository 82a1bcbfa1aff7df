"""How does a function run again as if it had not run before?

Forward mode runs a function once for a few directions.  What it writes to things outside (a count,
a list that it appends to) must not be met by the next run: a run begins with what was there before
the first one, and leaves what that has left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from jitad.trace import ongoing
from jitad.trace.around import outside
from jitad.trace.pointwise import pushed

_Place = tuple[Callable[[Any], None], Any, Any]  # what assigns to it; the old value, and the new


class FirstRun:
    """A context around the first run of a function, which then knows what that has written."""

    def __init__(self) -> None:
        self.places: list[_Place] = []

    def __enter__(self) -> FirstRun:
        trace = ongoing.current()
        self.stack = ExitStack()
        if trace is None:
            noted = self.stack.enter_context(outside.noting())
            self.stack.callback(lambda: self.places.extend(
                (assign, old, read()) for read, assign, old in noted.values()
            ))  # fmt: skip
        else:
            trace.journal.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        trace = ongoing.current()
        if trace is not None and kind is None:
            writes = [w for w in trace.journal.written() if w.slot not in ("content", "_lost")]
            self.places = [(w.assign, w.old, w.read()) for w in writes]
            trace.journal.merge()
        self.stack.close()

    def again(
        self, f: Callable[..., Any], primals: tuple[Any, ...], directions: list[tuple[Any, ...]]
    ) -> list[Any]:
        """The tangents of f in several directions."""
        found: list[Any] = []
        eager = ongoing.current() is None
        for some in ([d] for d in directions) if eager else (directions,):
            with self._undone():
                found += pushed(f, primals, some)
        return found

    @contextmanager
    def _undone(self) -> Iterator[None]:
        """Around another run, of which nothing stays."""
        trace = ongoing.current()
        for assign, old, _ in reversed(self.places):
            assign(old)
        if trace is not None:
            trace.journal.open()
            yield  # a trace that fails begins anew
            trace.journal.forget()
        else:
            try:
                with outside.noting() as noted:
                    yield
            finally:
                for _, assign, old in reversed(noted.values()):
                    assign(old)
        for assign, _, new in self.places:
            assign(new)
