"""Are the derivatives of the named programs right, in all modes and to second order?"""

from __future__ import annotations

import pytest

from jitad.specialise.simplify import simplify_block
from jitad.tape.interpret import interpret
from tests.sweeps.checks import agree, check
from tests.sweeps.programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_tape_computes_what_python_does(name: str) -> None:
    program = PROGRAMS[name]
    args = program.point(5)
    agree("tape", interpret(program.block(), args), program.plainly(args))


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str, size: int) -> None:
    program = PROGRAMS[name]
    if name == "heat_by_slices" and size < 2:
        return
    check(program.block(), program.point(size), program.active)


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_of_the_simplified_tape(name: str) -> None:
    program = PROGRAMS[name]
    check(simplify_block(program.block()), program.point(4), program.active)


@pytest.mark.parametrize("name", [p.name for p in PROGRAMS.values() if len(p.active) > 1])
def test_one_active_parameter(name: str) -> None:
    program = PROGRAMS[name]
    for k in program.active:
        check(program.block(), program.point(3), [k])
