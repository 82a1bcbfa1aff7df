"""What do the seed programs give through the public interface, eagerly and compiled?

The programs of four source systems: Ellis' arrays in a linear language, rackpropagator, ngraph and
Relay.  `python -m tests.seeds` writes what comes out to `docs/seeds.md`.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import jitad
from jitad import linear
from jitad.calls.arguments import abstract
from jitad.primitives import TABLE
from jitad.specialise.pipeline import specialise
from jitad.structures import flatten, unflatten
from jitad.tape.ir import walk
from jitad.trace.trace import trace

SYSTEMS = {"ell": "Ellis", "rkt": "rackpropagator", "ngr": "ngraph", "rly": "Relay"}

CASES: list[dict[str, Any]] = [
    c
    for c in json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))["cases"]
    if c["id"][:3] in SYSTEMS
]

ERRORS = {
    "conformity": "must have the structure of the output",
    "non-scalar output": "non-scalar output",
    "unknown primitive": "no derivative rule is known",
    "unknown primitive (non-zero sensitivity)": "no derivative rule is known",
}


class Box:
    """A mutable cell that is compared by identity."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def get(self) -> Any:
        return self._value

    def set(self, value: Any) -> None:
        self._value = value


def grad_all(f: Callable[..., Any]) -> Callable[..., Any]:
    """Gradients by every positional argument; ints get a zero of their kind."""
    return lambda *args: jitad.vjp(f, *args)[1](1.0)


def jacobian_r(f: Callable[..., Any]) -> Callable[..., Any]:
    """A row (the gradient) for each element of the list that f gives."""

    def rows(point: Any) -> Any:
        value, pullback = jitad.vjp(f, point)
        n = len(value)
        return [pullback([1.0 if i == k else 0.0 for i in range(n)])[0] for k in range(n)]

    return rows


def operations(f: Callable[..., Any], *args: Any) -> Counter[str]:
    """What is left of a function, by primitive; checks and extents guard it only."""
    leaves, structure = flatten((args, {}))
    tape = specialise(trace(f, *unflatten(structure, map(abstract, leaves))).tape)
    return Counter(e.op for e in walk(tape.body) if e.op not in ("check", "dim"))


def residual(f: Callable[..., Any]) -> dict[str, Any]:
    """Everything on a tape is a primitive: there is nothing else to count."""
    left = operations(jitad.value_and_grad(f), 2.0)
    assert set(left) <= set(TABLE)
    arithmetic = float(sum(left.values()))
    return {"refs": 0.0, "closures": 0.0, "calls": float(left["call"] + left["act"]),
            "tag_tests": 0.0, "arith_ops": arithmetic, "arith_ops_max": arithmetic}  # fmt: skip


def residual_gradient_only(f: Callable[..., Any]) -> dict[str, Any]:
    return {"ops": sorted(operations(jitad.grad(f), 2.0).elements())}


def constant_fold(thunk: Callable[[], Any]) -> Any:
    """The value of something without arguments, of which nothing may be left."""
    assert not operations(thunk)
    return jitad.jit(thunk)()


def pe_terminates(name: str) -> bool:
    def loop(x: float) -> float:
        return loop(x + 1.0) if x < 0.0 else loop(x)

    try:
        trace(loop, [abstract(1.0)])
    except jitad.JitadError:
        return True  # an error is an end, too
    return True


def count_local_rules(f: Callable[..., Any], x: float) -> dict[str, float]:
    """How often the rule of the product runs for one gradient in the eager engine."""
    row = TABLE["mul"]
    original = row.partials
    assert original is not None
    count = 0

    def counted(*args: Any, **params: Any) -> Any:
        nonlocal count
        count += 1
        return original(*args, **params)

    object.__setattr__(row, "partials", counted)
    try:
        return {"grad": jitad.grad(f)(x), "mul_rules": float(count)}
    finally:
        object.__setattr__(row, "partials", original)


def cross_entropy_softmax_grad(logits: list[float], target: list[float]) -> list[float]:
    def loss(x: Any) -> Any:
        top = np.max(x)
        return np.log(np.sum(np.exp(x - top))) + top - np.sum(np.array(target) * x)

    return list(map(float, jitad.grad(loss)(np.array(logits))))


POLICIES = {"error": "met", "error_proc": "active", "error_nonzero": "reached"}

NAMES: dict[str, Any] = {
    "np": np,
    "Box": Box,
    "GEN_ZERO": linear.ZERO,
    "linear_add": linear.add,
    "linear_scale": linear.scale,
    "linear_dot": linear.dot,
    "coerce_zero": linear.coerce,
    "opaque_value": lambda value: value,
    "unknown_policy": lambda name: jitad.unknown_policy(POLICIES[name]),
    **{f.__name__: f for f in (
        grad_all, jacobian_r, residual, residual_gradient_only, constant_fold, pe_terminates,
        count_local_rules, cross_entropy_softmax_grad,
    )},
    **{name: getattr(jitad, name) for name in (
        "derivative", "grad", "value_and_grad", "vjp", "jvp", "opaque", "primitive", "checkpoint",
    )},
    **{name: getattr(np, name) for name in "sin cos exp log sqrt tanh".split()},
}  # fmt: skip

_folder = Path(tempfile.mkdtemp(prefix="jitad-seeds-"))


def program_of(case: dict[str, Any]) -> Callable[..., Any]:
    """The program, from a file: a function without source can't be traced."""
    file = _folder / f"{case['id']}.py"
    file.write_text(case["program"], encoding="utf-8")
    scope = dict(NAMES)
    exec(compile(case["program"], str(file), "exec"), scope)
    return scope["program"]  # type: ignore[no-any-return]


def arguments(case: dict[str, Any]) -> list[Any]:
    arrays = case.get("array_args") or []
    out = [np.array(a, dtype=float) if k in arrays else a for k, a in enumerate(case["args"])]
    return [float("inf") if isinstance(a, str) else a for a in out]


def numbers(value: Any) -> list[Any]:
    """All numbers in a result, in order."""
    if isinstance(value, dict):
        return [x for key in sorted(value) for x in numbers(value[key])]
    if isinstance(value, (list, tuple, np.ndarray)):
        return [x for v in value for x in numbers(v)]
    return [value]


def outcome(case: dict[str, Any], compiled: bool) -> str:
    """"right", or what is the matter."""
    program = program_of(case)
    run = jitad.jit(program) if compiled else program
    args = arguments(case)
    if case["kind"] == "error":
        try:
            run(*args)
        except jitad.JitadError as error:
            return "right" if ERRORS[case["error"]] in str(error) else str(error)
        return "no error"
    try:
        got = run(*args)
    except jitad.JitadError as error:
        return error.what
    want = case["expected"]
    if isinstance(want, dict):
        got = {k: got[k] for k in want}
        if got.get("arith_ops_max", 0.0) < want.get("arith_ops_max", 0.0):  # a bound
            got["arith_ops_max"] = want["arith_ops_max"]
    pairs = list(zip(numbers(got), numbers(want), strict=True))
    if all(g == w or (not isinstance(w, str) and abs(g - w) <= case["tol"] * max(1.0, abs(w)))
           for g, w in pairs):  # fmt: skip
        return "right"
    return f"gave {got}, expected {want}"


# Run as they are: they look at tapes, and are not compiled themselves.
INSPECT = {"residual", "residual_gradient_only", "constant_fold", "pe_terminates",
           "count_local_rules"}  # fmt: skip


def compilable(case: dict[str, Any]) -> bool:
    return not any(name in case["program"] for name in INSPECT)
