"""How does a large new array get its memory from the system without a fault for every page?

What the C library hands out for some tens of megabytes has just been mapped: the first touch of
each page of 4 KiB enters the kernel, which takes longer than most loops take over the page.  Linux
is asked for huge pages (of 2 MiB) there, as NumPy asks for its own arrays; elsewhere nothing is
done.  The advice changes no result and may be refused.
"""

from __future__ import annotations

import sys
from typing import Any

from llvmlite import ir

from jitad.emit.libm import available
from jitad.emit.numba_private import declare

_LARGE = 1 << 22  # bytes; what is smaller is usually memory that was in use before
_PAGE = 1 << 12
_HUGE_PAGES = 14  # MADV_HUGEPAGE of sys/mman.h
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
