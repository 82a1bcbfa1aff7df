"""Where in a list is a value, if its elements are numbers, or tuples of numbers?

Of a list whose length only the kernel knows one equation says it.  A loop would be traced,
differentiated and compiled for each operation of a dict or set whose keys lie in such lists
(`plain/tabled.py`, `plain/gathered.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jitad.tape.build import Leaf
from jitad.tape.types import Scalar, promote
from jitad.trace.containers.stretch import stretched
from jitad.trace.joins.forms import Form, Number, Record
from jitad.values.kind import type_of
from jitad.values.number import bind


def row_of(target: Any, value: Any) -> Any:
    """The first place of the value, -1 if there is none; None: it takes a loop to say."""
    stretch = stretched(target)
    if stretch is None:
        known = isinstance(target, list) and all(map(_is_known, (value, *target)))
        return (target.index(value) if value in target else -1) if known else None
    numbers = list(_numbers(stretch.element, value))
    if not numbers or None in numbers:
        return None
    pairs = zip((s.content for s in stretch.stores), numbers, strict=True)
    return bind("row_of", stretch.count, *(x for pair in pairs for x in pair))


def _is_known(value: Any) -> bool:
    """Is it what it is, compared with its like?"""
    if type(value) is tuple:
        return all(map(_is_known, value))
    return type(value) in (int, bool, str, type(None))


def _numbers(form: Form, value: Any) -> Iterator[Any]:
    """The numbers of a value as the rows hold them; None: they hold something else."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        yield None
        return
    match form, value:
        case Number(Scalar(dtype) as t), Leaf() | bool() | int() | float() | np.number():
            common, _ = promote(t, type_of(value))
            yield bind("cast", value, dtype=dtype) if common == dtype else None
        case Record(), tuple() if type(form.of.value) is type(value) is tuple and (
            len(form.parts) == len(value)
        ):
            for part, x in zip(form.parts, value, strict=True):
                yield from _numbers(part, x)
        case _:
            yield None
