"""What are workloads several times larger than GradBench's medium ones, eval by eval?

Numbers are drawn from the distributions that GradBench's own generators use, with a seed; of `ba`
and `ht`, whose numbers were measured, there are more of the medium ones. `particle` and `saddle`
have no size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.gradbench.data import workload

Input = dict[str, Any]


def gmm(rng: np.random.Generator) -> Input:
    d, k, n = 20, 50, 4000
    return {
        "d": d, "k": k, "n": n, "m": 0, "gamma": 1.0, "x": rng.normal(size=(n, d)),
        "alpha": rng.normal(size=k), "mu": rng.uniform(size=(k, d)), "q": rng.normal(size=(k, d)),
        "l": rng.normal(size=(k, d * (d - 1) // 2)),
    }  # fmt: skip


def ba(rng: np.random.Generator) -> Input:
    return {**workload("ba", "medium")[0], "n": 1031, "m": 260_528, "p": 903_644}


def ht(rng: np.random.Generator) -> Input:
    medium = workload("ht", "medium")[0]
    count = 6000
    which = rng.integers(0, len(medium["us"]), count)
    data = {**medium["data"]}
    data["correspondences"] = rng.integers(0, len(data["model"]["triangles"]), count)
    data["points"] = np.array(data["points"])[which]
    return {**medium, "us": np.array(medium["us"])[which], "data": data}


def lstm(rng: np.random.Generator) -> Input:
    medium = workload("lstm", "medium")[0]
    return {**medium, "sequence": medium["sequence"] * 5}


def kmeans(rng: np.random.Generator) -> Input:
    return {"points": rng.uniform(size=(50_000, 16)), "centroids": rng.uniform(size=(200, 16))}


def llsq(rng: np.random.Generator) -> Input:
    return {"x": rng.normal(size=256), "n": 8192}


def lse(rng: np.random.Generator) -> Input:
    return {"x": rng.uniform(size=1_000_000)}


def det(rng: np.random.Generator) -> Input:
    return {"A": rng.uniform(size=100), "ell": 10}


def ode(rng: np.random.Generator) -> Input:
    return {"x": rng.uniform(size=100_000), "s": 20}


LARGER: dict[str, Callable[[np.random.Generator], Input]] = {
    f.__name__: f for f in (gmm, ba, ht, lstm, kmeans, llsq, lse, det, ode)
}


def larger(name: str) -> Input:
    """The input of an eval that has sizes; the same at each call."""
    return LARGER[name](np.random.default_rng(1))
