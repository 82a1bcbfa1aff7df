"""Speak GradBench's protocol, or compare with C++: see `benchmarks/gradbench/__init__.py`."""

import os
import sys
from typing import TextIO

# Before NumPy is loaded: GradBench measures one thread.
for library in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def replies_alone() -> TextIO:
    """Standard output for the replies; whatever else is written there goes to standard error."""
    sys.stdout.flush()
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return replies


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--compare"]:
        from benchmarks.gradbench.compare import compare

        compare(arguments[1:])
        return
    if arguments[:1] == ["--peers"]:
        from benchmarks.gradbench import peers

        peers.run(arguments[1:])
        return
    replies = replies_alone()
    from benchmarks.gradbench.evals import evals
    from benchmarks.gradbench.protocol import serve

    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    serve(sys.stdin, replies, evals())


if __name__ == "__main__":
    main(sys.argv[1:])
