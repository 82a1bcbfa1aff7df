"""Do the programs with nested derivatives give the published answers, in all mode pairs?"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit
from kernels.nested import NAMES, PAIRS, backprop, likelihood, load
from kernels.nested.descent import MODES
from kernels.nested.particle import landing, slope, value


def flat(result: Any) -> list[float]:
    return np.ravel(result).tolist()


@pytest.mark.parametrize("name", NAMES)
def test_by_hand(name: str) -> None:
    program = load(name)
    found = flat(program.by_hand(*program.arguments))
    assert found == pytest.approx(flat(program.answer), rel=program.tolerance)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("name", NAMES)
def test_compiled_into_one_kernel(name: str, pair: str) -> None:
    program = load(name)
    f = jit(program.in_modes(pair))
    for _ in range(2):
        found = flat(f(*program.arguments))
        assert found == pytest.approx(flat(program.answer), rel=program.tolerance)
    assert f.specialisations == ["first call"]
    # one module, which calls nothing but operations of numbers and buffers
    module = ast.parse(f.source)
    own = {node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef)}
    calls = [n.func for n in ast.walk(module) if isinstance(n, ast.Call)]
    called = {f.id for f in calls if isinstance(f, ast.Name)}
    assert called - own <= {"sqrt", "plus", "room", "deep", "JitadRecursionError", "fadd",
                            "empty", "grown", "load", "store", "len", "range", "max",
                            "JitadIntegerError", "JitadOverflowError",
                            "JitadZeroDivisionError"}  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_eager_slope_of_a_flight(pair: str) -> None:
    """One outer derivative: whole programs take minutes without compiling."""
    outer, inner = (MODES[letter] for letter in pair)
    (found,) = outer(lambda w: landing(w[0], inner))([0.0])
    assert found == pytest.approx(-19.40463645002815, rel=1e-11)
    assert landing(0.0, inner) == pytest.approx(3.199079002508199, rel=1e-12)


def test_the_flight_by_hand() -> None:
    assert value(0.0) == pytest.approx(3.199079002508199, rel=1e-12)
    assert slope(0.0) == pytest.approx(-19.40463645002815, rel=1e-11)


@pytest.mark.parametrize("steps", [1, 10, 100, 1000])
@pytest.mark.parametrize("gradient", [grad, backprop.forward_gradient], ids=["r", "f"])
def test_backprop(gradient: Any, steps: int) -> None:
    f = jit(lambda n: backprop.program(n, gradient))
    assert f(steps) == pytest.approx(backprop.ANSWERS[steps], rel=1e-11)
    if steps == 10:
        assert backprop.program(steps, gradient) == pytest.approx(backprop.ANSWERS[10], rel=1e-11)
    if steps == 1000:
        assert f(10_000) == pytest.approx(backprop.ANSWERS[10_000], rel=1e-9)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", likelihood.LIKELIHOODS)
def test_likelihoods(name: str, mode: str) -> None:
    f, gradient = likelihood.LIKELIHOODS[name], MODES[mode]
    p = [0.3, 0.4]
    assert f(p) == pytest.approx(likelihood.closed_form(p), rel=1e-14)
    exact = [0.3 * 0.7**3 * 0.4 * 0.36 * (1.0 / 0.3 - 3.0 / 0.7),
             0.3 * 0.7**3 * 0.4 * 0.36 * (1.0 / 0.4 - 2.0 / 0.6)]  # fmt: skip
    assert gradient(f)(p) == pytest.approx(exact, rel=1e-13)
    ascend = jit(lambda steps: likelihood.ascent(f, gradient, steps))
    assert ascend(1000) == pytest.approx(likelihood.ANSWER, rel=1e-13)
    assert likelihood.ascent(f, gradient, 3) == pytest.approx(ascend(3), rel=1e-14)
