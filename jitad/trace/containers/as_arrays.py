"""What array does NumPy make of a list whose length only the kernel knows?"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadValueError
from jitad.trace.containers.grown import not_empty
from jitad.trace.containers.lists import _of, refused
from jitad.trace.joins.forms import Grown, Number, Record
from jitad.values.array import ArrayHandle
from jitad.values.kind import require
from jitad.values.number import bind
from jitad.values.registry import implementation
from jitad.values.views import Range, all_of


def as_array(target: list[Any]) -> ArrayHandle:
    """What np.array makes of it."""
    stretch = _of(target)
    parts = [rows(s, stretch.count) for s in stretch.stores]
    form = stretch.element
    if isinstance(form, Record) and isinstance(form.of.value, (tuple, list)):
        if not all(isinstance(p, Number) for p in form.parts) or not parts:
            raise refused("made an array: its elements are not all numbers")
        stack = implementation(np.stack)
        assert stack is not None
        return not_empty(stack(parts, axis=1), stretch.count)
    if isinstance(form, Grown) and isinstance(form.element, Number):
        return _matrix(*parts)
    if len(parts) != 1 or isinstance(form, Record):
        raise refused("made an array: its elements are neither numbers nor arrays")
    return parts[0] if parts[0].ndim == 1 else not_empty(parts[0], stretch.count)


def _matrix(counts: ArrayHandle, numbers: ArrayHandle) -> ArrayHandle:
    """Of lists of numbers, which must be of one length."""
    not_empty(numbers, counts.shape[0])
    count, every = counts[0], implementation(np.all)
    assert every is not None
    require(every(counts == count), JitadValueError, "lists of several lengths are no array",
            "Make an array of each.")  # fmt: skip
    count = bind("cast", count, dtype="i8", py=True)
    part = numbers._window((*all_of(numbers.shape).entries[:1], Range(0, 1, count)))
    return ArrayHandle(part.content)


def as_typed(target: list[Any]) -> ArrayHandle:
    """What np.array makes of it, if it tells the dtype by itself."""
    array = as_array(target)
    return array if array.dtype == float else not_empty(array, _of(target).count)


def rows(store: ArrayHandle, count: Any) -> ArrayHandle:
    part = store._window((Range(0, 1, count), *all_of(store.shape).entries[1:]))
    return ArrayHandle(part.content)
