"""Which of the deliberate faults do the tests miss?  `python -m tests.faults [words ...]`

With words only the faults whose description or file contains one of them are tried.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.faults.fault import FAST, caught, copy_engine, passes
from tests.faults.table import FAULTS


def main(words: list[str]) -> int:
    """The number of faults that went unnoticed."""
    chosen = [f for f in FAULTS if not words or any(w in f.what + f.file for w in words)]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_engine(Path(folder))
        if not passes(copy, FAST):
            print("The tests fail without any fault: nothing can be learnt.")
            return 1
        for k, fault in enumerate(chosen, 1):
            start = time.perf_counter()
            found = caught(fault, copy)
            missed += not found
            took = f"{time.perf_counter() - start:5.1f} s"
            verdict = "caught" if found else "MISSED"
            print(f"{k:3}/{len(chosen)} {verdict} {took}  {fault.file}: {fault.what}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults caught.")
    return missed


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
