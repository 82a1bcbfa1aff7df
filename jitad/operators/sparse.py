"""What are the Jacobian and the Hessian of a function in which most entries are zero?

The pattern is read off the tape.  Where each number that the rows are made of depends on few
inputs, one kernel computes the entries where the rows are made (`sparsity/direct.py`); elsewhere
columns that don't meet share a sweep (`compression.py`).  They come back as a SciPy array.  The
pattern is found at the first call and used as long as shapes, ints and what the trace relied on
stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from jitad.calls.arguments import abstracts
from jitad.calls.readers import reader
from jitad.errors import GuardMiss, JitadError, JitadTypeError, JitadValueError
from jitad.immutable import immutable
from jitad.operators.api import Argnums, Derivative, grad
from jitad.operators.compression import Compressed, Compression, in_line
from jitad.runtime.leaves import is_real
from jitad.runtime.operators import positions_of
from jitad.runtime.tagged import dtype_of
from jitad.sparsity.direct import Direct, direct
from jitad.sparsity.places import NotLocal
from jitad.structures import flatten, unflatten
from jitad.trace import hooks, ongoing, operators
from jitad.trace.trace import trace
from jitad.trace.traced import Traced
from jitad.values.active import any_traced
from jitad.values.array import ArrayHandle
from jitad.values.number import Number
from jitad.where import caller

Function = Callable[..., Any]

_MOST = 8  # patterns that are kept


class _Rows(Derivative):
    """The floats of the result of `f`, one after the other."""

    def __call__(self, *args: Any) -> Any:
        f = operators.inner(self) if ongoing.current() is not None else self.f
        value = hooks.call(f, *args)
        for x in flatten(value)[0]:
            content = x.content if isinstance(x, ArrayHandle) else x
            if isinstance(content, Number) and content.tag:
                raise JitadError(
                    "sparse derivatives are SciPy arrays, which can't be differentiated by what "
                    "their function takes from around it", caller(),
                    "Use jacobian or hessian here.",
                )  # fmt: skip
        return in_line(value)


class _ByPosition(Derivative):
    """`f` with its last arguments by name."""

    def __init__(self, operator: str, f: Function, names: tuple[str, ...]) -> None:
        super().__init__(operator, f)
        self.names = names
        self.manner = f"by position {names}"

    def __call__(self, *args: Any) -> Any:
        f = operators.inner(self) if ongoing.current() is not None else self.f
        count = len(args) - len(self.names)
        named = dict(zip(self.names, args[count:], strict=True))
        return hooks.call(f, *args[:count], **named)


@immutable
class _Found:
    """A way to compute the entries, and what it was found for."""

    way: Direct | Compressed
    read: Callable[..., Sequence[Any] | None]  # what the tape takes, for arguments of these types
    shapes: tuple[tuple[int, tuple[int, ...]], ...]  # of floats
    ints: tuple[tuple[int, Any], ...]  # as they were

    @classmethod
    def of(cls, way: Direct | Compressed, f: Function, traced: Traced, args: Any) -> _Found:
        shapes, ints = [], []
        for k, x in enumerate(traced.arguments(f, args)):
            if np.dtype(dtype_of(x)).kind == "f":
                shapes += [(k, x.shape)] if isinstance(x, np.ndarray) else []
            else:
                ints.append((k, x.copy() if isinstance(x, np.ndarray) else x))
        return cls(way, reader(traced, f, args), tuple(shapes), tuple(ints))

    def values(self, args: tuple[Any, ...]) -> Sequence[Any] | None:
        """What the tape takes, if it serves for these arguments."""
        values = self.read(*args)
        if values is None:
            return None
        for k, shape in self.shapes:
            if values[k].shape != shape:
                return None
        for k, before in self.ints:
            x = values[k]
            if not isinstance(before, np.ndarray):
                if x != before:
                    return None
            elif x.shape != before.shape or (x != before).any():
                return None
        return values

    def entries(self, values: Sequence[Any], args: tuple[Any, ...]) -> Any:
        way = self.way
        return way.entries(values) if isinstance(way, Direct) else way.entries(args)


class Sparse:
    """The function that gives a sparse Jacobian or Hessian; see `sparse_jacobian`."""

    def __init__(
        self, f: Function, argnums: Argnums, pattern: Any, is_hessian: bool,
        colouring: str = "star",
    ) -> None:  # fmt: skip
        self.f, self.argnums, self.given, self.is_hessian = f, argnums, pattern, is_hessian
        self.name = "sparse_hessian" if is_hessian else "sparse_jacobian"
        self.__name__ = f"{self.name}({getattr(f, '__name__', type(f).__name__)})"
        self.rows = _Rows("rows", grad(f, argnums) if is_hessian else f, argnums)
        self.compression = Compression(f, argnums, is_hessian, colouring)
        self._kept: list[_Found] = []
        self._by_name: dict[Any, Sparse] = {}

    def __repr__(self) -> str:
        return f"<jitad {self.__name__}>"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            return self._named(args, kwargs)(*args, *kwargs.values())
        data, p = self._computed(args)
        return sparse.csr_array((data, p.indices.copy(), p.indptr.copy()), shape=p.shape)

    def entries(self, /, *args: Any, **kwargs: Any) -> Any:
        """The entries alone, in the order in which `pattern` has them."""
        if kwargs:
            return self._named(args, kwargs).entries(*args, *kwargs.values())
        return self._computed(args)[0]

    def pattern(self, /, *args: Any, **kwargs: Any) -> Any:
        """Where entries may differ from zero, as a CSR array of bools."""
        if kwargs:
            return self._named(args, kwargs).pattern(*args, *kwargs.values())
        return self._found(self._plain(args))[0].way.pattern.copy()

    def sweeps(self, /, *args: Any, **kwargs: Any) -> int:
        """How many directions it takes; 1 where all entries are computed in passing."""
        if kwargs:
            return self._named(args, kwargs).sweeps(*args, *kwargs.values())
        return self._found(self._plain(args))[0].way.sweeps

    def _named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sparse:
        """The same for a function that takes these names by position, after the others."""
        key = (len(args), *kwargs)
        if key not in self._by_name:
            chosen = positions_of(self.argnums, len(args), self.name)
            argnums = chosen if isinstance(self.argnums, tuple) else chosen[0]
            f = _ByPosition("by position", self.f, tuple(kwargs))
            self._by_name[key] = Sparse(
                f, argnums, self.given, self.is_hessian, self.compression.colouring
            )
        return self._by_name[key]

    def _plain(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, arrays without axes as the numbers that they are."""
        leaves, structure = flatten(args)
        if ongoing.current() is not None or any_traced(leaves):
            raise JitadError(f"{self.name} gives a SciPy array, which can't be differentiated or "
                             "held by a trace", caller(),
                             "It is compiled as it is: call it outside, or use jacobian or "
                             "hessian here.")  # fmt: skip
        if any(isinstance(x, np.ndarray) and not x.ndim for x in leaves):
            leaves = [x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in leaves]
            args = unflatten(structure, leaves)
        return args

    def _computed(self, args: tuple[Any, ...]) -> tuple[Any, Any]:
        if ongoing.current() is None and self._kept:
            found = self._kept[0]  # as a rule a call is like the one before
            values = found.values(args)
            if values is not None:
                try:
                    return found.entries(values, args), found.way.pattern
                except GuardMiss:
                    pass
        args = self._plain(args)
        found, values = self._found(args)
        try:
            return found.entries(values, args), found.way.pattern
        except GuardMiss:
            self._kept.remove(found)
            found, values = self._found(args)
            return found.entries(values, args), found.way.pattern

    def _chosen(self, args: tuple[Any, ...]) -> list[Any]:
        return [args[k] for k in positions_of(self.argnums, len(args), self.name)]

    def _floats(self, args: tuple[Any, ...]) -> list[Any]:
        xs = [x for x in flatten(self._chosen(args))[0] if is_real(x)]
        if not xs:
            raise JitadTypeError(f"{self.name}: there are no floats to differentiate with respect "
                                 "to", None, "Pass floats, or choose other argnums.")  # fmt: skip
        if len({np.dtype(dtype_of(x)) for x in xs}) > 1:
            raise JitadTypeError(f"{self.name}: the arguments mix float64 and float32", None,
                                 "Give them one dtype.")  # fmt: skip
        return xs

    def _found(self, args: tuple[Any, ...]) -> tuple[_Found, Sequence[Any]]:
        for found in self._kept:
            values = found.values(args)
            if values is not None:
                return found, values
        found = self._find(args, self._floats(args))
        self._kept = [found, *self._kept[: _MOST - 1]]
        values = found.values(args)
        assert values is not None
        return found, values

    def _find(self, args: tuple[Any, ...], xs: list[Any]) -> _Found:
        size = sum(map(np.size, xs))
        given = None if self.given is None else sparse.csr_array(self.given, dtype=bool)
        if given is not None and (given.shape[1] != size or (
                self.is_hessian and given.shape[0] != size)):  # fmt: skip
            raise JitadValueError(
                f"{self.name}: the pattern has shape {given.shape}, and there are {size} floats",
                None, "A row for each float of the result, a column for each argument's.",
            )  # fmt: skip

        def completed(p: Any) -> Any:
            p = p if given is None else given
            p = sparse.csr_array(p + p.T if self.is_hessian else p)
            p.sort_indices()
            if max(p.nnz, *p.shape) < 2**31:  # as SciPy's solvers want them
                p.indices, p.indptr = p.indices.astype(np.int32), p.indptr.astype(np.int32)
            return p

        traced = trace(self.rows, abstracts(self.rows, args))
        way: Direct | Compressed
        try:
            positions = positions_of(self.argnums, len(args), self.name)
            way = direct(traced, self.rows, args, positions, completed)
        except NotLocal:
            c = self.compression
            if given is None:
                v = np.concatenate([np.ravel(x) for x in xs]) if len(xs) > 1 else np.ravel(xs[0])
                flat = trace(c.vector, abstracts(c.vector, (v, *args)))
                p = completed(c.pattern(flat, (v, *args)))
            else:
                p = completed(given)
            way = c.plan(p, args)
        return _Found.of(way, self.rows, traced, args)


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
    `sweeps(*args)` tell what was found; `entries(*args)` gives the entries alone, an array in the
    order of the pattern's data.

    Raises
    ------
    JitadTypeError : arguments without floats, or with float64 and float32 mixed.
    JitadValueError : a pattern of the wrong shape.
    JitadError : what `f` does can't be traced.

    Source: elimination of vertices: Griewank & Reese, *On the calculation of Jacobian matrices by
    the Markowitz rule* (1991); elsewhere directions: Curtis, Powell & Reid, *On the estimation of
    sparse Jacobian matrices*, J. Inst. Math. Appl. 13 (1974); Griewank & Walther, *Evaluating
    Derivatives*, ch. 7 to 10.

    >>> import numpy as np
    >>> from jitad import sparse_jacobian
    >>> j = sparse_jacobian(lambda x: x[1:] * x[:-1])
    >>> j(np.array([1.0, 2.0, 3.0, 4.0])).toarray()
    array([[2., 1., 0., 0.],
           [0., 3., 2., 0.],
           [0., 0., 4., 3.]])
    >>> j.sweeps(np.ones(1000))
    1
    >>> j.entries(np.array([1.0, 2.0, 3.0, 4.0]))
    array([2., 1., 3., 2., 4., 3.])
    """
    return Sparse(f, argnums, pattern, False)


def sparse_hessian(
    f: Function, argnums: Argnums = 0, *, pattern: Any = None, colouring: str = "star"
) -> Sparse:
    """The Hessian of a function in which most entries are zero, as a SciPy sparse array.

    Parameters
    ----------
    f : function as for `grad`, its differentiated floats of one dtype, in arrays of any shape.
    argnums, pattern : as for `sparse_jacobian`.
    colouring : where entries are computed by directions, `"star"` takes each out of one product;
        `"acyclic"` needs fewer directions, but most entries are differences: where they differ in
        size by many digits, small ones are less exact.

    Returns
    -------
    A function of the same arguments, which gives a symmetric `scipy.sparse.csr_array`; rows and
    columns as the columns of `sparse_jacobian`.

    Raises
    ------
    JitadTypeError, JitadValueError, JitadError : as `sparse_jacobian` and `grad`.

    Source: as `sparse_jacobian`, of the gradient; star and acyclic colouring: Gebremedhin, Manne &
    Pothen, *What color is your Jacobian?*, SIAM Review 47 (2005).

    >>> import numpy as np
    >>> from jitad import sparse_hessian
    >>> h = sparse_hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2))
    >>> h(np.array([1.0, 2.0, 3.0])).toarray()
    array([[4., 2., 0.],
           [2., 6., 4.],
           [0., 4., 0.]])
    """
    if colouring not in ("star", "acyclic"):
        raise JitadValueError(f"sparse_hessian: colouring={colouring!r} is not known", None,
                              'Give "star" or "acyclic".')  # fmt: skip
    return Sparse(f, argnums, pattern, True, colouring)
