"""Which of the deliberate faults do the tests miss?  `python -m tests.faults [words ...]`

With words only the faults whose description or file contains one of them are tried.  The tests of a
fault are run without it first: they must pass then, and the time they take is the measure for
what has no end.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.faults.fault import caught, copy_engine, limit
from tests.faults.table import FAULTS


def main(words: list[str]) -> int:
    """The number of faults that went unnoticed, or that no test could notice."""
    chosen = [f for f in FAULTS if not words or any(w in f.what + f.file for w in words)]
    found: Counter[str] = Counter()
    limits: dict[tuple[str, ...], float | None] = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_engine(Path(folder))
        for k, fault in enumerate(chosen, 1):
            if fault.tests not in limits:
                limits[fault.tests] = limit(copy, fault.tests)
            seconds = limits[fault.tests]
            start = time.perf_counter()
            verdict = "NOT TRIED, as its tests fail without it:"
            if seconds is not None:
                verdict = "caught" if caught(fault, copy, seconds) else "MISSED"
            found[verdict] += 1
            took = f"{time.perf_counter() - start:5.1f} s"
            print(f"{k:3}/{len(chosen)} {verdict} {took}  {fault.file}: {fault.what}", flush=True)
    print(f"{found['caught']} of {len(chosen)} faults caught.")
    return len(chosen) - found["caught"]


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
