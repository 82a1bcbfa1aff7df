"""How does a tagged number behave where user code expects a float?

Comparisons, `bool`, formatting and rounding to an int look at the innermost primal.  What would
drop the derivative in silence (`float`, `int`, NumPy conversion, hashing) is refused; a number
that outlives its application is just its primal.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.runtime.tags import alive
from jitad.tape.ir import Pos
from jitad.values.number import Number, bind
from jitad.where import caller


class Tagged(Number):
    """Common to forward and reverse mode: a primal under a tag."""

    __slots__ = ()
    tag: int
    primal: Any

    @property
    def base(self) -> Any:
        """The innermost primal: a plain number, an array, or a tape variable."""
        value: Any = self
        while isinstance(value, Tagged):
            value = value.primal
        return value

    def outlived(self) -> Any:
        return alive(self)

    # -- what it looks like -----------------------------------------------------------------------

    @property
    def shape(self) -> tuple[Any, ...]:
        value = self.primal
        while isinstance(value, Tagged):
            value = value.primal
        return getattr(value, "shape", ())

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return dtype_of(self)

    def __bool__(self) -> bool:
        return bool(self.base)

    def __format__(self, spec: str) -> str:
        return format(self.base, spec)

    def __str__(self) -> str:
        return str(self.base)

    def __repr__(self) -> str:  # users print lists and objects that hold it
        return repr(self.base)

    def inside(self) -> str:
        """What it is made of, tag and all: for a look while debugging."""
        raise NotImplementedError

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None:
            return round(float(self.base))
        from jitad.values.python_functions import round_  # numbers are below functions of them

        return round_(self, digits)

    def __floor__(self) -> int:
        return math.floor(self.base)

    def __ceil__(self) -> int:
        return math.ceil(self.base)

    def __trunc__(self) -> int:
        return math.trunc(self.base)

    # -- what it refuses while its application runs -----------------------------------------------

    def __float__(self) -> float:
        value = alive(self)
        if not isinstance(value, Number):
            return float(value)
        raise refusal(
            "float() would drop the derivative of this number",
            "Compute with the number itself: jitad follows math, NumPy and plain arithmetic.",
        )

    def __int__(self) -> int:
        value = alive(self)
        if not isinstance(value, Number):
            return int(value)
        raise refusal(
            "int() of a number that is being differentiated has no derivative",
            "Use math.floor or round, whose derivative is zero, where that is meant.",
        )

    def __index__(self) -> int:
        value = alive(self)
        if not isinstance(value, Number):
            return value.__index__()
        refused = refusal("a number that is being differentiated can't be an index",
                          "Compute indices from integers, or round with math.floor.")  # fmt: skip
        refused.of_program = True  # as it is a float
        raise refused

    def __complex__(self) -> complex:
        value = alive(self)
        if not isinstance(value, Number):
            return complex(value)
        raise refusal("complex() of library code would drop the derivative of this number",
                      "Write x + 0j, or call complex() in a function that jitad rewrites.")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        value = alive(self)
        if not isinstance(value, Number):
            return np.array(value, *args, **kwargs)
        raise refusal(
            "a number that is being differentiated can't be put into a NumPy array",
            "Make the array inside the differentiated function, where jitad sees it "
            "(np.zeros, np.array), or pass it as an argument.",
        )

    def __hash__(self) -> int:  # type: ignore[override]
        value = alive(self)
        if not isinstance(value, Number):
            return hash(value)
        raise refusal("a number that is being differentiated can't be hashed",
                      "It can't be a dict key or in a set; use an int or a string instead.")

    # -- identity ---------------------------------------------------------------------------------

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce__(self) -> Any:
        value = alive(self)
        if not isinstance(value, Number):
            return _same, (value,)
        raise refusal("a number that is being differentiated can't be pickled",
                      "Other processes don't see the derivative; map within this one.")


def inside(value: Any) -> str:
    """A value with its tags."""
    return value.inside() if isinstance(value, Tagged) else repr(value)


def _same(value: Any) -> Any:
    return value


def refusal(what: str, remedy: str) -> JitadTypeError:
    """The error, at the user's line that is running."""
    where: Pos | None = caller()
    return JitadTypeError(what, where, remedy)


def dtype_of(value: Any) -> np.dtype[Any]:
    """The dtype of a number or array of any kind."""
    while isinstance(value, Tagged):
        value = value.primal
    if isinstance(value, Number):
        return np.dtype(value.type.dtype)  # type: ignore[attr-defined]
    return value.dtype if hasattr(value, "dtype") else np.dtype(type(value))


def shape_of(value: Any) -> tuple[Any, ...]:
    """The extents of a number or array of any kind."""
    return () if type(value) is float else getattr(value, "shape", ())


def is_floating(value: Any) -> bool:
    """False of integers and booleans, which have no derivative."""
    return type(value) is float or dtype_of(value).kind in "fc"


def zeros_like(value: Any) -> Any:
    """A zero of the same extents and dtype, in buffers of its own."""
    while isinstance(value, Tagged):
        value = value.primal
    shape = shape_of(value)
    if not shape:
        return 0.0
    if isinstance(value, Number):
        return bind("full", 0.0, *shape, dtype=value.type.dtype)  # type: ignore[attr-defined]
    return np.zeros(shape, value.dtype)


def fit(value: Any, like: Any) -> Any:
    """A cotangent or tangent with the extents of the number that it belongs to.

    Elementwise primitives take scalars together with arrays: a scalar operand's cotangent is a
    sum, and a tangent that is the same for all elements is repeated.
    """
    have, want = shape_of(value), shape_of(like)
    if len(have) == len(want):
        return value
    if not want:
        return bind("sum", value, axes=tuple(range(len(have))))
    return bind("broadcast", value, *want, axes=())
