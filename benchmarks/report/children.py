"""How does the report run a measurement elsewhere and learn what became of it?"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Failed(Exception):
    """A measurement ended without a result; the message says why, in a line."""


def measure(what: str, *arguments: str, cache: Path, seconds: float) -> dict:
    """Run one measurement with its own disk cache; raise Failed if it fails, dies or hangs."""
    command = [sys.executable, "-m", "benchmarks.report.measure", what, *arguments]
    # Both caches are the cell's own: the first process finds nothing, the second all of it.
    caches = {"JITAD_CACHE_DIR": str(cache), "NUMBA_CACHE_DIR": str(cache)}
    environment = os.environ | caches
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"took more than {seconds:.0f} s") from None
    if done.returncode < 0:
        raise Failed(f"died of {signal.Signals(-done.returncode).name}")
    lines = done.stdout.splitlines()
    try:
        result = json.loads(lines[-1])
    except (IndexError, ValueError):
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise Failed(said[-1].strip() if said else f"ended with {done.returncode}") from None
    if "failed" in result:
        raise Failed(result["failed"])
    return result
