"""How is a function run on every element of a batch?  By a loop over an axis of its arguments.

The loop is one of the tape like any other: an element takes its own branches and runs its own
loops, gradients are taken of it or in it, and nothing is computed for elements that don't ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.operators.api import Derivative
from jitad.operators.outermost import given
from jitad.plain import columns
from jitad.runtime.leaves import is_array, own
from jitad.runtime.operators import place
from jitad.runtime.tagged import shape_of
from jitad.structures import Structure, children_of, flatten, unflatten
from jitad.trace import batches, hooks, ongoing, operators
from jitad.values.broadcast import require_same
from jitad.values.number import Number
from jitad.where import caller

Function = Callable[..., Any]
Axes = Any  # an int, None, or a structure of them


class Batch(Derivative):
    """The function that runs `f` on every element of its arguments along `in_axes`."""

    def __init__(self, f: Function, in_axes: Axes, out_axes: Axes) -> None:
        super().__init__("batch", f)
        if not all(a is None or _is_int(a) for a in _axes(in_axes)):
            raise JitadTypeError(f"batch: in_axes={in_axes!r} is not an axis for each argument",
                                 None, "Give an int, or a tuple of ints, None and structures of "
                                 "them.")  # fmt: skip
        if not all(map(_is_int, _axes(out_axes))):
            raise JitadTypeError(f"batch: out_axes={out_axes!r} is not an axis for each result",
                                 None, "Give an int, or a structure of ints.")  # fmt: skip
        self.in_axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
        self.out_axes = out_axes
        self.manner = f"batch along {in_axes} to {out_axes}"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        traced = ongoing.current() is not None
        f = operators.inner(self) if traced else self.f
        axes = self.in_axes if isinstance(self.in_axes, tuple) else (self.in_axes,) * len(args)
        if len(axes) != len(args):
            raise JitadValueError(f"batch: {len(args)} arguments with {len(axes)} in_axes",
                                  caller(), "Give an axis, or None, for each.")  # fmt: skip
        pairs = zip(args, axes, strict=True)
        places = [_Placed(f, k, arg, axis) for k, (arg, axis) in enumerate(pairs)]
        n = _length(places)

        def run(i: Any) -> Any:
            return hooks.call(f, *(p.element(i) for p in places), **kwargs)

        if traced:
            structure, leaves, likes = batches.results(run, n)
        else:
            found = [(list(map(own, ls)), s) for ls, s in (flatten(run(i)) for i in range(n))]
            if not found:
                raise JitadValueError("batch: there are no elements, so that no shape is known",
                                      caller(), "Compile it: jit(batch(f)).")  # fmt: skip
            leaves, structure = found[0]
        for leaf, path in zip(leaves, structure.paths(), strict=True):
            if not is_array(leaf) and not isinstance(leaf, (Number, bool, int, float, np.generic)):
                at = f" at {path}" if path else ""
                raise JitadTypeError(
                    f"batch: the result{at} is no number but a {type(leaf).__name__}", caller(),
                    "Give back numbers and arrays.",
                )  # fmt: skip
        if traced:
            out = hooks.call(columns.along, lambda i: flatten(run(i))[0], n, likes)
        else:
            if any(s != structure for _, s in found):
                raise JitadTypeError("batch: results of elements differ in structure", caller())
            stacks = zip(*(ls for ls, _ in found), strict=True)
            out = [hooks.call(np.stack, same) for same in stacks]
        to = _spread(self.out_axes, structure, "the result", "out_axes")
        results = zip(out, to, structure.paths(), strict=True)
        moved = [_moved(leaf, axis or 0, path) for leaf, axis, path in results]
        return given(unflatten(structure, moved))


class _Placed:
    """An argument, and the axis of each of its leaves along which the elements lie."""

    def __init__(self, f: Function, k: int, arg: Any, spec: Axes) -> None:
        self.f, self.k, self.arg, self.is_same = f, k, arg, spec is None
        self.leaves, self.structure = flatten(None if spec is None else arg)
        self.axes = _spread(spec, self.structure, place(f, k, ""), "in_axes")

    def element(self, i: Any) -> Any:
        """Element i; the argument itself where it is not batched."""
        if self.is_same:
            return self.arg
        taken = (
            leaf if axis is None else hooks.get_item(leaf, (*_before(leaf, axis), i))
            for leaf, axis in zip(self.leaves, self.axes, strict=True)
        )
        return unflatten(self.structure, list(taken))

    def lengths(self) -> Iterator[tuple[Any, str]]:
        """The extent along its axis, and the place, of each leaf that has one."""
        every = zip(self.leaves, self.axes, self.structure.paths(), strict=True)
        for leaf, axis, path in every:
            if axis is None:
                continue
            shape = shape_of(leaf) if is_array(leaf) else ()
            where = f"batch: {place(self.f, self.k, path)}"
            if not -len(shape) <= axis < len(shape):
                what = f"has {len(shape)} axes" if shape else "is no array"
                raise JitadValueError(
                    f"{where} {what}, and in_axes has {axis} for it", caller(),
                    "Give None for what is the same for all elements.",
                )  # fmt: skip
            yield shape[axis], where


def _before(leaf: Any, axis: int) -> tuple[slice, ...]:
    return (slice(None),) * (axis if axis >= 0 else axis + len(shape_of(leaf)))


def _axes(spec: Axes) -> Iterator[Any]:
    """All axes of a structure of them; what is no node is taken for one."""
    found = None if spec is None else children_of(spec)
    if found is None:
        yield spec
    else:
        for child in found[1]:
            yield from _axes(child)


def _spread(spec: Axes, structure: Structure, what: str, name: str) -> list[int | None]:
    """The axis of each leaf: one for all that is below, or axes in a structure like it."""
    if spec is None or _is_int(spec):
        return [spec] * structure.size
    keys, children = children_of(spec)  # type: ignore[misc]
    at = dict(zip(keys, children, strict=True))
    is_alike = structure.kind is not None and issubclass(type(spec), structure.kind)
    if not is_alike or at.keys() != set(structure.keys):
        kind = "number or array" if structure.kind is None else structure.kind.__name__
        size = "" if structure.kind is None else f" of {len(structure.keys)}"
        raise JitadValueError(
            f"batch: {what} is a {kind}{size}, and {name} has {spec!r} for it", caller(),
            "Give one axis for all of it, or an axis for each part.",
        )  # fmt: skip
    out = []
    for key, child in zip(structure.keys, structure.children, strict=True):
        out += _spread(at[key], child, f"{what}, {key!r},", name)
    return out


def _is_int(axis: Any) -> bool:
    return isinstance(axis, int) and not isinstance(axis, bool)


def _moved(leaf: Any, axis: int, path: str) -> Any:
    """A result with the axis of the elements, which is the first, in its place."""
    if axis == 0:
        return leaf
    ndim = len(shape_of(leaf))
    if not -ndim <= axis < ndim:
        raise JitadValueError(
            f"batch: the result{' at ' + path if path else ''} has {ndim} axes with that of the "
            f"elements, and out_axes has {axis} for it", caller(), "Give one of them.",
        )  # fmt: skip
    return hooks.call(np.moveaxis, leaf, 0, axis)


def _length(args: Sequence[_Placed]) -> Any:
    """How many elements the batch has."""
    n: Any = None
    for arg in args:
        for m, where in arg.lengths():
            if n is None:
                n = m
            else:
                _same(m, n, where)
    if n is None:
        raise JitadValueError("batch: no argument has an axis to run along", caller(),
                              "Give one of them an int in in_axes.")  # fmt: skip
    return n


def _same(m: Any, n: Any, what: str) -> None:
    if isinstance(m, int) and isinstance(n, int):
        if m != n:
            raise JitadValueError(f"{what} has {m} elements, an earlier one {n}", caller())
    else:
        require_same(m, n, lambda: f"{what} has another number of elements than an earlier one")


def batch(f: Function, in_axes: Axes = 0, out_axes: Axes = 0) -> Function:
    """A function run on every element along an axis of its arguments.

    Compiled, it is a native loop; an element takes its own branches, and only those.
    `batch(grad(f))` gives the gradients of all examples, `batch(jacobian(f))` their Jacobians.

    Parameters
    ----------
    f : function of numbers, arrays and structures of them, which gives numbers, arrays of one
        shape for all elements, or a structure of them.
    in_axes : the axis of the arguments along which the elements lie: an int for all arguments, or
        a tuple with an int or None for each, or for an argument that is a structure one of ints
        and None.  None: the same for all elements.
    out_axes : which axis of the results is that of the elements: an int for all of them, or a
        structure of ints like the result.

    Returns
    -------
    A function of arguments that have one axis more.  Its results have the shapes and dtypes that
    `f` gives, and an axis for the elements, the first unless `out_axes` says another.

    Raises
    ------
    JitadValueError : arguments differ in the number of elements, or have no such axis.
    JitadTypeError : a result that is no number.
    JitadError : compiled: the shape of a result depends on the values of an element.

    Source: a plain loop, where others vectorise and then take every branch for every element.

    >>> import numpy as np
    >>> from jitad import batch, grad, jit
    >>> def loss(w, x, y):
    ...     r = w @ x - y
    ...     return r * r if r > 0.0 else -r
    >>> per_example = jit(batch(grad(loss), (None, 0, 0)))
    >>> per_example(np.array([1.0, 2.0]), np.eye(2), np.array([0.0, 5.0]))
    array([[ 2.,  0.],
           [-0., -1.]])
    """
    return Batch(f, in_axes, out_axes)
