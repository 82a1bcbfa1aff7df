"""Where does jitad touch names of Numba and llvmlite that are not public?  Only in this folder.

Written against Numba 0.68 and llvmlite 0.50.
"""

from __future__ import annotations

from jitad.emit.numba_private.appending import appended
from jitad.emit.numba_private.arrays import (
    Made,
    clear,
    contiguous,
    copy,
    new_array,
    reach,
    run_of,
    stack_array,
)
from jitad.emit.numba_private.body import Body, NotTranslated, Typed
from jitad.emit.numba_private.calls import (
    call,
    call_python,
    call_type,
    declared,
    is_closed,
    jitclass_of,
    jitclass_parts,
    place,
    reader,
    result_type,
    signatures,
    stencil_of,
    taken_as_numbers,
    uncacheable,
)
from jitad.emit.numba_private.compiler import IN_FULL, KernelCompiler, dispatcher
from jitad.emit.numba_private.declarations import (
    ANY_ORDER,
    LLVMLITE,
    PURE,
    ROUNDED,
    declare,
    define,
    host,
    host_features,
    keep,
    lower_constant,
    settings,
)
from jitad.emit.numba_private.disk import ContentCache
from jitad.emit.numba_private.parts import Spread
from jitad.emit.numba_private.shared import can_be_handed
from jitad.emit.numba_private.shortcut import IN_CELL, ITSELF, NOT_THERE, Form, Relied
from jitad.emit.numba_private.ways import BRIEF, direct, shortcut
from jitad.emit.numba_private.widths import vector_widths

__all__ = [
    "ANY_ORDER", "BRIEF", "IN_CELL", "IN_FULL", "ITSELF", "LLVMLITE", "NOT_THERE", "PURE",
    "ROUNDED", "Body", "ContentCache", "Form", "KernelCompiler", "Made", "NotTranslated", "Relied",
    "Spread", "Typed", "appended", "call", "call_python", "call_type", "can_be_handed", "clear",
    "contiguous", "copy", "declare", "declared", "define", "direct", "dispatcher", "host",
    "host_features", "is_closed", "jitclass_of", "jitclass_parts", "keep", "lower_constant",
    "new_array", "place", "reach", "reader", "result_type", "run_of", "settings", "shortcut",
    "signatures", "stack_array", "stencil_of", "taken_as_numbers", "uncacheable", "vector_widths",
]  # fmt: skip
