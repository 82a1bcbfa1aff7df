"""Where do large arrays of kernels lie, and who has the memory when they are gone?

What the C library is given back at the end of a call, some megabytes of records and buffers, it
hands on to the system; the next call gets it anew, page by page and full of zeros, which takes
longer than most loops over it.  So blocks of 128 KiB and more are kept for the next call that asks
for about as much: results that nobody holds any more, too.

At most `$JITAD_KEPT_MEMORY` megabytes are kept (128 if that is not set, none if it is 0), in as
many blocks as there are slots.  A slot is taken and filled by one atomic exchange, so any number of
threads may come at once and none waits.  The code lives as long as the process: arrays outlive the
kernel that made them.  Under Numba's own counting of references nothing changes; it calls back here
for memory, as it does for other external allocators.

New blocks of some megabytes have huge pages (of 2 MiB) where Linux gives them, as NumPy asks for
them for its own arrays.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import llvmlite.binding as llvm

from jitad.emit import numba_private
from jitad.emit.libm import available

ALLOCATE = "jitad_allocate"
_LARGE = 1 << 17  # bytes; what is smaller, the C library keeps itself
_SLOTS = 32
_ALIGNED = 64
_HUGE = 1 << 22  # bytes that are worth huge pages
_ADVICE = 14  # MADV_HUGEPAGE of sys/mman.h
_LINUX = sys.platform == "linux" and available("madvise")


def kept_memory() -> int:
    """Bytes that may be kept."""
    try:
        return max(0, int(float(os.environ.get("JITAD_KEPT_MEMORY", "128")) * 2**20))
    except ValueError:
        return 128 << 20


_TEXT = """
@slots = internal global [{slots} x ptr] zeroinitializer
@held = internal global i64 0
@allocator = internal global {{ptr, ptr, ptr, ptr}} {{ptr @take, ptr null, ptr @give, ptr null}}

declare ptr @{small}(i64)
declare void @{free}(ptr)
declare ptr @{aligned}(i64, i32)
declare ptr @{external}(i64, i32, ptr)
{advise}
define internal void @keep(ptr %block, i64 %room) {{
entry:
  br label %next
next:
  %k = phi i64 [0, %entry], [%more, %again]
  %slot = getelementptr [{slots} x ptr], ptr @slots, i64 0, i64 %k
  %pair = cmpxchg ptr %slot, ptr null, ptr %block acq_rel monotonic
  %done = extractvalue {{ptr, i1}} %pair, 1
  br i1 %done, label %out, label %again
again:
  %more = add i64 %k, 1
  %end = icmp eq i64 %more, {slots}
  br i1 %end, label %full, label %next
full:
  %was = atomicrmw sub ptr @held, i64 %room acq_rel
  call void @{free}(ptr %block)
  ret void
out:
  ret void
}}

define internal void @give(ptr %data, ptr %unused) {{
entry:
  %block = getelementptr i8, ptr %data, i64 -{aligned_to}
  %room = load i64, ptr %block
  %before = atomicrmw add ptr @held, i64 %room acq_rel
  %after = add i64 %before, %room
  %fits = icmp sle i64 %after, {most}
  br i1 %fits, label %yes, label %no
yes:
  call void @keep(ptr %block, i64 %room)
  ret void
no:
  %was = atomicrmw sub ptr @held, i64 %room acq_rel
  call void @{free}(ptr %block)
  ret void
}}

define internal ptr @take(i64 %size, ptr %unused) {{
entry:
  %want = add i64 %size, {aligned_to}
  %quarter = lshr i64 %want, 2
  %limit = add i64 %want, %quarter
  br label %next
next:
  %k = phi i64 [0, %entry], [%more, %again]
  %slot = getelementptr [{slots} x ptr], ptr @slots, i64 0, i64 %k
  %seen = load atomic ptr, ptr %slot monotonic, align 8
  %none = icmp eq ptr %seen, null
  br i1 %none, label %again, label %try
try:
  %block = atomicrmw xchg ptr %slot, ptr null acq_rel
  %gone = icmp eq ptr %block, null
  br i1 %gone, label %again, label %look
look:
  %room = load i64, ptr %block
  %enough = icmp uge i64 %room, %want
  %near = icmp ule i64 %room, %limit
  %good = and i1 %enough, %near
  br i1 %good, label %found, label %other
found:
  %was = atomicrmw sub ptr @held, i64 %room acq_rel
  %data = getelementptr i8, ptr %block, i64 {aligned_to}
  ret ptr %data
other:
  call void @keep(ptr %block, i64 %room)
  br label %again
again:
  %more = add i64 %k, 1
  %end = icmp eq i64 %more, {slots}
  br i1 %end, label %new, label %next
new:
  %fresh = call ptr @{small}(i64 %want)
  %failed = icmp eq ptr %fresh, null
  br i1 %failed, label %nothing, label %made
nothing:
  ret ptr null
made:
  call void @advise(ptr %fresh, i64 %want)
  store i64 %want, ptr %fresh
  %fresh_data = getelementptr i8, ptr %fresh, i64 {aligned_to}
  ret ptr %fresh_data
}}

define ptr @allocate(i64 %size) {{
entry:
  %large = icmp sge i64 %size, {large}
  br i1 %large, label %pooled, label %plain
pooled:
  %one = call ptr @{external}(i64 %size, i32 64, ptr @allocator)
  ret ptr %one
plain:
  %other = call ptr @{aligned}(i64 %size, i32 64)
  ret ptr %other
}}
"""


_ADVISE = """
declare i32 @madvise(ptr, i64, i32)

define internal void @advise(ptr %block, i64 %size) {{
entry:
  %large = icmp uge i64 %size, {huge}
  br i1 %large, label %ask, label %out
ask:
  %start = ptrtoint ptr %block to i64
  %up = add i64 %start, 4095
  %first = and i64 %up, -4096
  %stop = add i64 %start, %size
  %length = sub i64 %stop, %first
  %page = inttoptr i64 %first to ptr
  %answer = call i32 @madvise(ptr %page, i64 %length, i32 {advice})
  ret void
out:
  ret void
}}
"""
_ADVISE_NOTHING = """
define internal void @advise(ptr %block, i64 %size) {{
entry:
  ret void
}}
"""


def _built() -> Any:
    """The machine code, in an engine of its own, which must be held on to."""
    names = numba_private.runtime_functions(
        {"small": "Allocate", "free": "Free", "aligned": "MemInfo_alloc_aligned",
         "external": "MemInfo_alloc_safe_aligned_external"}
    )  # fmt: skip
    advise = (_ADVISE if _LINUX else _ADVISE_NOTHING).format(huge=_HUGE, advice=_ADVICE)
    text = _TEXT.format(
        slots=_SLOTS, most=kept_memory(), large=_LARGE, aligned_to=_ALIGNED, advise=advise, **names
    )
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    llvm.add_symbol(ALLOCATE, engine.get_function_address("allocate"))
    return engine


_ENGINE = _built()  # at import: code on disk refers to it
