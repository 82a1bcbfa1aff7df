"""How do two elements of a list change places, as in `rows[i], rows[p] = rows[p], rows[i]`?

Where only the kernel can tell which they are, a list of lists is one of rows (`lists.py`), which
holds copies.  Written one after the other, a row would be there twice for a moment, and shared from
then on; so the rows are exchanged at once, and each stays one.
"""

from __future__ import annotations

import sys
from typing import Any

from jitad.tape.build import Leaf
from jitad.trace.containers import in_rows, keyed
from jitad.trace.containers.lists import place
from jitad.trace.containers.stretch import stretched
from jitad.trace.containers.writing import note
from jitad.trace.containers.writtenback import moved, writing
from jitad.trace.context import Trace
from jitad.trace.ongoing import current
from jitad.trace.places import get_item, set_item
from jitad.values.array import ArrayHandle


def swap(owner: Any, i: Any, j: Any) -> None:
    trace = current()
    if trace is not None:
        trace.step(sys._getframe(1))
        if stretched(owner) is None and type(owner) is list and in_rows.is_table(owner):
            for k in (i, j):
                if isinstance(k, Leaf) and keyed.by_rows(owner, k):
                    break
        if type(owner) is list and stretched(owner) is not None:
            with writing(owner):
                _swap_rows(trace, owner, i, j)
            return
    x, y = get_item(owner, j), get_item(owner, i)
    set_item(x, owner, i)
    set_item(y, owner, j)


def _swap_rows(trace: Trace, owner: list[Any], i: Any, j: Any) -> None:
    stretch = stretched(owner)
    assert stretch is not None
    i, j = (place(stretch, k) for k in (i, j))
    moved(trace, owner)
    note(owner)
    for store in stretch.stores:
        first, second = _now(store[i]), _now(store[j])
        store[i], store[j] = second, first


def _now(row: Any) -> Any:
    """As it is, whatever is written to the array later."""
    return ArrayHandle(row.content) if isinstance(row, ArrayHandle) else row
