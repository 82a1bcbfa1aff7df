"""Do the programs of the systems that nest derivatives (DVL, Stalingrad) give their exact values
as native kernels, with no tag in them?

What each program shows is in `docs/nesting.md`, whose table is written by `table()`.
"""

from __future__ import annotations

import importlib.util
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jitad
from jitad import FallbackWarning

from . import adapter
from .test_eager import CASES, argument, numbers

SYSTEMS = ("dvl", "stalingrad")
OURS = [c for c in CASES if c["seed"] in SYSTEMS]
# What decides the nesting in these is a float: the first call runs in the eager engine.
UNKNOWN_DEPTH = {"dvl-045"}
SHORT = {"bench-009", "bench-010", "bench-011", "bench-014"}  # of the benchmarks
KNOWN = [c for c in OURS if c["id"] not in UNKNOWN_DEPTH]
NAMES: dict[str, Any] = {
    **adapter.made_of(jitad.derivative, jitad.grad, jitad.jvp, jitad.value_and_grad, jitad.vjp),
    "fixed_point": jitad.fixed_point,
    **{name: getattr(math, name) for name in ("sin", "cos", "exp", "log", "sqrt", "tanh", "atan2")},
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Every program in a file of its own: what has no source can't be traced."""
    folder = tmp_path_factory.mktemp("seeds")
    out = {}
    for case in OURS:
        name = "seed_" + case["id"].replace("-", "_")
        file = folder / f"{name}.py"
        file.write_text(case["program"], encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        module.__dict__.update(NAMES)
        spec.loader.exec_module(module)
        out[case["id"]] = module.program  # type: ignore[attr-defined]
    yield out
    for case in OURS:
        del sys.modules["seed_" + case["id"].replace("-", "_")]


def check(case: dict[str, Any], result: Any) -> None:
    got, want = numbers(result), numbers(case["expected"])
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert abs(g - w) <= case["tol"] * max(1.0, abs(w)), (g, w)


def arguments(case: dict[str, Any]) -> list[Any]:
    arrays = case.get("array_args") or []
    return [argument(a, k in arrays) for k, a in enumerate(case["args"])]


@pytest.mark.parametrize("case", OURS, ids=[c["id"] for c in OURS])
def test_eager(programs: dict[str, Any], case: dict[str, Any]) -> None:
    if case["kind"] == "benchmark" and case["id"] not in SHORT:
        pytest.skip("thousands of gradients: for kernels")
    check(case, programs[case["id"]](*arguments(case)))


@pytest.mark.parametrize("case", KNOWN, ids=[c["id"] for c in KNOWN])
def test_known(programs: dict[str, Any], case: dict[str, Any]) -> None:
    compiled = jitad.jit(programs[case["id"]])
    check(case, compiled(*arguments(case)))
    check(case, compiled(*arguments(case)))
    assert compiled.specialisations == ["first call"]
    assert not re.search(r"\btag\b", compiled.tape("plain") + compiled.source)
    assert not re.search(r"= (vjp|jvp) ", compiled.tape("plain"))


@pytest.mark.parametrize("id", sorted(UNKNOWN_DEPTH))
def test_unknown_depth(programs: dict[str, Any], id: str) -> None:
    case = next(c for c in OURS if c["id"] == id)
    compiled = jitad.jit(programs[id])
    with pytest.warns(FallbackWarning):
        check(case, compiled(*arguments(case)))
    check(case, compiled(*arguments(case)))
    assert compiled.specialisations == ["the path of an earlier call"]


def test_all_cases_are_accounted_for() -> None:
    assert {c["id"] for c in KNOWN} | UNKNOWN_DEPTH == {c["id"] for c in OURS}
    assert len(OURS) == 100


def table() -> str:
    """The cases as a table in Markdown."""
    lines = ["| case | what it shows | exact value | compiled |", "|---|---|---|---|"]
    for c in OURS:
        how = "from the second call on" if c["id"] in UNKNOWN_DEPTH else "yes"
        lines.append(f"| {c['id']} | {c['title'].replace('|', '/')} | {shown(c)} | {how} |")
    return "\n".join(lines)


def shown(case: dict[str, Any]) -> str:
    values = [f"{x:.6g}" for x in numbers(case["expected"])]
    return ", ".join(values[:3]) + (", ..." if len(values) > 3 else "")


def test_the_table_is_that_of_the_documentation() -> None:
    """Written anew by `python -m tests.seeds.test_compiled`."""
    page = (Path(__file__).parents[2] / "docs" / "nesting.md").read_text(encoding="utf-8")
    assert table() in page


if __name__ == "__main__":
    page = Path(__file__).parents[2] / "docs" / "nesting.md"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition("| case |")
    page.write_text(before + table() + "\n" + rest.partition("\n\n")[2], encoding="utf-8")
