"""How is a user's program checked?  Both engines, both modes, against a truth from outside.

The compiled engine gives value, gradient and directional derivative from one kernel, so that each
program is compiled once.  Files of long programs are "emitted" instead: what Numba would compile is
run as the Python that it is.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

import jitad
from tests import truth
from tests.catalogue.entry import Catalogue, Program
from tests.engines import as_emitted, eagerly
from tests.programs import NOT_COMPILED


def _compiled(f: Any, *args: Any) -> Any:
    """Called twice, natively both times."""
    run = jitad.jit(f, fallback=False)
    run(*truth.fresh(args))
    return run(*truth.fresh(args))


_ENGINES = {"eager": eagerly, "emitted": as_emitted, "compiled": _compiled}


def derivatives(program: Program, positions: tuple[int, ...], args: Any, tangents: Any) -> Any:
    """Value and gradient by reverse mode, value and slope by forward mode."""

    def of_chosen(*chosen: Any) -> Any:
        full = list(args)
        for k, a in zip(positions, chosen):
            full[k] = a
        return program.function(*full)

    chosen = tuple(args[k] for k in positions)
    by_reverse = jitad.value_and_grad(program.function, positions)(*args)
    return by_reverse, jitad.jvp(of_chosen, chosen, tangents)


def real_parts(values: Any, like: Any) -> np.ndarray:
    """The derivatives by the real leaves of the arguments."""
    pairs = zip(truth.leaves(values), truth.leaves(like), strict=True)
    parts = [np.ravel(np.asarray(v, float)) for v, leaf in pairs if truth.is_real(leaf)]
    return np.concatenate(parts)


@cache
def _truth(module: str, name: str) -> tuple[list[float], float]:
    """One for all engines."""
    program = catalogue_of(module).programs[name]
    return truth.gradient(module, program, program.sample())


def check(module: str, name: str, engine: str) -> None:
    program = catalogue_of(module).programs[name]
    args = program.sample()
    positions = truth.argnums(program, args)
    expected, error = _truth(module, name)
    direction = truth.random_direction(args, positions, 1)
    supply = iter(direction)
    tangents = tuple(truth.as_argument(args[k], supply) for k in positions)
    along = float(np.dot(expected, np.concatenate([np.ravel(d) for d in direction])))

    def run(a: Any, t: Any) -> Any:
        return derivatives(program, positions, a, t)

    if engine == "compiled" and name in NOT_COMPILED:
        with pytest.raises(jitad.JitadError, match=NOT_COMPILED[name]):
            jitad.jit(run, fallback=False)(truth.fresh(args), tangents)
        return
    (value, gradient), (again, slope) = _ENGINES[engine](run, truth.fresh(args), tangents)
    plain = program.function(*truth.fresh(args))
    assert value == pytest.approx(plain, rel=1e-11) and again == pytest.approx(plain, rel=1e-11)
    got = real_parts(gradient, tuple(args[k] for k in positions))
    scale = max(1.0, float(np.max(np.abs(expected))))
    np.testing.assert_allclose(got, expected, rtol=error, atol=error * scale)
    assert slope == pytest.approx(along, rel=10 * error, abs=10 * error * scale)


def catalogue_of(module: str) -> Catalogue:
    out: Catalogue = sys.modules[module].catalogue
    return out


def cases(catalogue: Catalogue, engines: tuple[str, ...] = ("eager", "compiled")) -> Any:
    """For a test with the arguments `name` and `engine`."""
    ids = [(p.name, engine) for p in catalogue for engine in engines]
    return pytest.mark.parametrize(("name", "engine"), ids)
