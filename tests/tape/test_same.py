"""Is a block told from one that is almost its copy?"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad import grad
from jitad.specialise.simplify import simplify
from jitad.tape.ir import Lit, walk
from jitad.tape.same import is_copy
from jitad.tape.types import Array, Scalar
from jitad.trace.trace import trace


def program(x: Any, n: Any) -> Any:
    total = 0.0
    for i in range(n):
        if x[i] > 0.0:
            total += np.sin(x[i]) * 2.0
        else:
            total -= x[i]
    return total


def _settled() -> Any:
    tape = trace(grad(program), (Array("f8", 1), Scalar("i8", True))).tape
    for _ in range(4):
        tape = simplify(tape)
    return tape


def test_a_copy_is_one() -> None:
    tape = _settled()
    again = simplify(tape)
    assert again.body is not tape.body and is_copy(tape.body, again.body)


def test_any_difference_is_seen() -> None:
    """Each equation of the copy is changed in turn: operator, an operand, parameters, order."""
    seen = 0
    for k in range(sum(1 for _ in walk(_settled().body))):
        for change in range(4):
            tape = _settled()
            other = simplify(tape)
            e = list(walk(other.body))[k]
            match change:
                case 0:
                    e.op = "other"
                case 1 if e.ins:
                    e.ins = (*e.ins[:-1], Lit(77, Scalar("i8", True)))
                case 2:
                    e.params = {**e.params, "more": 1}
                case 3 if e.outs:
                    e.outs[0].type = Scalar("f4")
                case _:
                    continue
            assert not is_copy(tape.body, other.body), (k, change)
            seen += 1
    assert seen > 30
