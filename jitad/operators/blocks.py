"""What are the blocks of a Jacobian at one point, by columns or by rows?

A block has the axes of a leaf of the result, then those of a leaf of an argument.  Forward mode
fills the blocks in by columns, several in one sweep; reverse mode by rows (`columns.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.immutable import immutable
from jitad.operators.api import vjp
from jitad.plain import columns
from jitad.runtime.leaves import is_array, is_data, is_real
from jitad.runtime.operators import place
from jitad.runtime.tagged import dtype_of, shape_of
from jitad.structures import ZERO, Structure, flatten, unflatten
from jitad.tape.build import Leaf
from jitad.trace import hooks
from jitad.trace.pointwise import Fixed
from jitad.trace.runs import first_run
from jitad.values.number import Number
from jitad.where import caller

Function = Callable[..., Any]

WIDTH = 4  # directions of one sweep: by measurement (`python -m benchmarks.bench_jacobians`)
_CHEAPER = 2  # so many columns of forward mode cost as much as a row of reverse mode



@immutable
class _Part:
    """A leaf of an argument or of the result."""

    leaf: Any
    real: bool

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(shape_of(self.leaf))

    @property
    def like(self) -> tuple[Any, str]:
        return self.shape, np.dtype(dtype_of(self.leaf)).str[1:]


class Point:
    """What a function is differentiated by, at which values, and what it gives there."""

    def __init__(
        self, operator: str, f: Function, args: tuple[Any, ...], positions: tuple[int, ...],
        kwargs: dict[str, Any],
    ) -> None:  # fmt: skip
        self.args = args
        self.f = Fixed(f, (), kwargs) if kwargs else f
        self.positions = positions
        self.arguments: list[Structure] = []
        self.xs: list[_Part] = []
        for k in positions:
            leaves, structure = flatten(args[k])
            for leaf, path in zip(leaves, structure.paths(), strict=True):
                self.xs.append(_part(leaf, f"{operator}: {place(f, k, path)}"))
            if not any(x.real for x in self.xs[len(self.xs) - len(leaves) :]):
                raise JitadTypeError(
                    f"{operator}: {place(f, k, '')} has no floats to differentiate with respect "
                    "to", caller(), "Pass a float (3.0 instead of 3), or choose other argnums.",
                )  # fmt: skip
            self.arguments.append(structure)
        with first_run(f, args) as self.run:
            self.value, self.pullback = vjp(self.f, *args)
        leaves, self.result = flatten(self.value)
        self.ys = [
            _part(leaf, f"{operator}: the result{' at ' + path if path else ''}")
            for leaf, path in zip(leaves, self.result.paths(), strict=True)
        ]

        if _has_complex(self.result) and any(map(_has_complex, self.arguments)):
            raise JitadTypeError(
                f"{operator}: a complex result has four derivatives by a complex number, which "
                "are none", caller(),
                "Take those of its real and its imaginary part, or jvp along a direction.",
            )  # fmt: skip

    def is_small(self) -> bool:
        """Are columns cheaper than rows?  Both are right; the sizes at hand tell."""
        into, out = _size(self.xs), _size(self.ys)
        return into is None or out is None or into <= _CHEAPER * out

    @property
    def reals(self) -> list[_Part]:
        return [y for y in self.ys if y.real]

    def push(self, at: int, tangents: list[Any]) -> list[list[Any]]:
        """The tangents of the real results, for each of these tangents of leaf `at`."""
        return self.pushed([{at: t} for t in tangents])

    def pushed(self, directions: list[dict[int, Any]]) -> list[list[Any]]:
        along = []
        for given in directions:
            leaves = iter([given.get(k, ZERO) for k in range(len(self.xs))])
            tangents: list[Any] = [ZERO] * len(self.args)
            for k, structure in zip(self.positions, self.arguments, strict=True):
                tangents[k] = unflatten(structure, [next(leaves) for _ in range(structure.size)])
            along.append(tuple(tangents))
        return [
            [d for d, y in zip(flatten(found)[0], self.ys, strict=True) if y.real]
            for found in self.run.again(self.f, self.args, along)
        ]

    def by_columns(self) -> list[list[Any]]:
        """One row of blocks a leaf of the result."""
        found: dict[int, list[Any]] = {}
        numbers = [k for k, x in enumerate(self.xs) if x.real and not is_array(x.leaf)]
        for first in range(0, len(numbers), WIDTH):
            some = numbers[first : first + WIDTH]
            dots = self.pushed([{k: 1.0} for k in some])
            found.update(zip(some, dots, strict=True))
        likes = [y.like for y in self.reals]
        for k, x in enumerate(self.xs):
            if x.real and is_array(x.leaf):
                n = hooks.call(np.size, x.leaf)
                columns_ = hooks.call(
                    columns.forward, lambda ts, k=k: self.push(k, ts), x.leaf, n, _width(n), likes
                )
                found[k] = [
                    _shaped(c, (*y.shape, *x.shape))
                    for c, y in zip(columns_, self.reals, strict=True)
                ]
        # By x + iy it is that by x less i times that by y, as in gradients.
        by_imaginary = [flag for s in self.arguments for flag in _imaginary(s)]
        return self._table(lambda i, k: _signed(found[k][i], by_imaginary[k]))

    def by_rows(self) -> list[list[Any]]:
        reals = [k for k, x in enumerate(self.xs) if x.real]
        likes = [self.xs[k].like for k in reals]
        found: list[dict[int, Any]] = []
        for y in self.reals:
            if is_array(y.leaf):
                rows = hooks.call(columns.reverse, lambda s, y=y: self.pull(y, s), y.leaf, likes)
                rows = [
                    _shaped(r, (*y.shape, *self.xs[k].shape))
                    for r, k in zip(rows, reals, strict=True)
                ]
            else:
                rows = self.pull(y, 1.0)
            found.append(dict(zip(reals, rows, strict=True)))
        # What a sensitivity i asks for is less the imaginary part's derivative.
        imaginary = zip(self.ys, _imaginary(self.result), strict=True)
        of_imaginary = [flag for y, flag in imaginary if y.real]
        return self._table(lambda i, k: _signed(found[i][k], of_imaginary[i]))

    def pull(self, y: _Part, seed: Any) -> list[Any]:
        """The adjoints of the real leaves of the arguments, for a sensitivity of one result."""
        bars = self.pullback(unflatten(self.result, [seed if o is y else ZERO for o in self.ys]))
        flat = [bar for k in self.positions for bar in flatten(bars[k])[0]]
        return [bar for bar, x in zip(flat, self.xs, strict=True) if x.real]

    def _table(self, block: Callable[[int, int], Any]) -> list[list[Any]]:
        """The blocks, zeros where one side is data."""
        table, i = [], 0
        for y in self.ys:
            row = []
            for k, x in enumerate(self.xs):
                row.append(block(i, k) if y.real and x.real else _zeros((*y.shape, *x.shape)))
            table.append(row)
            i += y.real
        return table


def _signed(block: Any, negative: bool) -> Any:
    return -block if negative and block is not ZERO else block


def _imaginary(structure: Structure, flag: bool = False) -> Iterator[bool]:
    """Of each leaf, whether it is the imaginary part of a complex number."""
    if structure.kind is None:
        yield flag
    for k, child in enumerate(structure.children):
        yield from _imaginary(child, structure.kind is complex and k == 1)


def _has_complex(structure: Structure) -> bool:
    return structure.kind is complex or any(map(_has_complex, structure.children))


def _part(leaf: Any, where: str) -> _Part:
    if not is_real(leaf) and not is_data(leaf) and not isinstance(leaf, Number):
        what = "a function" if callable(leaf) else f"a {type(leaf).__name__}"
        raise JitadTypeError(f"{where} is {what}, which has no Jacobian", caller(),
                             "Leave it out, or choose other argnums.")  # fmt: skip
    return _Part(leaf, is_real(leaf))


def _shaped(block: Any, shape: tuple[Any, ...]) -> Any:
    return block if len(shape) == block.ndim else hooks.call(np.reshape, block, shape)


def _zeros(shape: tuple[Any, ...]) -> Any:
    return hooks.call(np.zeros, shape) if shape else 0.0


def _width(n: Any) -> int:
    """How many directions go through one sweep: all where they are few, which is relied on."""
    if not isinstance(n, Leaf):
        return max(1, min(int(n), WIDTH))
    b = n.builder
    known = b.example(n.atom)
    if known is not None and 0 < known <= WIDTH:
        return int(b.rely(n.atom))
    return WIDTH


def _size(parts: list[_Part]) -> int | None:
    total = 0
    for part in parts:
        n = hooks.call(np.size, part.leaf) if is_array(part.leaf) else 1
        if isinstance(n, Leaf):
            n = n.builder.example(n.atom)
            if n is None:
                return None
        total += n if part.real else 0
    return total
