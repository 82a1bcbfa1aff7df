"""One measurement, in a process of its own: ``python -m benchmarks.report.measure WHAT ...``.

A process of its own because a first call is only first once, because memory is counted from a
clean start, and because a kernel that crashes or hangs must not take the report with it. The last
line printed is the result as JSON.
"""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit

from benchmarks import peers as others
from benchmarks import timing
from benchmarks.peers import everyday
from benchmarks.report import memory, peers
from benchmarks.report.children import STAGE
from benchmarks.subjects import as_parts, check_same
from jitad import grad, jit, jit_value_and_grad
from kernels import load
from kernels.nested import PAIRS
from kernels.nested import load as load_nested


def warm_up() -> None:
    """Compile something, so that Numba's own start is in nobody's first call."""
    njit(lambda x: np.sum(np.exp(x)))(np.ones(3))


def steady(name: str, size: str, rounds: str) -> dict:
    """The first call of this process, then jitad, hand and primal in turns."""
    kernel = load(name)
    arguments = kernel.inputs(size)
    first, gradient = first_call(kernel, arguments)
    check_same(gradient(*arguments), kernel.gradient(*arguments))
    subjects = {
        "jitad": lambda: gradient(*arguments),
        "hand": lambda: kernel.gradient(*arguments),
    }
    if (adjoint := kernel.adjoint) is not None:
        check_same(adjoint(*arguments), kernel.gradient(*arguments))
        subjects["adjoint"] = lambda: adjoint(*arguments)
    try:
        primal = by_numba(getattr(kernel.primal, "py_func", kernel.primal))
        primal(*arguments)
        subjects["primal"] = lambda: primal(*arguments)
        no_primal = None
    except Exception as error:  # not every objective compiles under plain Numba
        no_primal = reason(error)
    times = timing.interleaved(
        subjects, rounds=int(rounds), seconds=int(rounds) / 5, clock=time.process_time
    )
    return {
        "first": first,
        "times": {subject: list(series) for subject, series in times.items()},
        "no_primal": no_primal,
    }


def by_numba(function: FunctionType) -> Any:
    """A function of plain Python compiled by Numba, with those of its module that it calls."""
    known = function.__globals__
    called = {
        name: by_numba(other)
        for name in function.__code__.co_names
        if isinstance(other := known.get(name), FunctionType) and other is not function
        and other.__module__ == function.__module__
    }  # fmt: skip
    return njit(FunctionType(function.__code__, known | called, function.__name__))


def again(name: str, size: str) -> dict:
    """The first call of a process that finds what an earlier one has left on disk."""
    kernel = load(name)
    return {"first": first_call(kernel, kernel.inputs(size))[0]}


def first_call(kernel, arguments):
    """Seconds from the plain function to its first gradient, and the compiled function."""
    warm_up()
    start = time.perf_counter()
    gradient = jit_value_and_grad(kernel.objective, argnums=kernel.argnums)
    gradient(*arguments)
    return time.perf_counter() - start, gradient


def peak(name: str, size: str) -> dict:
    """Bytes at the peak of one call that is not the first of its kind.

    What the first leaves in the process is no memory of the gradient's: machine code, which extents
    of one ask for anew, and what a library of linear algebra works with, which it keeps.
    """
    kernel = load(name)
    gradient = jit_value_and_grad(kernel.objective, argnums=kernel.argnums)
    arguments = kernel.inputs(size)
    found = {}
    subjects = {"jitad": gradient, "hand": kernel.gradient, "adjoint": kernel.adjoint}
    for subject, function in subjects.items():
        if function is not None:
            function(*arguments)
            found[subject] = memory.peak_of(lambda function=function: function(*arguments))
    found["arguments"] = sum(getattr(item, "nbytes", 0) for item in arguments)
    return found


def eager(name: str, size: str) -> dict:
    """The gradient without compiling anything, beside HIPS autograd's."""
    kernel = load(name)
    arguments = kernel.inputs(size)
    expected = as_parts(kernel.gradient(*arguments)[1])
    ours = grad(kernel.objective, argnums=kernel.argnums)
    check_same((0.0, ours(*arguments)), (0.0, expected))
    subjects = {"jitad": lambda: ours(*arguments)}
    try:
        theirs = peers.autograd_gradient(kernel.objective, kernel.argnums)
        check_same((0.0, theirs(*arguments)), (0.0, expected))
        subjects["autograd"] = lambda: theirs(*arguments)
        no_peer = None
    except Exception as error:
        no_peer = reason(error)
    times = timing.interleaved(subjects, rounds=15, seconds=3.0)
    return {
        "times": {subject: list(series) for subject, series in times.items()},
        "no_peer": no_peer,
    }


def nested(name: str, rounds: str) -> dict:
    """A program with nested derivatives in its four mode pairs, and by hand, in turns."""
    program = load_nested(name)
    subjects = {"hand": lambda: program.by_hand(*program.arguments)}
    for pair in PAIRS:
        compiled = jit(program.in_modes(pair))
        found = np.ravel(compiled(*program.arguments))
        np.testing.assert_allclose(found, np.ravel(program.answer), rtol=program.tolerance)
        subjects[pair] = lambda compiled=compiled: compiled(*program.arguments)
    subjects["hand"]()
    times = timing.interleaved(
        subjects, rounds=int(rounds), seconds=int(rounds) / 2, clock=time.process_time
    )
    return {"times": {subject: list(series) for subject, series in times.items()}}


def against(name: str, size: str, rounds: str, limit: str, chosen: str) -> dict:
    """jitad beside the peers' own programs, in turns; `first`: the seconds of a first call."""
    on_one_core()
    kernel: Any = everyday.load(name) if name in everyday.NAMES else load(name)
    arguments = kernel.inputs(size)
    first, gradient = first_call(kernel, arguments)
    if isinstance(kernel, everyday.Everyday):
        expected = gradient(*arguments)  # the peers are to find the same
    else:
        expected = kernel.gradient(*arguments)
        check_same(gradient(*arguments), expected)
    subjects, firsts = {"jitad": lambda: gradient(*arguments)}, {"jitad": first}
    missing = {}
    for peer in filter(None, chosen.split(",")):
        print(f"{STAGE}{peer}", flush=True)
        try:
            start = time.perf_counter()
            with at_most(float(limit)):
                call = others.value_and_gradient(peer, kernel, arguments)
                value, found = call()
                firsts[peer] = time.perf_counter() - start
                call()
            check_same((value, found), expected, 1e-6)
            subjects[peer] = call
        except Exception as error:
            missing[peer] = reason(error)
    if "casadi" in subjects:  # whose arguments and results were bound beforehand
        subjects["bound"] = gradient.bound(*arguments, out=gradient(*arguments)[1])
    print(f"{STAGE}all", flush=True)
    times = timing.interleaved(
        subjects, rounds=int(rounds), seconds=int(rounds) / 2, clock=time.process_time
    )
    return {
        "firsts": firsts,
        "times": {subject: list(series) for subject, series in times.items()},
        "missing": missing,
    }


def on_one_core() -> None:
    """Threads that a library keeps, and that wait in circles, are no other core's."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in code of Python that takes longer."""

    def late(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds:.0f} s")

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def overhead() -> dict:
    """Seconds of a call that has next to nothing to do: ten elements."""

    def objective(x):
        return np.sum(x * x)

    @njit
    def by_hand(x):
        return np.sum(x * x), 2.0 * x

    x = np.linspace(0.0, 1.0, 10)
    gradient = jit_value_and_grad(objective)
    check_same(gradient(x), by_hand(x))
    times = timing.interleaved({"jitad": lambda: gradient(x), "hand": lambda: by_hand(x)}, 31,
                               clock=time.process_time)  # fmt: skip
    return {"times": {subject: list(series) for subject, series in times.items()}}


def reason(error: BaseException) -> str:
    """The error in a line."""
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {first.strip()}"[:160]


MEASURES = {"steady": steady, "again": again, "peak": peak, "eager": eager, "overhead": overhead,
            "nested": nested, "against": against}  # fmt: skip


def main() -> None:
    what, *arguments = sys.argv[1:]
    try:
        result = MEASURES[what](*arguments)
    except Exception as error:
        import traceback

        traceback.print_exc()
        result = {"failed": reason(error)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
