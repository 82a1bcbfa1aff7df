"""How does jitad compare with JAX, PyTorch, autograd and CasADi?  See `--peers` of the report.

A line for each kernel and size: the time of jitad's value and gradient, and its ratio to each
peer's, all taken in turns in one process; then the seconds of the first call, jitad's and JAX's.
What is no program of a peer, fails or takes too long there is named after the table.
"""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import timing
from benchmarks.peers import NAMES, OTHERWISE
from benchmarks.report.cell import geometric_mean, series
from benchmarks.report.children import ROOT, Failed, measure
from benchmarks.report.table import plain, quartiles, seconds

LIMIT = 240.0  # seconds of a row's process; the peer that it is at then is left out
WIDTHS = (14, 7, 9, *(24 for _ in NAMES), 9, 9)
HEAD = (
    ("", "", "jitad", *("jitad" for _ in NAMES), "first", "first"),
    ("kernel", "size", "gradient", *(f"/ {peer}" for peer in NAMES), "jitad", "jax"),
)
TITLES = {"jax": "JAX", "torch": "PyTorch", "autograd": "autograd", "casadi": "CasADi"}
EXPLAINED = """\
Value and gradient in double precision, all on one thread, by the processor's time: jitad from
the plain function, JAX under jit, PyTorch and autograd eagerly, CasADi as generated C that is
called through buffers, which are bound to memory beforehand: beside it jitad's call is bound to
its arguments, too (`bound`). Below 1, jitad is faster. Ratios: the median of those within each
round, then quartiles. first: seconds of a first call, compiled from nothing."""


def run(kernels: Sequence[str], sizes: Sequence[str], rounds: int, out: Path) -> int:
    """Print the table, write its figures to `out`; how many cells could not be measured.

    What was measured is on disk after each line, until the table is whole: a run that was
    interrupted goes on where the one before it ended, unless a file of the project is newer.
    """
    print("\n".join([*map(aligned, HEAD), "-" * len(aligned(HEAD[0]))]), flush=True)
    begun = out.with_suffix(".begun.json")
    known = gone_before(begun, rounds)
    cells: list[dict[str, Any]] = []
    for kernel in kernels:
        for size in sizes:
            cell = known.get((kernel, size)) or fill(kernel, size, rounds)
            known[kernel, size] = cell
            cells.append(cell)
            begun.write_text(json.dumps({"rounds": rounds, "cells": list(known.values())}))
            print(aligned(row(cell)), flush=True)
    print("\n".join([*means(cells, sizes), "", EXPLAINED, "", *notes(cells)]))
    out.write_text(json.dumps(cells, indent=1))
    out.with_suffix(".md").write_text(page(cells))
    begun.unlink(missing_ok=True)
    return sum("failed" in cell for cell in cells)


def gone_before(begun: Path, rounds: int) -> dict[tuple[str, str], dict[str, Any]]:
    """The cells of a run like this one that did not come to its end."""
    if not begun.exists():
        return {}
    sources = (p for folder in ("jitad", "kernels", "benchmarks")
               for p in (ROOT / folder).rglob("*.py"))  # fmt: skip
    left = json.loads(begun.read_text())
    if left["rounds"] != rounds or any(
        p.stat().st_mtime > begun.stat().st_mtime for p in sources
    ):
        return {}
    return {(c["kernel"], c["size"]): c for c in left["cells"]}


def page(cells: Sequence[dict[str, Any]]) -> str:
    """The table in Markdown, as in benchmarks/peers/TABLE.md."""
    lines = ["| function | size | jitad | " + " | ".join(f"/ {TITLES[p]}" for p in NAMES) + " |",
             "|---" * (3 + len(NAMES)) + "|"]  # fmt: skip
    for c in cells:
        ratios = (plain(q[1]) if (q := c["ratios"].get(p)) else "-" for p in NAMES)
        took = seconds(c.get("gradient"))
        lines.append(f"| {c['kernel']} | {c['size']} | {took} | {' | '.join(ratios)} |")
    return "\n".join([*lines, ""])


def fill(kernel: str, size: str, rounds: int) -> dict[str, Any]:
    cell: dict[str, Any] = {"kernel": kernel, "size": size, "ratios": {}, "missing": {}}
    with tempfile.TemporaryDirectory(prefix="jitad-report-") as folder:
        cut: dict[str, str] = {}  # peers during which a process hung or died
        while True:
            # what runs in no code of Python (a compiler) can't be interrupted, only ended
            chosen = [p for p in NAMES if p not in cut]
            try:
                found = measure("against", kernel, size, str(rounds), "20", ",".join(chosen),
                                cache=Path(folder), seconds=LIMIT)  # fmt: skip
                break
            except Failed as failure:
                if failure.stage not in chosen:
                    cell["failed"] = str(failure)
                    return cell
                cut[failure.stage] = str(failure)
    times = series(found)
    cell["gradient"] = float(np.median(times["jitad"]))
    cell["firsts"] = found["firsts"]
    cell["missing"] = cut | found["missing"]
    for peer in NAMES:
        if peer in times:
            q = timing.ratio(times["bound" if peer == "casadi" else "jitad"], times[peer])
            cell["ratios"][peer] = [q.low, q.median, q.high]
    if "casadi" in times:
        cell["called"] = timing.ratio(times["jitad"], times["casadi"]).median
    return cell


def row(cell: dict[str, Any]) -> list[str]:
    if "failed" in cell:
        return [cell["kernel"], cell["size"], "FAILED", *("" for _ in HEAD[0][3:])]
    ratios = [cell["ratios"].get(peer) for peer in NAMES]
    return [
        cell["kernel"], cell["size"], seconds(cell["gradient"]),
        *(quartiles(timing.Quartiles(*q)) if q else "-" for q in ratios),
        seconds(cell["firsts"]["jitad"]), seconds(cell["firsts"].get("jax")),
    ]  # fmt: skip


def means(cells: Sequence[dict[str, Any]], sizes: Sequence[str]) -> list[str]:
    lines = []
    for size in [*sizes, "all"]:
        chosen = [c for c in cells if size in ("all", c["size"])]
        found = []
        for peer in NAMES:
            ratios = [c["ratios"][peer][1] for c in chosen if peer in c["ratios"]]
            mean = geometric_mean(ratios)
            behind = sum(r > 1.0 for r in ratios)
            found.append("-" if mean is None else f"{plain(mean)} ({behind} of {len(ratios)} > 1)")
        lines.append(aligned(["geom. mean", size, "", *found, "", ""]))
    return lines


def notes(cells: Sequence[dict[str, Any]]) -> list[str]:
    kernels = {c["kernel"] for c in cells}
    lines = [f"{k}: the peers use {what}" for k, what in OTHERWISE.items() if k in kernels]
    for c in cells:
        lines += [f"{c['kernel']} {c['size']}, {peer}: {why}" for peer, why in c["missing"].items()]
        lines += [f"{c['kernel']} {c['size']}: {c['failed']}"] if "failed" in c else []
        if "called" in c:
            lines.append(f"{c['kernel']} {c['size']}: called with its arguments, jitad takes "
                         f"{plain(c['called'])} of casadi's time")  # fmt: skip
    return lines


def aligned(cells: Sequence[str]) -> str:
    left = "".join(cell.ljust(width) for cell, width in zip(cells[:2], WIDTHS[:2], strict=True))
    return left + "".join(cell.rjust(w + 1) for cell, w in zip(cells[2:], WIDTHS[2:], strict=True))
