"""Are the derivatives by hand in C++ right?  An opponent that is wrong proves nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.gradbench.compare import DERIVATIVES, flat, line
from benchmarks.gradbench.cpp import by_hand, compiler
from benchmarks.gradbench.data import error, workload
from benchmarks.gradbench.evals import evals
from benchmarks.gradbench.protocol import Function

pytestmark = pytest.mark.skipif(compiler() is None, reason="no g++ on the path")


KEYS = {"gmm": ("alpha", "mu", "q", "l"), "ba": ("rows", "cols", "vals")}


def expected_results(name: str, size: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The arguments, and the expected results as C++ gives them (for `ba`, their ends)."""
    given, expected = workload(name, size)
    args = evals()[name][DERIVATIVES.get(name, "ff")].arguments(given)
    found = expected[DERIVATIVES.get(name, "ff")]
    parts = [found[key] for key in KEYS[name]] if name in KEYS else [found]
    if name == "lstm":
        parts = np.split(np.array(found), [args[0].size])
    dtype = int if name == "ba" else float
    return args, tuple(np.array(part, dtype if part is not parts[-1] else float) for part in parts)


@pytest.mark.parametrize("size", ["check", "small"])
@pytest.mark.parametrize("name", [*DERIVATIVES, "particle", "saddle"])
def test_expected_results(name: str, size: str) -> None:
    args, expected = expected_results(name, size)
    like = expected
    if name == "ba":
        p = len(args[-1])
        like = (np.empty(3 * p + 1, int), np.empty(31 * p, int), np.empty(31 * p))
    hand = by_hand(name, args)(like)
    hand.seconds(1)
    for a, b in zip(expected, hand.results, strict=True):
        assert error(a, np.array([*b[:30], b[-1]]) if name == "ba" else b) <= 1e-11


def test_a_line_of_the_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    f = Function(lambda x: np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x))),
                 lambda given: (np.array(given["x"], dtype=float),), list)  # fmt: skip
    figures = line("lse", "gradient", "check", f, f, 0.01)
    assert all(x is not None and x > 0.0 for x in figures.values())
    printed = capsys.readouterr().out.split()
    assert printed[:3] == ["lse", "gradient", "check"]
    assert float(printed[-3]) < 1e-12  # the difference; behind it the memory of both
    assert flat(f.run(np.zeros(2)))[0].shape == (2,)
