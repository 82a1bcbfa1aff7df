"""Uses of SciPy's functions that call the user's: roots, integrals, equations, minima."""

from __future__ import annotations

import numpy as np
import scipy.optimize as so

from tests.breadth.case import add, draws

r, n = draws(29)


def _gap(x, p):
    return x**3 + p[0] * x - p[1]


for f in (so.brentq, so.brenth, so.bisect, so.ridder, so.toms748):
    add(f"scipy.optimize.{f.__name__}", lambda p, f=f: f(_gap, 0.0, 3.0, args=(p,), xtol=1e-14),
        r(2), narrow=False, native=f is so.brentq)  # fmt: skip
add("scipy.optimize.newton", lambda p: (
    so.newton(_gap, 1.0, args=(p,)),
    so.newton(lambda x: x**3 - p, np.ones(2), lambda x: 3.0 * x * x)), r(2),
    narrow=False)  # fmt: skip
add("scipy.optimize.root_scalar", lambda p: (
    so.root_scalar(_gap, (p,), bracket=(0.0, 3.0), xtol=1e-14).root,
    so.root_scalar(_gap, (p,), x0=1.0, fprime=lambda x, p: 3.0 * x * x + p[0]).root), r(2),
    narrow=False)  # fmt: skip
add("scipy.optimize.fixed_point", lambda p: (
    so.fixed_point(lambda x: np.cos(p[0] * x), 0.5, xtol=1e-12),
    so.fixed_point(lambda x: 0.5 * np.cos(p * x), np.array([0.5, 0.2]), xtol=1e-12)), r(2),
    narrow=False)  # fmt: skip
