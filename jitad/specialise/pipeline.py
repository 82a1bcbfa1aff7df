"""Which passes lead from a traced tape to a plain one, and in which order?

Each pass is a function tape -> tape; the verifier runs between them, so that a broken pass is
named.  Ranges come first: what they decide and move out of loops needs no adjoint.  They come
again at the end, for the loops that the sweeps have made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jitad.specialise.ranges import ranges
from jitad.specialise.resolve import resolve, simplify
from jitad.tape.ir import Tape
from jitad.tape.verify import verify

Pass = Callable[[Tape], Tape]

PIPELINE: tuple[tuple[str, Pass], ...] = (
    ("simplify", simplify),
    ("ranges", ranges),
    ("fold", simplify),
    ("resolve", resolve),
    ("simplify adjoints", simplify),
    ("ranges of adjoints", ranges),
    ("fold adjoints", simplify),
)


def stages(tape: Tape) -> Iterator[tuple[str, Tape]]:
    """The tape after each pass, with the pass's name.

    The first pass copies the tape; later ones may change it in place, so a stage that is to be
    kept is shown (`tape.show`) before the next one is asked for.
    """
    verify(tape)
    for name, run in PIPELINE:
        tape = verify(run(tape), name)
        yield name, tape


def specialise(tape: Tape) -> Tape:
    """A plain tape: derivative operators resolved, checks and index arithmetic reduced."""
    for _, after in stages(tape):
        tape = after
    return tape
