"""How does a compile keep the garbage collector from going through all that it makes?

Tapes and Numba's intermediate forms are millions of objects, few of them garbage in cycles; a
collection looks at all of them, and there are many while their number grows.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Iterator[None]:
    """No collection of cycles inside."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
