"""Are extents read off again where a pass uses them after all?"""

import numpy as np
import pytest

import jitad
from jitad.tape.build import Builder
from jitad.tape.ir import Equation, Tape, Var, lit, walk
from jitad.tape.measure import measured
from jitad.tape.types import Array
from jitad.tape.verify import BrokenTape, verify
from tests.engines import ENGINES

TWO = Array("f8", 2)


def tape_without_extents():
    """An array made under a condition, whose extents nobody asks for."""
    b = Builder()
    x = b.input(TWO, "x")
    with b.block() as then:
        then.results = [b.emit("mul", x, x)]
    with b.block() as orelse:
        orelse.results = [b.emit("neg", x)]
    rows, columns = Var(x.shape[0].type), Var(x.shape[0].type)
    test = b.emit("lt", x.shape[0], lit(3))
    out = Var(TWO, (rows, columns))
    body = b.blocks[0]
    body.equations.append(Equation("if", (test,), (out,), {}, (then, orelse)))
    return Tape("f", body, None), out


@pytest.mark.parametrize("places", [(0,), (1,), (0, 1)])
def test_read_off_the_array_that_has_them(places):
    tape, out = tape_without_extents()
    used = [out.shape[k] for k in places]
    blank = Equation("blank", (*used, *[lit(1)] * (2 - len(used))), (Var(TWO, out.shape),),
                     {"dtype": "f8", "start": "empty"})  # fmt: skip
    tape.body.equations.append(blank)
    tape.body.results = [blank.outs[0]]
    with pytest.raises(BrokenTape):
        verify(tape)
    verify(measured(tape))
    again = [e for e in walk(tape.body) if e.op == "dim" and e.ins == (out,)]
    assert {e.params["axis"]: e.outs[0] for e in again} == {k: out.shape[k] for k in places}


def test_a_variable_that_is_no_extent_stays_unknown():
    tape, _ = tape_without_extents()
    tape.body.results = [Var(TWO, ())]
    with pytest.raises(BrokenTape):
        verify(measured(tape))


def chosen_before_a_loop(y, a, b, m):
    if y > 0.1:
        for _ in b:
            a, b = b, a
        m[m > b[1]] *= 0.5
    for _ in a:
        m[...] = np.cos(m[:, ::-1] + m[:, :1])
    return np.sum(m) * y + np.sum(a)


@pytest.mark.parametrize("y", [0.7, 0.05])
def test_records_of_an_array_that_a_branch_gave(y):
    """Random program 4730 of seed 800: its extents were known to no one but the records."""
    random = np.random.default_rng(0)
    at = (y, random.normal(size=4), random.normal(size=4), random.normal(size=(2, 4)))
    ones = tuple(np.ones_like(v) if np.ndim(v) else 1.0 for v in at)
    gradient = jitad.grad(chosen_before_a_loop, (0, 1, 2, 3))

    def along(x, d):
        return jitad.jvp(gradient, x, d)[1]

    def fresh():
        return tuple(np.copy(v) if np.ndim(v) else v for v in at)

    want = along(fresh(), ones)
    for engine in ("tape", "native"):
        for got, expected in zip(ENGINES[engine](along, fresh(), ones), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-10)
