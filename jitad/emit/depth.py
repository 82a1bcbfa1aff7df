"""How deep may a recursive function go, and what does it hand on?

Native code that overruns its stack ends the process, so each call of a recursive function looks
first where the stack ends.  `room()`, asked once a kernel, gives the lowest address that a frame
may have in the thread that is running: every thread has a stack of its own, and its size is known
to the C library.  `deep(room)` is true where that is reached.

`handed(a)` is the array as C-contiguous, writable and aligned: a function's parameters have one
type, whatever the caller of the kernel passed.  `run_of` is a part of one, where it lies.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from jitad.emit import numba_private

MARGIN = 1 << 17  # bytes, for what a last call needs
FALLBACK = 1 << 18  # bytes, where the C library doesn't tell

_KNOWN = hasattr(ctypes.CDLL(None), "pthread_getattr_np")
_WORD, _BYTES = ir.IntType(64), ir.IntType(8).as_pointer()


def room() -> int:
    return 0


def deep(room: int) -> bool:
    """Python's own limit is in force where this is run as Python."""
    return False


def handed(a: Any) -> Any:
    return np.ascontiguousarray(a)


def run_of(a: Any, count: int, *start: int) -> Any:
    """So many elements of the last axis from there on, in place."""
    *row, first = start
    return a[(*row, slice(first, first + count))]


# -- Numba ----------------------------------------------------------------------------------------


def _here(builder: Any) -> Any:
    """An address in the frame of the function that is compiled."""
    with builder.goto_entry_block():
        slot = builder.alloca(ir.IntType(8))
    return builder.ptrtoint(slot, _WORD)


def _remembered(module: ir.Module, name: str) -> Any:
    if name not in module.globals:
        made = ir.GlobalVariable(module, _WORD, name)
        made.linkage, made.initializer = "internal", ir.Constant(_WORD, 0)
    return module.globals[name]


def _external(builder: Any, name: str, result: ir.Type, *kinds: ir.Type) -> Any:
    return numba_private.declare(builder.module, ir.FunctionType(result, kinds), name, ())


def _lower_room(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    here = _here(builder)
    if not _KNOWN:
        return builder.sub(here, ir.Constant(_WORD, FALLBACK))
    # The main thread's is found by reading a file of the kernel's: once is enough.
    low = _remembered(builder.module, "jitad_stack_low")
    high = _remembered(builder.module, "jitad_stack_high")
    with builder.goto_entry_block():
        attributes = builder.alloca(_WORD, 32)
        address, size = builder.alloca(_WORD), builder.alloca(_WORD)
        floor = builder.alloca(_WORD)
    first, last = builder.load(low), builder.load(high)
    builder.store(first, floor)
    known = builder.and_(builder.icmp_unsigned(">", here, first),
                         builder.icmp_unsigned("<", here, last))  # fmt: skip
    with builder.if_then(builder.not_(known)):
        number, raw = ir.IntType(32), builder.bitcast(attributes, _BYTES)
        thread = builder.call(_external(builder, "pthread_self", _WORD), [])
        builder.call(_external(builder, "pthread_getattr_np", number, _WORD, _BYTES),
                     [thread, raw])  # fmt: skip
        builder.call(
            _external(builder, "pthread_attr_getstack", number, _BYTES, _BYTES, _BYTES),
            [raw, builder.bitcast(address, _BYTES), builder.bitcast(size, _BYTES)],
        )
        builder.call(_external(builder, "pthread_attr_destroy", number, _BYTES), [raw])
        start = builder.load(address)
        builder.store(start, floor)
        process = builder.call(_external(builder, "getpid", number), [])
        task = builder.call(_external(builder, "gettid", number), [])
        with builder.if_then(builder.icmp_signed("==", process, task)):
            builder.store(start, low)
            builder.store(builder.add(start, builder.load(size)), high)
    return builder.add(builder.load(floor), ir.Constant(_WORD, MARGIN))


def _lower_deep(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.icmp_unsigned("<", _here(builder), args[0])


def _type_handed(a: Any) -> Any:
    if not isinstance(a, types.Array):
        return None
    return types.Array(a.dtype, a.ndim, "C")(a)


def _lower_handed(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return numba_private.contiguous(context, builder, sig.args[0], sig.return_type, args[0])


def _type_run_of(a: Any, count: Any, *start: Any) -> Any:
    if not isinstance(a, types.Array) or a.layout != "C" or len(start) != a.ndim:
        return None
    word = types.int64
    return types.Array(a.dtype, 1, "C")(a, word, *(word for _ in start))


def _lower_run_of(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    a, count, *start = args
    return numba_private.run_of(context, builder, sig.args[0], a, sig.return_type, start, count)


numba_private.define(run_of, _type_run_of, _lower_run_of)
numba_private.define(room, lambda: types.int64(), _lower_room)
numba_private.define(deep, lambda r: types.boolean(types.int64), _lower_deep)
numba_private.define(handed, _type_handed, _lower_handed)
