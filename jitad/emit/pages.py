"""How does a large new array get its memory from the system without a fault for every page?

What the C library hands out for some tens of megabytes has just been mapped: the first touch of
each page of 4 KiB enters the kernel, which takes longer than most loops take over the page.  Linux
is asked for huge pages (of 2 MiB) there, as NumPy asks for its own arrays; elsewhere nothing is
done.  The advice changes no result and may be refused.

Smaller arrays are memory that was in use before, unless the C library has given it back meanwhile.
glibc gives back, at once, what is freed beyond a few times the largest array so far, so a kernel
with some arrays of a megabyte would fault for all of their pages in each call.  Freeing a large
block once (which nobody has touched) tells it that blocks of this size come and go, as freeing
a large array of NumPy's would.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

from llvmlite import ir

from jitad.emit.libraries.libm import available
from jitad.emit.numba_private import declare

_LARGE = 1 << 22  # bytes; what is smaller is usually memory that was in use before
_PAGE = 1 << 12
_HUGE_PAGES = 14  # MADV_HUGEPAGE of sys/mman.h
_COMES_AND_GOES = (1 << 25) - (1 << 16)  # just below what glibc at most adapts to
_LINUX = sys.platform == "linux" and available("madvise")


def advise(builder: Any, data: Any, size: Any) -> None:
    """Ask for huge pages under a new array of so many bytes, if it is large."""
    if not _LINUX:
        return
    word, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
    large = builder.icmp_signed(">=", size, ir.Constant(word, _LARGE))
    with builder.if_then(large, likely=False):
        start = builder.ptrtoint(data, word)
        up = builder.add(start, ir.Constant(word, _PAGE - 1))
        first = builder.and_(up, ir.Constant(word, -_PAGE))
        length = builder.sub(builder.add(start, size), first)
        fnty = ir.FunctionType(ir.IntType(32), [pointer, word, ir.IntType(32)])
        madvise = declare(builder.module, fnty, "madvise", ("nounwind",))
        advice = ir.Constant(ir.IntType(32), _HUGE_PAGES)
        builder.call(madvise, [builder.inttoptr(first, pointer), length, advice])


@cache
def keep_what_is_freed() -> None:
    """Have the C library keep freed memory for the next call, up to some tens of megabytes."""
    if not _LINUX:
        return
    c = ctypes.CDLL(None)
    c.malloc.restype, c.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    c.free.restype, c.free.argtypes = None, [ctypes.c_void_p]
    c.free(c.malloc(_COMES_AND_GOES))
