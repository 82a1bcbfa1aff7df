"""Which passes lead from a traced tape to a plain one, and in which order?

Each pass is a function tape -> tape; the verifier runs between them, so that a broken pass is
named.  Ranges come first: what they decide and move out of loops needs no adjoint.  They come
again at the end, for the loops that the sweeps have made.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial

from jitad.specialise.abreast import abreast
from jitad.specialise.ascend import ascend
from jitad.specialise.assign import assign
from jitad.specialise.braid import braid
from jitad.specialise.delay import delay
from jitad.specialise.elements import elements
from jitad.specialise.families import families
from jitad.specialise.gather import gather
from jitad.specialise.guards import apply_guards
from jitad.specialise.indices import indices
from jitad.specialise.layout import lay_out
from jitad.specialise.lines import lines
from jitad.specialise.masks import masks
from jitad.specialise.mirrors import mirrors
from jitad.specialise.narrow import narrow
from jitad.specialise.once import once
from jitad.specialise.overwrite import bare, privatise
from jitad.specialise.parallel import divisions as parts
from jitad.specialise.parallel import parallel
from jitad.specialise.products import products
from jitad.specialise.quotients import quotients
from jitad.specialise.ranges import ranges
from jitad.specialise.remake import remake
from jitad.specialise.reshapes import reshapes
from jitad.specialise.resolve import resolve
from jitad.specialise.returned import returned
from jitad.specialise.roots import roots
from jitad.specialise.scalarise import scalarise
from jitad.specialise.scattered import scattered
from jitad.specialise.shifts import shifts
from jitad.specialise.simplify import simplify
from jitad.specialise.sink import sink
from jitad.specialise.slabs import in_slabs
from jitad.specialise.together import together
from jitad.specialise.turn import turn
from jitad.specialise.unfold import strides, unfold
from jitad.specialise.zeros import stores, unread
from jitad.tape.ir import Block, Tape
from jitad.tape.measure import measured
from jitad.tape.types import Scalar
from jitad.tape.verify import BrokenTape, verify

Pass = Callable[[Tape], Tape]

PIPELINE: tuple[tuple[str, Pass], ...] = (
    ("unfold", unfold),
    ("guards", apply_guards),
    ("elements", elements),
    ("simplify", simplify),
    ("returned", returned),
    ("ranges", ranges),
    ("masks", masks),
    ("families", families),
    ("decided", simplify),
    ("turn", turn),
    ("resolve", resolve),
    ("strides", strides),
    ("unread", unread),
    ("scalarise", scalarise),
    ("privatise", privatise),
    ("scattered", scattered),
    ("reshapes", reshapes),
    ("products", products),
    ("narrow", narrow),
    ("roots", roots),
    ("fold", simplify),
    ("lines", lines),
    ("shifts", shifts),
    ("quotients", quotients),
    ("ascend", ascend),
    ("ranges again", ranges),
    ("once", once),
    ("decided again", simplify),
    ("abreast", abreast),
    ("in lanes", simplify),
    ("delay", delay),
    ("assign", assign),
    ("gather", gather),
    ("sink", sink),
    ("mirrors", mirrors),
    ("lay out", lay_out),
    ("slabs", in_slabs),
    ("braid", braid),
    ("last fold", simplify),
    ("remake", remake),
    ("products again", products),
    ("together", together),
    ("stores", stores),
    ("bare", bare),
    ("indices", indices),
)

# What these look for are loops and arrays.
_OF_MANY = frozenset((elements, masks, families, turn, unread, scalarise, privatise, scattered,
                      reshapes, products, narrow, lines, shifts, quotients, ascend, once, abreast,
                      delay, assign, gather, sink, mirrors, lay_out, in_slabs, braid, remake,
                      together, stores, bare))  # fmt: skip
_TOGETHER = (unfold, returned, resolve, strides)  # look at calls and functions at once


def passes(threads: int | None) -> list[tuple[str, Pass]]:
    """Those of the pipeline; with threads, loops are divided before they are rewritten for lanes,
    which fixes their order, but when arrays lie as they will."""
    if threads is None:
        return list(PIPELINE)
    rows = dict(PIPELINE)
    laid = [("lay out first", lay_out), ("laid out", simplify), ("together first", together)]
    divide = ("parallel", lambda tape: parallel(tape, threads))
    at = [*rows].index("abreast")
    return [*list(rows.items())[:at], *laid, divide, *list(rows.items())[at:]]


def stages(
    tape: Tape, after: str | None = None, threads: int | None = None
) -> Iterator[tuple[str, Tape]]:
    """The tape after each pass, with the pass's name; of those that come after the one named.

    `threads`: at most so many run parts of its loops (0: as many as there may be); None: one does.
    """
    verify(tape)
    now, simple = _Content(tape), None
    todo = passes(threads)
    names = [name for name, _ in todo]
    for name, run in todo[names.index(after) + 1 if after is not None else 0 :]:
        if (run is not simplify or now != simple) and (now.many or run not in _OF_MANY):
            before = now
            whole = run in _TOGETHER or name == "parallel"
            tape = run(tape) if whole else _everywhere(run, tape)
            now = _Content(tape)
            if now != before:
                try:
                    verify(tape, name)
                except BrokenTape:  # but for extents that nobody used before
                    now = _Content(verify(measured(tape), name))
            # Or else more may fold: what a loop carries, what is known of an array.
            if run is simplify and (now.ops == before.ops or not now.many):
                simple = now
        yield name, tape


class _Content:
    """What a tape consists of at one time: equal where the passes between changed nothing."""

    def __init__(self, tape: Tape) -> None:
        self.ops: list[str] = []
        self.parts: list[object] = []
        self.params: list[object] = []  # compared by identity: they may hold arrays
        self.many = False  # is there a loop, an array or a stack?
        for t in (tape, *tape.functions.values()):
            self._add(t.body)

    def _add(self, block: Block) -> None:
        equations = block.equations
        self.ops += [e.op for e in equations]
        self.params += [e.params for e in equations]
        self.parts += (len(equations), *block.params, *block.results)
        self.parts += [e.ins for e in equations]
        self.parts += [e.outs for e in equations]
        self.many = self.many or any(type(p.type) is not Scalar for p in block.params)
        for v in [v for e in equations for v in e.outs if type(v.type) is not Scalar]:
            self.many = True
            self.parts.append(v.shape)
        for e in [e for e in equations if e.blocks]:
            self.many = self.many or e.op in ("for", "while")
            for b in e.blocks:
                self._add(b)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Content)
            and self.ops == other.ops
            and self.parts == other.parts
            and all(map(operator.is_, self.params, other.params))
        )


def _everywhere(run: Pass, tape: Tape) -> Tape:
    """A pass over a tape and over each of its functions."""
    inner = partial(lay_out, copying=False) if run is lay_out else run
    functions = {name: inner(t) for name, t in tape.functions.items()}
    out = run(Tape(tape.name, tape.body, tape.pos))
    return Tape(out.name, out.body, out.pos, functions)


def specialise(tape: Tape, after: str | None = None, threads: int | None = None) -> Tape:
    """A plain tape; `threads` as for `stages`."""
    for _, passed in stages(tape, after, threads):
        tape = passed
    return tape


def divisions(tape: Tape, threads: int) -> list[str]:
    """A line for each loop that is asked whether it runs on threads."""
    for name, passed in stages(tape, threads=threads):
        tape = passed
        if name == "together first":  # what comes next would change it
            break
    return [f"{pos}: {said}" for pos, said in parts(tape) if pos is not None]
