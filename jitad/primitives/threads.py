"""How is a loop divided among threads?

`spread` runs one of the tape's functions for each part of a loop: `function(k, parts, *operands)`
for k = 0 ... parts - 1.  Its results are those of the operands that are numbered in `changed`, as
they are after all parts, one after the other.  Parts touch different elements, or only add: to the
first `summed` operands, which the threads may therefore do in copies, added up in the order of the
parts.  With `late`, what a part must not do beside its neighbour is left to
`function(parts + k, ...)`.  At most `most` threads are at it, 0: as many as a kernel may use.

`threads` is how many threads a kernel may use.
"""

from __future__ import annotations

from typing import Any

from jitad.primitives.table import Inferred, Primitive, register
from jitad.tape.ir import Atom
from jitad.tape.types import INT

MOST = 256  # parts of a loop


def _changed(
    *ins: Atom, function: str, changed: tuple[int, ...], summed: int, late: bool, most: int
) -> Inferred:
    return tuple((ins[k].type, ins[k].shape) for k in changed)


def _evaluate(*_: Any, function: str, **__: Any) -> Any:
    raise NotImplementedError(f"{function} is for the interpreter to look up")


register(Primitive("spread", _evaluate, _changed, effect=True))
register(Primitive("threads", lambda: 2, lambda: ((INT, ()),), emit="threads()"))
