"""How is one pass tried alone?  The tape is interpreted before it and after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.specialise.simplify import simplify
from jitad.tape.build import Builder
from jitad.tape.copy import begin, copy_block
from jitad.tape.interpret import interpret
from jitad.tape.ir import Block, Tape
from jitad.tape.show import show
from jitad.tape.verify import verify


def twin(tape: Tape) -> Tape:
    """The same tape again, for passes that change theirs in place."""
    b = Builder()
    env = begin(b, tape.body)
    b.blocks[0].results = copy_block(b, tape.body, env)
    return verify(Tape(tape.name, b.blocks[0]), "copying")


def result(block: Block, args: tuple[Any, ...]) -> Any:
    """All results as (dtype, values), or the class of the exception."""
    fresh = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
    try:
        return [(str(np.asarray(r).dtype), np.asarray(r).tolist()) for r in interpret(block, fresh)]
    except Exception as e:
        return type(e)


def keeps(run: Callable[[Tape], Tape], tape: Tape, *points: tuple[Any, ...]) -> Block:
    """The tape's body after the pass; the results must be equal at all points, bit by bit.

    Results are compared once more after folding, which would trip over a badly made tape.
    """
    before = twin(tape)
    after = verify(run(twin(tape)), run.__name__)
    folded = verify(simplify(twin(after)), "folding")
    for args in points:
        wanted = result(before.body, args)
        for tape in (after, folded):
            got = result(tape.body, args)
            assert repr(got) == repr(wanted), f"{args}\n{show(before)}\n{show(tape)}"
    return after.body
