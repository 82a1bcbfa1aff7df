"""Do derivative rules keep their digits in the tails of a function's domain?  Against mpmath.

A derivative is compared at the very number that it is taken at, so the bound is one on relative
errors: of the first derivative, and of the second one, which the same rules give.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special as sp
from mpmath import mp

import jitad
from jitad.values.number import bind

Function = Callable[[Any], Any]

EVERYWHERE = (1e-9, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
BOTH = (*EVERYWHERE, *(-x for x in EVERYWHERE))
NEAR_ONE = (1e-9, 0.3, 0.9, 0.999, 1.0 - 1e-9, -0.3, -0.999, -1.0 + 1e-9)


def _normal(x: Any) -> Any:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


ROWS: dict[str, tuple[Function, tuple[float, ...]]] = {
    "sqrt": (mpmath.sqrt, (1e-9, 0.3, 1e9)),
    "cbrt": (mpmath.cbrt, (1e-9, 0.3, 1e9)),
    "exp": (mpmath.exp, BOTH),
    "exp2": (lambda x: mpmath.mpf(2) ** x, BOTH),
    "expm1": (mpmath.expm1, BOTH),
    "log": (mpmath.log, (1e-9, 0.3, 1.0, 1e9)),
    "log2": (lambda x: mpmath.log(x, 2), (1e-9, 0.3, 1.0, 1e9)),
    "log10": (lambda x: mpmath.log(x, 10), (1e-9, 0.3, 1.0, 1e9)),
    "log1p": (lambda x: mpmath.log(1 + x), (*EVERYWHERE, -0.9, -1.0 + 1e-9)),
    "sin": (mpmath.sin, (0.3, 1.0, 10.0)),
    "cos": (mpmath.cos, (0.3, 1.0, 10.0)),
    "tan": (mpmath.tan, (1e-9, 0.3, 1.0, 1.5)),
    "asin": (mpmath.asin, NEAR_ONE),
    "acos": (mpmath.acos, NEAR_ONE),
    "atan": (mpmath.atan, (*BOTH, 1e9)),
    "sinh": (mpmath.sinh, BOTH),
    "cosh": (mpmath.cosh, BOTH),
    "tanh": (mpmath.tanh, BOTH),
    "asinh": (mpmath.asinh, (*BOTH, 1e9)),
    "acosh": (mpmath.acosh, (1.0 + 1e-9, 1.5, 30.0, 1e9)),
    "atanh": (mpmath.atanh, NEAR_ONE),
    "erf": (mpmath.erf, (1e-9, 0.3, 1.0, 3.0, 10.0, 25.0, -10.0)),
    "erfc": (mpmath.erfc, (1e-9, 0.3, 1.0, 3.0, 10.0, 25.0, -10.0)),
    "expit": (lambda x: 1 / (1 + mpmath.exp(-x)), BOTH),
    "erfcx": (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), (1e-9, 0.3, 1.0, 3.0, 10.0, 100.0, 1e4,
                                                           -3.0)),
    "dawsn": (lambda x: mpmath.exp(-x * x) * mpmath.erfi(x) * mpmath.sqrt(mpmath.pi) / 2,
              (1e-9, 0.3, 2.0, 3.0, 10.0, 100.0)),
    "erfinv": (mpmath.erfinv, (1e-9, 0.3, 0.999, -0.999)),
    "erfcinv": (lambda x: mpmath.erfinv(1 - x), (1e-9, 0.3, 1.7)),
    "ndtri": (lambda p: mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1), (1e-9, 0.3, 0.7)),
    "log_ndtr": (lambda x: mpmath.log(_normal(x)), (-100.0, -30.0, -3.0, 0.3, 3.0, 6.0)),
    "rgamma": (mpmath.rgamma, (-20.3, -3.0, -2.5, 1e-9, 0.3, 3.0, 30.0, 150.0)),
    "ellipkm1": (lambda p: mpmath.ellipk(1 - p), (1e-9, 0.3, 1.0 - 1e-9, 1.5, 100.0)),
    "gamma": (mpmath.gamma, (1e-9, 0.3, 3.0, 30.0)),
    "lgamma": (mpmath.loggamma, (1e-9, 0.3, 3.0, 30.0, 1e9)),
    "digamma": (mpmath.digamma, (1e-9, 0.3, 3.0, 30.0, 1e9)),
    "i0e": (lambda x: mpmath.besseli(0, x) * mpmath.exp(-x), (1e-9, 0.3, 3.0, 30.0, 1e3)),
    "i1e": (lambda x: mpmath.besseli(1, x) * mpmath.exp(-x), (1e-9, 0.3, 5.0, 30.0, 1e3)),
    "k0e": (lambda x: mpmath.besselk(0, x) * mpmath.exp(x), (1e3,)),
    "k1e": (lambda x: mpmath.besselk(1, x) * mpmath.exp(x), (1e3,)),
    "i0": (lambda x: mpmath.besseli(0, x), (1e-9, 0.3, 30.0)),
    "i1": (lambda x: mpmath.besseli(1, x), (1e-9, 0.3, 30.0)),
    "j1": (lambda x: mpmath.besselj(1, x), (1e-9, 1e-4, 0.3, 3.0)),
    "expi": (mpmath.ei, (1e-9, 0.3, 3.0, 30.0)),
    "exp1": (mpmath.e1, (1e-9, 0.3, 3.0, 30.0)),
    "spence": (lambda x: mpmath.polylog(2, 1 - x).real, (1e-9, 0.3, 0.999, 1.001, 30.0)),
    "ellipk": (mpmath.ellipk, (-1e-3, -1e-9, 1e-9, 1e-3, 0.5, 0.999)),
    "ellipe": (mpmath.ellipe, (-1e-3, -1e-9, 1e-9, 1e-3, 0.5, 0.999)),
}

# functions that are made of rows
MADE: dict[str, tuple[Function, Function, tuple[float, ...]]] = {
    "exprel": (sp.exprel, lambda x: (mpmath.exp(x) - 1) / x, (1e-9, 1e-3, 0.9, 1.1, 30.0, -30.0)),
    "boxcox": (lambda p: sp.boxcox(0.3, p), lambda p: (mpmath.mpf(0.3) ** p - 1) / p,
               (1e-9, 1e-3, 0.9, 3.0, -1e-6)),
    "boxcox by x": (lambda x: sp.boxcox(x, 2.5), lambda x: (x ** mpmath.mpf(2.5) - 1) / 2.5,
                    (1e-9, 0.3, 30.0)),
    "boxcox1p by x": (lambda x: sp.boxcox1p(x, 2.5),
                      lambda x: ((1 + x) ** mpmath.mpf(2.5) - 1) / 2.5, (-0.999999, 1e-9, 30.0)),
    "boxcox by both": (lambda t: sp.boxcox(1e-9 * t, t), lambda t: ((mpmath.mpf(1e-9) * t)**t - 1)
                       / t, (0.5, 2.0)),
    "ellipkinc": (lambda m: sp.ellipkinc(1e-3, m), lambda m: mpmath.ellipf(mpmath.mpf(1e-3), m),
                  (0.3, 0.99, -30.0)),
    "ellipeinc": (lambda m: sp.ellipeinc(1.5, m), lambda m: mpmath.ellipe(mpmath.mpf(1.5), m),
                  (1e-3, 0.99, 1.0 - 1e-9, -30.0)),
    "dn": (lambda m: sp.ellipj(0.5, m)[2], lambda m: mpmath.ellipfun("dn", mpmath.mpf(0.5), m=m),
           (1e-3, 0.5, 1.0 - 1e-9)),
    "sinc": (np.sinc, mpmath.sincpi, (1e-9, 1e-4, 0.3, 0.32, 10.3)),
    "log_expit": (sp.log_expit, lambda x: -mpmath.log(1 + mpmath.exp(-x)), BOTH),
    "logit": (sp.logit, lambda p: mpmath.log(p / (1 - p)), (1e-9, 0.3, 1.0 - 1e-9)),
    "ndtr": (sp.ndtr, _normal, (-10.0, -3.0, 0.3, 3.0, 6.0)),
    "logaddexp": (lambda x: np.logaddexp(x, 1000.0),
                  lambda x: mpmath.log(mpmath.exp(x) + mpmath.exp(1000)),
                  (970.0, 999.3, 1000.0, 1000.7)),
    "softplus": (lambda x: np.logaddexp(0.0, x), lambda x: mpmath.log(1 + mpmath.exp(x)), BOTH),
    "arctan2": (lambda x: np.arctan2(x, 1e180), lambda x: mpmath.atan(x / mpmath.mpf(1e180)),
                (3e179, 1e181)),
}  # fmt: skip


def _truth(f: Function, x: float, order: int) -> float:
    with mp.workdps(75):
        step = mpmath.mpf(10) ** -22 * abs(mpmath.mpf(x))
        return float(mpmath.diff(f, mpmath.mpf(x), order, h=step))


def _check(f: Function, truth: Function, x: float) -> None:
    slope = jitad.derivative(f)
    with np.errstate(all="ignore"):
        found = slope(x), jitad.derivative(slope)(x)
    for order, value, bound in ((1, found[0], 2e-14), (2, found[1], 3e-12)):
        want = _truth(truth, x, order)
        if 1e-290 < abs(want) < 1e300:
            assert abs(value - want) <= bound * abs(want), (order, value, want)


@pytest.mark.parametrize("name", ROWS)
def test_rows(name: str) -> None:
    f, points = ROWS[name]
    for x in points:
        _check(lambda t: bind(name, t), f, x)


@pytest.mark.parametrize("name", MADE)
def test_made_of_rows(name: str) -> None:
    f, truth, points = MADE[name]
    for x in points:
        _check(lambda t: f(t), truth, x)


def test_compiled_tails() -> None:
    """The kernels' own code of the rows that are written for this."""
    for f, truth in ((np.tanh, ROWS["tanh"][0]), (sp.expit, ROWS["expit"][0])):
        g = jitad.jit_grad(lambda t, f=f: f(t))
        for x in (10.0, 30.0, -30.0):
            assert g(x) == pytest.approx(_truth(truth, x, 1), rel=1e-14, abs=0.0)
            x32 = np.float32(x)
            assert g(x32) == pytest.approx(_truth(truth, x, 1), rel=1e-6, abs=0.0)


def test_at_zero() -> None:
    """Formulas that hold on either side of zero: derivatives of higher orders there."""
    for f, third in ((np.tanh, -2.0), (sp.dawsn, -4.0), (np.arcsin, 1.0), (sp.expit, -0.125)):
        d = jitad.derivative(jitad.derivative(jitad.derivative(lambda t, f=f: f(t))))
        assert d(0.0) == pytest.approx(third, rel=1e-13)


def test_where_results_are_at_the_ends_of_floats() -> None:
    for x in (1e-200, -1e-310):
        assert jitad.derivative(sp.i1)(x) == jitad.derivative(sp.i1e)(x) == 0.5
        assert jitad.derivative(jitad.derivative(sp.i1))(x) == pytest.approx(0.375 * x)
    for x in (40.0, 1e3):
        assert jitad.derivative(jitad.derivative(sp.log_ndtr))(x) == 0.0
    with np.errstate(all="ignore"):
        assert sp.rgamma(-300.0) == jitad.jit(lambda x: sp.rgamma(x))(-300.0) == 0.0
        assert jitad.derivative(sp.rgamma)(300.0) == 0.0
        assert jitad.derivative(sp.rgamma)(-300.0) == np.inf
