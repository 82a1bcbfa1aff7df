"""How long do the ways to a gradient, and to a fit, take, and do they agree?"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from scipy.optimize import approx_fprime, minimize

from benchmarks import optimisers, timing
from benchmarks.demo import checks
from benchmarks.demo.problem import Problem
from jitad import jit_value_and_grad

JITAD = "jitad"
HAND = "hand-written Numba"
COMPILED_DIFFERENCES = "SciPy differences, f in Numba"
PLAIN_DIFFERENCES = "SciPy differences, plain f"
COMPILED_LBFGS = "@njit L-BFGS, jitad inside"
COMPILED_DESCENT = "@njit gradient descent, jitad inside"


@dataclass
class Way:
    """One way to fit: what it took and where it came to."""

    first: float | None = None  # seconds of the first gradient, compilation included
    gradient: np.ndarray | None = None  # seconds a gradient, one entry a round
    fit: np.ndarray | None = None  # seconds a fit, one entry a round
    evaluations: int = 0  # of the objective, with or without its gradient
    loss: float = float("nan")


@dataclass
class Outcome:
    """All ways for one problem, the fit found, and what is wrong with any of it."""

    problem: Problem
    ways: dict[str, Way]
    x: np.ndarray
    failures: list[str] = field(default_factory=list)


def timed(function: Callable, *args) -> float:
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


def run(problem: Problem, say: Callable[[str], None]) -> Outcome:
    """Compile, check, fit and time one problem."""
    start, args = problem.start, problem.args
    ways = {JITAD: Way(), HAND: Way(), COMPILED_DIFFERENCES: Way(), PLAIN_DIFFERENCES: Way()}
    failures = []

    say("tracing and compiling")
    gradient = jit_value_and_grad(problem.objective)
    ways[JITAD].first = timed(gradient, start, *args)
    compiled = njit(problem.objective)
    ways[COMPILED_DIFFERENCES].first = timed(compiled, start, *args)
    ways[HAND].first = timed(problem.gradient, start, *args)

    say(f"checking the gradients by {checks.method(problem)}")
    for name, function in ((JITAD, gradient), (HAND, problem.gradient)):
        error = checks.worst_error(problem, function)
        say(f"  {name}: off by {error:.1e} at most")
        if not error <= checks.tolerance(problem):
            failures.append(f"{problem.name}: the gradient of {name} is off by {error:.1e}")

    say("fitting")
    scipy_fits = {
        JITAD: lambda: fit(gradient, True, problem),
        HAND: lambda: fit(problem.gradient, True, problem),
        COMPILED_DIFFERENCES: lambda: fit(compiled, None, problem),
    }
    for name, function in scipy_fits.items():
        found = function()
        ways[name].evaluations, ways[name].loss = found.nfev, float(found.fun)
        if name == JITAD:
            x = found.x
    whole = {
        COMPILED_LBFGS: lambda: optimisers.lbfgs(gradient, start, args, 1000, 1e-5, 10),
        COMPILED_DESCENT: lambda: optimisers.gradient_descent(gradient, start, args, 2000),
    }
    for name, function in whole.items():
        way = ways[name] = Way(first=timed(function))
        _, way.loss, way.evaluations = function()

    say("timing single gradients")
    point = start + 0.01
    gradients = {
        JITAD: lambda: gradient(point, *args),
        HAND: lambda: problem.gradient(point, *args),
        COMPILED_DIFFERENCES: lambda: approx_fprime(point, compiled, 1.5e-8, *args),
        PLAIN_DIFFERENCES: lambda: approx_fprime(point, problem.objective, 1.5e-8, *args),
    }
    for name, times in timing.interleaved(gradients, rounds=25, seconds=3.0).items():
        ways[name].gradient = times

    say("timing whole fits")
    for name, times in timing.interleaved(scipy_fits | whole, rounds=15, seconds=6.0).items():
        ways[name].fit = times

    return Outcome(problem, ways, x, failures + disagreements(problem, ways, x))


def fit(function: Callable, jac: bool | None, problem: Problem):
    # Differences spend an evaluation an unknown: they must not run into the limit that stops them.
    return minimize(
        function,
        problem.start,
        args=problem.args,
        jac=jac,
        method="L-BFGS-B",
        options={"maxfun": 10**6},
    )


def disagreements(problem: Problem, ways: dict[str, Way], x: np.ndarray) -> list[str]:
    """What is wrong with where the fits have come to."""
    wrong = []
    best = ways[HAND].loss
    for name, way in ways.items():
        if name == PLAIN_DIFFERENCES:
            continue
        if name == COMPILED_DESCENT:  # slow by nature: it must only have come most of the way
            first = problem.objective(problem.start, *problem.args)
            fine = best - 1e-4 * abs(best) <= way.loss <= best + 0.1 * (first - best)
        else:
            fine = abs(way.loss - best) <= 1e-5 * abs(best)
        if not fine:
            wrong.append(f"{problem.name}: {name} ends at {way.loss:.8g}, by hand at {best:.8g}")
    found, sensible = problem.verdict(x)
    if not sensible:
        wrong.append(f"{problem.name}: the fit makes no sense: {found}")
    return wrong
