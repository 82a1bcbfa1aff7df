"""What is the derivative of a program, from outside jitad?

Complex steps for analytic programs, extrapolated central differences (Ridders 1982) for all: the
two must agree, and differences come with an estimate of their own error.  Arguments may be
structures; a direction is a list with a number or an array for every real leaf.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests import complexnumbers
from tests.catalogue.entry import Program

STEP = 1e-30


# -- structures -----------------------------------------------------------------------------------


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The structure with `change(leaf)` for its leaves."""
    if isinstance(value, (tuple, list)):
        parts = [mapped(v, change) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {k: mapped(v, change) for k, v in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **{k: mapped(v, change) for k, v in fields.items()})
    return change(value)


def is_real(leaf: Any) -> bool:
    return isinstance(leaf, float) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f")


def leaves(value: Any) -> list[Any]:
    """All leaves, in order."""
    out: list[Any] = []
    mapped(value, out.append)
    return out


def fresh(args: Any) -> Any:
    """The arguments with arrays of their own, since programs may write to them."""
    return mapped(args, lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf)


def argnums(program: Program, args: tuple[Any, ...]) -> tuple[int, ...]:
    """The arguments to differentiate by."""
    if program.argnums is not None:
        return program.argnums
    return tuple(k for k, a in enumerate(args) if any(map(is_real, leaves(a))))


def moved(args: tuple[Any, ...], positions: tuple[int, ...], direction: list[Any], by: Any) -> Any:
    """args + by * direction in the real leaves of the chosen arguments."""
    steps = iter(direction)

    def move(leaf: Any) -> Any:
        if not is_real(leaf):
            return leaf
        out = leaf + by * next(steps)
        return np.complex128(out) if isinstance(out, complex) else out

    # The others become complex as well, so that a program may store a result in them.
    widened = (lambda x: x + 0j if isinstance(x, np.ndarray) else x) if isinstance(by, complex) \
        else (lambda x: x)  # fmt: skip
    return tuple(
        mapped(a, move) if k in positions else mapped(a, lambda x: widened(x) if is_real(x) else x)
        for k, a in enumerate(fresh(args))
    )


def directions(args: tuple[Any, ...], positions: tuple[int, ...]) -> Iterator[list[Any]]:
    """A unit direction for each real number in the chosen arguments."""
    real = [x for k in positions for x in leaves(args[k]) if is_real(x)]
    for k, leaf in enumerate(real):
        for index in np.ndindex(np.shape(leaf)):
            units = [np.zeros(np.shape(x)) if np.ndim(x) else 0.0 for x in real]
            if index:
                units[k][index] = 1.0  # type: ignore[index]
            else:
                units[k] = 1.0
            yield units


def random_direction(args: tuple[Any, ...], positions: tuple[int, ...], seed: int) -> list[Any]:
    random = np.random.default_rng(seed)
    real = [x for k in positions for x in leaves(args[k]) if is_real(x)]
    return [random.standard_normal(np.shape(x)) if np.ndim(x) else float(random.standard_normal())
            for x in real]  # fmt: skip


def as_argument(arg: Any, parts: Iterator[Any]) -> Any:
    """A direction in the form of an argument; ints stay what they are."""
    return mapped(arg, lambda leaf: next(parts) if is_real(leaf) else leaf)


# -- derivatives ----------------------------------------------------------------------------------


@cache
def _on_complex_numbers(module: str) -> dict[str, Program]:
    """The programs of a catalogue module, run once more on complex numbers."""
    file = Path(str(sys.modules[module].__file__))
    copy = complexnumbers.run(file.read_text(), str(file), f"{module} on complex numbers")
    return copy.catalogue.programs


def complex_step(module: str, name: str, args: Any, positions: Any, direction: list[Any]) -> float:
    """The directional derivative by a complex step."""
    f = _on_complex_numbers(module)[name].function
    return step_of(f, args, positions, direction)


def step_of(f: Callable[..., Any], args: Any, positions: Any, direction: list[Any]) -> float:
    """The complex step of a function that is made for complex numbers."""
    out = f(*moved(args, positions, direction, complex(0.0, STEP)))
    return float(np.imag(out)) / STEP


def ridders(f: Callable[[float], float], step: float) -> tuple[float, float]:
    """The derivative of f at 0 and an estimate of its error, from central differences."""
    shrink, table, best, error, h = 1.6, [], math.nan, math.inf, step
    for row in range(14):
        new = [(f(h) - f(-h)) / (2.0 * h)]
        factor = 1.0
        for k in range(row):
            factor *= shrink**2
            new.append((factor * new[k] - table[k]) / (factor - 1.0))
            change = max(abs(new[-1] - new[k]), abs(new[-1] - table[k]))
            if change <= error:
                best, error = new[-1], change
        if row and abs(new[-1] - table[-1]) >= 4.0 * error:
            break
        table = new
        h /= shrink
    return best, error


def differences(
    f: Callable[..., Any], args: Any, positions: Any, direction: list[Any], step: float = 0.01
) -> tuple[float, float]:
    """The directional derivative from values alone, and its error."""
    return ridders(lambda t: float(f(*moved(args, positions, direction, t))), step)


def gradient(module: str, program: Program, args: tuple[Any, ...]) -> tuple[list[float], float]:
    """The derivative by every real number of the chosen arguments, and the relative error of it."""
    positions = argnums(program, args)
    out, worst = [], 1e-10
    for direction in directions(args, positions):
        if program.truth == "complex":
            out.append(complex_step(module, program.name, args, positions, direction))
        else:
            value, error = differences(program.function, args, positions, direction)
            assert error <= 1e-8 * max(1.0, abs(value)), f"{program.name}: differences diverge"
            out.append(value)
            worst = 1e-7
    return out, worst


def curvature(
    module: str, program: Program, args: tuple[Any, ...], first: list[Any], second: list[Any]
) -> tuple[float, float]:
    """The second derivative in two directions, and its absolute error."""
    positions = argnums(program, args)

    def slope(t: float) -> float:
        at = moved(args, positions, first, t)
        if program.truth == "complex":
            return complex_step(module, program.name, at, positions, second)
        return differences(program.function, at, positions, second)[0]

    return ridders(slope, 0.004)
