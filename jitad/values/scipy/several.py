"""What becomes of functions of scipy.special that give several results, or complex ones?

Of real operands, but for `wofz`: each result is a row (`primitives/several.py`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sp

from jitad.errors import JitadError, JitadTypeError
from jitad.primitives.several import PARTS, WOFZ
from jitad.values.broadcast import as_operand, elementwise
from jitad.values.complexes.lifts import combined, imaginary_part, real_part
from jitad.values.kind import fail, require
from jitad.values.numpy.ufuncs import add, as_ufunc, div, mul, numpy_number, sub, where
from jitad.values.registry import call, of_complex, replaces, write_each


def _of(name: str) -> Any:
    rows = [row for row, part in PARTS.items() if part.function == name]

    @replaces(getattr(sp, name))
    def replacement(*args: Any, out: Any = None, **others: Any) -> Any:
        if others or len(args) != PARTS[rows[0]].operands:
            raise fail(JitadTypeError, f"{name} is supported without where= and the like")
        operands = tuple(map(as_operand, args))
        return write_each(out, tuple(numpy_number(elementwise(row, *operands)) for row in rows))

    return replacement


for _name in dict.fromkeys(part.function for part in PARTS.values()):
    if _name != WOFZ:
        _of(_name)


@replaces(sp.wofz)
def wofz(z: Any) -> Any:
    x = elementwise("cast", as_operand(z), dtype="f8")  # real ones go by its first loop
    return _faddeeva(x, mul(x, 0.0))


@of_complex(sp.wofz)
def _wofz_of_complex(z: Any) -> Any:
    return _faddeeva(real_part(z), imaginary_part(z))


def _hankel(original: Any, sign: float, scaled: bool) -> None:
    """J + i Y, or J - i Y; scaled, times exp(-i x) or exp(i x).

    At x < 0 what becomes of J and Y at -x on half a turn about zero: Abramowitz & Stegun (9.1.35).
    """

    @replaces(original)
    def hankel(v: Any, z: Any) -> Any:
        z = elementwise("cast", as_operand(z), dtype="f8")
        turned, far = elementwise("lt", z, 0.0), elementwise("abs", z)
        j, y = elementwise("jv", v, far), elementwise("yv", v, far)
        c, s = (elementwise(part, mul(math.pi, v)) for part in ("cos", "sin"))
        first = sub(mul(1.0 - 2.0 * sign, mul(c, j)), mul(-sign, mul(s, y)))
        second = add(mul(s, j), mul(sign, mul(c, y)))
        re, im = where(turned, first, j), where(turned, second, mul(sign, y))
        if not scaled:
            return combined(re, im)
        c, s = elementwise("cos", z), mul(-sign, elementwise("sin", z))
        return combined(sub(mul(re, c), mul(im, s)), add(mul(re, s), mul(im, c)))


for _original, _sign in ((sp.hankel1, 1.0), (sp.hankel2, -1.0)):
    _hankel(_original, _sign, False)
for _original, _sign in ((sp.hankel1e, 1.0), (sp.hankel2e, -1.0)):
    _hankel(_original, _sign, True)


def _faddeeva(x: Any, y: Any) -> Any:
    return combined(elementwise("wofz_re", x, y), elementwise("wofz_im", x, y))


def _voigt(x: Any, sigma: Any, gamma: Any) -> Any:
    """The Lorentz profile, which is what is left for sigma = 0, has no derivative by it here."""
    wide = call(np.all, elementwise("gt", sigma, 0.0))
    require(wide, JitadError, "voigt_profile with a sigma that is not positive",
            "For sigma = 0 write gamma / pi / (x**2 + gamma**2).")  # fmt: skip
    scale = mul(sigma, math.sqrt(2.0))
    height = elementwise("wofz_re", div(x, scale), div(gamma, scale))
    return div(height, mul(sigma, math.sqrt(2.0 * math.pi)))


replaces(sp.voigt_profile)(as_ufunc(sp.voigt_profile, _voigt))
