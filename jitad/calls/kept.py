"""How does a process find the kernel that an earlier one made of the same tape?

What passes and emission make of a traced tape is a text, the kernel's source.  It is kept on disk
under the content of all that it is made from: the tape, with the user's lines that it speaks of,
jitad's own source, and what machine code depends on.  Numbers that differ from run to run are
counted anew (variables, tags).  A tape that holds something whose content can't be told (the
functions of derivative rules) is not kept; nor is anything where no folder is in use.
"""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from jitad.emit import cachefiles
from jitad.emit.kernel import Kernel, kernel
from jitad.emit.owncode import digest
from jitad.emit.surroundings import surroundings
from jitad.late import Late
from jitad.tape.ir import Atom, Block, Lit, Pos, Tape, Var, walk
from jitad.tape.types import Type

# Where the code between a tape and its kernel lies, beside what machine code is made from.
_PACKAGES = ("", "calls", "specialise", "sweeps", "tape", "values", "values/complexes",
             "values/numpy", "values/scipy")  # fmt: skip


class _Unknown(Exception):
    """Something whose content can't be told."""


def kernel_of(tape: Tape, threads: int | None = None) -> Kernel:
    """The kernel of a traced tape, from disk where it was made before."""
    folder = cachefiles.folder()
    key = content(tape) if folder is not None else None
    if folder is None or key is None:
        return _made(tape, threads)
    whole = "\0".join((surroundings(), _engine(), str(threads), key))
    path = folder / f"jitad_tape_{hashlib.sha256(whole.encode()).hexdigest()}.txt"
    found = cachefiles.unseal(cachefiles.read(path))
    if found is not None:
        name, brief, source = found.decode().split("\n", 2)
        return Kernel(source, name, int(brief))
    made = _made(tape, threads)
    cachefiles.write(path, cachefiles.seal(f"{made.name}\n{made.brief}\n{made.source}".encode()))
    return made


def _made(tape: Tape, threads: int | None) -> Kernel:
    from jitad.specialise.pipeline import specialise  # not needed for what is found on disk

    return kernel(specialise(tape, threads=threads))


@cache
def _engine() -> str:
    """The content of the code between a tape and its kernel, but what `surroundings` covers."""
    return digest(*_PACKAGES)


def content(tape: Tape) -> str | None:
    """Everything that a tape says, in words that mean the same in every process."""
    try:
        return "\n".join(_Content(tape).lines())
    except _Unknown:
        return None


class _Content:
    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.numbers: dict[Var, int] = {}
        every = (tape, *tape.functions.values())
        tags = {e.params["tag"] for t in every for e in walk(t.body) if "tag" in e.params}
        self.tags = {tag: k for k, tag in enumerate(sorted(tags))}
        self.places: dict[Pos, str] = {}

    def lines(self) -> Iterator[str]:
        for name, t in (("", self.tape), *self.tape.functions.items()):
            yield f"{name} {t.name} {self.place(t.pos)}"
            yield from self.block(t.body)

    def block(self, block: Block) -> Iterator[str]:
        yield f"block {self.made(block.params)}"
        for e in block.equations:
            ins = " ".join([self.atom(a) for a in e.ins])
            params = " ".join([f"{k}={self.param(k, v)}" for k, v in sorted(e.params.items())])
            yield f"{e.op} {ins} {params} {self.place(e.pos)}"
            for b in e.blocks:
                yield from self.block(b)
            yield f"-> {self.made(e.outs)}"
        yield f"end {' '.join([self.atom(a) for a in block.results])}"

    def made(self, variables: list[Var] | tuple[Var, ...]) -> str:
        names = [self.atom(v) for v in variables]
        return " ".join(
            f"{name} {_type(v.type)} {v.name!r} [{' '.join([self.atom(a) for a in v.shape])}]"
            for name, v in zip(names, variables, strict=True)
        )  # fmt: skip

    def atom(self, a: Atom) -> str:
        if isinstance(a, Lit):
            return f"{a.value!r}:{_type(a.type)}"
        if a not in self.numbers:  # now it is made, or it is an extent that is read off further on
            self.numbers[a] = len(self.numbers)
        return f"v{self.numbers[a]}"

    def param(self, name: str, value: Any) -> str:
        return str(self.tags[value]) if name == "tag" else _plain(value)

    def place(self, pos: Pos | None) -> str:
        """With the text that stands there: messages quote it."""
        if pos is None:
            return ""
        if pos not in self.places:
            self.places[pos] = f"{pos!r} {linecache.getline(pos.file, pos.line)!r}"
        return self.places[pos]


@cache
def _type(t: Type) -> str:
    return repr(t)


def _plain(value: Any) -> str:
    if value is None or type(value) in (int, bool, float, str, bytes):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return f"({', '.join([_plain(v) for v in value])})"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, Late):
        return f"late {value.key!r}"
    if isinstance(value, np.generic):
        return f"{value.dtype}({value!r})"
    if is_dataclass(value) and type(value).__module__.startswith("jitad.tape."):
        parts = [f"{f.name}={_plain(getattr(value, f.name))}" for f in fields(value)]
        return f"{type(value).__qualname__}({', '.join(parts)})"
    raise _Unknown(type(value))
