"""Fit three models to real data with gradients made by jitad; say what that costs.

Usage: python -m benchmarks.demo          (ci/demo makes the environment first)

Ends with 0 if all gradients and fits agree, else with 1.
"""

import sys
import time
import traceback
from pathlib import Path

import numpy as np
from numba import njit

from benchmarks.demo import fits, logistic, mixture, picture, predator_prey, table

PICTURE = Path(__file__).resolve().parents[2] / "ci" / "out" / "demo.png"


def main() -> int:
    began = time.perf_counter()
    print(__doc__.splitlines()[0], flush=True)
    warm_up()
    problems = [logistic.problem(), mixture.problem(), predator_prey.problem()]
    outcomes: list[fits.Outcome] = []
    failures: list[str] = []
    for number, problem in enumerate(problems, 1):
        print(f"\n[{number}/{len(problems)}] {problem.name}: {problem.start.size} unknowns")

        def say(step: str) -> None:
            print(f"  {time.perf_counter() - began:5.1f} s  {step}", flush=True)

        try:
            outcome = fits.run(problem, say)
        except Exception as error:  # the other problems still have something to show
            traceback.print_exc()
            failures.append(f"{problem.name}: {type(error).__name__}: {error}")
            continue
        outcomes.append(outcome)
        failures += outcome.failures
        say(problem.verdict(outcome.x)[0])
        print()
        for line in table.lines(outcome):
            print(f"  {line}")

    if outcomes:
        picture.draw(outcomes, PICTURE)
        print(f"\npicture: {PICTURE}")
    for failure in failures:
        print(f"FAILED: {failure}")
    verdict = "failed" if failures else "all gradients and fits agree"
    print(f"{verdict}, {time.perf_counter() - began:.0f} s in all")
    return 1 if failures else 0


def warm_up() -> None:
    """Compile something, so that Numba's own start counts towards nobody's first call."""
    njit(lambda x: np.sum(np.exp(x)))(np.ones(3))


if __name__ == "__main__":
    sys.exit(main())
