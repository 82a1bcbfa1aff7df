"""Does the report run its parts, one after the other, and tell of those that fail?"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")  # of the extra `bench`

from benchmarks.peers import everyday
from benchmarks.report import __main__ as report
from benchmarks.report import against, children, picture, whole
from benchmarks.report.measure import by_numba
from benchmarks.report.whole import PARTS, Part
from benchmarks.subjects import array_names, fresh_names, kernel_names
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


def test_names_say_which_program() -> None:
    names = [*kernel_names(), *array_names(), *fresh_names(), *everyday.NAMES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("part", PARTS, ids=lambda p: p.title)
def test_options_of_parts_are_known(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in (part.command, part.quick):
        module, *given = command.split()
        if module == "benchmarks.report" and given[-1] != "--kernels":
            monkeypatch.setattr(sys, "argv", [module, *given])
            assert not report.arguments().whole


def test_a_measurement_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a compiler that a peer calls, which holds the output open."""
    stand_in = tmp_path / "python"
    stand_in.write_text(f"#!/bin/sh\necho '{children.STAGE}casadi'\nsleep 60 &\n"
                        f"echo $! > {tmp_path}/child\nwait\n")  # fmt: skip
    stand_in.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stand_in))
    start = time.perf_counter()
    with pytest.raises(children.Failed, match="more than 1 s") as failed:
        children.measure("against", cache=tmp_path, seconds=1.0)
    assert failed.value.stage == "casadi" and time.perf_counter() - start < 20.0
    pid = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not (state := Path(f"/proc/{pid}/stat")).exists() or " Z " in state.read_text():
            return
        time.sleep(0.05)
    raise AssertionError("it goes on")


def test_a_row_goes_on_without_a_peer_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def measure(what: str, name: str, size: str, rounds: str, limit: str, chosen: str, **_: Any):
        asked.append(chosen)
        if "casadi" in chosen:
            raise children.Failed("took more than 90 s", "casadi")
        if "torch" in chosen:
            raise children.Failed("died of SIGSEGV", "torch")
        return {"firsts": {}, "times": {"jitad": [1.0], "jax": [2.0]},
                "missing": {"autograd": "no program"}}  # fmt: skip

    monkeypatch.setattr(against, "measure", measure)
    cell = against.fill("lenet", "large", 9)
    assert asked == ["jax,torch,autograd,casadi", "jax,torch,autograd", "jax,autograd"]
    assert cell["ratios"] == {"jax": [0.5, 0.5, 0.5]} and cell["missing"] == {
        "casadi": "took more than 90 s", "torch": "died of SIGSEGV", "autograd": "no program"}
    monkeypatch.setattr(against, "measure", lambda *_, **__: (_ for _ in ()).throw(
        children.Failed("ImportError: no")))  # fmt: skip
    assert against.fill("lenet", "large", 9)["failed"] == "ImportError: no"


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
