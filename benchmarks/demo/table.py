"""How are the demo's times printed?"""

import numpy as np

from benchmarks import timing
from benchmarks.demo.fits import COMPILED_DESCENT, COMPILED_LBFGS, HAND, JITAD, Outcome

HEAD = ("", "first call", "one gradient", "whole fit", "evaluations", "loss at the end")


def median(times: np.ndarray | None) -> str:
    return "" if times is None else timing.readable(float(np.median(times)))


def lines(outcome: Outcome) -> list[str]:
    """A table of all ways, then the ratios that the demo is about."""
    rows = [HEAD]
    for name, way in outcome.ways.items():
        first = "" if way.first is None else timing.readable(way.first)
        fitted = way.fit is not None
        evaluations = str(way.evaluations) if fitted else ""
        loss = f"{way.loss:.7g}" if fitted else ""
        rows.append((name, first, median(way.gradient), median(way.fit), evaluations, loss))
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    printed = [
        row[0].ljust(widths[0]) + "".join(f"  {cell:>{w}}" for cell, w in zip(row[1:], widths[1:]))
        for row in rows
    ]
    printed.insert(1, "-" * len(printed[0]))
    return printed + ratios(outcome)


def ratios(outcome: Outcome) -> list[str]:
    ways = outcome.ways
    single = timing.ratio(ways[JITAD].gradient, ways[HAND].gradient)
    said = [f"jitad / hand-written, one gradient: {bracketed(single)}"]
    for name in (COMPILED_LBFGS, COMPILED_DESCENT):
        per_evaluation = timing.ratio(
            ways[JITAD].fit / ways[JITAD].evaluations, ways[name].fit / ways[name].evaluations
        )
        said.append(
            f"SciPy L-BFGS-B from Python / {name}, an evaluation: {bracketed(per_evaluation)}"
        )
    whole = timing.ratio(ways[JITAD].fit, ways[COMPILED_LBFGS].fit)
    said.append(f"SciPy L-BFGS-B from Python / {COMPILED_LBFGS}, whole fit: {bracketed(whole)}")
    return said


def bracketed(ratio: timing.Quartiles) -> str:
    return f"{ratio.median:.2f} (quartiles {ratio.low:.2f} to {ratio.high:.2f})"
