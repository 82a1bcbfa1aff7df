"""How does an object of a `numba.experimental.jitclass` keep what is put into its fields?  Plain
Python, rewritten as user code is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class Fields:
    """Numbers become those of the field's declared type."""

    names: ClassVar[tuple[str, ...]] = ()
    casts: ClassVar[dict[str, Callable[[Any], Any]]] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        cast = type(self).casts.get(name)
        object.__setattr__(self, name, value if cast is None else cast(value))
