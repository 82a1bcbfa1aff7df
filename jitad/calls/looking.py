"""What did the user's function become: its tape, its loops?

Told of each loop of the emitted source, by the user's line: whether it is the function's own loop,
its reverse, or both at once; what it keeps for the reverse sweep; what the reverse sweep computes
again; and whether it runs several iterations at a time.  That is not guessed: the kernel is
compiled once more with the lines of its source attached to LLVM's instructions, and the vector
instructions of its loops are looked at.  Why a loop has none is read off the source.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from jitad.emit import native
from jitad.emit.kernel import Kernel
from jitad.errors import JitadError
from jitad.specialise.pipeline import divisions, specialise, stages
from jitad.specialise.slabs import RECORDS
from jitad.tape.ir import Block, Equation, Pos, Tape, Var, walk
from jitad.tape.show import show
from jitad.tape.types import Array, Scalar, Stack

_PLACE = re.compile(r"\s*# (\S+:\d+)$")
_SCALAR_WORK = frozenset("range len load store accum fadd plus where abs min max int float".split())
Node = ast.For | ast.While


@dataclass
class Loop:
    """A loop of the emitted source."""

    node: Node
    where: str  # the user's file and line
    depth: int
    own: list[ast.stmt] = field(default_factory=list)  # its statements, less those of loops in it
    inner: bool = False  # are there loops in it?
    keeps: bool = False  # does it, or a loop in it, put something on a stack of records?
    takes: bool = False  # or take from one?

    def nodes(self) -> Iterator[ast.AST]:
        for s in self.own:
            yield from ast.walk(s) if not isinstance(s, ast.If) else ast.walk(s.test)


def tape_after(stage: str, traced: Tape, threads: int | None) -> str:
    """The tape of a kernel after a stage: "traced", a pass, or "plain"."""
    if stage == "traced":
        return show(traced)
    names, tape = [], traced
    for name, tape in stages(traced, threads=threads):
        names.append(name)
        if name == stage:
            return show(tape)
    if stage == "plain":
        return show(tape)
    raise JitadError(f"no stage {stage!r}", None, f"Stages are traced, {', '.join(names)}, plain.")


def explained(traced: Tape, kernel: Kernel, threads: int | None) -> list[str]:
    """A line for each loop of a kernel, and for each that might be divided among threads."""
    widths = native.vector_widths(kernel.dispatcher)
    plain = specialise(traced, threads=threads)
    divided = [] if threads is None else divisions(traced, threads)
    return [*_counted(describe(traced, plain, kernel.source, widths)), *divided]


def _counted(lines: list[str]) -> list[str]:
    """Outer loops, with those in them, that read alike and follow each other, told once."""
    nests: list[list[str]] = []
    for line in lines:
        if line.startswith(" ") and nests:
            nests[-1].append(line)
        else:
            nests.append([line])
    out: list[str] = []
    for (first, *rest), alike in itertools.groupby(nests):
        count = sum(1 for _ in alike)
        out += [f"{first} ({count} such loops)" if count > 1 else first, *rest]
    return out


def describe(traced: Tape, plain: Tape, source: str, widths: dict[int, int]) -> list[str]:
    """A line for each loop; `widths`: lanes of the widest vectors by line of the source."""
    found = _loops(source)
    stacks = _stacks(source)
    again = _computed_again(traced, plain)
    differentiated = any(e.op in ("vjp", "jvp") for e in walk(traced.body))
    outer = Counter(loop.where for loop in found if not loop.depth)
    lines = []
    for loop in found:
        kept = _kept(loop, stacks)
        said = [_role(loop, outer[loop.where])] if differentiated and not loop.depth else []
        if kept:
            said.append(f"keeps {sum(kept.values())} bytes an iteration ({', '.join(kept)})")
        if loop.takes and loop.where in again:
            said.append(f"computes {again.pop(loop.where)} again")
        said.append(_lanes(loop, widths))
        lines.append(f"{'  ' * loop.depth}{loop.where}: {'; '.join(s for s in said if s)}")
    return lines


def _role(loop: Loop, count: int) -> str:
    """What an outer loop is for; "" where a line has several that keep nothing."""
    if loop.takes:
        return "the reverse sweep"
    if loop.keeps:
        return "the function's own loop"
    return "one pass for the function and its derivative" if count == 1 else ""


# -- the source -----------------------------------------------------------------------------------


def _loops(source: str) -> list[Loop]:
    """In the order of the source."""
    text = source.splitlines()
    places: list[str] = []
    here = ""
    for line in text:
        if match := _PLACE.match(line):
            here = match.group(1)
        places.append(here)
    found: list[Loop] = []
    over_parts = _over_parts(source)

    def visit(statements: list[ast.stmt], around: Loop | None, depth: int) -> None:
        for s in statements:
            if isinstance(s, ast.For) and ast.unparse(s.iter) in over_parts:
                continue
            if isinstance(s, (ast.For, ast.While)):
                loop = Loop(s, places[s.lineno - 1], depth)
                if around is not None:
                    around.inner = True
                found.append(loop)
                visit(s.body, loop, depth + 1)
                if around is not None:
                    around.keeps, around.takes = (around.keeps or loop.keeps,
                                                  around.takes or loop.takes)  # fmt: skip
                continue
            if around is not None:
                around.own.append(s)
                match s:
                    case ast.AugAssign(ast.Name(top), change, _) if top.endswith("_top"):
                        around.keeps |= isinstance(change, ast.Add)
                        around.takes |= isinstance(change, ast.Sub)
            if isinstance(s, ast.If):
                visit(s.body, around, depth)
                visit(s.orelse, around, depth)

    for definition in ast.parse(source).body:
        if isinstance(definition, ast.FunctionDef):
            visit(definition.body, None, 0)
    return [loop for loop in found if loop.where]


def _over_parts(source: str) -> set[str]:
    """What loops go over that add up what the parts of a divided loop have left."""
    counts = set(re.findall(r"spread\(\w+, (.+?), \d+, [01], ", source))
    for name, first in re.findall(r"(\w+) = (\S+|\w+\(.+\)) (?:- 1|\* 2)$", source, re.MULTILINE):
        if first in counts:
            counts.add(name)
    return {f"range({c})" for c in counts}


def _stacks(source: str) -> dict[str, int]:
    """The buffers of records: their names and the bytes of an element."""
    tops = set(re.findall(r"\b(\w+)_top\b", source))
    made = re.findall(r"\b(\w+) = empty\(np\.(\w+), ", source)
    slab = re.compile(rf"{RECORDS}(_\d+)?")
    return {name: np.dtype(kind.rstrip("_")).itemsize for name, kind in made
            if name in tops or slab.fullmatch(name)}  # fmt: skip


def _kept(loop: Loop, stacks: dict[str, int]) -> dict[str, int]:
    """What an iteration keeps, in bytes."""
    kept: dict[str, int] = {}
    for n in loop.nodes():
        match n:
            case ast.Call(ast.Name("store"), [ast.Name(buffer), value, *_]) if buffer in stacks:
                what = ast.unparse(value)
                kept[what] = kept.get(what, 0) + stacks[buffer]
            case ast.Subscript(ast.Name(buffer), ctx=ast.Store()) if buffer in stacks:
                kept[buffer] = kept.get(buffer, 0) + stacks[buffer]
    return kept


def _lanes(loop: Loop, widths: dict[int, int]) -> str:
    lines = {s.lineno for s in loop.own}
    width = max((widths.get(n, 1) for n in lines), default=1)
    if width > 1:
        return f"{width} iterations at a time"
    return f"one iteration at a time: {_why(loop)}"


def _why(loop: Loop) -> str:
    """What keeps a loop from being vectorised."""
    if loop.inner:
        return "there are loops in it"
    if isinstance(loop.node, ast.While):
        return "how often it runs isn't known before"
    if any(isinstance(n, ast.Raise) for s in loop.own for n in ast.walk(s)):
        return "an iteration may raise"
    carried = [c for c in _carried(loop) if not c.endswith("_top")]
    if carried:
        return f"an iteration needs {' and '.join(carried[:2])} of the one before"
    from jitad.emit.libraries import libm

    for n in loop.nodes():
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
            name = n.func.id
            if name not in _SCALAR_WORK and not libm.vector_forms(name, 64, len(n.args)):
                return f"{name} has no vector form"
    return "LLVM sees no gain, or not that its arrays are apart"


def _carried(loop: Loop) -> list[str]:
    """Names that an iteration reads before it sets them, but for sums whose order is free."""
    set_here = {
        t.id for s in loop.own for n in ast.walk(s) if isinstance(n, ast.Name)
        for t in [n] if isinstance(t.ctx, ast.Store)
    }  # fmt: skip
    known: set[str] = set()
    found: dict[str, None] = {}
    for s in loop.own:
        if isinstance(s, ast.If):
            reads = {n.id for n in ast.walk(s.test) if isinstance(n, ast.Name)}
        else:
            reads = {n.id for n in ast.walk(s) if isinstance(n, ast.Name)
                     and isinstance(n.ctx, ast.Load)}  # fmt: skip
        own = {n.id for n in ast.walk(s) if isinstance(n, ast.Name)
               and isinstance(n.ctx, ast.Store) and not isinstance(s, ast.If)}  # fmt: skip
        match s:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("fadd"), [ast.Name(first), _])) if (
                name == first
            ):
                reads = reads - {name}
        found.update(dict.fromkeys(sorted((reads & set_here) - known)))
        known |= own
    return list(found)


# -- the tape -------------------------------------------------------------------------------------


def _computed_again(traced: Tape, plain: Tape) -> dict[str, str]:
    """What reverse loops compute of the function's own operations, by the user's line."""
    theirs = {(e.op, e.pos) for e in walk(traced.body) if not e.blocks}
    out: dict[str, str] = {}
    for tape in (plain, *plain.functions.values()):
        for e in walk(tape.body):
            if e.op in ("for", "while") and e.pos is not None and _takes(e.blocks[-1]):
                names = _again(e, theirs)
                if names:
                    out[f"{e.pos!s}"] = ", ".join(
                        op if n == 1 else f"{n} {op}" for op, n in names.items()
                    )
    return out


def _takes(block: Block) -> bool:
    return any(e.op == "pop" for e in block.equations)


_FREE = ("load", "cast", "pop", "dim", "push")


def _again(loop: Equation, theirs: set[tuple[str, Pos | None]]) -> Counter[str]:
    """Operations of the function in a loop that depend on no adjoint."""
    block = loop.blocks[-1]
    adjoint: set[Var] = {p for p in block.params if not isinstance(p.type, Stack)}
    if loop.op == "for":
        adjoint.discard(block.params[0])
    found: Counter[str] = Counter()
    for e in block.equations:
        if any(isinstance(a, Var) and a in adjoint for a in e.ins) or e.blocks:
            adjoint.update(e.outs)
        elif e.op not in _FREE and (e.op, e.pos) in theirs and _is_float(e):
            found[e.op] += 1
    return found


def _is_float(e: Equation) -> bool:
    types = (v.type for v in e.outs)
    return any(isinstance(t, (Scalar, Array)) and t.dtype[0] == "f" for t in types)
