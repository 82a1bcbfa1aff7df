"""What is machine code that calls kernels of any types told of one of them?

Words in memory: how many arguments and results there are, and of which kinds.  The kernel has a
function beside it that takes its arguments from such words as well, one after the other, so that
whoever calls it need not know how many there are.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.np import numpy_support

from jitad.emit.numba_private.layout import ARRAYS_ARE_MADE, LAYOUT_IS_KNOWN

# kinds of arguments and results; of an array, the number of its axes
FLOAT, INT, BOOL = -1, -2, -3
_NUMBERS = {types.float64: FLOAT, types.int64: INT, types.boolean: BOOL}

# the first words
ARGUMENTS, RESULTS, OUTS = 0, 1, 2  # how many; results that can be copied to given arrays
GIVEN_WORDS, OUT_WORDS = 3, 4  # that all arguments take, and arrays that are copied to
RESULT_BYTES, COPIES = 5, 6  # of the place for results; are small ones copied, whatever they are?
ROWS = 7  # then a row for each argument, and one for each result

# in a row
KIND, ITEMSIZE, OFFSET, FLAGS = 0, 1, 2, 3  # where a result lies, and what it is
ROW = 4
IS_OUT, IS_COPIED, IS_MUTABLE = 1, 2, 4

# An array's structure is words: what owns its memory, the object that it is from, the number of
# elements, their size, where they are, the extents, the strides.
OWNER, PARENT, NITEMS, SIZE_OF_ITEM, ELEMENTS, EXTENTS = range(6)


class Plan(NamedTuple):
    """What is told of the kernels with certain types."""

    words: np.ndarray
    dtypes: tuple[Any, ...]  # of arguments and results that are arrays


def words_of(kind: int) -> int:
    """How many words an argument or result of this kind takes."""
    return 1 if kind < 0 else EXTENTS + 2 * kind


def is_direct(fndesc: Any) -> bool:
    """Can its arguments be looked at where they lie, and are its results a tuple of such kinds?"""
    return plan_of(tuple(fndesc.argtypes), fndesc.restype) is not None


def can_be_direct(arguments: Any) -> bool:
    """So, as far as its arguments are concerned?"""
    return LAYOUT_IS_KNOWN and all(t in _NUMBERS or is_plain(t) for t in arguments)


@cache
def plan_of(arguments: tuple[Any, ...], result: Any) -> Plan | None:
    """What is told of a kernel of these types; None if it can't be called so."""
    results = tuple(result) if isinstance(result, types.BaseTuple) else None
    if results is None or not can_be_direct(arguments):
        return None
    if not all(t in _NUMBERS or _is_array(t) for t in results):
        return None
    rows, end = [], 0
    for t in arguments:
        rows.append((kind_of(t), _itemsize(t), 0, 0))
    for t in results:
        kind = kind_of(t)
        size = 1 if kind == BOOL else 8 * words_of(kind)
        at = end if kind == BOOL else -(-end // 8) * 8
        rows.append((kind, _itemsize(t), at, _flags(t)))
        end = at + size
    given, outs = rows[: len(arguments)], [r for r in rows if r[FLAGS] & IS_OUT]
    made = [r for r in rows[len(arguments) :] if r[KIND] >= 0]
    head = [0] * ROWS
    head[ARGUMENTS], head[RESULTS], head[OUTS] = len(arguments), len(results), len(outs)
    head[GIVEN_WORDS] = 2 + sum(words_of(r[KIND]) for r in given)
    head[OUT_WORDS] = sum(words_of(r[KIND]) for r in outs)
    head[RESULT_BYTES] = max(end, 16)
    head[COPIES] = bool(made) and all(r[FLAGS] & IS_COPIED for r in made)
    dtypes = [_dtype(t) for t in (*arguments, *results)]
    return Plan(np.array([*head, *(x for r in rows for x in r)], np.int64), tuple(dtypes))


def kind_of(t: Any) -> int:
    return _NUMBERS[t] if t in _NUMBERS else t.ndim


def _is_array(t: Any) -> bool:
    return isinstance(t, types.Array) and t.box_type is np.ndarray and (
        isinstance(t.dtype, (types.Number, types.Boolean))
    )


def is_plain(t: Any) -> bool:
    """Is it an array that can be looked at where it lies?"""
    return bool(
        isinstance(t, types.Array) and t.layout == "C" and t.mutable and t.aligned
        and isinstance(t.dtype, (types.Float, types.Integer))
    )  # fmt: skip


def _flags(t: Any) -> int:
    if t in _NUMBERS:
        return 0
    copied = ARRAYS_ARE_MADE and t.layout == "C" and t.mutable
    return IS_OUT * is_plain(t) + IS_COPIED * copied + IS_MUTABLE * t.mutable


def _dtype(t: Any) -> Any:
    return None if t in _NUMBERS else numpy_support.as_dtype(t.dtype)


def _itemsize(t: Any) -> int:
    return 8 if t in _NUMBERS else int(_dtype(t).itemsize)


def by_words(name: str) -> str:
    """The name of the function that takes a kernel's arguments from memory."""
    return f"{name}_by_words"


def write_by_words(kernel: ir.Function) -> None:
    """Write that function.  Before the arguments are the places for results and for exceptions."""
    word, module = ir.IntType(64), kernel.module
    fnty = ir.FunctionType(kernel.function_type.return_type, [word.as_pointer()])
    function = ir.Function(module, fnty, by_words(kernel.name))
    b = ir.IRBuilder(function.append_basic_block("entry"))
    given = []
    for k, a in enumerate(kernel.args):
        place = b.gep(function.args[0], [word(k)])
        given.append(b.load(b.bitcast(place, a.type.as_pointer())))
    b.ret(b.call(kernel, given, attrs=("noinline",)))
