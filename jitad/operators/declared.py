"""What do the signatures of a function of Numba's make of its arguments and of its result?

`njit("f8(f8, i8)")` compiles for these types alone, and numbers of others are converted: an int
becomes a float, a double a single number.  So do those of the function as it is traced.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types

from jitad.emit.numba_private import declared, is_closed
from jitad.tape.types import Array
from jitad.trace import hooks
from jitad.values.array import ArrayHandle
from jitad.values.kind import is_number, type_of

_PYTHONS: dict[Any, Any] = {types.float64: float, types.int64: int, types.boolean: bool,
                            types.complex128: complex}  # fmt: skip
_NUMBERS = (types.Number, types.Boolean)


def applied(
    function: Any, python: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
    run: Callable[..., Any],
) -> Any:  # fmt: skip
    """run(args, kwargs, types of variables), with what the signature makes of these and the result.

    `locals=` of `njit` gives variables types.
    """
    typed = tuple((name, _cast(kind)) for name, kind in getattr(function, "locals", {}).items()
                  if isinstance(kind, _NUMBERS))  # fmt: skip
    if not is_closed(function):
        return run(args, kwargs, typed)
    bound = inspect.signature(python).bind(*args, **kwargs)
    if bound.kwargs:  # of names that can't be given by position
        return run(args, kwargs, typed)
    chosen = declared(function, list(map(_type, bound.args)))
    if chosen is None:
        return run(args, kwargs, typed)
    return _as(run(tuple(map(_as, bound.args, chosen.args)), {}, typed), chosen.return_type)


def converts(function: Any) -> bool:
    """Does it convert numbers, in a way of its own?"""
    return is_closed(function) or bool(getattr(function, "locals", None))


def _type(value: Any) -> Any:
    """Numba's type of a value, as far as it matters for the choice of a signature."""
    if is_number(value) or isinstance(value, (np.ndarray, ArrayHandle)):
        t = type_of(value)
        one = numba.from_dtype(np.dtype(t.dtype))
        return types.Array(one, t.ndim, "C") if isinstance(t, Array) else one
    try:
        return numba.typeof(value)
    except (TypeError, ValueError):
        return types.undefined


def _as(value: Any, kind: Any) -> Any:
    """The value as one of this type of Numba's, if numbers are meant."""
    if isinstance(kind, types.BaseTuple) and isinstance(value, tuple) and len(kind) == len(value):
        parts = tuple(map(_as, value, kind))
        return value if all(p is v for p, v in zip(parts, value, strict=True)) else parts
    if not isinstance(kind, _NUMBERS) or not is_number(value):
        return value
    own = _type(value)
    if own == kind or (isinstance(own, types.Complex) and not isinstance(kind, types.Complex)):
        return value
    return hooks.call(_cast(kind), value)


def _cast(kind: Any) -> Any:
    return _PYTHONS.get(kind) or np.dtype(kind.name).type
