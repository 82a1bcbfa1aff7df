"""How does an array with fields (a structured array of NumPy's), or an element of one, come apart?

Into one array, or number, for each field of numbers, in the order of the fields.  Fields of texts
and other things have no derivative and no part in this: they are empty in what is made.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.immutable import immutable
from jitad.where import caller


class WithFields:
    """The kind of a structure that is such an array, or an element of one."""


@immutable(slots=True)
class Layout:
    """What an array with fields is besides their numbers."""

    dtype: np.dtype[Any]
    kind: type  # np.ndarray, np.recarray; np.void and np.record of elements

    @property
    def is_element(self) -> bool:
        return issubclass(self.kind, np.void)


_ARRAYS = (np.ndarray, np.memmap, np.recarray)
_HOME = "jitad.values.numpy.structured"  # which is imported where such an array is traced
KINDS = (*_ARRAYS, np.void, np.record)
TRACED: set[type] = set()  # the classes that stand for them where their numbers are traced


def has_fields(value: Any) -> bool:
    """True of plain arrays with fields of numbers, and of their elements."""
    return type(value) in KINDS and value.dtype.names is not None and bool(field_names(value.dtype))


def field_names(dtype: np.dtype[Any]) -> tuple[str, ...]:
    """The fields of numbers, or of such fields again."""
    return tuple(n for n in dtype.names or () if is_of_numbers(dtype[n]))


def is_of_numbers(dtype: np.dtype[Any]) -> bool:
    base = dtype.base
    return base.kind in "biufc" or bool(field_names(base))


def layout_of(value: Any) -> Layout:
    kind = type(value)
    return Layout(value.dtype, np.ndarray if kind is np.memmap else kind)


def is_like(value: Any, expected: Layout) -> bool:
    kind = np.ndarray if type(value) is np.memmap else type(value)
    if kind is not expected.kind:
        return False
    return value.dtype is expected.dtype or bool(value.dtype == expected.dtype)


def check_fields(layout: Layout) -> None:
    """What a function hands on has all its fields."""
    for name in layout.dtype.names or ():
        if name not in field_names(layout.dtype):
            raise JitadTypeError(
                f"an array with the field {name!r}, which is not of numbers, can't be handed on",
                caller(), "Hand on its fields of numbers: a[['x', 'y']].",
            )  # fmt: skip


def array_of(parts: Sequence[Any], layout: Layout) -> Any:
    """An array of these fields: NumPy's, if they are plain."""
    if not all(isinstance(p, (np.ndarray, np.generic, bool, int, float, complex)) for p in parts):
        return importlib.import_module(_HOME).of_parts(parts, layout)
    named = dict(zip(field_names(layout.dtype), parts, strict=True))
    name, first = next(iter(named.items()))
    shape = np.shape(first)[: np.ndim(first) - layout.dtype[name].ndim]
    out = np.zeros(shape, layout.dtype)
    for name, part in named.items():
        if has_fields(part) and layout.dtype[name].base.names is None:
            raise JitadTypeError(
                "derivatives of fields by fields have no array to be in", caller(),
                "Pass the fields as arguments of their own: f(a['x'], a['y']).",
            )  # fmt: skip
        out[name] = part
    if layout.is_element:
        return out[()]
    return out.view(np.recarray) if layout.kind is np.recarray else out
