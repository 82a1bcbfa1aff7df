"""Where are GradBench's workloads with their expected results, and does an output agree with them?

The files are in `benchmarks/data/gradbench`, whose README says where they come from.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parents[1] / "data" / "gradbench"
SIZES = ("check", "small", "medium")


def workload(name: str, size: str) -> tuple[Any, dict[str, Any]]:
    """The input, and for each function of the eval its expected output."""
    path = DATA / f"{name}-{size}.json"
    packed = path.with_suffix(".json.gz")
    text = path.read_bytes() if path.exists() else gzip.decompress(packed.read_bytes())
    record = json.loads(text)
    return record["input"], record["expected"]


def error(expected: Any, found: Any) -> float:
    """The largest difference over the largest expected number, key by key.

    Infinite where keys or shapes differ, where all should be zero and is not, and with NaN.
    """
    if isinstance(expected, dict):
        if not isinstance(found, dict) or expected.keys() != found.keys():
            return np.inf
        return max(error(expected[key], found[key]) for key in expected)
    x, y = np.array(expected), np.array(found)
    if x.shape != y.shape:
        return np.inf
    if x.size == 0 or np.array_equal(x, y):
        return 0.0
    largest = np.max(np.abs(x))
    worst = np.max(np.abs(x - y))
    return float(worst / largest) if largest > 0.0 and np.isfinite(worst) else np.inf
