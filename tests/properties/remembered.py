"""Does a program that remembers do so, whatever is called, and are its derivatives right?

The program is called several times in a row: alone, in reverse and in forward mode, for Jacobians,
eagerly, as emitted source and as native code, by what the calls before have traced.  After each
call there must be outside of it what plain Python leaves there, the same things under the same
names.  The truth is complex steps after as many calls of plain Python, and differences where a
derivative is taken inside.
"""

from __future__ import annotations

import collections
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import jitad
from tests import complexnumbers, truth
from tests.engines import emitted_once, in_place_of_a_kernel
from tests.properties.check import (
    ARGNUMS,
    Outcome,
    Wrong,
    _same,
    arguments,
    forget,
    load,
    numbers,
    outcome,
)
from tests.properties.check import REFUSED as USUAL
from tests.properties.generate import Generated

CALLS = 4
ACTIONS = ("reverse", "primal", "forward", "jacobian")
REFUSED = (
    *USUAL,
    "is read after it was appended to",
    "a deque made elsewhere is written here",
    "a list from outside that gets longer before and after",
    "Let it stay the same kind of value",  # in a recursion
    "lets a name outside stand for another thing that was there before",
    "the types of this loop's variables do not settle",
    "this became an element of a list whose length depends on traced values",
    "this loop ends before its variables are of the kinds",  # a call runs eagerly then
    "a derivative writes to an array that may be one from outside, or another",
)

Args = tuple[Any, ...]


def check(made: Generated, number: int, name: str, ways: tuple[str, ...]) -> Outcome:
    """Run the program in these ways, `CALLS` times each."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return _check(made, number, name, ways)
    finally:
        forget(name)
        forget(f"{name}_fresh")


def _check(made: Generated, number: int, name: str, ways: tuple[str, ...]) -> Outcome:
    calls = [arguments(CALLS * number + k) for k in range(CALLS)]
    inside = "derivative inside" in made.features
    try:
        f = load(made.source, name)
        values, states = [], []
        for k, args in enumerate(calls):
            values.append(_after(f, sys.modules[name], args, _action(number, k)))
            states.append(state(sys.modules[name]))
    except (OverflowError, RuntimeWarning):
        return Outcome("rejected")
    except Exception as e:
        return Outcome("failed", f"generator: {type(e).__name__}", traceback.format_exc())
    slopes = []
    for k in range(CALLS):
        slope = _slope(made.source, name, calls, k, number, values[k], inside)
        if slope is None:
            return Outcome("rejected")
        slopes.append(slope)
    return outcome(
        ways, lambda way: _session(way, made, name, calls, values, slopes, states, number, inside),
        REFUSED,
    )  # fmt: skip


# -- the truth ------------------------------------------------------------------------------------


def _slope(
    source: str, name: str, calls: list[Args], k: int, number: int, value: float, inside: bool
) -> float | None:
    """The slope of call k, after the calls before it; None where it is not smooth."""
    direction = truth.random_direction(calls[k], ARGNUMS, number)

    def after(h: Any, complex_: bool) -> Any:
        if complex_:
            f = complexnumbers.run(source, f"{name}.py", f"{name} on complex numbers").program
        else:
            f = load(source, f"{name}_fresh")
        by: Any = complex(0.0, 0.0) if complex_ else 0.0
        module = sys.modules[f"{name} on complex numbers" if complex_ else f"{name}_fresh"]
        for i, args in enumerate(calls[:k]):
            _after(f, module, truth.moved(args, ARGNUMS, direction, by), _action(number, i))
        return f(*truth.moved(calls[k], ARGNUMS, direction, h))

    try:
        slope, error = truth.ridders(lambda h: float(after(h, False)), 1e-3)
        if not inside:
            exact = float(np.imag(after(complex(0.0, truth.STEP), True))) / truth.STEP
            if abs(exact - slope) > 1e-6 * max(1.0, abs(exact)) + error:
                return None
            return exact
    except (TypeError, ValueError, ArithmeticError, Warning):
        return None
    finite = np.isfinite(slope) and np.isfinite(value) and abs(slope) < 1e5
    return slope if finite and error < 1e-7 * max(1.0, abs(slope)) else None


def _action(number: int, k: int) -> str:
    return ACTIONS[(number + k * (1 + number // 4 % 3)) % len(ACTIONS)]


def _after(f: Any, module: types.ModuleType, args: Args, action: str) -> Any:
    """What the call gives; derivatives write to no array that there was before."""
    before = [] if action == "primal" else [(a, a.copy()) for a in _arrays(vars(module), set())]
    value = f(*truth.fresh(args))
    for array, content in before:
        array[...] = content
    return value


def _arrays(value: Any, seen: set[int]) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif id(value) not in seen and not isinstance(value, (types.ModuleType, str)):
        seen.add(id(value))
        for key, part in _parts(value):
            if key != "['__builtins__']":
                yield from _arrays(part, seen)


def state(module: types.ModuleType) -> dict[str, Any]:
    """All numbers outside, by where they are; and which names are of one thing."""
    out: dict[str, Any] = {}
    names: dict[int, str] = {}
    arrays: list[tuple[str, np.ndarray]] = []
    alive: list[Any] = []

    def put(where: str, value: Any) -> None:
        if isinstance(value, (bool, int, float, str, type(None), np.generic)):
            out[where] = value
            return
        alive.append(value)
        if id(value) in names:
            out[where] = names[id(value)]
            return
        names[id(value)] = where
        if isinstance(value, np.ndarray):
            shared = [other for other, a in arrays if np.shares_memory(a, value)]
            out[where] = (value.copy(), shared)
            arrays.append((where, value))
            return
        for key, part in _parts(value):
            put(f"{where}{key}", part)

    for name, value in vars(module).items():
        if not name.startswith("__") and not isinstance(value, types.ModuleType):
            put(name, value)
    return out


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, tuple, collections.deque)):
        yield "'s length", len(value)
        for k, part in enumerate(value):
            yield f"[{k}]", part
    elif isinstance(value, dict):
        yield "'s keys", str(list(value))
        for key, part in value.items():
            yield f"[{key!r}]", part
    elif isinstance(value, types.FunctionType):
        for cell in value.__closure__ or ():
            if not isinstance(cell.cell_contents, types.FunctionType):
                yield "'s cell", cell.cell_contents
        yield "'s defaults", value.__defaults__
    elif isinstance(value, type):
        for key, part in vars(value).items():
            if isinstance(part, float):
                yield f".{key}", part
    elif hasattr(value, "__dict__"):
        for key in sorted(vars(value)):
            yield f".{key}", vars(value)[key]


def _same_state(got: dict[str, Any], want: dict[str, Any]) -> None:
    if got.keys() != want.keys():
        raise Wrong(f"names outside: {sorted(got.keys() ^ want.keys())}")
    for where, value in want.items():
        there = got[where]
        if isinstance(value, tuple):
            _same(f"{where} outside", there[0], value[0], 1e-9)
            if there[1] != value[1]:
                raise Wrong(f"which arrays share memory: {where}, {there[1]} not {value[1]}")
        elif isinstance(value, (float, np.floating)) and not isinstance(there, str):
            _same(f"{where} outside", there, value, 1e-9)
        elif there != value:
            raise Wrong(f"what is outside: {where} is {there!r} instead of {value!r}")


# -- the engines ----------------------------------------------------------------------------------


def _session(
    way: str, made: Generated, name: str, calls: list[Args], values: list[float],
    slopes: list[float], states: list[dict[str, Any]], number: int, inside: bool,
) -> None:  # fmt: skip
    f = load(made.source, name)
    ready: dict[str, Callable[..., Any]] = {}
    for k, args in enumerate(calls):
        action = _action(number, k)
        if action not in ready:
            ready[action] = _made(way, action, f)
        direction = truth.random_direction(args, ARGNUMS, number)
        given = truth.fresh(args)
        value, slope = _called(action, ready[action], given, direction)
        what = f"{action}, call {k}"
        if value is not None:
            _same(f"value in {what}", value, values[k], 1e-10)
        if slope is not None:
            _same(f"slope in {what}", slope, slopes[k], 1e-6 if inside else 1e-9, 10.0)
        _same_state(state(sys.modules[name]), states[k])


def _made(way: str, action: str, f: Callable[..., Any]) -> Callable[..., Any]:
    operators: dict[str, Callable[..., Any]] = {
        "primal": f,
        "reverse": jitad.value_and_grad(f, ARGNUMS),
        "forward": lambda p, t, n: jitad.jvp(lambda *x: f(*x, n), p, t),
        "jacobian": jitad.jacfwd(f, ARGNUMS),
    }
    g = operators[action]
    if way == "eager":
        return (lambda *args: in_place_of_a_kernel(f, *args)) if action == "primal" else g
    return jitad.jit(g) if way == "native" else emitted_once(g)


def _called(action: str, run: Any, args: Args, direction: list[Any]) -> tuple[Any, Any]:
    """The value and the slope in the direction, where the operator gives them."""
    match action:
        case "primal":
            return run(*args), None
        case "forward":
            return run(args[:-1], tuple(direction), args[-1])
        case "reverse":
            value, gradient = run(*args)
            return value, float(numbers(gradient) @ numbers(direction))
    return None, float(numbers(run(*args)) @ numbers(direction))
