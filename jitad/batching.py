"""How is a function run on every element of a batch?  By a loop over an axis of its arguments.

The loop is one of the tape like any other: an element takes its own branches and runs its own
loops, gradients are taken of it or in it, and nothing is computed for elements that don't ask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad import columns
from jitad.api import Derivative
from jitad.errors import JitadTypeError, JitadValueError
from jitad.runtime.leaves import is_array
from jitad.runtime.operators import place
from jitad.runtime.tagged import shape_of
from jitad.structures import Structure, flatten, map_structure, unflatten
from jitad.trace import batches, context, hooks, operators
from jitad.values.broadcast import require_same
from jitad.values.number import Number
from jitad.where import caller

Function = Callable[..., Any]
Axes = int | None | tuple[int | None, ...]


class Batch(Derivative):
    """The function that runs `f` on every element of its arguments along `in_axes`."""

    def __init__(self, f: Function, in_axes: Axes, out_axes: int | tuple[int, ...]) -> None:
        super().__init__("batch", f)
        each = in_axes if isinstance(in_axes, tuple) else (in_axes,)
        if not all(a is None or _is_int(a) for a in each):
            raise JitadTypeError(f"batch: in_axes={in_axes!r} is not an axis for each argument",
                                 None, "Give an int, or a tuple of ints and None.")  # fmt: skip
        if not all(map(_is_int, out_axes if isinstance(out_axes, tuple) else (out_axes,))):
            raise JitadTypeError(f"batch: out_axes={out_axes!r} is not an axis for each result",
                                 None, "Give an int, or a tuple of ints.")  # fmt: skip
        self.in_axes, self.out_axes = in_axes, out_axes
        self.manner = f"batch along {in_axes} to {out_axes}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        traced = context.current() is not None
        f = operators.inner(self) if traced else self.f
        axes = self.in_axes if isinstance(self.in_axes, tuple) else (self.in_axes,) * len(args)
        if len(axes) != len(args):
            raise JitadValueError(f"batch: {len(args)} arguments with {len(axes)} in_axes",
                                  caller(), "Give an axis, or None, for each.")  # fmt: skip
        n = _length(f, args, axes)

        def run(i: Any) -> Any:
            return hooks.call(f, *map(_element, args, axes, (i,) * len(args)), **kwargs)

        if traced:
            structure, leaves, likes = batches.results(run, n)
        else:
            found = [flatten(run(i)) for i in range(n)]
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
        places = zip(out, self._to(structure), structure.paths(), strict=True)
        return unflatten(structure, [_moved(leaf, to, path) for leaf, to, path in places])

    def _to(self, structure: Structure) -> list[int]:
        """Which axis of each leaf of the result is that of the elements."""
        if not isinstance(self.out_axes, tuple):
            return [self.out_axes] * structure.size
        if structure.kind is not tuple or len(structure.children) != len(self.out_axes):
            raise JitadValueError(
                f"batch: the result is no tuple of {len(self.out_axes)}, as out_axes says",
                caller(), "Give an int, or an axis for each part of a tuple.",
            )  # fmt: skip
        parts = zip(structure.children, self.out_axes, strict=True)
        return [axis for part, axis in parts for _ in range(part.size)]


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


def _element(arg: Any, axis: int | None, i: Any) -> Any:
    """Element i of an argument; the argument itself where it is not batched."""
    if axis is None:
        return arg

    def take(leaf: Any) -> Any:
        at = (slice(None),) * (axis if axis >= 0 else axis + len(shape_of(leaf)))
        return hooks.get_item(leaf, (*at, i))

    return map_structure(take, arg)


def _length(f: Function, args: tuple[Any, ...], axes: tuple[int | None, ...]) -> Any:
    """How many elements the batch has."""
    n: Any = None
    for k, (arg, axis) in enumerate(zip(args, axes, strict=True)):
        if axis is None:
            continue
        leaves, structure = flatten(arg)
        for leaf, path in zip(leaves, structure.paths(), strict=True):
            shape = shape_of(leaf) if is_array(leaf) else ()
            if not -len(shape) <= axis < len(shape):
                what = f"has {len(shape)} axes" if shape else "is no array"
                raise JitadValueError(
                    f"batch: {place(f, k, path)} {what}, and in_axes has {axis} for it", caller(),
                    "Give None for what is the same for all elements.",
                )  # fmt: skip
            m = shape[axis]
            if n is None:
                n = m
            else:
                _same(m, n, f"batch: {place(f, k, path)}")
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


def batch(
    f: Function, in_axes: Axes = 0, out_axes: int | tuple[int, ...] = 0
) -> Function:
    """A function run on every element along an axis of its arguments.

    Compiled, it is a native loop; an element takes its own branches, and only those.
    `batch(grad(f))` gives the gradients of all examples, `batch(jacobian(f))` their Jacobians.

    Parameters
    ----------
    f : function of numbers, arrays and structures of them, which gives numbers, arrays of one
        shape for all elements, or a structure of them.
    in_axes : the axis of the arguments along which the elements lie: an int for all arguments, or
        a tuple with an int or None for each.  None: the argument is the same for all elements.
    out_axes : which axis of the results is that of the elements: an int for all of them, or a
        tuple with one for each part of a result that is a tuple.

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
