"""What is a compiled tape?  Its source, Numba's dispatcher, and a call with flat arguments."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from jitad.immutable import immutable
from jitad.tape.ir import Tape


class Entangled(Exception):
    """A part of a loop would write more of an array than is its own."""


@immutable
class Kernel:
    """`kernel(*args)` gives the tuple of the tape's results; arguments are not written."""

    source: str
    name: str
    brief: int = -1  # up to how many elements of its arguments it is: see `brief`

    @cached_property
    def dispatcher(self) -> Any:
        from jitad.emit import native

        return native.compile(self.source, self.name, self.brief)

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        return self.dispatcher(*args)


def kernel(tape: Tape) -> Kernel:
    """The kernel of a plain tape; compiled when it is first called."""
    from jitad.emit.brief import brief  # not needed for what is found on disk
    from jitad.emit.lower import emit

    source = emit(tape)
    *_, name = re.findall(r"^def (\w+)\(", source, re.MULTILINE)  # functions that it calls first
    return Kernel(source, name, brief(tape))
