"""How does a compile keep the garbage collector from going through all that it makes?

Tapes and Numba's intermediate forms are millions of objects, few of them garbage in cycles; a
collection looks at all of them, and there are many while their number grows.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 20  # modules


@contextmanager
def undisturbed() -> Iterator[None]:
    """No collection of cycles inside.

    What was imported meanwhile is not garbage: the collection after it need not go through that.
    """
    collecting, modules = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > modules + MANY and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        if collecting:
            gc.enable()
