"""Does a sweep that comes in another order still reach memory only behind the checks for it?"""

import numpy as np
import pytest

import jitad
from jitad.errors import RoomMiss
from jitad.specialise.pipeline import specialise
from jitad.tape.ir import walk
from jitad.tape.types import Scalar
from jitad.trace.trace import trace

VALUES = [(k * 5) % 9 for k in range(70)]


def doubled(x, values=VALUES):
    """A sum whose loop is fused with its adjoint, which waits for what the list's loops give."""
    kept = list(values)
    total = sum(v * x for v in kept)
    kept += [1, 2]
    kept *= 2
    return sum(kept) * x + total


def picked(x, k):
    total = 0.0
    for v in x:
        total += v * v
    y = np.zeros(3)
    for i in range(k):
        y[i] = x[i]
    return y.sum() * total


def test_no_store_before_there_is_room():
    tape = specialise(trace(jitad.value_and_grad(doubled), [Scalar("f8", py=True)]).tape)
    rooms = [n for n, e in enumerate(tape.body.equations)
             if e.op == "check" and issubclass(e.params["exception"], RoomMiss)]  # fmt: skip
    written = [n for n, e in enumerate(tape.body.equations)
               if any(x.op == "store" for b in e.blocks for x in walk(b))]  # fmt: skip
    assert rooms and written and max(rooms) < max(written)


@pytest.mark.parametrize("n", [70, 300, 2000])
def test_lists_that_have_no_room_at_first(n):
    values = [(k * 7) % 11 for k in range(n)]
    run = jitad.jit_value_and_grad(lambda x: doubled(x, values))
    for x in (0.7, 0.9):
        value, slope = run(x)
        assert value == pytest.approx(doubled(x, values), rel=1e-12)
        assert slope == pytest.approx(doubled(1.0, values), rel=1e-12)


def test_an_index_that_is_none_raises():
    run = jitad.jit_value_and_grad(picked)
    x = np.linspace(0.0, 1.0, 8)
    assert run(x, 3)[0] == pytest.approx(picked(x, 3))
    with pytest.raises(IndexError):
        run(x, 8)
    with pytest.raises(IndexError):
        run(x, 100_000)
