"""What does the report know of one kernel at one size, and how does it find out?"""

import math
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks import timing
from benchmarks.report.children import Failed, measure
from benchmarks.timing import Quartiles


@dataclass
class Cell:
    """The figures of one kernel at one size. What could not be measured is None."""

    kernel: str
    size: str
    gradient: float | None = None  # seconds of a value and gradient by jitad, steady state
    to_hand: Quartiles | None = None
    to_primal: Quartiles | None = None
    hand_to_primal: Quartiles | None = None
    first: float | None = None  # seconds: trace and compile
    second_process: float | None = None  # seconds: found on disk
    eager: float | None = None  # seconds of an eager gradient
    eager_to_autograd: Quartiles | None = None
    peak: int | None = None  # bytes
    hand_peak: int | None = None
    to_adjoint: Quartiles | None = None  # by hand, of the same loops, where `hand` is another way
    adjoint_peak: int | None = None
    arguments: int | None = None
    failures: dict[str, str] = field(default_factory=dict)  # what could not be measured, and why


def fill(kernel: str, size: str, rounds: int, limit: float, with_eager: bool) -> Cell:
    """Measure one cell, each part in a process of its own."""
    cell = Cell(kernel, size)
    with tempfile.TemporaryDirectory(prefix="jitad-report-") as folder:
        cache = Path(folder)
        try:
            steady(cell, measure("steady", kernel, size, str(rounds), cache=cache, seconds=limit))
        except Failed as failure:
            cell.failures["gradient"] = str(failure)
            return cell
        try:
            found = measure("again", kernel, size, cache=cache, seconds=limit)
            cell.second_process = found["first"]
        except Failed as failure:
            cell.failures["second process"] = str(failure)
        try:
            found = measure("peak", kernel, size, cache=cache, seconds=limit)
            cell.peak, cell.hand_peak = found["jitad"], found["hand"]
            cell.adjoint_peak, cell.arguments = found.get("adjoint"), found["arguments"]
        except Failed as failure:
            cell.failures["peak memory"] = str(failure)
        if not with_eager:
            return cell
        try:
            eager(cell, measure("eager", kernel, size, cache=cache, seconds=min(limit, 60.0)))
        except Failed as failure:
            cell.failures["eager"] = str(failure)
    return cell


def steady(cell: Cell, found: dict) -> None:
    times = series(found)
    cell.first = found["first"]
    cell.gradient = float(np.median(times["jitad"]))
    cell.to_hand = timing.ratio(times["jitad"], times["hand"])
    if "adjoint" in times:
        cell.to_adjoint = timing.ratio(times["jitad"], times["adjoint"])
    if found["no_primal"]:
        cell.failures["primal"] = found["no_primal"]
    else:
        cell.to_primal = timing.ratio(times["jitad"], times["primal"])
        cell.hand_to_primal = timing.ratio(times["hand"], times["primal"])


def eager(cell: Cell, found: dict) -> None:
    times = series(found)
    cell.eager = float(np.median(times["jitad"]))
    if found["no_peer"]:
        cell.failures["autograd"] = found["no_peer"]
    else:
        cell.eager_to_autograd = timing.ratio(times["jitad"], times["autograd"])


def series(found: dict) -> dict[str, np.ndarray]:
    return {subject: np.array(times) for subject, times in found["times"].items()}


def geometric_mean(numbers: Iterable[float | None]) -> float | None:
    """Of those that could be measured; None if there is none."""
    logs = [math.log(number) for number in numbers if number is not None]
    return math.exp(sum(logs) / len(logs)) if logs else None
