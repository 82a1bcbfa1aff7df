"""What does a process pay before its first gradient?  ``python -m benchmarks.bench_import``

Seconds to import Numba, to import `jit_grad` after it, and of the first gradient, which is compiled
where nothing is on disk, and found where an earlier process has left it.  Each run is a process of
its own, both kinds in turn; medians.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNS = 9
PROGRAM = """
import time
start = time.perf_counter()
import numpy as np
import numba
numbas = time.perf_counter()
from jitad import jit_grad
ours = time.perf_counter()

def f(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * y
    return s + np.sum(np.sin(x))

jit_grad(f)(np.ones(4), 2.0)
print(numbas - start, ours - numbas, time.perf_counter() - ours)
"""


def run(file: Path, cache: Path) -> list[float]:
    """Seconds of each part."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JITAD_CACHE_DIR": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([sys.executable, str(file)], env=environment, check=True,
                          capture_output=True, text=True)  # fmt: skip
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "program.py"
        file.write_text(PROGRAM)
        run(file, folder / "kept")
        found: dict[str, list[list[float]]] = {"compiled": [], "found on disk": []}
        for k in range(RUNS):
            found["compiled"].append(run(file, folder / f"new {k}"))
            found["found on disk"].append(run(file, folder / "kept"))
    print(f"{'seconds':15}{'Numba':>10}{'jit_grad':>10}{'first call':>12}")
    for kind, rows in found.items():
        numbas, ours, first = map(statistics.median, zip(*rows))
        print(f"{kind:15}{numbas:10.3f}{ours:10.3f}{first:12.3f}")


if __name__ == "__main__":
    main()
