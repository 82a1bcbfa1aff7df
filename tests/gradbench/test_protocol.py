"""Does the adapter speak GradBench's protocol?  As GradBench does: a process, a line a message."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gradbench import protocol
from benchmarks.gradbench.data import workload
from benchmarks.gradbench.protocol import Function, serve

ROOT = Path(__file__).parents[2]


class Tool:
    """The adapter in a process of its own."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.gradbench"], cwd=ROOT, env=dict(os.environ),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, message: dict[str, Any]) -> Any:
        """The reply: it must come while standard input is still open."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@pytest.fixture(scope="module")
def tool() -> Iterator[Tool]:
    tool = Tool()
    yield tool
    rest, errors = tool.process.communicate(timeout=60)
    assert rest == "" and tool.process.returncode == 0, errors


def test_a_conversation(tool: Tool) -> None:
    assert tool.ask({"id": 0, "kind": "start", "eval": "hello"}) == {"id": 0, "tool": "jitad"}
    assert tool.ask({"id": 1, "kind": "define", "module": "hello"}) == {"id": 1, "success": True}
    message = {"id": 2, "kind": "evaluate", "module": "hello", "function": "double", "input": 3}
    reply = tool.ask(message)
    assert (reply["id"], reply["success"], reply["output"]) == (2, True, 6.0)
    assert [t["name"] for t in reply["timings"]] == ["compile", "evaluate"]
    assert tool.ask({"id": 3, "kind": "analysis", "of": 2, "valid": True}) == {"id": 3}
    assert tool.ask({"id": 4, "kind": "something new"}) == {"id": 4}


def test_runs_and_their_times(tool: Tool) -> None:
    given, expected = workload("lse", "check")
    message = {"id": 1, "kind": "evaluate", "module": "lse", "function": "primal",
               "input": {**given, "min_runs": 7, "min_seconds": 0}}  # fmt: skip
    reply = tool.ask(message)
    assert reply["output"] == pytest.approx(expected["primal"], rel=1e-14)
    names = [t["name"] for t in reply["timings"]]
    assert names == ["compile"] + 7 * ["evaluate"]
    message["input"] = {**given, "min_runs": 1, "min_seconds": 0.01}
    times = [t["nanoseconds"] for t in tool.ask(message)["timings"] if t["name"] == "evaluate"]
    assert all(isinstance(t, int) and t > 0 for t in times)
    assert sum(times) >= 1e7 > sum(times[:-1])


def test_mistakes_are_replies(tool: Tool) -> None:
    reply = tool.ask({"id": 1, "kind": "define", "module": "fusion"})
    assert reply["id"] == 1 and not reply["success"] and "fusion" in reply["error"]
    wrong = {"kind": "evaluate", "module": "ode", "input": {"x": [1.0], "min_runs": 1}}
    for k, function in enumerate(("primal", "hessian")):
        reply = tool.ask({"id": k, "function": function, **wrong})
        assert reply["id"] == k and not reply["success"] and reply["error"]
    reply = tool.ask({"id": 5, "kind": "evaluate", "module": "fusion", "function": "f", "input": 1})
    assert reply["id"] == 5 and not reply["success"]
    # and life goes on
    assert tool.ask({"id": 6, "kind": "define", "module": "ode"})["success"]


# -- without a process: what the functions of an eval may do --------------------------------------


def conversation(run: Any, **given: Any) -> Any:
    function = Function(run, lambda given: (), lambda result: result)
    message = {"id": 1, "kind": "evaluate", "module": "m", "function": "f", "input": given}
    replies = io.StringIO()
    serve(io.StringIO(json.dumps(message) + "\n\n"), replies, {"m": {"f": function}})
    (line,) = replies.getvalue().splitlines()
    return json.loads(line)


def test_what_is_not_finite_is_an_error() -> None:
    reply = conversation(lambda: [1.0, float("nan")])
    assert reply == {"id": 1, "success": False, "error": "the output isn't finite"}


def test_an_exception_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    reply = conversation(lambda: 1 / 0)
    assert reply == {"id": 1, "success": False, "error": "ZeroDivisionError: division by zero"}
    assert "Traceback" in capsys.readouterr().err


def test_runs_go_on_until_both_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 10**12, 4_000_000))  # each look at the clock finds it 4 ms later
    monkeypatch.setattr(protocol.time, "perf_counter_ns", lambda: next(now))

    def runs(**given: Any) -> int:
        timings = conversation(int, **given)["timings"]
        assert timings[0]["name"] == "compile"
        assert all(t == {"name": "evaluate", "nanoseconds": 4_000_000} for t in timings[1:])
        return len(timings) - 1

    assert runs(min_runs=2, min_seconds=0.01) == 3
    assert runs(min_runs=4, min_seconds=0.01) == 4
    assert runs(min_runs=1, min_seconds=0) == runs() == 1
