"""Who runs the parts of a loop at once?  A team of threads of the process, which kernels share.

`jitad_spread(function, data, parts, most)` calls `function(data, k)` for k = 0 ... parts - 1 on at
most so many threads (0: as many as a kernel may use), and comes back when all have returned.  It is
a monitor: the team sleeps until there is a job; whoever is awake, the caller too, takes the next
part under the lock, and the last one wakes the caller.  What a part computes doesn't depend on who
runs it.  So a caller that finds the team at work (another
thread's call; a part that calls a kernel itself) runs all parts alone, with the same result.
Threads are made when a job wants more than there are; where no more can be made, those that there
are do it.

It is LLVM code over the C library's threads.  Numba's own layers end the process when two threads
come at once (workqueue) or in a child after a fork (OpenMP); `prange` makes the compiler take
three times as long; a pool of Python's threads would need the interpreter's lock.  A child that
was forked has no threads but its own, so it begins with an empty team.

`jitad_threads` says how many threads a kernel may use.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

import llvmlite.binding as llvm
from numba import config

from jitad.primitives.threads import MOST

_IDLE = 200  # times that one who waits looks again, leaving its core to others, before it sleeps


def set_threads(count: int) -> None:
    _threads.value = count


def get_threads() -> int:
    return int(_threads.value)


# %job: what is done, and how far.  Only who has @lock touches it; @busy is held by the caller whose
# job it is.  Room for locks and conditions is more than any C library takes.
_SOURCE = """
@busy = internal global [128 x i8] zeroinitializer, align 16
@lock = internal global [128 x i8] zeroinitializer, align 16
@work = internal global [128 x i8] zeroinitializer, align 16
@done = internal global [128 x i8] zeroinitializer, align 16
@function = internal global ptr null
@data = internal global ptr null
@parts = internal global i64 0
@next = internal global i64 0
@left = internal global i64 0
@members = internal global i64 0
@room = internal global i64 0
@one = internal constant i64 1
@jitad_threads = global i64 1

declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_trylock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @sched_yield()

define void @jitad_begin() {
  call i32 @pthread_mutex_init(ptr @busy, ptr null)
  call i32 @pthread_mutex_init(ptr @lock, ptr null)
  call i32 @pthread_cond_init(ptr @work, ptr null)
  call i32 @pthread_cond_init(ptr @done, ptr null)
  store i64 0, ptr @members
  store atomic i64 0, ptr @parts monotonic, align 8
  store atomic i64 0, ptr @next monotonic, align 8
  store atomic i64 0, ptr @left monotonic, align 8
  ret void
}

; looks again and again, leaving its core to others, until the one number is less than the other
define internal void @watch(ptr %small, ptr %large) {
entry:
  br label %look
look:
  %turn = phi i64 [0, %entry], [%turn1, %yield]
  %x = load atomic i64, ptr %small monotonic, align 8
  %y = load atomic i64, ptr %large monotonic, align 8
  %less = icmp slt i64 %x, %y
  %turn1 = add i64 %turn, 1
  %long = icmp sgt i64 %turn, IDLE
  %enough = or i1 %less, %long
  br i1 %enough, label %end, label %yield
yield:
  call i32 @sched_yield()
  br label %look
end:
  ret void
}

; with @lock: runs parts as long as there are any
define internal void @help() {
entry:
  br label %look
look:
  %k = load i64, ptr @next
  %n = load i64, ptr @parts
  %more = icmp slt i64 %k, %n
  br i1 %more, label %run, label %end
run:
  %k1 = add i64 %k, 1
  store atomic i64 %k1, ptr @next monotonic, align 8
  %f = load ptr, ptr @function
  %d = load ptr, ptr @data
  call i32 @pthread_mutex_unlock(ptr @lock)
  call void %f(ptr %d, i64 %k)
  call i32 @pthread_mutex_lock(ptr @lock)
  %l = load i64, ptr @left
  %l1 = sub i64 %l, 1
  store atomic i64 %l1, ptr @left monotonic, align 8
  %last = icmp eq i64 %l1, 0
  br i1 %last, label %tell, label %look
tell:
  call i32 @pthread_cond_signal(ptr @done)
  br label %look
end:
  ret void
}

define internal ptr @member(ptr %nothing) {
entry:
  call i32 @pthread_mutex_lock(ptr @lock)
  br label %look
look:
  %k = load i64, ptr @next
  %n = load i64, ptr @parts
  %more = icmp slt i64 %k, %n
  %r = load i64, ptr @room
  %some = icmp sgt i64 %r, 0
  %join = and i1 %more, %some
  br i1 %join, label %work, label %sleep
work:
  %r1 = sub i64 %r, 1
  store i64 %r1, ptr @room
  call void @help()
  call i32 @pthread_mutex_unlock(ptr @lock)
  call void @watch(ptr @next, ptr @parts)  ; the next job may come soon
  call i32 @pthread_mutex_lock(ptr @lock)
  br label %look
sleep:
  call i32 @pthread_cond_wait(ptr @work, ptr @lock)
  br label %look
}

define void @jitad_spread(ptr %f, ptr %d, i64 %n, i64 %most) {
entry:
  %thread = alloca i64
  %threads = load i64, ptr @jitad_threads
  %limited = icmp sgt i64 %most, 0
  %asked = select i1 %limited, i64 %most, i64 %threads
  %few = icmp slt i64 %n, %asked
  %limit = select i1 %few, i64 %n, i64 %asked
  %several = icmp sgt i64 %n, 1
  br i1 %several, label %try, label %alone
try:
  %taken = call i32 @pthread_mutex_trylock(ptr @busy)
  %mine = icmp eq i32 %taken, 0
  br i1 %mine, label %staff, label %alone
staff:
  %had = load i64, ptr @members
  %has = add i64 %had, 1
  %short = icmp slt i64 %has, %limit
  br i1 %short, label %hire, label %begin
hire:
  %no = call i32 @pthread_create(ptr %thread, ptr null, ptr @member, ptr null)
  %hired = icmp eq i32 %no, 0
  br i1 %hired, label %enter, label %begin
enter:
  %t = load i64, ptr %thread
  call i32 @pthread_detach(i64 %t)
  store i64 %has, ptr @members
  br label %staff
begin:
  %helpers = sub i64 %limit, 1
  call i32 @pthread_mutex_lock(ptr @lock)
  store ptr %f, ptr @function
  store ptr %d, ptr @data
  store i64 %helpers, ptr @room
  store atomic i64 0, ptr @next monotonic, align 8
  store atomic i64 %n, ptr @left monotonic, align 8
  store atomic i64 %n, ptr @parts monotonic, align 8
  call i32 @pthread_cond_broadcast(ptr @work)
  call void @help()
  call i32 @pthread_mutex_unlock(ptr @lock)
  call void @watch(ptr @left, ptr @one)  ; the others may be ready soon
  call i32 @pthread_mutex_lock(ptr @lock)
  br label %wait
wait:
  %l = load i64, ptr @left
  %over = icmp eq i64 %l, 0
  br i1 %over, label %end, label %sleep
sleep:
  call i32 @pthread_cond_wait(ptr @done, ptr @lock)
  br label %wait
end:
  store atomic i64 0, ptr @parts monotonic, align 8
  call i32 @pthread_mutex_unlock(ptr @lock)
  call i32 @pthread_mutex_unlock(ptr @busy)
  ret void
alone:
  %k = phi i64 [0, %entry], [0, %try], [%k1, %part]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %part, label %out
part:
  call void %f(ptr %d, i64 %k)
  %k1 = add i64 %k, 1
  br label %alone
out:
  ret void
}
"""


def _compiled() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(_SOURCE.replace("IDLE", str(_IDLE)))
    module.verify()
    target = llvm.Target.from_default_triple().create_target_machine(opt=2, codemodel="jitdefault")
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return engine


_engine = _compiled()
_begin = ctypes.CFUNCTYPE(None)(_engine.get_function_address("jitad_begin"))
_begin()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin)

SPREAD, THREADS = "jitad_spread", "jitad_threads"
_threads = ctypes.c_int64.from_address(_engine.get_global_value_address(THREADS))
set_threads(min(config.NUMBA_NUM_THREADS, MOST))
llvm.add_symbol(SPREAD, _engine.get_function_address(SPREAD))
llvm.add_symbol(THREADS, ctypes.addressof(_threads))
