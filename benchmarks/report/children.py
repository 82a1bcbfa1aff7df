"""How does the report run a measurement elsewhere and learn what became of it?"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STAGE = "stage: "  # begins a line that says what a measurement is about to do


class Failed(Exception):
    """A measurement ended without a result; the message says why, in a line.

    `stage`: what it had last said that it was about to do.
    """

    def __init__(self, why: str, stage: str = "") -> None:
        super().__init__(why)
        self.stage = stage


def measure(what: str, *arguments: str, cache: Path, seconds: float) -> dict:
    """Run one measurement with its own disk cache; raise Failed if it fails, dies or hangs."""
    command = [sys.executable, "-m", "benchmarks.report.measure", what, *arguments]
    # Both caches are the cell's own: the first process finds nothing, the second all of it.
    caches = {"JITAD_CACHE_DIR": str(cache), "NUMBA_CACHE_DIR": str(cache)}
    caches["PYTHONDONTWRITEBYTECODE"] = ""  # modules are read as those that pip installs
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ | caches, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as child:  # fmt: skip
        try:
            out, err = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            end(child)
            out, _ = child.communicate()
            raise Failed(f"took more than {seconds:.0f} s", stage_of(out)) from None
        except BaseException:
            end(child)
            raise
    if child.returncode < 0:
        raise Failed(f"died of {signal.Signals(-child.returncode).name}", stage_of(out))
    try:
        result = json.loads(out.splitlines()[-1])
    except (IndexError, ValueError):
        said = [line for line in err.splitlines() if line.strip()]
        raise Failed(said[-1].strip() if said else f"ended with {child.returncode}") from None
    if "failed" in result:
        raise Failed(result["failed"])
    return result


def end(child: subprocess.Popen[str]) -> None:
    """End a process and what it has started: a compiler that runs on would hold its output open,
    and whoever reads that would wait for it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def stage_of(out: str) -> str:
    said = [line for line in out.splitlines() if line.startswith(STAGE)]
    return said[-1].removeprefix(STAGE) if said else ""
