"""How are the table's rules run on the primals of tagged numbers?

In IEEE arithmetic: Python floats would raise where NumPy's give inf or nan (0.5 / 0.0), or turn
complex ((-8.0) ** 0.5), so rules that divide or exponentiate get NumPy's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jitad.errors import JitadTypeError
from jitad.primitives import Primitive
from jitad.runtime.tagged import dtype_of
from jitad.values.number import Number, Operations, o
from jitad.where import caller

_float64 = np.float64
_TOTAL = frozenset(("add", "sub", "mul", "neg", "where"))  # rules without such arithmetic


_operations: dict[tuple[bool, ...], Operations] = {}


def operations(active: tuple[bool, ...]) -> Operations:
    """What a rule is given where the derivatives of some operands only are wanted."""
    if active not in _operations:
        _operations[active] = Operations(active)
    return _operations[active]


def factors_of(
    row: Primitive, primals: list[Any], y: Any, params: dict[str, Any], active: Sequence[bool]
) -> Any:
    """An elementwise primitive's partial derivatives, one an operand."""
    if row.name not in _TOTAL:
        primals = [_float64(p) if type(p) is float else p for p in primals]
        if type(y) is float:
            y = _float64(y)
    rules = operations(tuple(active)) if row.dear and len(primals) > 1 else o
    return row.partials(rules, *primals, y, **params)  # type: ignore[misc]


def without_rule(row: Primitive, y: Any) -> Any:
    """The result of a primitive that has no derivative: right for what is not real."""
    if row.effect or row.constant:
        return y
    if not isinstance(y, (float, complex, np.ndarray, np.generic, Number)):
        return y
    if dtype_of(y).kind not in "fc":
        return y
    raise JitadTypeError(
        f"{row.name} has no derivative rule", caller(), "Compute it outside, or register a rule."
    )
