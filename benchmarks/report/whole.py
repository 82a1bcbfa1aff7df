"""Which measurements make the whole report, and how do they become one page?

Each part is a command of its own, run one after the other, so that nothing competes; what it prints
goes on the page, `benchmarks/out/report.md`, under the command that reproduces it.  A part that
fails is named, with its last words, and the others go on.
"""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import picture
from benchmarks.report.children import ROOT


@dataclass(frozen=True)
class Part:
    """A section of the page."""

    title: str
    command: str  # behind `python -m`
    quick: str  # the same for a first look
    picture: str | None = None


PARTS = (
    Part("Kernels, beside Numba by hand", "benchmarks.report --kernels",
         "benchmarks.report --quick --sizes small medium --kernels", "report.png"),
    Part("Programs over whole arrays, beside Numba by hand", "benchmarks.report --arrays",
         "benchmarks.report --quick --sizes medium --arrays", "arrays.png"),
    Part("Functions written after the passes", "benchmarks.report --fresh",
         "benchmarks.report --quick --sizes medium --fresh", "fresh.png"),
    Part("Numba by hand, beside C", "benchmarks.c.compare", "benchmarks.c.compare rosenbrock gmm"),
    Part("GradBench, beside C++ by hand", "benchmarks.gradbench --compare",
         "benchmarks.gradbench --compare --sizes small --seconds 0.2", "gradbench.png"),
    Part("GradBench several times larger, beside C++ by hand",
         "benchmarks.gradbench --compare --large",
         "benchmarks.gradbench --compare --large --seconds 0.2", "gradbench-large.png"),
    Part("GradBench, beside JAX, PyTorch, autograd and CasADi", "benchmarks.gradbench --peers",
         "benchmarks.gradbench --peers --sizes small --seconds 0.2", "gradbench-peers.png"),
    Part("Kernels, beside JAX, PyTorch, autograd and CasADi", "benchmarks.report --peers",
         "benchmarks.report --peers --quick --sizes medium", "peers.png"),
    Part("Cost of a call", "benchmarks.bench_calls", "benchmarks.bench_calls"),
    Part("First calls, by a function's length", "benchmarks.bench_compile",
         "benchmarks.bench_compile 100 300", "compile.png"),
    Part("Memory of long loops", "benchmarks.bench_memory",
         "benchmarks.bench_memory lorenz --mb 1"),
    Part("Sparse Jacobians and Hessians", "benchmarks.bench_sparse",
         "benchmarks.bench_sparse rosenbrock"),
    Part("Columns of Jacobians", "benchmarks.bench_jacobians", "benchmarks.bench_jacobians"),
    Part("The eager engine, by depth of nesting", "benchmarks.bench_nesting",
         "benchmarks.bench_nesting --levels 2 --seconds 0.2"),
    Part("Several threads", "benchmarks.bench_parallel --by-hand",
         "benchmarks.bench_parallel --size medium --seconds 0.2"),
    Part("GradBench on several threads", "benchmarks.bench_parallel --gradbench",
         "benchmarks.bench_parallel --gradbench gmm lse --size small --seconds 0.2"),
)  # fmt: skip


def write(parts: Sequence[Part], quick: bool, out: Path, about: str) -> list[str]:
    """Run the parts and write the page anew after each; the titles of those that failed."""
    failed: list[str] = []
    page = ["# Report", "", about, ""]
    for part in parts:
        command = part.quick if quick else part.command
        print(f"\n== {part.title}: python -m {command}", flush=True)
        start = time.perf_counter()
        said, why = run(command.split())
        page += [f"## {part.title}", "", f"`python -m {command}`, "
                 f"{time.perf_counter() - start:.0f} s", "", "```", *said, "```", ""]  # fmt: skip
        if why:
            failed.append(part.title)
            page += [f"**FAILED**: {why}", ""]
        draw(out)
        if part.picture and (out / part.picture).exists():
            page += [f"![{part.title}]({part.picture})", ""]
        (out / "report.md").write_text("\n".join(page))
    return failed


def run(command: Sequence[str]) -> tuple[list[str], str]:
    """What a command prints, shown as it comes, and why it failed, if it did."""
    with subprocess.Popen(
        [sys.executable, "-m", *command], cwd=ROOT, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        said = []
        for line in child.stdout:
            print(line, end="", flush=True)
            said.append(line.rstrip())
    last = next((line for line in reversed(said) if line.strip()), "nothing was said")
    return said, f"ended with {child.returncode}: {last}" if child.returncode else ""


def draw(out: Path) -> None:
    """The pictures of what has left its figures, but no picture."""
    for name, what in (("peers", "value and gradient"), ("gradbench-peers", "GradBench")):
        figures = out / f"{name}.json"
        if figures.exists():
            rows = {f"{c['kernel']} {c['size']}": {p: q[1] for p, q in c["ratios"].items()}
                    for c in json.loads(figures.read_text())}  # fmt: skip
            picture.ratios(rows, f"{what}: jitad / other libraries", out / f"{name}.png")
    for name in ("gradbench", "gradbench-large"):
        figures = out / f"{name}.json"
        if figures.exists():
            rows = {f"{c['eval']} {c['function']} {c['size']}": {"C++": c["ratio"]}
                    for c in json.loads(figures.read_text())}  # fmt: skip
            picture.ratios(rows, "GradBench: jitad / C++ by hand", out / f"{name}.png")
