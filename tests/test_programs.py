"""Do all ways of running the catalogue's programs agree with each other and with the truth?

Plain Python, eager, interpreted tape and native kernel; gradients by reverse mode, directional
derivatives by forward mode, second derivatives by forward over reverse.  What does not work yet is
listed in `KNOWN`, with the reason: an entry that works again fails, so the list must shrink.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad
from tests import truth
from tests.catalogue.entry import Program
from tests.engines import ENGINES
from tests.programs import MODULE, PROGRAMS

# name -> (what fails, why); what: "all", or the engines that do not run it
KNOWN: dict[str, tuple[str, str]] = {}

# Forward and second derivatives are compiled for some of the programs: compiling takes time.
_SAMPLED = set(list(PROGRAMS)[::8])


def _cases(*engines: str, sampled: bool = False) -> list[Any]:
    cases = []
    for name in PROGRAMS:
        for engine in engines:
            if sampled and engine == "native" and name not in _SAMPLED:
                continue
            what, why = KNOWN.get(name, ("", ""))
            fails = what == "all" or engine in what.split()
            marks = [pytest.mark.xfail(reason=why, strict=True)] if fails else []
            cases.append(pytest.param(name, engine, marks=marks, id=f"{name}-{engine}"))
    return cases


def _numbers(value: Any) -> np.ndarray:
    parts = [np.ravel(np.asarray(leaf, float)) for leaf in truth.leaves(value)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _by_position(
    program: Program, args: tuple[Any, ...], positions: tuple[int, ...]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function of the differentiated arguments alone, and those arguments."""

    def f(*chosen: Any) -> Any:
        full = list(args)
        for k, arg in zip(positions, chosen, strict=True):
            full[k] = arg
        return program.function(*full)

    return f, tuple(truth.fresh(args[k]) for k in positions)


def _tangents(args: Any, positions: Any, direction: list[Any]) -> tuple[Any, ...]:
    parts = iter(direction)
    return tuple(truth.as_argument(args[k], parts) for k in positions)


def _close(got: Any, want: Any, error: float) -> None:
    got, want = np.asarray(got, float), np.asarray(want, float)
    assert got.shape == want.shape
    scale = max(1.0, float(np.max(np.abs(want), initial=0.0)))
    np.testing.assert_allclose(got, want, rtol=error, atol=error * scale)


@pytest.mark.parametrize(("name", "engine"), _cases("eager", "tape", "native"))
def test_gradient(name: str, engine: str) -> None:
    program = PROGRAMS[name]
    args = program.sample()
    positions = truth.argnums(program, args)
    plain = program.function(*truth.fresh(args))
    expected, error = truth.gradient(MODULE[name], program, args)
    operator = jitad.value_and_grad(program.function, positions)
    value, gradient = ENGINES[engine](operator, *truth.fresh(args))
    _close(value, plain, 1e-12)
    assert isinstance(gradient, tuple) and len(gradient) == len(positions)
    for part, k in zip(gradient, positions, strict=True):
        for got, leaf in zip(truth.leaves(part), truth.leaves(args[k]), strict=True):
            assert np.shape(got) == np.shape(leaf)
    _close(_numbers(gradient), expected, error)


@pytest.mark.parametrize(("name", "engine"), _cases("eager", "tape", "native", sampled=True))
def test_forward(name: str, engine: str) -> None:
    """A directional derivative by forward mode is the gradient's component."""
    program = PROGRAMS[name]
    args = program.sample(1)
    positions = truth.argnums(program, args)
    expected, error = truth.gradient(MODULE[name], program, args)
    direction = truth.random_direction(args, positions, 1)
    f, chosen = _by_position(program, args, positions)
    tangents = _tangents(args, positions, direction)
    value, tangent = ENGINES[engine](lambda p, t: jitad.jvp(f, p, t), chosen, tangents)
    _close(value, program.function(*truth.fresh(args)), 1e-12)
    terms = _numbers(direction) * np.array(expected)
    _close(tangent, np.sum(terms), error * max(1.0, float(np.sum(np.abs(terms)))))


@pytest.mark.parametrize(("name", "engine"), _cases("eager", "tape", "native", sampled=True))
def test_second_order(name: str, engine: str) -> None:
    """A Hessian-vector product, forward over reverse."""
    program = PROGRAMS[name]
    args = program.sample(2)
    positions = truth.argnums(program, args)
    first = truth.random_direction(args, positions, 2)
    second = truth.random_direction(args, positions, 3)
    expected, error = truth.curvature(MODULE[name], program, args, first, second)
    f, chosen = _by_position(program, args, positions)
    gradient = jitad.grad(f, tuple(range(len(positions))))
    tangents = _tangents(args, positions, first)
    _, products = ENGINES[engine](lambda p, t: jitad.jvp(gradient, p, t), chosen, tangents)
    got = float(np.dot(_numbers(products), _numbers(second)))
    assert abs(got - expected) <= 1e-5 * max(1.0, abs(expected)) + 100 * error


def test_known_failures_exist() -> None:
    assert KNOWN.keys() <= PROGRAMS.keys()
