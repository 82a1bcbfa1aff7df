"""How much work is a tape?  Scalar operations when it runs, equations when it is made.

A load or a store of one element counts one, whatever the array's length: kernels do them in
place.  A dear function (exp, pow, ...) counts ten; extents, reshaping and naming cost nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from jitad.primitives import TABLE, Primitive
from jitad.tape.build import Builder
from jitad.tape.interpret import interpret
from jitad.tape.ir import Block, Tape, walk
from tests.sweeps.truth import evaluating

_DEAR = 10
_FREE = {"dim", "check", "ident", "stack", "reshape", "transpose"}
_PARTS = {"store_slice": 1, "accum_slice": 1, "push": 1, "sum": 0, "amax": 0, "amin": 0}


def operations(block: Block, args: Sequence[Any]) -> Counter[str]:
    """How many scalar operations of each kind the interpreter makes."""
    return counted(block, args)[1]


def counted(
    block: Block, args: Sequence[Any], functions: Mapping[str, Tape] | None = None
) -> tuple[list[Any], Counter[str]]:
    """The results, and how many scalar operations of each kind the interpreter makes."""
    done: Counter[str] = Counter()

    def counting(row: Primitive) -> Callable[..., Any]:
        def evaluate(*ins: Any, **params: Any) -> Any:
            out = row.evaluate(*ins, **params)
            done[row.name] += _size(row, ins, out)
            return out

        return evaluate

    with evaluating({name: counting(row) for name, row in TABLE.items()}):
        results = interpret(block, list(args), functions=functions)
    return results, done


def _size(row: Primitive, ins: tuple[Any, ...], out: Any) -> int:
    match row.name:
        case name if name in _FREE:
            return 0
        case "load" | "store" | "accum":
            return 1
        case "pop" | "pops":
            return int(np.size(out[1]))
        case "matmul":
            a, b = ins
            return int(np.size(a) * np.size(b) // a.shape[-1])
        case name if name in _PARTS:
            return int(np.size(ins[_PARTS[name]]))
        case _:
            return int(np.size(out)) * (_DEAR if row.dear else 1)


def length(block: Block) -> int:
    """The number of equations of a block and of the blocks inside it."""
    return sum(1 for _ in walk(block))


@contextmanager
def emissions() -> Iterator[Counter[str]]:
    """Count what all builders are asked to emit or append meanwhile."""
    done: Counter[str] = Counter()
    emit, append = Builder.emit, Builder.append

    def counted_emit(self: Builder, op: str, *ins: Any, **params: Any) -> Any:
        done["emit"] += 1
        return emit(self, op, *ins, **params)

    def counted_append(self: Builder, eqn: Any) -> None:
        done["append"] += 1
        append(self, eqn)

    Builder.emit, Builder.append = counted_emit, counted_append  # type: ignore[method-assign]
    try:
        yield done
    finally:
        Builder.emit, Builder.append = emit, append  # type: ignore[method-assign]
