"""Which operations do tangents and sensitivities have, whatever they are of?

Those of a vector space: zero, sum, multiple, inner product.  Numbers and arrays are vectors;
structures (tuples, lists, dicts, dataclasses, registered classes) are vectors element by element,
functions pointwise.  Ints, bools, strings and `None` inside a structure are data, and stay.

`ZERO` is the zero of every one of these spaces.  It is what an operator has in its hands before it
knows which space is meant: adding it changes nothing, and `coerce` gives it the shape of a
template.  Pullbacks take it, and rules (`custom_vjp`) may give it, in place of a sensitivity or of
any part of one.

Source: the linear interface of backpropagators in Pearlmutter & Siskind, *Reverse-mode AD in a
functional framework*, TOPLAS 30 (2008), whose zeros are generic, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadValueError
from jitad.plain.pointwise import combined, mapped
from jitad.runtime import leaves
from jitad.structures import ZERO, children_of, rebuilt, step
from jitad.values.functions import implementation
from jitad.values.number import Number
from jitad.where import caller

__all__ = ["ZERO", "add", "coerce", "dot", "scale", "zero"]


def zero(like: Any) -> Any:
    """The zero of the space that a value is in.

    Parameters
    ----------
    like : a number, an array of any shape and dtype, a structure of them, or a function.

    Returns
    -------
    Zeros of its structure, shapes and dtypes; of a function the one that gives `zero(f(...))`.

    Raises
    ------
    JitadTypeError : something else, such as an object that is not a structure.

    Source: see the head of this module.

    >>> import numpy as np
    >>> from jitad import linear
    >>> linear.zero((2.0, [np.ones(2)]))
    (0.0, [array([0., 0.])])
    """
    if like is ZERO:
        return ZERO
    return _map(_zero_leaf, "zero", like)


def add(u: Any, v: Any) -> Any:
    """The sum of two vectors of one space.

    Parameters
    ----------
    u, v : numbers, arrays of one shape, equal structures of them, or functions; or `ZERO`.

    Returns
    -------
    The sum, of the structure, shapes and dtypes of the two; of functions the pointwise one.

    Raises
    ------
    JitadValueError : they differ in structure or in shape, with the place where they do.

    Source: see the head of this module.

    >>> from jitad import linear
    >>> linear.add({"a": 1.0, "b": [2.0]}, {"a": 10.0, "b": linear.ZERO})
    {'a': 11.0, 'b': [2.0]}
    >>> linear.add(abs, lambda x: 2.0 * x)(-3.0)
    -3.0
    """
    if u is ZERO or v is ZERO:
        return v if u is ZERO else u
    return _zip(_add_leaf, "add", u, v)


def scale(v: Any, factor: Any) -> Any:
    """A multiple of a vector.

    Parameters
    ----------
    v : a number, an array of any shape, a structure of them, a function, or `ZERO`.
    factor : a number, or `ZERO`.

    Returns
    -------
    `factor * v`, of the structure, shapes and dtypes of `v`; for the factor `ZERO` the zero that
    conforms to `v`, without an infinity in `v` doing harm.

    Raises
    ------
    JitadTypeError : `v` has a part that is no vector.

    Source: see the head of this module.

    >>> from jitad import linear
    >>> linear.scale([1.0, float("inf")], linear.ZERO)
    [0.0, 0.0]
    >>> linear.scale([1.0, (2.0,)], 3.0)
    [3.0, (6.0,)]
    """
    if factor is ZERO:
        return zero(v)
    if v is ZERO:
        return ZERO
    return _map(lambda x, path: _as(x * factor, x) if leaves.is_real(x) else x, "scale", v)


def dot(u: Any, v: Any) -> Any:
    """The inner product: the sum of the products of all numbers at the same places.

    Parameters
    ----------
    u, v : numbers, float arrays of one shape, equal structures of them; or `ZERO`.

    Returns
    -------
    A float; `ZERO` where one of the two is.

    Raises
    ------
    JitadValueError : they differ in structure or in shape.
    JitadTypeError : they are functions, which have no inner product here.

    Source: see the head of this module.

    >>> import numpy as np
    >>> from jitad import linear
    >>> linear.dot([2.0, np.array([1.0, 3.0])], [10.0, np.array([1.0, 2.0])])
    27.0
    """
    if u is ZERO or v is ZERO:
        return ZERO
    total: list[Any] = [0.0]

    def leaf(x: Any, y: Any, path: str) -> Any:
        if leaves.is_real(x) and x is not ZERO and y is not ZERO:
            _same_shape(x, y, "dot", path)
            part = implementation(np.sum)(x * y) if leaves.is_array(x) else x * y  # type: ignore[misc]
            total[0] = total[0] + part
        elif _is_function(x):
            raise JitadTypeError("dot: functions have no inner product", caller(),
                                 "Take that of their values.")  # fmt: skip
        return None

    _zip(leaf, "dot", u, v)
    (out,) = total
    return float(out) if isinstance(out, np.floating) else out


def coerce(v: Any, like: Any) -> Any:
    """A vector in which every `ZERO` has got the shape that it has in a template.

    Parameters
    ----------
    v : a vector, or a structure with `ZERO` in the place of any part; or `ZERO`.
    like : a vector of the same space.

    Returns
    -------
    `v`, with zeros of the structure, shapes and dtypes of `like` in the place of each `ZERO`.

    Raises
    ------
    JitadValueError : `v` differs from `like` in structure, with the place.

    Source: see the head of this module.

    >>> from jitad import linear
    >>> linear.coerce([1.0, linear.ZERO], [0.5, (2.0, 3.0)])
    [1.0, (0.0, 0.0)]
    """
    if v is ZERO:
        return zero(like)

    def leaf(x: Any, y: Any, path: str) -> Any:
        return zero(y) if x is ZERO else x

    return _zip(leaf, "coerce", v, like)


# -- inside ---------------------------------------------------------------------------------------


def _is_function(x: Any) -> bool:
    return callable(x) and not isinstance(x, (Number, type))


def _map(f: Callable[[Any, str], Any], what: str, v: Any, path: str = "") -> Any:
    """A vector made of another one, leaf by leaf."""
    if v is ZERO or v is None:
        return v
    if _is_function(v):
        return mapped(partial(_map, f, what), v)
    parts = children_of(v)
    if parts is None:
        if leaves.is_real(v) or leaves.is_data(v):
            return f(v, path)
        raise JitadTypeError(f"{what}: {_at(path)}a {type(v).__name__} is no vector", caller(),
                             "Register its class with register_structure.")  # fmt: skip
    keys, children = parts
    return rebuilt(v, [_map(f, what, c, path + step(type(v), k))
                       for k, c in zip(keys, children, strict=True)])  # fmt: skip


def _zip(f: Callable[[Any, Any, str], Any], what: str, u: Any, v: Any, path: str = "") -> Any:
    """A vector made of two, leaf by leaf; where one has `ZERO`, the other's part is one leaf."""
    if u is ZERO or v is ZERO:
        return f(u, v, path)
    if _is_function(u) and _is_function(v):
        if what == "dot":
            return f(u, v, path)
        return combined(partial(_zip, f, what), u, v)
    ours, others = children_of(u), children_of(v)
    if (ours is None) != (others is None) or (ours is not None and type(u) is not type(v)):
        raise _differ(what, path, f"a {type(u).__name__} and a {type(v).__name__}")
    if ours is None or others is None:
        return u if u is None else f(u, v, path)
    named = dict(zip(*others, strict=True))
    if len(ours[0]) != len(others[0]):
        raise _differ(what, path, f"{len(ours[0])} and {len(others[0])} elements")
    if set(ours[0]) != set(named):
        raise _differ(what, path, f"the keys {list(ours[0])} and {list(others[0])}")
    made = [_zip(f, what, c, named[k], path + step(type(u), k))
            for k, c in zip(*ours, strict=True)]  # fmt: skip
    return None if what == "dot" else rebuilt(u, made)


def _differ(what: str, path: str, how: str) -> JitadValueError:
    return JitadValueError(f"{what}: the vectors differ{' at ' + path if path else ''}: {how}",
                           caller(), "Both must be of one structure.")  # fmt: skip


def _at(path: str) -> str:
    return f"at {path}, " if path else ""


def _zero_leaf(x: Any, path: str) -> Any:
    if leaves.is_array(x) and isinstance(leaves.content(x), Number):
        return implementation(np.zeros_like)(x)  # type: ignore[misc]  # its extents may be traced
    if isinstance(x, Number):
        return 0.0 if leaves.is_real(x) else 0
    return leaves.zero_of(x)


def _add_leaf(u: Any, v: Any, path: str) -> Any:
    if u is ZERO or v is ZERO:
        return v if u is ZERO else u
    if not leaves.is_real(u):
        return u
    _same_shape(u, v, "add", path)
    return _as(u + v, u)


def _same_shape(u: Any, v: Any, what: str, path: str) -> None:
    if np.ndim(u) != np.ndim(v) or (
        leaves.is_array(u) and not any(isinstance(n, Number) for n in (*u.shape, *v.shape))
        and u.shape != v.shape
    ):  # fmt: skip
        raise _differ(what, path, f"shapes {getattr(u, 'shape', ())} and {getattr(v, 'shape', ())}")


def _as(out: Any, like: Any) -> Any:
    return float(out) if type(like) is float and isinstance(out, np.floating) else out
