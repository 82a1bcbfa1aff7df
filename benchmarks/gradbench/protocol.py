"""How does GradBench talk to a tool?  A JSON object a line on standard input, one a line in reply.

A reply has the `id` of its message. `evaluate` calls a function until there were `min_runs` calls
and they took `min_seconds`; the call before, in which types are looked at and kernels compiled, is
an entry of its own, `compile`, in the reply's `timings`. What raises becomes the reply's `error`.
"""

import json
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

TOOL = "jitad"


@dataclass(frozen=True)
class Function:
    """One function of an eval, between JSON and JSON."""

    run: Callable[..., Any]
    """What is timed, from arrays to arrays."""
    arguments: Callable[[Any], tuple[Any, ...]]
    """Its arguments, from the message's `input`."""
    output: Callable[[Any], Any]
    """The reply's `output`, from its result."""


Evals = Mapping[str, Mapping[str, Function]]


def serve(lines: TextIO, replies: TextIO, evals: Evals) -> None:
    """Answer messages until there are no more."""
    for line in lines:
        if not line.strip():
            continue
        message = json.loads(line)
        reply = {"id": message["id"], **answer(message, evals)}
        replies.write(as_line(reply) + "\n")
        replies.flush()


def answer(message: Mapping[str, Any], evals: Evals) -> dict[str, Any]:
    match message.get("kind"):
        case "start":
            return {"tool": TOOL}
        case "define":
            if message.get("module") in evals:
                return {"success": True}
            return {"success": False, "error": f"there is no eval {message.get('module')!r}"}
        case "evaluate":
            try:
                return evaluate(message, evals)
            except Exception as error:
                traceback.print_exc(file=sys.stderr)
                return {"success": False, "error": f"{type(error).__name__}: {error}"}
        case _:
            return {}


def evaluate(message: Mapping[str, Any], evals: Evals) -> dict[str, Any]:
    module, name = message["module"], message["function"]
    if name not in evals.get(module, {}):
        return {"success": False, "error": f"there is no function {name!r} in eval {module!r}"}
    function, given = evals[module][name], message["input"]
    counted = isinstance(given, dict)
    least_runs = max(1, given.get("min_runs", 1)) if counted else 1
    least_time = int(1e9 * given.get("min_seconds", 0)) if counted else 0
    args = function.arguments(given)
    _, spent = timed(function.run, args)
    timings = [entry("compile", spent)]
    runs = total = 0
    while runs < least_runs or total < least_time:
        result, spent = timed(function.run, args)
        timings.append(entry("evaluate", spent))
        runs, total = runs + 1, total + spent
    return {"success": True, "output": function.output(result), "timings": timings}


def timed(run: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, int]:
    """The result of a call, and the nanoseconds it took."""
    begin = time.perf_counter_ns()
    result = run(*args)
    return result, time.perf_counter_ns() - begin


def entry(name: str, nanoseconds: int) -> dict[str, Any]:
    return {"name": name, "nanoseconds": nanoseconds}


def as_line(reply: dict[str, Any]) -> str:
    """The reply in one line of JSON, which knows neither NaN nor infinity."""
    try:
        return json.dumps(reply, allow_nan=False)
    except ValueError:
        return json.dumps({"id": reply["id"], "success": False, "error": "the output isn't finite"})
