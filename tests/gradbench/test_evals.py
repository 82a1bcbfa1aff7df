"""Do jitad's derivatives give GradBench's expected results, on its workloads and at the edges?"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from benchmarks.gradbench.data import SIZES, error, workload
from benchmarks.gradbench.evals import evals

# The objective of `ba` is a difference of numbers about 1e3 times as large.
RTOL = {("ba", "objective"): 1e-11, ("lse", "gradient"): 1e-10}
NAMES = ("hello", "gmm", "ba", "ht", "lstm", "kmeans", "llsq", "lse", "det", "ode", "particle",
         "saddle")  # fmt: skip


def test_all_evals_are_there() -> None:
    assert set(evals()) == set(NAMES)
    for name, functions in evals().items():
        assert set(functions) == set(workload(name, "check")[1])


@pytest.mark.parametrize("name", NAMES)
def test_expected_results(name: str) -> None:
    """All sizes by one kernel a function: nothing depends on sizes, and nothing is left over."""
    for size in (*SIZES, "check"):
        given, expected = workload(name, size)
        for function, f in evals()[name].items():
            args = f.arguments(given)
            before = [np.copy(a) for a in args if isinstance(a, np.ndarray)]
            for _ in range(2):
                found = f.output(f.run(*args))
                worst = error(expected[function], found)
                assert worst <= RTOL.get((name, function), 1e-12), (size, function)
            json.dumps(found, allow_nan=False)
            for a, b in zip([a for a in args if isinstance(a, np.ndarray)], before, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("expected", "found", "worst"),
    [([1.0, 2.0], [1.0, 2.5], 0.25), ([0.0], [1e-9], np.inf), ([1.0], [np.nan], np.inf),
     ([1.0], [1.0, 2.0], np.inf), ({"a": [1]}, {"b": [1]}, np.inf), ({"a": 1.0}, {"a": 1.0}, 0.0)],
)  # fmt: skip
def test_the_measure_itself(expected: Any, found: Any, worst: float) -> None:
    assert error(expected, found) == worst
