"""Do the programs of the source systems give their exact values in the eager engine?

Run are all cases of five systems whose programs use only the operators of `adapter.NAMES`; the
others wait for what they need (`LATER`).
"""

from __future__ import annotations

import ast
import json
import linecache
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jitad.errors import JitadError

from .adapter import NAMES

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "cases.json").read_text(encoding="utf-8")
)["cases"]

# What a program may not use yet, by name.
LATER_NAMES = {
    "opaque", "opaque_value", "unknown_policy", "primitive", "checkpoint",
    "GEN_ZERO", "linear_add", "linear_scale", "linear_dot", "coerce_zero", "residual",
    "residual_gradient_only", "constant_fold", "pe_terminates", "count_local_rules",
    "cross_entropy_softmax_grad",
}  # fmt: skip

# Cases that need more than names tell.
LATER = {
    "dvl-087": "gradient with respect to a closure",
    "rkt-045": "gradient with respect to a closure",
    "rkt-059": "a mutable object as result",
}

ERRORS = {"rkt-004": "the sensitivity must have the structure", "rkt-008": "non-scalar output"}


def names_in(program: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(program)) if isinstance(n, ast.Name)}


def runs(case: dict[str, Any]) -> bool:
    return (
        case["seed"] != "stalingrad"
        and case["id"] not in LATER
        and not names_in(case["program"]) & LATER_NAMES
    )


RUN = [c for c in CASES if runs(c)]


def argument(value: Any, as_array: bool) -> Any:
    if as_array:
        return np.array(value, dtype=float)
    return math.inf if value == "inf" else value


def program_of(case: dict[str, Any]) -> Any:
    scope = dict(NAMES)
    # functions that are rewritten need their source
    lines = case["program"].splitlines(keepends=True)
    linecache.cache[case["id"]] = (len(case["program"]), None, lines, case["id"])
    exec(compile(case["program"], case["id"], "exec"), scope)
    return scope["program"]


def numbers(value: Any) -> list[float]:
    """All numbers in a result, in order."""
    if isinstance(value, dict):
        return [x for key in sorted(value) for x in numbers(value[key])]
    if isinstance(value, (list, tuple, np.ndarray)):
        return [x for v in value for x in numbers(v)]
    assert isinstance(value, (float, int, np.floating)), f"{value!r} is not a plain number"
    return [float(value)]


@pytest.mark.parametrize("case", RUN, ids=[c["id"] for c in RUN])
def test_seed(case: dict[str, Any]) -> None:
    arrays = case.get("array_args") or []
    args = [argument(a, k in arrays) for k, a in enumerate(case["args"])]
    program = program_of(case)
    if case["kind"] == "error":
        with pytest.raises(JitadError, match=ERRORS[case["id"]]):
            program(*args)
        return
    start = time.perf_counter()
    got = numbers(program(*args))
    took = time.perf_counter() - start
    want = numbers(case["expected"])
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert abs(g - w) <= case["tol"] * max(1.0, abs(w)), (g, w)
    assert took < case.get("time_limit_s", 20.0)


@pytest.mark.parametrize("id", ["ell-016", "ell-022"])
def test_work_is_linear(id: str) -> None:
    case = next(c for c in CASES if c["id"] == id)
    program = program_of(case)

    def seconds(n: int) -> float:
        best = math.inf
        for _ in range(3):
            start = time.perf_counter()
            program(n)
            best = min(best, time.perf_counter() - start)
        return best

    small, large = seconds(2000), seconds(20000)
    # between linear (1) and quadratic (2); the machine may be busy
    assert math.log10(large / small) < 1.5


def test_most_of_the_seeds_run() -> None:
    assert len(RUN) >= 130, len(RUN)
