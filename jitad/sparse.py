"""What are the Jacobian and the Hessian of a function in which most entries are zero?

The pattern is read off the tape (`sparsity/`); columns that don't meet share a sweep; one kernel
computes all entries, which come back as a SciPy array.  The pattern is found at the first call and
used as long as shapes, ints and what the trace relied on stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from jitad import columns, iterations
from jitad.api import Argnums, Derivative, grad, vjp
from jitad.arguments import abstracts
from jitad.blocks import WIDTH
from jitad.compiled import Compiled
from jitad.errors import JitadError, JitadTypeError, JitadValueError
from jitad.runtime.leaves import is_real
from jitad.runtime.operators import positions_of
from jitad.runtime.tagged import dtype_of
from jitad.sparsity.colouring import Plan, by_columns, by_rows, symmetric
from jitad.sparsity.propagate import pattern as propagated
from jitad.specialise.pipeline import stages
from jitad.structures import ZERO, flatten, unflatten
from jitad.trace import context, hooks, operators
from jitad.trace.pointwise import pushed
from jitad.trace.trace import Traced, trace

Function = Callable[..., Any]

_MOST = 8  # patterns that are kept
_NOTHING = Plan(*(np.zeros(0, np.int64),) * 3)
_ROW = 2  # so many columns cost as much as a row


class _Vector(Derivative):
    """`f` as a function of one vector, the floats of its chosen arguments; gives a vector.

    Called with the vector and, after it, all arguments: those that are data are taken from there.
    """

    def __call__(self, v: Any, *args: Any) -> Any:
        f = operators.inner(self) if context.current() is not None else self.f
        return _vector(hooks.call(f, *_with(v, args, self.argnums)))


class _Scalar(Derivative):
    """The same of a function that gives a number."""

    def __call__(self, v: Any, *args: Any) -> Any:
        f = operators.inner(self) if context.current() is not None else self.f
        return hooks.call(f, *_with(v, args, self.argnums))


class _Entries(Derivative):
    """The entries of the Jacobian of `f` by columns or by rows, for a plan."""

    def __call__(self, colours: Any, frame: Any, at: Any, *args: Any) -> Any:
        f = operators.inner(self)
        positions = positions_of(self.argnums, len(args), self.operator)
        xs = [x for k in positions for x in flatten(args[k])[0] if is_real(x)]
        if self.operator == "columns":

            def products(directions: list[list[Any]]) -> list[Any]:
                along = [_placed(args, positions, iter(d)) for d in directions]
                return [_vector(t) for t in pushed(f, args, along)]
        else:
            value, pullback = vjp(f, *args)

            def products(directions: list[list[Any]]) -> list[Any]:
                seeds = (_filled(value, iter(d)) for d in directions)
                return [_vector([bars[k] for k in positions]) for bars in map(pullback, seeds)]

        dtype = np.dtype(dtype_of(xs[0])).str[1:]
        return hooks.call(columns.compressed, products, list(colours), frame, at, WIDTH, dtype)


@dataclass(frozen=True)
class _Found:
    """A pattern, the plan for it, and what it was found for."""

    traced: Traced
    inputs: tuple[Any, ...]  # ints as they were, of floats the shapes
    pattern: Any
    plan: Plan
    way: str
    colours: tuple[Any, ...]  # of each leaf
    at: Any  # the entries among all products
    entries: Compiled | None  # None: all entries are zero

    def serves(self, f: Function, args: tuple[Any, ...]) -> bool:
        if self.traced.missed(f, args):
            return False
        now = _fixed(self.traced, f, args)
        return all(_same(a, b) for a, b in zip(self.inputs, now, strict=True))


class Sparse:
    """The function that gives a sparse Jacobian or Hessian; see `sparse_jacobian`."""

    def __init__(self, f: Function, argnums: Argnums, pattern: Any, is_hessian: bool) -> None:
        self.f, self.argnums, self.given, self.is_hessian = f, argnums, pattern, is_hessian
        self.name = "sparse_hessian" if is_hessian else "sparse_jacobian"
        self.__name__ = f"{self.name}({getattr(f, '__name__', type(f).__name__)})"
        self.vector: Any = (
            grad(_Scalar("scalar", f, argnums)) if is_hessian else _Vector("vector", f, argnums)
        )
        self._kept: list[_Found] = []
        self._entries: dict[str, Compiled] = {}

    def __repr__(self) -> str:
        return f"<jitad {self.__name__}>"

    def __call__(self, *args: Any) -> Any:
        if context.current() is not None:
            raise JitadError(f"{self.name} gives a SciPy array, which a trace can't hold", None,
                             "Call it outside, or use jacobian or hessian.")  # fmt: skip
        inside = self._inside(args)
        found = self._found(inside)
        plan, p = found.plan, found.pattern
        if found.entries is None:
            return sparse.csr_array(p.shape, dtype=inside[0].dtype)
        length = p.shape[0] if found.way == "columns" else p.shape[1]
        frame: Any = plan.count
        if plan.count > WIDTH:
            frame = np.broadcast_to(False, (-(-plan.count // WIDTH) * WIDTH, length))
        data = found.entries(found.colours, frame, found.at, *args)
        return sparse.csr_array((data, p.indices.copy(), p.indptr.copy()), shape=p.shape)

    def pattern(self, *args: Any) -> Any:
        """Where entries may differ from zero, as a CSR array of bools."""
        return self._found(self._inside(args)).pattern.copy()

    def sweeps(self, *args: Any) -> int:
        """How many directions it takes."""
        return self._found(self._inside(args)).plan.count

    def _chosen(self, args: tuple[Any, ...]) -> list[Any]:
        return [args[k] for k in positions_of(self.argnums, len(args), self.name)]

    def _inside(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        xs = [x for x in flatten(self._chosen(args))[0] if is_real(x)]
        if not xs:
            raise JitadTypeError(f"{self.name}: there are no floats to differentiate with respect "
                                 "to", None, "Pass floats, or choose other argnums.")  # fmt: skip
        if len({np.dtype(dtype_of(x)) for x in xs}) > 1:
            raise JitadTypeError(f"{self.name}: the arguments mix float64 and float32", None,
                                 "Give them one dtype.")  # fmt: skip
        v = np.concatenate([np.ravel(x) for x in xs]) if len(xs) > 1 else np.ravel(xs[0])
        return (v, *args)

    def _found(self, inside: tuple[Any, ...]) -> _Found:
        for found in self._kept:
            if found.serves(self.vector, inside):
                return found
        found = self._find(inside)
        self._kept = [found, *self._kept[: _MOST - 1]]
        return found

    def _find(self, inside: tuple[Any, ...]) -> _Found:
        traced = trace(self.vector, abstracts(self.vector, inside))
        if self.given is None:
            tape = next(t for name, t in stages(traced.tape) if name == "fold")
            values = traced.arguments(self.vector, inside)
            active = next(k for k, x in enumerate(values) if x is inside[0])
            p = propagated(tape, values, active, 0)
        else:
            p = sparse.csr_array(self.given, dtype=bool)
            size = len(inside[0])
            if p.shape[1] != size or (self.is_hessian and p.shape[0] != size):
                raise JitadValueError(
                    f"{self.name}: the pattern has shape {p.shape}, and there are {size} floats",
                    None, "A row for each float of the result, a column for each argument's.",
                )  # fmt: skip
        if self.is_hessian:
            p = sparse.csr_array(p + p.T)
        p.sort_indices()
        if not p.nnz:
            fixed = _fixed(traced, self.vector, inside)
            return _Found(traced, fixed, p, _NOTHING, "", (), None, None)
        plan, way = (symmetric(p) if self.is_hessian else by_columns(p)), "columns"
        if not self.is_hessian and plan.count > 2 * _ROW:
            rows = by_rows(p)
            if rows.count * _ROW < plan.count:
                plan, way = rows, "rows"
        if way not in self._entries:
            f = grad(self.f, self.argnums) if self.is_hessian else self.f
            self._entries[way] = Compiled(_Entries(way, f, self.argnums))
        args = inside[1:]
        side = self._chosen(args) if way == "columns" else vjp(self.f, *args)[0]
        colours = _split(plan.colours, [x for x in flatten(side)[0] if is_real(x)])
        fixed = _fixed(traced, self.vector, inside)
        at = plan.of * (p.shape[0] if way == "columns" else p.shape[1]) + plan.at
        return _Found(traced, fixed, p, plan, way, colours, at, self._entries[way])


def _fixed(traced: Traced, f: Function, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a pattern depends on: ints, and the shapes of floats."""
    out = []
    for x in traced.arguments(f, args):
        real = isinstance(x, float) or getattr(getattr(x, "dtype", None), "kind", "") == "f"
        out.append(np.shape(x) if real else np.array(x))
    return tuple(out)


def _same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b))


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


def _vector(value: Any) -> Any:
    """The floats of a result, one after the other."""
    return hooks.call(iterations.joined, [x for x in flatten(value)[0] if is_real(x)])


def sparse_jacobian(f: Function, argnums: Argnums = 0, *, pattern: Any = None) -> Sparse:
    """The Jacobian of a function in which most entries are zero, as a SciPy sparse array.

    Parameters
    ----------
    f : function of floats, float64 or float32 arrays of any shape and structures of them (of one
        dtype), whose result is one, too; ints and bools are data.
    argnums : which positional arguments to differentiate with respect to; an int or a tuple.
    pattern : where entries may differ from zero, as an array or SciPy sparse array.  None: it is
        read off the tape; where numbers decide (branches, indices), all that may be is counted.

    Returns
    -------
    A function of the same arguments.  It gives a `scipy.sparse.csr_array` with a row for every
    float in the result of `f` and a column for every float in the chosen arguments, both in the
    order of the structure and within arrays by rows.  Its methods `pattern(*args)` and
    `sweeps(*args)` tell what was found.

    Raises
    ------
    JitadTypeError : arguments without floats, or with float64 and float32 mixed.
    JitadValueError : a pattern of the wrong shape.
    JitadError : what `f` does can't be traced.

    Source: Curtis, Powell & Reid, *On the estimation of sparse Jacobian matrices*, J. Inst. Math.
    Appl. 13 (1974); Griewank & Walther, *Evaluating Derivatives*, ch. 7 and 8.

    >>> import numpy as np
    >>> from jitad import sparse_jacobian
    >>> j = sparse_jacobian(lambda x: x[1:] * x[:-1])
    >>> j(np.array([1.0, 2.0, 3.0, 4.0])).toarray()
    array([[2., 1., 0., 0.],
           [0., 3., 2., 0.],
           [0., 0., 4., 3.]])
    >>> j.sweeps(np.ones(1000))
    2
    """
    return Sparse(f, argnums, pattern, False)


def sparse_hessian(f: Function, argnums: Argnums = 0, *, pattern: Any = None) -> Sparse:
    """The Hessian of a function in which most entries are zero, as a SciPy sparse array.

    Parameters
    ----------
    f : function as for `grad`, its differentiated floats of one dtype, in arrays of any shape.
    argnums, pattern : as for `sparse_jacobian`.

    Returns
    -------
    A function of the same arguments, which gives a symmetric `scipy.sparse.csr_array`; rows and
    columns as the columns of `sparse_jacobian`.

    Raises
    ------
    JitadTypeError, JitadValueError, JitadError : as `sparse_jacobian` and `grad`.

    Source: star colouring; Gebremedhin, Manne & Pothen, *What color is your Jacobian?*, SIAM
    Review 47 (2005).

    >>> import numpy as np
    >>> from jitad import sparse_hessian
    >>> h = sparse_hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2))
    >>> h(np.array([1.0, 2.0, 3.0])).toarray()
    array([[4., 2., 0.],
           [2., 6., 4.],
           [0., 4., 0.]])
    """
    return Sparse(f, argnums, pattern, True)
