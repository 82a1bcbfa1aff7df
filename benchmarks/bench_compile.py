"""How does the first call grow with a function's length?  ``python -m benchmarks.bench_compile``

Generated straight-line functions (of as many lines as the arguments say), of numbers and with
elements of arrays; the seconds of each stage of the first gradient, with nothing on disk: tracing,
passes over the tape, emission, Numba with LLVM.  Prints a table, draws benchmarks/out/compile.png.
"""

import linecache
import math
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from jitad import grad, jit_grad
from jitad.emit.kernel import kernel
from jitad.emit.undisturbed import undisturbed
from jitad.specialise.pipeline import specialise
from jitad.tape.types import Scalar
from jitad.trace.trace import trace

OUT = Path(__file__).resolve().parent / "out"
SIZES = (100, 300, 1000, 3000)
STAGES = ("trace", "passes", "emit", "compile")


def straight_line(lines: int, arrays: bool) -> Callable[..., Any]:
    """A function of two numbers, each line of which uses some of the lines right before it."""
    draw = random.Random(lines)
    names, body = ["x", "y"], ["    a = np.zeros(8)"] if arrays else []
    for k in range(lines):
        p, q = draw.choice(names[-6:]), draw.choice(names[-6:])
        forms = [f"{p} * {q} + 0.5", f"math.sin({p}) - {q}", f"{p} / (1.5 + {q} * {q})",
                 f"math.exp(-{p} * {p})", f"({p} + {q}) * 0.25 - 0.125 * {p}"]  # fmt: skip
        if arrays and draw.random() < 0.3:
            body.append(f"    a[{draw.randrange(8)}] = {p} * {q}")
            continue
        if arrays:
            forms.append(f"a[{draw.randrange(8)}] * {p}")
        body.append(f"    v{k} = {draw.choice(forms)}")
        names.append(f"v{k}")
    text = "\n".join(["def f(x, y):", *body, f"    return {' + '.join(names[-6:])}"]) + "\n"
    file = f"<straight {lines} {arrays}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "math": math}
    exec(compile(text, file, "exec"), space)
    return space["f"]


def stages(f: Callable[..., Any]) -> dict[str, float]:
    """Seconds of processor time of each stage."""
    found: dict[str, float] = {}

    def timed(name: str, run: Callable[[], Any]) -> Any:
        start = time.process_time()
        out = run()
        found[name] = time.process_time() - start
        return out

    with undisturbed():
        number = Scalar("f8", True)
        traced = timed("trace", lambda: trace(grad(f, (0, 1)), (number, number)))
        tape = timed("passes", lambda: specialise(traced.tape))
        made = timed("emit", lambda: kernel(tape))
        timed("compile", lambda: made(0.5, 0.7))
    return found


def main() -> None:
    os.environ["JITAD_CACHE_DIR"] = ""
    sizes = [int(n) for n in sys.argv[1:]] or list(SIZES)
    jit_grad(straight_line(20, True), (0, 1))(0.5, 0.7)  # what is done once a process
    rows: dict[str, list[dict[str, float]]] = {}
    print(f"{'lines':<16}{''.join(f'{s:>9}' for s in STAGES)}{'all':>9}{'s/1000':>9}")
    for what, arrays in (("numbers", False), ("elements", True)):
        for n in sizes:
            found = stages(straight_line(n, arrays))
            rows.setdefault(what, []).append(found)
            every = sum(found.values())
            cells = "".join(f"{found[s]:>9.2f}" for s in STAGES)
            print(f"{f'{n} {what}':<16}{cells}{every:>9.2f}{1000 * every / n:>9.2f}", flush=True)
    draw(sizes, rows)


def draw(sizes: list[int], rows: dict[str, list[dict[str, float]]]) -> None:
    try:
        import matplotlib
    except ImportError:
        print("no picture: matplotlib is not installed (pip install -e '.[bench]')")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(rows), figsize=(9, 4), sharey=True)
    for ax, (what, found) in zip(axes, rows.items(), strict=True):
        ax.stackplot(sizes, [[row[s] for row in found] for s in STAGES], labels=STAGES)
        ax.set(title=what, xlabel="lines")
    axes[0].set_ylabel("seconds of the first call")
    axes[0].legend(loc="upper left")
    OUT.mkdir(exist_ok=True)
    figure.savefig(OUT / "compile.png", dpi=120, bbox_inches="tight")
    print(f"picture: {OUT / 'compile.png'}")


if __name__ == "__main__":
    main()
