"""Which passes lead from a traced tape to a plain one, and in which order?

Each pass is a function tape -> tape; the verifier runs after each that changed something, so that
a broken pass is named.  Folding is not done again where it left all as it was, and nothing has
changed since.  Ranges come first: what they decide and move out of loops needs no adjoint.  They
come again at the end, for the loops that the sweeps have made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jitad.specialise.abreast import abreast
from jitad.specialise.ascend import ascend
from jitad.specialise.delay import delay
from jitad.specialise.gather import gather
from jitad.specialise.guards import apply_guards
from jitad.specialise.layout import lay_out
from jitad.specialise.masks import masks
from jitad.specialise.narrow import narrow
from jitad.specialise.overwrite import privatise
from jitad.specialise.products import products
from jitad.specialise.quotients import quotients
from jitad.specialise.ranges import ranges
from jitad.specialise.reshapes import reshapes
from jitad.specialise.resolve import resolve
from jitad.specialise.scalarise import scalarise
from jitad.specialise.shifts import shifts
from jitad.specialise.simplify import simplify
from jitad.specialise.sink import sink
from jitad.specialise.together import together
from jitad.tape.ir import Block, Tape
from jitad.tape.same import is_copy
from jitad.tape.verify import verify

Pass = Callable[[Tape], Tape]

PIPELINE: tuple[tuple[str, Pass], ...] = (
    ("guards", apply_guards),
    ("simplify", simplify),
    ("ranges", ranges),
    ("masks", masks),
    ("decided", simplify),
    ("resolve", resolve),
    ("scalarise", scalarise),
    ("privatise", privatise),
    ("reshapes", reshapes),
    ("products", products),
    ("narrow", narrow),
    ("fold", simplify),
    ("shifts", shifts),
    ("quotients", quotients),
    ("ascend", ascend),
    ("ranges again", ranges),
    ("decided again", simplify),
    ("abreast", abreast),
    ("in lanes", simplify),
    ("delay", delay),
    ("gather", gather),
    ("sink", sink),
    ("lay out", lay_out),
    ("last fold", simplify),
    ("together", together),
)


def stages(tape: Tape, after: str | None = None) -> Iterator[tuple[str, Tape]]:
    """The tape after each pass, with the pass's name; of those that come after the one named."""
    verify(tape)
    names = [name for name, _ in PIPELINE]
    folded = None  # a tape that folding has nothing to do on
    for name, run in PIPELINE[names.index(after) + 1 if after is not None else 0 :]:
        if run is not simplify or tape is not folded:
            made = run(tape) if run is resolve else _everywhere(run, tape)
            if not _compare(made, tape, lambda one, other: one is other):
                verify(made, name)
                if run is simplify and _compare(made, tape, is_copy):
                    folded = made
                tape = made
        yield name, tape


def _compare(one: Tape, other: Tape, same: Callable[[Block, Block], bool]) -> bool:
    return one.functions.keys() == other.functions.keys() and all(
        same(a.body, b.body)
        for a, b in ((one, other), *zip(one.functions.values(), other.functions.values(),
                                        strict=True))
    )  # fmt: skip


def _everywhere(run: Pass, tape: Tape) -> Tape:
    """A pass over a tape and over each of its functions."""
    functions = {name: run(t) for name, t in tape.functions.items()}
    out = run(Tape(tape.name, tape.body, tape.pos))
    return Tape(out.name, out.body, out.pos, functions)


def specialise(tape: Tape, after: str | None = None) -> Tape:
    """A plain tape."""
    for _, passed in stages(tape, after):
        tape = passed
    return tape
