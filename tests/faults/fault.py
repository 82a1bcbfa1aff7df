"""How is one fault put into a copy of the engine, and do the tests notice?

A fault is a replacement of a text that occurs once in a file.  It is applied to a copy of the
repository in a temporary folder, never in place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Ordered by how soon they fail; the run stops at the first failure.
FAST = (
    "tests/tape/test_folding.py",
    "tests/sweeps/test_regressions.py",
    "tests/sweeps/test_named.py",
    "tests/sweeps/test_operators.py",
    "tests/sweeps/test_random.py",
)


LONG = 3.0  # times as long as sound tests take: what takes longer has no end
LEAST = 120.0  # seconds


@dataclass(frozen=True)
class Fault:
    """`old` becomes `new` in `file`; `what` says in words what is then wrong."""

    file: str
    old: str
    new: str
    what: str
    tests: tuple[str, ...] = FAST

    def applied(self, text: str) -> str:
        """The faulty text; ValueError where the place is not there, or not the only one."""
        found = text.count(self.old)
        if found != 1 or self.old == self.new:
            raise ValueError(
                f"{self.what}: the text to replace occurs {found} times in {self.file}"
            )
        return text.replace(self.old, self.new)


def copy_engine(to: Path) -> Path:
    """What the fast tests need of the repository, in a folder of its own."""
    left_out = shutil.ignore_patterns("__pycache__", "faults", ".hypothesis")
    for name in ("jitad", "tests", "kernels"):
        shutil.copytree(ROOT / name, to / name, ignore=left_out)
    shutil.copy(ROOT / "pyproject.toml", to)
    return to


def passes(copy: Path, tests: tuple[str, ...] = FAST, seconds: float | None = None) -> bool:
    """Do the tests pass in this copy, in so many seconds?"""
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "--tb=line"]
    arguments += ["--hypothesis-profile=unshrunk", *tests]
    try:
        run = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", *arguments],
            cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True, text=True, timeout=seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    if run.returncode not in (0, 1, 2):  # 2: the fault breaks an import, which is caught as well
        raise RuntimeError(f"pytest could not run:\n{run.stdout}{run.stderr}")
    return run.returncode == 0


def limit(copy: Path, tests: tuple[str, ...]) -> float | None:
    """How many seconds tests may take with a fault in the copy, by what they take in it without
    one, on this machine as busy as it is; None where they fail without any."""
    start = time.perf_counter()
    if not passes(copy, tests):
        return None
    return max(LEAST, LONG * (time.perf_counter() - start))


def caught(fault: Fault, copy: Path, seconds: float | None = LEAST) -> bool:
    """Put the fault into the copy, test for so many seconds at most, take it out again."""
    path = copy / fault.file
    sound = path.read_text()
    path.write_text(fault.applied(sound))
    try:
        return not passes(copy, fault.tests, seconds)
    finally:
        path.write_text(sound)
