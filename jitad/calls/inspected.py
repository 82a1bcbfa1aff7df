"""What can be seen of a compiled function?"""

from __future__ import annotations

from typing import Any

from jitad.calls.specialisation import Specialisation
from jitad.errors import JitadError


class Inspected:
    """Its kernels and tapes, in words."""

    __slots__ = ()
    __name__: str
    _all: list[Specialisation]
    _unknown: dict[Any, Any]

    @property
    def specialisations(self) -> list[str]:
        """Why each specialisation was made, oldest first."""
        return [s.why for s in self._all]

    def explain(self) -> str:
        """Which kernels there are and why, what became of their loops, and calls without a kernel.

        A line for each loop of a kernel: the user's line; whether it is the function's own loop,
        the reverse sweep's, or one pass for both; the bytes that an iteration keeps for the reverse
        sweep; what the reverse sweep computes again; how many iterations the machine code takes at
        a time, or why only one.  Each kernel is compiled once more for that.  With `parallel`, a
        line more for each loop that might be divided among threads: how, or why it isn't.
        """
        from jitad.calls.looking import explained

        lines = []
        for k, s in enumerate(self._all, 1):
            lines.append(f"kernel {k}: {s.why}")
            lines += [f"  {line}" for line in explained(s.tape, s.kernel, s.threads)]
        return "\n".join([*lines, *map(str, self._unknown.values())]) or "not called yet"

    @property
    def source(self) -> str:
        """The emitted Python of the latest specialisation."""
        return self._latest().kernel.source

    def tape(self, stage: str = "plain") -> str:
        """The tape of the latest specialisation after a stage.

        "traced": as recorded, derivative operators and all; "plain": as it is emitted; between
        them the names of the passes (`jitad.specialise.pipeline`).
        """
        from jitad.calls.looking import tape_after

        return tape_after(stage, self._latest().tape, self._latest().threads)

    def _latest(self) -> Specialisation:
        if not self._all:
            raise JitadError(f"{self.__name__} was not compiled yet", None, "Call it first.")
        return self._all[-1]
