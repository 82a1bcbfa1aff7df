"""All of jitad's figures from one command, as a page with tables and pictures in benchmarks/out.

Usage: python -m benchmarks.report [--quick] [--parts WORD ...]
       python -m benchmarks.report [--quick] [--arrays | --fresh | --kernels [NAME ...]]
                                   [--sizes SIZE ...] [--peers]

The first form runs all parts, one after the other, or those whose titles contain a word, and writes
benchmarks/out/report.md. The second is one of its parts: kernels beside gradients by hand, or
(`--peers`) beside other libraries. What is compared takes turns in one process; a kernel that fails
is named, with the reason, and the others go on. Ends with 1 if any gradient could not be measured.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks import timing
from benchmarks.peers import everyday
from benchmarks.report import against, picture, table, whole
from benchmarks.report.cell import Cell, fill, series
from benchmarks.report.children import Failed, measure
from benchmarks.subjects import array_names, fresh_names, kernel_names
from kernels import nested

SIZES = ("small", "medium", "large")
OUT = Path(__file__).resolve().parents[1] / "out"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.report", description=__doc__.splitlines()[0]
    )
    names = kernel_names() + array_names() + fresh_names() + everyday.NAMES
    parser.add_argument("--kernels", nargs="*", choices=names, help="all, or those named")
    parser.add_argument("--parts", nargs="+", metavar="WORD", help="of the whole report")
    parser.add_argument(
        "--arrays", dest="kernels", action="store_const", const=array_names(),
        help="the scientific programs over whole arrays, kernels/arrays",
    )  # fmt: skip
    parser.add_argument(
        "--fresh", dest="kernels", action="store_const", const=fresh_names(),
        help="functions that were written after the engine's passes, kernels/fresh",
    )  # fmt: skip
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=SIZES)
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds, no eager gradients: a first look"
    )
    parser.add_argument(
        "--peers", action="store_true",
        help="beside JAX, PyTorch, autograd and CasADi, on all kernels unless some are named",
    )  # fmt: skip
    parser.add_argument(
        "--everyday", dest="kernels", action="store_const", const=everyday.NAMES,
        help="with --peers: functions of everyday use, benchmarks/peers/everyday.py",
    )  # fmt: skip
    options = parser.parse_args()
    if not options.peers and set(options.kernels or ()) & set(everyday.NAMES):
        parser.error("functions of everyday use have no gradient by hand: add --peers")
    options.whole = options.kernels is None and not options.peers
    known = kernel_names() + array_names() + fresh_names() + everyday.NAMES  # to the peers
    options.kernels = options.kernels or (known if options.peers else kernel_names())
    return options


def main() -> int:
    options = arguments()
    began = time.perf_counter()
    rounds, limit = (9, 300.0) if options.quick else (41, 600.0)
    sizes = [size for size in SIZES if size in options.sizes]
    print(machine())
    OUT.mkdir(exist_ok=True)
    if options.whole:
        words = options.parts or [""]
        parts = [p for p in whole.PARTS if any(w.lower() in p.title.lower() for w in words)]
        failed = whole.write(parts, options.quick, OUT, machine())
        print("\n".join(["", f"page: {OUT / 'report.md'}", *(f"FAILED: {t}" for t in failed)]))
        return 1 if failed or not parts else 0
    if options.peers:
        chosen = options.kernels
        return 1 if against.run(chosen, sizes, rounds, OUT / "peers.json") else 0
    print(overhead(limit), flush=True)
    print("\n".join(["", *table.head()]), flush=True)
    cells: list[Cell] = []
    for kernel in options.kernels:
        with_eager = not options.quick
        for size in sizes:
            cell = fill(kernel, size, rounds, limit, with_eager)
            # An eager gradient that fails or takes too long will not do better on more data.
            with_eager = with_eager and "eager" not in cell.failures
            cells.append(cell)
            print("\n".join(table.row(cell)), flush=True)
    print("\n".join([*table.head()[-1:], *table.means(cells, sizes), "", table.EXPLAINED]))
    if tuple(options.kernels) == kernel_names():
        print("\n".join(["", *nested_programs(rounds, limit)]), flush=True)

    others = {array_names(): "arrays", fresh_names(): "fresh"}
    name = OUT / others.get(tuple(options.kernels), "report")
    name.with_suffix(".json").write_text(json.dumps([asdict(cell) for cell in cells], indent=1))
    picture.draw(cells, sizes, name.with_suffix(".png"))
    print(f"\npicture: {name}.png\nfigures: {name}.json")
    missing = [cell for cell in cells if "gradient" in cell.failures]
    done = f"{len(cells) - len(missing)} of {len(cells)} measured"
    print(f"{done}, {time.perf_counter() - began:.0f} s in all")
    return 1 if missing else 0


def machine() -> str:
    """What the figures were measured on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def overhead(limit: float) -> str:
    with tempfile.TemporaryDirectory(prefix="jitad-report-") as folder:
        try:
            times = series(measure("overhead", cache=Path(folder), seconds=limit))
        except Failed as failure:
            return f"call overhead: FAILED: {failure}"
    jitad, hand = (timing.readable(float(np.median(times[name]))) for name in ("jitad", "hand"))
    return f"a compiled gradient of ten elements: jitad {jitad}, hand-written Numba {hand} a call"


def nested_programs(rounds: int, limit: float) -> list[str]:
    """Programs with derivatives inside derivatives, over the same expanded by hand."""
    lines = ["programs with nested derivatives / by hand (outer and inner mode)"]
    for name in nested.NAMES:
        with tempfile.TemporaryDirectory(prefix="jitad-report-") as folder:
            try:
                found = measure("nested", name, str(rounds), cache=Path(folder), seconds=limit)
            except Failed as failure:
                lines.append(f"{name:<14}FAILED: {failure}")
                continue
        times = series(found)
        ratios = {pair: timing.ratio(times[pair], times["hand"]) for pair in nested.PAIRS}
        cells = (f"{p} {q.median:.2f} ({q.low:.2f} {q.high:.2f})" for p, q in ratios.items())
        by_hand = timing.readable(float(np.median(times["hand"])))
        lines.append(f"{name:<14}{'  '.join(cells)}  by hand {by_hand}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
