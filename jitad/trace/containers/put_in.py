"""How does a list of known length take in others, of which only the kernel knows how long they are,
in the place of some of its elements?"""

from __future__ import annotations

from typing import Any

from jitad.plain import as_written
from jitad.trace.containers import lists
from jitad.trace.containers.iterables import sequence
from jitad.trace.containers.writing import note


def put_slice(owner: Any, part: slice, value: Any) -> bool:
    """owner[part] = value; False: Python itself can do that."""
    from jitad.trace.flow.generators import listed  # which call

    value = listed(value)
    counted = sequence(value)
    if type(owner) is not list or counted is None or counted.static is not None:
        return False
    start, stop, step = part.indices(len(owner))
    value = lists.call_list(value)
    if step != 1:
        count = len(range(start, stop, step))
        lists.run(as_written.put_steps, owner, start, count, step, value)
        return True
    later = owner[max(start, stop) :]
    note(owner)
    del owner[start:]
    lists.extend(owner, value)
    lists.extend(owner, later)
    return True
