"""How are the entries of a sparse matrix computed from its products with a few directions?

The pattern comes from index sets that are run through the tape (`sparsity/propagate.py`), or from
the user; columns that don't meet, or rows, share a direction (`sparsity/colouring.py`); one kernel
computes all products and takes the entries out of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.calls.compiled import Compiled
from jitad.immutable import immutable
from jitad.operators.api import Argnums, Derivative, grad, vjp
from jitad.operators.blocks import WIDTH
from jitad.plain import columns, iterations
from jitad.runtime.leaves import is_real
from jitad.runtime.operators import positions_of
from jitad.runtime.tagged import dtype_of
from jitad.sparsity.colouring import Plan, by_columns, by_rows, by_substitution, symmetric
from jitad.sparsity.propagate import pattern as propagated
from jitad.specialise.pipeline import stages
from jitad.structures import ZERO, flatten, unflatten
from jitad.trace import hooks, ongoing, operators
from jitad.trace.runs import first_run
from jitad.trace.traced import Traced

Function = Callable[..., Any]

_NOTHING = Plan(*(np.zeros(0, np.int64),) * 3)
_SYMMETRIC = {"star": symmetric, "acyclic": by_substitution}
_ROW = 2  # so many columns cost as much as a row


class _Vector(Derivative):
    """`f` as a function of one vector, the floats of its chosen arguments; gives a vector.

    Called with the vector and, after it, all arguments: those that are data are taken from there.
    """

    def __call__(self, v: Any, *args: Any) -> Any:
        f = operators.inner(self) if ongoing.current() is not None else self.f
        return in_line(hooks.call(f, *_with(v, args, self.argnums)))


class _Scalar(Derivative):
    """The same of a function that gives a number."""

    def __call__(self, v: Any, *args: Any) -> Any:
        f = operators.inner(self) if ongoing.current() is not None else self.f
        return hooks.call(f, *_with(v, args, self.argnums))


class _Entries(Derivative):
    """The entries of the Jacobian of `f` by columns or by rows, for a plan."""

    def __call__(self, colours: Any, frame: Any, taken: Any, at: Any, *args: Any) -> Any:
        f = operators.inner(self)
        positions = positions_of(self.argnums, len(args), self.operator)
        xs = [x for k in positions for x in flatten(args[k])[0] if is_real(x)]
        if self.operator == "columns":
            with first_run(self.f, args) as run:
                vjp(f, *args)

            def products(directions: list[list[Any]]) -> list[Any]:
                along = [_placed(args, positions, iter(d)) for d in directions]
                return [in_line(t) for t in run.again(f, args, along)]
        else:
            value, pullback = vjp(f, *args)

            def products(directions: list[list[Any]]) -> list[Any]:
                seeds = (_filled(value, iter(d)) for d in directions)
                return [in_line([bars[k] for k in positions]) for bars in map(pullback, seeds)]

        dtype = np.dtype(dtype_of(xs[0])).str[1:]
        return hooks.call(
            columns.compressed, products, list(colours), frame, taken, at, WIDTH, dtype
        )


@immutable
class Compressed:
    """A pattern, the plan for it, and the kernel."""

    pattern: Any
    plan: Plan = _NOTHING
    way: str = ""
    colours: tuple[Any, ...] = ()  # of each leaf
    at: Any = None  # the entries among all products
    kernel: Compiled | None = None  # None: all entries are zero
    dtype: Any = None

    @property
    def sweeps(self) -> int:
        return self.plan.count

    def entries(self, args: tuple[Any, ...]) -> Any:
        plan, p = self.plan, self.pattern
        if self.kernel is None:
            return np.zeros(0, self.dtype)
        length = p.shape[0] if self.way == "columns" else p.shape[1]
        frame: Any = plan.count
        if plan.count > WIDTH:
            frame = np.broadcast_to(False, (-(-plan.count // WIDTH) * WIDTH, length))
        return self.kernel(self.colours, frame, plan.taken, self.at, *args)


class Compression:
    """The ways to compute the Jacobian of a function, or its Hessian, by directions."""

    def __init__(
        self, f: Function, argnums: Argnums, is_hessian: bool, colouring: str = "star"
    ) -> None:
        self.f, self.argnums, self.is_hessian = f, argnums, is_hessian
        self.colouring = colouring
        self.vector: Any = (
            grad(_Scalar("scalar", f, argnums)) if is_hessian else _Vector("vector", f, argnums)
        )
        self._kernels: dict[str, Compiled] = {}

    def pattern(self, traced: Traced, inside: tuple[Any, ...]) -> Any:
        """Read off the tape of `vector`; `inside` are a vector and the arguments."""
        tape = next(t for name, t in stages(traced.tape) if name == "fold")
        values = traced.arguments(self.vector, inside)
        active = next(k for k, x in enumerate(values) if x is inside[0])
        return propagated(tape, values, active, 0)

    def plan(self, p: Any, args: tuple[Any, ...]) -> Compressed:
        """The plan for a pattern, and the kernel."""
        floats = self._floats(self._chosen(args))
        if not p.nnz:
            return Compressed(p, dtype=dtype_of(floats[0]))
        plan = _SYMMETRIC[self.colouring](p) if self.is_hessian else by_columns(p)
        way = "columns"
        if not self.is_hessian and plan.count > 2 * _ROW:
            rows = by_rows(p)
            if rows.count * _ROW < plan.count:
                plan, way = rows, "rows"
        if way not in self._kernels:
            f = grad(self.f, self.argnums) if self.is_hessian else self.f
            self._kernels[way] = Compiled(_Entries(way, f, self.argnums))
        side = floats if way == "columns" else self._floats(vjp(self.f, *args)[0])
        at = plan.of * (p.shape[0] if way == "columns" else p.shape[1]) + plan.at
        return Compressed(p, plan, way, _split(plan.colours, side), at, self._kernels[way])

    def _chosen(self, args: tuple[Any, ...]) -> list[Any]:
        return [args[k] for k in positions_of(self.argnums, len(args), "sparse")]

    def _floats(self, value: Any) -> list[Any]:
        return [x for x in flatten(value)[0] if is_real(x)]


def _with(v: Any, args: tuple[Any, ...], argnums: Argnums) -> list[Any]:
    """The arguments, with the floats of the chosen ones taken from the vector."""
    out = list(args)
    positions = positions_of(argnums, len(args), "sparse")
    chosen = [flatten(args[k]) for k in positions]
    floats = [x for leaves, _ in chosen for x in leaves if is_real(x)]
    parts = iter(hooks.call(iterations.split, v, floats))
    for k, (leaves, structure) in zip(positions, chosen, strict=True):
        out[k] = unflatten(structure, [next(parts) if is_real(x) else x for x in leaves])
    return out


def _placed(args: tuple[Any, ...], positions: tuple[int, ...], parts: Any) -> tuple[Any, ...]:
    """Tangents: these for the floats of the chosen arguments, none for the others."""
    return tuple(_filled(x, parts) if k in positions else ZERO for k, x in enumerate(args))


def _filled(value: Any, parts: Any) -> Any:
    leaves, structure = flatten(value)
    return unflatten(structure, [next(parts) if is_real(x) else ZERO for x in leaves])


def _split(v: Any, like: list[Any]) -> tuple[Any, ...]:
    """A vector in pieces of these shapes."""
    ends = np.cumsum([np.size(x) for x in like])[:-1]
    return tuple(
        part.reshape(np.shape(x)) if np.ndim(x) else int(part[0])
        for part, x in zip(np.split(v, ends), like, strict=True)
    )


def in_line(value: Any) -> Any:
    """The floats of a result, one after the other."""
    return hooks.call(iterations.joined, [x for x in flatten(value)[0] if is_real(x)])
