"""Which passes lead from a traced tape to a plain one, and in which order?

Each pass is a function tape -> tape; the verifier runs between them, so that a broken pass is
named.  Ranges come first: what they decide and move out of loops needs no adjoint.  They come
again at the end, for the loops that the sweeps have made.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from jitad.specialise.abreast import abreast
from jitad.specialise.ascend import ascend
from jitad.specialise.assign import assign
from jitad.specialise.beside import beside
from jitad.specialise.braid import braid
from jitad.specialise.columns import columns
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
from jitad.specialise.still import still
from jitad.specialise.systems import systems
from jitad.specialise.together import together
from jitad.specialise.triangles import triangles
from jitad.specialise.turn import turn
from jitad.specialise.unfold import strides, unfold
from jitad.specialise.zeros import stores, unread
from jitad.tape.ir import Block, Tape, Var
from jitad.tape.measure import measured
from jitad.tape.types import Array, Scalar, Stack, Type
from jitad.tape.verify import BrokenTape, verify

Pass = Callable[[Tape], Tape]

PIPELINE: tuple[tuple[str, Pass], ...] = (
    ("unfold", unfold),
    ("guards", apply_guards),
    ("beside", beside),
    ("elements", elements),
    ("simplify", simplify),
    ("returned", returned),
    ("ranges", ranges),
    ("masks", masks),
    ("families", families),
    ("decided", simplify),
    ("turn", turn),
    ("columns", columns),
    ("resolve", resolve),
    ("strides", strides),
    ("unread", unread),
    ("triangles", triangles),
    ("systems", systems),
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
    ("still", still),
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

# What there must be in a tape for a pass to find anything: operations, or what `_Content.holds`
# says of loops and arrays; of those with | between them, one.
_LOOKS_FOR: dict[Pass, str] = {
    unfold: "functions",
    apply_guards: "check eq",
    beside: "store_slice",
    elements: "slice|store",
    returned: "functions",
    masks: "positions",
    families: "for matmul",
    turn: "vjp nest",
    columns: "nest matmul|sum",
    strides: "functions",
    unread: "store|store_slice",
    triangles: "cholesky solve",
    systems: "matrix",
    scalarise: "array",
    privatise: "store|store_slice",
    scattered: "accum_take",
    reshapes: "reshape",
    products: "matmul|transpose",
    narrow: "broadcast",
    roots: "sqrt",
    lines: "for array",
    shifts: "accum_slice",
    quotients: "div many",
    ascend: "for pop",
    once: "nest",
    still: "nest",
    abreast: "nest",
    delay: "for accum|blank",
    assign: "for full accum",
    gather: "for check",
    sink: "store_slice",
    mirrors: "matrix",
    lay_out: "matrix",
    in_slabs: "push",
    braid: "full|blank|pack load|store|accum",
    remake: "for|while matrix",
    together: "many",
    stores: "full accum|accum_slice",
    bare: "full",
    indices: "check array",
}
_OPERATORS = {"vjp", "jvp"}
_NEEDS = {run: [set(p.split("|")) for p in text.split()] for run, text in _LOOKS_FOR.items()}
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
    now = _Content(tape)
    # What is folded while it is traced, and again where an operator is resolved.
    simple = now if now.holds & _OPERATORS and not (now.many or tape.functions) else None
    todo = passes(threads)
    names = [name for name, _ in todo]
    for name, run in todo[names.index(after) + 1 if after is not None else 0 :]:
        if (run is not simplify or now != simple) and now.has(run):
            before = now
            whole = run in _TOGETHER or name == "parallel"
            with np.errstate(all="ignore"):  # rules compute with what is known: like kernels
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
            # A sweep without loops and arrays was folded while it was put in its place.
            if run is resolve and now != before and not (now.many or tape.functions):
                simple = now
        yield name, tape


class _Content:
    """What a tape consists of at one time: equal where the passes between changed nothing."""

    def __init__(self, tape: Tape) -> None:
        self.ops: list[str] = []
        self.parts: list[object] = []
        self.params: list[object] = []  # compared by identity: they may hold arrays
        # The operations, and: functions; array, matrix (two axes or more); nest, a counted loop in
        # another; many, anything but numbers and branches
        self.holds: set[str] = set()
        for t in (tape, *tape.functions.values()):
            self._add(t.body, False)
        self.holds.update(self.ops)
        if tape.functions:
            self.holds.add("functions")
        self.many = not self.holds.isdisjoint(("array", "stack", "for", "while"))
        if self.many:
            self.holds.add("many")

    def has(self, run: Pass) -> bool:
        """Is there anything that the pass looks for?"""
        return not any(self.holds.isdisjoint(some) for some in _NEEDS.get(run, ()))

    def _kinds(self, variables: list[Var]) -> None:
        for v in variables:
            t: Type = v.type
            if isinstance(t, Stack):
                self.holds.add("stack")
                t = t.element
            if isinstance(t, Array):
                self.holds.update(("array", "matrix") if t.ndim > 1 else ("array",))

    def _add(self, block: Block, in_loop: bool) -> None:
        equations = block.equations
        self.ops += [e.op for e in equations]
        self.params += [e.params for e in equations]
        self.parts += (len(equations), *block.params, *block.results)
        self.parts += [e.ins for e in equations]
        self.parts += [e.outs for e in equations]
        arrays = [v for e in equations for v in e.outs if type(v.type) is not Scalar]
        self.parts += [v.shape for v in arrays]
        self._kinds(arrays)
        self._kinds([p for p in block.params if type(p.type) is not Scalar])
        for e in [e for e in equations if e.blocks]:
            if in_loop and e.op == "for":
                self.holds.add("nest")
            for b in e.blocks:
                self._add(b, in_loop or e.op == "for")

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
