"""What do Python's operators do where an operand is complex?

The same as the ufuncs, but that Python's numbers stay Python's, which take the precision of what
they meet.  (What a ufunc gives is NumPy's: `np.exp(1j) * z` of single precision is of double.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.errors import JitadTypeError, JitadZeroDivisionError
from jitad.tape.types import Scalar
from jitad.values.array import ArrayHandle
from jitad.values.broadcast import elementwise, shape_of
from jitad.values.kind import fail, is_number, require, type_of
from jitad.values.number import Number
from jitad.values.registry import call


def operator(ufunc: Any) -> tuple[Any, Any, Any]:
    """An operator of `Complex`, the one from the right, and the one that writes."""

    def forward(self: Any, other: Any) -> Any:
        return _applied(ufunc, self, other) if takes(other) else NotImplemented

    def backward(self: Any, other: Any) -> Any:
        return _applied(ufunc, other, self) if takes(other) else NotImplemented

    def in_place(self: Any, other: Any) -> Any:
        result = forward(self, other)
        if result is NotImplemented or not self.shape:
            return result
        self.assign(result)
        return self

    return forward, backward, in_place


def takes(other: Any) -> bool:
    from jitad.values.complexes.number import Complex  # whose operators these are

    return isinstance(other, (Complex, ArrayHandle, np.ndarray, list, tuple)) or is_number(other)


def _applied(ufunc: Any, a: Any, b: Any) -> Any:
    if _python(a) and _python(b):
        from jitad.values.complexes.functions import ELEMENTWISE  # made of these operators

        if ufunc in ELEMENTWISE:
            result = ELEMENTWISE[ufunc](a, b)
            return bool(result) if isinstance(result, np.bool_) else result
    return call(ufunc, a, b)


def divided(a: Any, b: Any) -> Any:
    """What `/` computes: a Python number divided by zero raises."""
    from jitad.values.complexes.number import parts

    if _python(a) and _python(b):
        re, im = parts(b)
        if not isinstance(re, Number) and not isinstance(im, Number):
            fine = bool(re) or bool(im)
        else:
            tests = [elementwise("ne", p, 0.0) for p in (re, im) if p is not None]
            fine = tests[0] if len(tests) == 1 else elementwise("logical_or", *tests)
        require(fine, JitadZeroDivisionError, "complex division by zero")
    return _applied(np.true_divide, a, b)


def _python(x: Any) -> bool:
    from jitad.values.complexes.number import Complex

    if (not is_number(x) and not isinstance(x, Complex)) or shape_of(x):
        return False
    t = type_of(x)
    return isinstance(t, Scalar) and t.py


_UFUNCS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "pow": np.power, "eq": np.equal,
    "ne": np.not_equal,
}  # fmt: skip


def operated(name: str, a: Any, b: Any) -> Any:
    """A binary operator, by its primitive's name, on numbers of which one is complex."""
    if name == "div":
        return divided(a, b)
    if name not in _UFUNCS:
        raise fail(JitadTypeError, f"{name!r} is not defined for complex numbers")
    return _applied(_UFUNCS[name], a, b)
