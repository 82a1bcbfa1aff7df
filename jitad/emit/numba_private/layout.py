"""Where do CPython and NumPy keep what an object is made of?

Machine code that reads it there needs no call to ask.
"""

from __future__ import annotations

import ctypes
from types import CellType
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

from jitad.emit.numba_private.declarations import declare

# In bytes from where an object begins (the binary interfaces of CPython and NumPy).
TYPE, VALUE = 8, 16  # of any object; of a float, of a NumPy number
SIZE, ITEMS = 16, 24  # of a tuple
LIST_ITEMS = 24  # of a list: where its items are
CONTENTS = 16  # of a cell
CODE, DEFAULTS = 48, 56  # of a function
DATA, NDIM, EXTENTS, DESCR, FLAGS = 16, 24, 32, 56, 64  # of an array
PLAIN = 0x0501  # C-contiguous, aligned, writable
VERSION = 24  # of a dict: a number that no dict has had before, after each change (PEP 509)


def _layout_is_known() -> bool:
    """Are they really there?  An interpreter built otherwise has them elsewhere."""
    def read(thing: object, at: int, kind: Any) -> Any:
        return kind.from_address(id(thing) + at).value

    def given(one: int = 1) -> None:
        """A function with defaults."""

    word, whole = ctypes.c_void_p, ctypes.c_int
    a = np.zeros((3, 5))
    extents = (ctypes.c_ssize_t * 2).from_address(read(a, EXTENTS, word))
    return (
        ctypes.sizeof(word) == 8
        and read(a, TYPE, word) == id(np.ndarray)
        and read(a, DATA, word) == a.ctypes.data
        and read(a, NDIM, whole) == 2
        and tuple(extents) == a.shape
        and read(a, DESCR, word) == id(np.dtype("f8"))
        and read(a, FLAGS, whole) & 0x0503 == 0x0501
        and read(a.T, FLAGS, whole) & 0x0503 == 0x0502
        and read((a, 1.0), SIZE, ctypes.c_ssize_t) == 2
        and read((1.0, a), ITEMS + 8, word) == id(a)
        and word.from_address(read([1.0, a], LIST_ITEMS, word) + 8).value == id(a)
        and read(CellType(a), CONTENTS, word) == id(a)
        and read(given, CODE, word) == id(given.__code__)
        and read(given, DEFAULTS, word) == id(given.__defaults__)
        and read(_layout_is_known, DEFAULTS, word) is None
        and all(read(v, VALUE, ctypes.c_double) == 2.5 for v in (2.5, np.float64(2.5)))
        and read(np.int64(7), VALUE, ctypes.c_int64) == 7
    )


LAYOUT_IS_KNOWN = _layout_is_known()


def _versions_are_told() -> bool:
    """Has a dict got a new one whenever it was changed?  Not so from Python 3.13 on."""
    d: dict[str, Any] = {"one": 1}
    changes = (lambda: d.update(one=2.5), lambda: d.update(two=1), lambda: d.pop("two"),
               lambda: d.setdefault("three", []), d.clear)  # fmt: skip
    seen = []
    for change in changes:
        for step in (d.copy, change):  # of which one changes nothing
            step()
            seen.append(ctypes.c_uint64.from_address(id(d) + VERSION).value)
    told = seen[::2]
    return seen[1::2][:-1] == told[1:] and len({*seen}) == len(changes) + 1


VERSIONS_ARE_TOLD = LAYOUT_IS_KNOWN and _versions_are_told()


def field(b: Any, thing: Any, at: int, kind: Any) -> Any:
    """What lies so many bytes from where an object begins."""
    place = b.gep(b.bitcast(thing, ir.IntType(8).as_pointer()), [ir.IntType(64)(at)], inbounds=True)
    return b.load(b.bitcast(place, kind.as_pointer()))


SMALL = 1024  # bytes of an array for which NumPy keeps memory at hand
_NEW = "jitad_new_array"  # PyArray_NewFromDescr
_NEW_AT = 94  # its place in the table that NumPy hands to extension modules


def _arrays_are_made() -> bool:
    """Is the function there that makes arrays?  If so, machine code finds it by name."""
    take = ctypes.pythonapi.PyCapsule_GetPointer
    take.restype, take.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = take(_multiarray_umath._ARRAY_API, None)
    address = (ctypes.c_void_p * (_NEW_AT + 1)).from_address(table)[_NEW_AT] or 0
    whole, word, thing = ctypes.c_int, ctypes.c_void_p, ctypes.py_object
    make = ctypes.PYFUNCTYPE(thing, thing, thing, whole, word, word, word, whole, word)(address)
    dtype, extents = np.dtype("f8"), (ctypes.c_ssize_t * 2)(2, 3)
    ctypes.pythonapi.Py_IncRef(thing(dtype))
    a = make(np.ndarray, dtype, 2, ctypes.addressof(extents), None, None, 0, None)
    llvm.add_symbol(_NEW, address)
    return type(a) is np.ndarray and a.shape == (2, 3) and a.dtype is dtype and a.flags.carray


ARRAYS_ARE_MADE = LAYOUT_IS_KNOWN and _arrays_are_made()


def new_array_object(b: Any, class_: Any, dtype: Any, ndim: Any, extents: Any) -> Any:
    """A C-contiguous array of NumPy's, its elements not set; null where there is no memory."""
    whole, byte = ir.IntType(32), ir.IntType(8).as_pointer()
    kinds = [class_.type, dtype.type, whole, byte, byte, byte, whole, byte]
    make = declare(b.module, ir.FunctionType(class_.type, kinds), _NEW, ())
    none = ir.Constant(byte, None)
    given = [class_, dtype, ndim, b.bitcast(extents, byte), none, none, whole(0), none]
    return b.call(make, given)
