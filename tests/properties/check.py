"""Does the engine compute what a random program computes, and its derivative?

`check` runs the program in plain Python, on complex numbers, eagerly, as the Python that Numba
would compile and (where asked) as an interpreted tape and as a native kernel.  Programs at a
kink, where complex steps and differences disagree, are rejected.  An error of jitad is a failure
as any other: the generator stays inside of what is to be supported.  The exceptions are in
`REFUSED`: such programs are counted apart.
"""

from __future__ import annotations

import linecache
import sys
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import jitad
from tests import complexnumbers, truth
from tests.engines import ENGINES as MAIN
from tests.engines import as_emitted, in_place_of_a_kernel
from tests.properties.choices import Choices, Seeded
from tests.properties.expressions import VECTOR
from tests.properties.generate import Generated

ARGNUMS = (0, 1, 2, 3, 4)
ENGINES = MAIN | {"emitted": as_emitted}
WAYS = ("eager", "emitted", "tape", "native", "second order")  # that a program can be run through

# What the engine may refuse of these programs, by a part of the message.
REFUSED = (
    "this may be the same as what was written meanwhile under another name",
    "may have been written to under another name",
    "before and after an iteration of this loop",  # an array and a view of it, exchanged
    "an array is written in this loop under two names that part in it",
    "an exception that depends on traced values can't be caught outside",
)


@dataclass(frozen=True)
class Outcome:
    """What came of a program: ok, rejected (not smooth here), refused or failed, and how."""

    status: str
    group: str = ""  # equal for failures that look alike
    detail: str = ""
    ran: tuple[str, ...] = ()


class Wrong(Exception):
    """Two numbers that should be equal are not."""


class Documented(Exception):
    """What comes back is not what Python gives, as LIMITATIONS.md says."""


def arguments(number: int) -> tuple[Any, ...]:
    random = np.random.default_rng(number)
    u = random.uniform
    return (float(u(-1, 1)), float(u(-1, 1)), u(-1, 1, VECTOR), u(-1, 1, VECTOR),
            u(-1, 1, (2, VECTOR)), int(random.integers(0, 6)))  # fmt: skip


def load(source: str, name: str) -> Callable[..., Any]:
    """The program of a source text, which tracebacks and the tracer can read."""
    file = f"{name}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    module = types.ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module
    exec(compile(source, file, "exec"), module.__dict__)
    return module.program  # type: ignore[no-any-return]


def forget(name: str) -> None:
    for key in (name, f"{name} on complex numbers"):
        sys.modules.pop(key, None)
    linecache.cache.pop(f"{name}.py", None)


def check(
    source: str, number: int, name: str, ways: tuple[str, ...] = WAYS[:2],
    refused: tuple[str, ...] = REFUSED,
) -> Outcome:  # fmt: skip
    """Run the program with the arguments of this number in these ways."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return _check(source, number, name, ways, refused)
    finally:
        forget(name)


def _check(
    source: str, number: int, name: str, ways: tuple[str, ...], refused: tuple[str, ...]
) -> Outcome:
    f = load(source, name)
    args = arguments(number)
    after = truth.fresh(args)
    try:
        plain = f(*after)
    except (OverflowError, RuntimeWarning):  # the second is NumPy's numbers' way to say it
        return Outcome("rejected")  # sums in nested loops may outgrow an exponential
    except Exception as e:
        return Outcome("failed", f"generator: {type(e).__name__}", traceback.format_exc())
    analytic = complexnumbers.run(source, f"{name}.py", f"{name} on complex numbers").program
    expected, smooth = _gradient(f, analytic, args, plain, number)
    if not smooth:
        return Outcome("rejected")
    return outcome(
        ways, lambda way: _run(way, f, args, after, plain, expected, analytic, number), refused
    )


def outcome(
    ways: tuple[str, ...], run: Callable[[str], None], refused: tuple[str, ...]
) -> Outcome:
    """What comes of the ways, one after the other; these texts of errors are refusals."""
    ran: list[str] = []
    for way in ways:
        try:
            run(way)
        except Wrong as e:
            return Outcome("failed", f"{way}: {str(e).split(':')[0]}", str(e), tuple(ran))
        except Documented as e:
            return Outcome("refused", f"{way}: {e}", ran=tuple(ran))
        except Exception as e:
            if isinstance(e, jitad.JitadError) and any(text in str(e) for text in refused):
                return Outcome("refused", f"{way}: {e.what}", ran=tuple(ran))
            return Outcome("failed", f"{way}: {_signature(e)}", traceback.format_exc(), tuple(ran))
        ran.append(way)
    return Outcome("ok", ran=tuple(ran))


def _signature(e: BaseException) -> str:
    """What and where in the engine, without what differs from program to program."""
    place = ""
    for frame in traceback.extract_tb(e.__traceback__):
        if "/jitad/" in frame.filename:
            place = f"{frame.filename.rsplit('/jitad/', 1)[1]} {frame.name}"
    first = (str(e).splitlines() or [""])[0]
    words = [w for w in first.split() if not any(c.isdigit() for c in w)]
    return f"{type(e).__name__}: {' '.join(words)[:90]} [{place}]"


def _gradient(
    f: Any, analytic: Any, args: Any, plain: float, number: int
) -> tuple[np.ndarray, bool]:
    """The gradient by complex steps; False where differences do not agree with it."""
    try:
        expected = np.array([
            truth.step_of(analytic, args, ARGNUMS, d) for d in truth.directions(args, ARGNUMS)
        ])  # fmt: skip
        direction = truth.random_direction(args, ARGNUMS, number)
        value, error = truth.differences(f, args, ARGNUMS, direction, 1e-3)
    except (TypeError, ValueError, ArithmeticError, Warning):
        return np.zeros(0), False
    slope = float(expected @ numbers(direction))
    scale = max(1.0, float(np.max(np.abs(expected))))
    finite = bool(np.all(np.isfinite(expected)) and np.isfinite(plain) and scale < 1e6)
    return expected, finite and abs(value - slope) <= 1e-6 * scale + error and error < 1e-3 * scale


def numbers(value: Any) -> np.ndarray:
    return np.concatenate([np.ravel(np.asarray(v, float)) for v in truth.leaves(value)])


def _same(what: str, got: Any, want: Any, error: float, scale: float = 1.0) -> None:
    got, want = np.asarray(got, float), np.asarray(want, float)
    if got.shape != want.shape:
        raise Wrong(f"{what}: shape {got.shape} instead of {want.shape}")
    allowed = error * max(scale, 1.0, float(np.max(np.abs(want), initial=0.0)))
    if not np.all(np.abs(got - want) <= allowed):
        raise Wrong(f"{what}: {got!r} instead of {want!r}")


def _run(
    way: str, f: Any, args: Any, after: Any, plain: float, expected: np.ndarray, analytic: Any,
    number: int,
) -> None:  # fmt: skip
    direction = truth.random_direction(args, ARGNUMS, number)
    scale = float(np.sum(np.abs(expected)))

    def of_floats(*chosen: Any) -> Any:
        return f(*chosen, args[-1])

    if way == "second order":
        _second_order(of_floats, args, analytic, direction, number)
        return
    engine = ENGINES[way]
    given = truth.fresh(args)
    value, gradient = engine(jitad.value_and_grad(f, ARGNUMS), *given)
    _same("value", value, plain, 1e-11)
    _same("gradient", numbers(gradient), expected, 1e-9, scale)
    _same("arguments of a derivative, which it may not write to", numbers(given), numbers(args), 0)
    if way == "native":
        _native_again(f, args, plain, expected, scale, number)
    chosen = truth.fresh(args[:-1])
    value, slope = engine(lambda p, t: jitad.jvp(of_floats, p, t), chosen, tuple(direction))
    _same("value in forward mode", value, plain, 1e-11)
    _same("forward mode", slope, float(expected @ numbers(direction)), 1e-9, scale)
    if way != "emitted" or number % 5 == 0:  # it costs a third
        given = truth.fresh(args)
        primal = in_place_of_a_kernel if way == "eager" else engine
        value = jitad.jit(f)(*given) if way == "native" else primal(f, *given)
        _same("value of the primal alone", value, plain, 1e-11)
        _same("arguments that the program wrote to", numbers(given), numbers(after), 1e-12)


def sample(
    program: Callable[[Choices], Generated], head: str, name: str, seed: int, count: int,
    refused: tuple[str, ...] = REFUSED,
) -> tuple[Counter[str], Counter[str]]:  # fmt: skip
    """What came of so many programs, none of which may fail, and what was in them."""
    status, features = Counter[str](), Counter[str]()
    for k in range(count):
        made = program(Choices(Seeded(seed, k)))
        ways = ("eager", "tape" if k % 4 == 0 else "emitted")
        outcome = check(made.source, k, f"{name}_{k}", ways, refused)
        source = made.source.removeprefix(head)
        assert outcome.status != "failed", f"{outcome.group}\n{outcome.detail}\n{source}"
        status[outcome.status] += 1
        features.update(made.features)
    return status, features


def _native_again(
    f: Any, args: Any, plain: float, expected: np.ndarray, scale: float, number: int
) -> None:
    """Another point and another int with the same kernel give what they give in Python."""
    other = (*(np.copy(a) * 0.9 if np.ndim(a) else 0.9 * a for a in args[:-1]), number % 4)
    compiled = jitad.jit_value_and_grad(f, ARGNUMS)
    compiled(*truth.fresh(args))
    value, _ = compiled(*truth.fresh(other))
    _same("value at another point", value, f(*truth.fresh(other)), 1e-9)
    value, gradient = compiled(*truth.fresh(args))
    _same("value at the first point again", value, plain, 1e-11)
    _same("gradient at the first point again", numbers(gradient), expected, 1e-9, scale)


def _second_order(f: Any, args: Any, analytic: Any, direction: list[Any], number: int) -> None:
    """Forward over reverse against differences of complex steps; both engines must agree."""
    chosen = truth.fresh(args[:-1])
    gradient = jitad.grad(f, ARGNUMS)
    products = [
        ENGINES[way](lambda p, t: jitad.jvp(gradient, p, t)[1], chosen, tuple(direction))
        for way in ("eager", "tape")
    ]
    eager, tape = map(numbers, products)
    scale = float(np.sum(np.abs(eager)))
    _same("second order on the tape and eagerly", tape, eager, 1e-9, scale)
    other = truth.random_direction(args, ARGNUMS, number + 1)

    def slope(t: float) -> float:
        return truth.step_of(analytic, truth.moved(args, ARGNUMS, direction, t), ARGNUMS, other)

    expected, error = truth.ridders(slope, 1e-3)
    if error <= 1e-4 * max(1.0, abs(expected)):  # else not smooth enough to tell
        _same("second order", float(eager @ numbers(other)), expected, 1e-4, scale)
