"""How do the functions of everyday use compare, in a minute or two?  All in one process.

    python -m benchmarks.peers [NAME ...] [--sizes small medium large] [--peers jax torch]
                               [--seconds 1]

Prints a table in Markdown: jitad's time for value and gradient, and its ratio to each peer's (the
median of interleaved rounds, by the processor's time; below 1, jitad is faster). Results are
compared before.
`python -m benchmarks.report --peers --everyday` has each in a process of its own, with
quartiles and first calls, and takes far longer.
"""

import argparse
from time import process_time

import numpy as np

from benchmarks import peers, timing
from benchmarks.peers import everyday
from benchmarks.report.measure import on_one_core
from benchmarks.report.table import plain
from benchmarks.subjects import check_same
from jitad import jit_value_and_grad


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("names", nargs="*", default=everyday.NAMES, metavar="NAME")
    parser.add_argument("--sizes", nargs="+", choices=everyday.ELEMENTS, default=everyday.ELEMENTS)
    parser.add_argument("--peers", nargs="+", choices=peers.NAMES, default=("jax", "torch"))
    parser.add_argument("--seconds", type=float, default=1.0)
    chosen = parser.parse_args()
    on_one_core()
    print("| function | elements | jitad | " + " | ".join(f"/ {p}" for p in chosen.peers) + " |")
    print("|---" * (3 + len(chosen.peers)) + "|")
    for name in chosen.names:
        function = everyday.load(name)
        gradient = jit_value_and_grad(function.objective, argnums=function.argnums)
        for size in chosen.sizes:
            print(line(function, gradient, size, chosen.peers, chosen.seconds), flush=True)


def line(function, gradient, size, names, seconds) -> str:  # type: ignore[no-untyped-def]
    arguments = function.inputs(size)
    expected = gradient(*arguments)
    subjects = {"jitad": lambda: gradient(*arguments)}
    for peer in names:
        call = peers.value_and_gradient(peer, function, arguments)
        check_same(call(), expected, 1e-6)
        subjects[peer] = call
    times = timing.interleaved(subjects, 9, seconds, clock=process_time)
    ratios = (plain(timing.ratio(times["jitad"], times[p]).median) for p in names)
    took = timing.readable(float(np.median(times["jitad"])))
    elements = f"10^{len(str(everyday.ELEMENTS[size])) - 1}"
    return f"| {function.name} | {elements} | {took} | {' | '.join(ratios)} |"


if __name__ == "__main__":
    main()
