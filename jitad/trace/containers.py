"""How are writes to Python's own containers noted?

A list, dict or set is one place of the journal; its old value is a copy, made once a frame.
"""

from __future__ import annotations

from typing import Any

from jitad.values.journal import active, record

# methods that change the container
WRITING: dict[type, frozenset[str]] = {
    list: frozenset(
        {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "__setitem__"}
    ),
    dict: frozenset({"update", "pop", "popitem", "clear", "setdefault", "__setitem__"}),
    set: frozenset(
        {"add", "discard", "remove", "pop", "clear", "update", "difference_update",
         "intersection_update", "symmetric_difference_update"}
    ),
}  # fmt: skip


def note(container: Any) -> None:
    """The container is about to change."""
    journal = active()
    if journal is None or journal.noted(container, "items"):
        return

    def assign(content: Any) -> None:
        if isinstance(container, list):
            container[:] = content
        else:
            container.clear()
            container.update(content)

    record(container, "items", container.copy(), container.copy, assign)
