"""Does the report run its parts, one after the other, and tell of those that fail?"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")  # of the extra `bench`

from benchmarks.report import picture, whole
from benchmarks.report.measure import by_numba
from benchmarks.report.whole import PARTS, Part
from kernels import load

ROOT = Path(__file__).resolve().parents[2]


def test_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = (
        Part("One", "timeit -n 1 -r 1 pass", "timeit -n 1 -r 1 -v pass", "peers.png"),
        Part("Two", "benchmarks.no_such_thing", "benchmarks.no_such_thing"),
        Part("Three", "json.tool --help", "json.tool --help"),
    )
    cells = [{"kernel": "gmm", "size": "small", "ratios": {"jax": [0.4, 0.5, 0.6]}},
             {"kernel": "ba", "size": "small", "ratios": {}}]  # fmt: skip
    (tmp_path / "peers.json").write_text(json.dumps(cells))
    assert whole.write(parts, quick=True, out=tmp_path, about="a machine") == ["Two"]
    page = (tmp_path / "report.md").read_text()
    order = ["a machine", "## One", "`python -m timeit -n 1 -r 1 -v pass`", "1 loop, best of 1",
             "![One](peers.png)", "## Two", "**FAILED**: ended with 1", "no_such_thing",
             "## Three", "usage:"]  # fmt: skip
    places = [page.index(text) for text in order]
    assert places[:-3] == sorted(places[:-3]) and places[-2] > places[-4]
    assert (tmp_path / "peers.png").stat().st_size > 1000
    assert "== Two: python -m benchmarks.no_such_thing" in capsys.readouterr().out


@pytest.mark.parametrize("part", PARTS, ids=lambda p: p.title)
def test_parts_are_there(part: Part) -> None:
    for command in (part.command, part.quick):
        assert importlib.util.find_spec(command.split()[0]) is not None


def test_a_picture_of_nothing(tmp_path: Path) -> None:
    picture.ratios({}, "nothing", tmp_path / "nothing.png")
    assert (tmp_path / "nothing.png").exists()


def test_a_kernel(tmp_path: Path) -> None:
    """One of the parts, as it is run."""
    command = [sys.executable, "-m", "benchmarks.report", "--quick", "--kernels", "rosenbrock",
               "--sizes", "small"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [x for x in done.stdout.splitlines() if x.startswith("rosenbrock")]
    assert "FAILED" not in line and "(" in line.split("[")[-1]  # memory, the last column
    assert "1 of 1 measured" in done.stdout


def test_the_primal_by_numba_has_the_functions_that_it_calls():
    arm = load("arm")
    arguments = arm.inputs("small")
    found = by_numba(arm.primal)(*arguments)
    assert found == pytest.approx(arm.objective(*arguments), rel=1e-13)
