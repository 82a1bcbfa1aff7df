"""Which tape is left of a function when its derivative operators are resolved?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitad.calls.arguments import abstract
from jitad.specialise.pipeline import specialise
from jitad.structures import flatten, unflatten
from jitad.tape.ir import Tape, walk
from jitad.trace.trace import trace


def plain_tape(f: Callable[..., Any], *args: Any) -> Tape:
    """The tape as it is emitted; it must have no operator and no tag."""
    leaves, structure = flatten((args, {}))
    tape = specialise(trace(f, *unflatten(structure, map(abstract, leaves))).tape)
    for e in walk(tape.body):
        assert e.op not in ("vjp", "jvp") and "tag" not in e.params, e
    return tape
