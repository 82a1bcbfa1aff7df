"""Uses of scipy.special's orthogonal polynomials, and of what is near other functions."""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from tests.breadth.case import add, draws

r, n = draws(97)

X, P = 0.7 * np.tanh(n(5)), r(5)

for name in "legendre sh_legendre chebyt chebyu hermite hermitenorm laguerre".split():
    f = getattr(sp, f"eval_{name}")
    add(f"scipy.special.eval_{name}", lambda x, f=f: (
        f(0, x), f(1, x), f(5, x), f(2, x[0]), f(np.arange(4)[:, None], x)), X, narrow=False,
        native=name == "legendre")  # fmt: skip
for name in ("genlaguerre", "gegenbauer"):
    f = getattr(sp, f"eval_{name}")
    add(f"scipy.special.eval_{name}", lambda a, x, f=f: (
        f(0, a, x), f(1, a, x), f(4, a, x), f(np.arange(4)[:, None], 0.7, x)), P, X,
        narrow=False)  # fmt: skip
add("scipy.special.eval_jacobi", lambda a, b, x: [sp.eval_jacobi(k, a, b, x) for k in range(5)],
    P, P[::-1] + 0.1, X, narrow=False)  # fmt: skip
add("scipy.special.boxcox1p", lambda x, p: (sp.boxcox1p(x, p), sp.boxcox1p(x, 0.0)), P, n(5),
    narrow=False)  # fmt: skip
add("scipy.special.inv_boxcox1p", lambda x, p: (sp.inv_boxcox1p(x, p), sp.inv_boxcox1p(x, 0.0)), P,
    r(5), narrow=False)  # fmt: skip
add("scipy.special.diric", lambda x: (sp.diric(x, 4), sp.diric(x, 7)), 3.0 * X, narrow=False)
add("scipy.special.sph_harm_y", lambda t, p: (
    [sp.sph_harm_y(3, m, t, p) for m in range(-3, 5)], sp.sph_harm_y(0, 0, t[0], p)), P, X,
    narrow=None, order=1)  # fmt: skip
add("scipy.special.sph_harm_y", lambda t: sp.sph_harm_y(5, 2, t, 0.3), P, narrow=None)
add("scipy.special.lpmv", lambda x: [
    sp.lpmv(m, k, np.tanh(x)) for k, m in ((0, 0), (1, 2), (3, -2), (-4, 3), (5, 1))], X,
    narrow=None, order=1)  # fmt: skip
for name in ("jvp", "yvp", "ivp", "kvp"):
    add(f"scipy.special.{name}", lambda x, f=getattr(sp, name): (f(1.5, x), f(0, x, 3), f(2, x, 0)),
        P, narrow=None, order=1)  # fmt: skip
add("scipy.special.zeta", lambda q: (sp.zeta(2, q), sp.zeta(5, q[0])), P, narrow=None, order=1)
