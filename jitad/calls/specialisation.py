"""What is one kernel, and what does it take to call it?"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

from jitad.calls.kept import kernel_of
from jitad.calls.recalled import tape_of
from jitad.emit.kernel import Entangled, Kernel
from jitad.errors import GuardMiss, JitadExtentError
from jitad.immutable import immutable
from jitad.tape.ir import Pos, Tape
from jitad.trace.traced import Traced


@immutable
class Specialisation:
    """One kernel, and what it takes to call it."""

    traced: Traced  # without equations, if another process has traced it: see `tape`
    kernel: Kernel
    why: str
    from_types: bool = False  # traced without knowing which extents are 1: taken to be none
    threads: int | None = None  # None: one thread
    exact: bool = False  # for certain extents only
    kept: bytes = field(default=b"", compare=False)  # the tape, if another process has traced it

    def new_key(self, miss: GuardMiss) -> Pos | None:
        """Where a dict is made that got a key which was not foreseen, if that is why it missed."""
        pos = self.traced.new_keys.get(miss.case)
        if pos is not None and JitadExtentError not in self.traced.misses:
            raise miss  # what it has printed can't be taken back
        return pos

    @cached_property
    def tape(self) -> Tape:
        """As it was traced."""
        return tape_of(self.kept) if self.kept else self.traced.tape


def kernel_for(tape: Tape, threads: int | None) -> tuple[Kernel, int | None]:
    """The kernel, and on how many threads; one can do what several would do to one another."""
    try:
        return kernel_of(tape, threads), threads
    except Entangled:
        return kernel_of(tape), None
