"""How is a sparse matrix computed by one kernel, each entry where its row is made?

A first kernel tells the places, a second one, made for them, computes the entries (`local.py`,
`places.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from jitad.emit import native
from jitad.emit.kernel import Kernel, kernel
from jitad.immutable import immutable
from jitad.runtime.leaves import is_real
from jitad.sparsity import local, places
from jitad.sparsity.additions import additions
from jitad.sparsity.places import Layout, NotLocal
from jitad.specialise.pipeline import specialise, stages
from jitad.specialise.simplify import simplify
from jitad.specialise.split import split
from jitad.specialise.strips import strips
from jitad.structures import flatten, unflatten
from jitad.tape.ir import Block, Tape, Var
from jitad.tape.types import is_float
from jitad.trace.traced import Traced

Function = Callable[..., Any]
_BEFORE = "fold"  # the pass after which derivatives are resolved and small arrays taken apart


@immutable
class Direct:
    """The kernel of the entries, and where they are."""

    kernel: Kernel
    layout: Layout
    pattern: Any
    params: tuple[Var, ...]
    sweeps = 1

    @cached_property
    def _ready(self) -> tuple[Any, list[Any], int]:
        """The direct way into the kernel, what it is given beside arguments, how many entries."""
        way = native.direct(self.kernel.dispatcher, self.params)
        return way, self.layout.arrays, self.pattern.nnz

    def entries(self, values: Sequence[Any]) -> Any:
        """The entries, given what the function's tape takes."""
        way, arrays, nnz = self._ready
        out = NotImplemented if way is None else way(*values, *arrays)
        (data,) = self.kernel(*values, *arrays) if out is NotImplemented else out
        return data if len(data) == nnz else data[:nnz]


def direct(
    traced: Traced, f: Function, args: tuple[Any, ...], positions: Sequence[int],
    completed: Callable[[Any], Any],
) -> Direct:  # fmt: skip
    """For a function whose result is a vector; `completed` gives the pattern that is wanted, for
    that of the entries that there are.  Raises NotLocal where there is no such kernel."""
    if traced.guessed or traced.rooms or not all(_is_harmless(c) for c in traced.commits):
        raise NotLocal("effects")
    active = _active(traced, f, args, positions)
    plain = next(t for name, t in stages(traced.tape) if name == _BEFORE)
    body = Block(plain.body.params, plain.body.equations, plain.body.results[:1])
    tape = additions(Tape(plain.name, body, plain.pos, plain.functions))
    if plain.functions:
        raise NotLocal("functions")
    values = traced.arguments(f, args)
    found = kernel(specialise(local.places(tape, active), _BEFORE))(*values)
    terms = places.terms(found, sum(np.size(values[k]) for k in active))
    pattern = completed(terms.pattern())
    layout = places.layout(terms, pattern)
    made = specialise(simplify(split(strips(local.values(tape, active, layout)))), _BEFORE)
    entries = kernel(made)
    entries(*values, *layout.arrays)  # compiled: there is a direct way in from now on
    return Direct(entries, layout, pattern, tuple(made.body.params))


def _is_harmless(commit: Any) -> bool:
    """A derivative does not write to arrays of its caller."""
    return commit.slot == "content" and isinstance(commit.path.root, tuple)


def _active(
    traced: Traced, f: Function, args: tuple[Any, ...], positions: Sequence[int]
) -> list[int]:
    """Which parameters of the tape are the floats of these arguments, in order: marked ones are
    looked for."""
    marked, marks = list(args), list[Any]()
    for k in positions:
        leaves, structure = flatten(args[k])
        new = []
        for x in leaves:
            if not is_real(x):
                new.append(x)
                continue
            mark: Any = len(marks) + 0.5
            if isinstance(x, np.ndarray):
                mark = np.zeros((0,) * x.ndim, x.dtype)
            elif isinstance(x, np.generic):
                mark = x.dtype.type(mark)
            elif not isinstance(x, float):
                raise NotLocal("a number of another kind")
            marks.append(mark)
            new.append(mark)
        marked[k] = unflatten(structure, new)
    found: dict[int, int] = {}
    params = traced.tape.body.params
    for i in traced.inputs:
        if not (isinstance(i.path.root, tuple) and is_float(i.type)):
            continue
        if i.path.root[1] not in positions:
            continue
        value = i.get(f, tuple(marked))
        for k, mark in enumerate(marks):
            is_number = not isinstance(value, np.ndarray) and not isinstance(mark, np.ndarray)
            if value is mark or (is_number and value == mark):
                found[k] = params.index(i.var)
    if len(found) < len(marks):
        raise NotLocal("an argument that is taken apart")
    return [found[k] for k in range(len(marks))]


