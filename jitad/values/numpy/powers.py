"""What becomes of np.poly1d?  Its coefficients, the highest power first, and its operators.

NumPy cuts leading zeros off when it makes one.  What a polynomial is at a place does not depend on
that; how many coefficients there are does, and is told where the first is not zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadTypeError
from jitad.values import extents
from jitad.values.kind import fail, is_python, require
from jitad.values.number import Number
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces
from jitad.values.stand_ins import StandIn


class Powers(StandIn):
    """A polynomial in powers of one variable."""

    _what = "polynomial (np.poly1d)"
    __array_ufunc__ = None  # so that arrays leave their operators to it

    def __init__(self, coefficients: Any, variable: Any = None) -> None:
        self._c = call(np.atleast_1d, coefficients)
        if self._c.ndim != 1:
            raise fail(JitadTypeError, "np.poly1d is supported for coefficients along one axis")
        self.variable = variable or "x"

    @property
    def coeffs(self) -> Any:
        first = call(np.not_equal, self._c[0], 0) if self._c.shape[0] != 1 else True
        require(first, JitadError, "the coefficient of the highest power is zero, and NumPy would "
                "cut it off: how many there are depends on the values",
                "Cut it off before.")  # fmt: skip
        return call(np.copy, self._c)

    c = coef = coefficients = coeffs

    @property
    def order(self) -> Any:
        return extents.sub(self.coeffs.shape[0], 1)

    o = order

    @property
    def roots(self) -> Any:
        return call(np.roots, self._c)

    r = roots

    def __getitem__(self, power: Any) -> Any:
        """The coefficient of a power; zero where there is none."""
        n, power = self._c.shape[0], extents.as_int(power, "a power")
        if any(isinstance(k, Number) for k in (n, power)):
            there = call(np.logical_and, call(np.greater_equal, power, 0), call(np.less, power, n))
            at = call(np.where, there, extents.sub(extents.sub(n, 1), power), 0)
            return call(np.where, there, self._c[at], 0)
        return self._c[n - 1 - power] if 0 <= power < n else 0

    def __call__(self, x: Any) -> Any:
        if isinstance(x, Powers):
            raise fail(JitadTypeError, "a polynomial of a polynomial is not supported here")
        return call(np.polyval, self._c, x)

    def deriv(self, m: int = 1) -> Powers:
        return Powers(call(np.polyder, self._c, m), self.variable)

    def integ(self, m: int = 1, k: Any = 0) -> Powers:
        return Powers(call(np.polyint, self._c, m, k), self.variable)

    def __neg__(self) -> Powers:
        return Powers(-self._c, self.variable)

    def __pos__(self) -> Powers:
        return self

    def __pow__(self, power: Any) -> Powers:
        n = int(handle(0)._static(power, "the power of a polynomial"))
        if n < 0:
            raise ValueError("Power to non-negative integers only.")
        out: Any = np.ones(1)
        for _ in range(n):
            out = call(np.polymul, self._c, out)
        return Powers(out, self.variable)

    def __truediv__(self, other: Any) -> Powers:
        if _of(other).shape[0] != 1:
            raise fail(JitadTypeError, "the quotient of two polynomials is not supported here: how "
                       "many coefficients it has depends on the values")  # fmt: skip
        return Powers(call(np.true_divide, self._c, other), self.variable)


def _of(other: Any) -> Any:
    """The coefficients of an operand: a polynomial, coefficients, or a number."""
    plain = isinstance(other, np.poly1d)
    return call(np.atleast_1d, other.coeffs if plain else getattr(other, "_c", other))


def _on_left(function: Any) -> Callable[[Powers, Any], Powers]:
    return lambda self, other: Powers(call(function, self._c, _of(other)))


def _on_right(function: Any, elementwise: Any) -> Callable[[Powers, Any], Any]:
    def operator(self: Powers, other: Any) -> Any:
        if is_python(other):
            return Powers(call(function, _of(other), self._c))
        return call(elementwise, other, self.coeffs)  # NumPy's numbers take it for an array

    return operator


for _name, _function, _elementwise in (
    ("add", np.polyadd, np.add), ("sub", np.polysub, np.subtract),
    ("mul", np.polymul, np.multiply),
):  # fmt: skip
    setattr(Powers, f"__{_name}__", _on_left(_function))
    setattr(Powers, f"__r{_name}__", _on_right(_function, _elementwise))


@replaces(np.poly1d, plain=False)
def poly1d(c_or_r: Any, r: bool = False, variable: Any = None) -> Powers:
    if isinstance(c_or_r, Powers):
        return Powers(c_or_r._c, variable or c_or_r.variable)
    given = c_or_r.coeffs if isinstance(c_or_r, np.poly1d) else c_or_r
    return Powers(call(np.poly, given) if r else given, variable)
