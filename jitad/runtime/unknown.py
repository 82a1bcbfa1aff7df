"""What stands in the place of a derivative that nobody knows?

A number that takes part in every operation, as nan does, and keeps the names of the functions that
lack a rule.  Nothing is wrong while it reaches no result: a branch not taken, a part that is
multiplied by a symbolic zero.  A result that it reaches is an error, which names them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from jitad.errors import unknown_functions
from jitad.primitives import Primitive
from jitad.runtime.tagged import Tagged
from jitad.tape.types import Scalar
from jitad.values.number import Number
from jitad.where import caller


class Unknown(Number):
    """A tangent or cotangent that a rule is missing for."""

    __slots__ = ("functions", "shape")
    type = Scalar("f8")

    def __init__(self, functions: tuple[str, ...], shape: tuple[Any, ...] = ()) -> None:
        self.functions, self.shape = functions, shape

    def __repr__(self) -> str:
        return f"<unknown derivative of {', '.join(self.functions)}>"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def _apply(self, row: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if row.name == "where" and not isinstance(args[0], Number):
            chosen = [x for x, taken in ((args[1], np.any(args[0])), (args[2], not np.all(args[0])))
                      if taken]  # fmt: skip
            if not any(isinstance(x, Unknown) for x in chosen):
                return chosen[0]
        found = (f for a in args if isinstance(a, Unknown) for f in a.functions)
        return Unknown(tuple(dict.fromkeys(found)))


def refuse_unknown(values: Iterable[Any]) -> None:
    """The derivatives that a caller is about to get must be known."""
    missing: dict[str, None] = {}
    for value in values:
        base = value.base if isinstance(value, Tagged) else value
        if isinstance(base, Unknown):
            missing.update(dict.fromkeys(base.functions))
    if missing:
        raise unknown_functions(tuple(missing), caller())
