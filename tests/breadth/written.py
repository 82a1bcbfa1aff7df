"""Uses of the distributions of scipy.stats that are traced as SciPy has written them: by places,
location, scale and parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats as st

from tests.breadth.case import add, draws

r, n = draws(29)
AT = np.array([0.22, 0.46, 0.71])

# distribution: its parameters, and what SciPy has no formula for
LAWS: dict[str, tuple[tuple[float, ...], str]] = {
    "alpha": ((0.8,), ""), "anglit": ((), ""), "arcsine": ((), ""), "argus": ((1.2,), "ppf isf"),
    "betaprime": ((1.8, 2.4), ""), "bradford": ((0.8,), ""), "burr": ((1.8, 1.4), ""),
    "burr12": ((1.8, 1.4), ""), "chi": ((2.8,), ""), "crystalball": ((1.4, 2.3), ""),
    "dgamma": ((1.8,), ""), "dweibull": ((1.8,), ""), "exponnorm": ((0.8,), "ppf isf"),
    "exponpow": ((0.8,), ""), "exponweib": ((0.8, 1.4), ""), "fatiguelife": ((0.8,), ""),
    "fisk": ((1.8,), ""), "foldcauchy": ((0.8,), "ppf isf"), "foldnorm": ((0.8,), "ppf isf"),
    "genexpon": ((0.8, 1.4, 1.1), ""), "genextreme": ((0.3,), ""), "gengamma": ((0.8, 1.4), ""),
    "genhalflogistic": ((0.8,), ""), "genlogistic": ((0.8,), ""), "gennorm": ((1.8,), ""),
    "genpareto": ((0.3,), ""), "gibrat": ((), ""), "gompertz": ((0.8,), ""),
    "halfgennorm": ((0.8,), ""), "halflogistic": ((), ""), "hypsecant": ((), ""),
    "invgauss": ((0.8,), "ppf isf"), "invweibull": ((1.8,), ""), "jf_skew_t": ((2.0, 3.0), ""),
    "johnsonsb": ((0.4, 1.3), ""), "johnsonsu": ((0.4, 1.3), ""), "kappa3": ((0.8,), ""),
    "kappa4": ((0.1, 0.3), ""), "laplace_asymmetric": ((1.3,), ""), "levy": ((), ""),
    "levy_l": ((), ""), "loggamma": ((0.8,), ""), "loglaplace": ((1.8,), ""),
    "loguniform": ((0.3, 2.5), ""), "lomax": ((1.8,), ""), "mielke": ((1.8, 1.4), ""),
    "moyal": ((), ""), "nakagami": ((0.8,), ""), "norminvgauss": ((1.3, 0.4),
    "cdf logcdf ppf isf"), "pearson3": ((0.8,), ""), "powerlaw": ((1.8,), ""),
    "powerlognorm": ((0.8, 1.4), ""), "powernorm": ((1.8,), ""), "rdist": ((2.6,), ""),
    "recipinvgauss": ((0.8,), "ppf isf"), "rice": ((0.8,), "cdf sf logcdf logsf ppf isf"),
    "semicircular": ((), ""), "skewcauchy": ((0.3,), ""), "trapezoid": ((0.25, 0.6), ""),
    "triang": ((0.4,), ""), "truncexpon": ((1.8,), ""), "truncnorm": ((-0.7, 1.3), ""),
    "truncweibull_min": ((1.4, 0.2, 1.9), ""), "wald": ((), "ppf isf"),
    "weibull_max": ((1.8,), ""), "wrapcauchy": ((0.4,), ""),
}  # fmt: skip
METHODS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
SECOND = ("genpareto", "gompertz", "truncnorm")


def _of(law: Any, methods: list[str], places: Any) -> Callable[..., Any]:
    def f(x: Any, m: Any, *p: Any) -> Any:
        y = places + 0.1 * x
        given = [(x if w in ("ppf", "isf") else y, getattr(law, w)) for w in methods]
        return [g(v, *p, m[0], 1.0 + m[1] ** 2) for v, g in given]

    return f


for _name, (_shapes, _without) in LAWS.items():
    _law = getattr(st, _name)
    _has = [m for m in METHODS if m not in _without.split()]
    _seen = [m for m in _has if _name in SECOND or m in ("logpdf", "cdf", "ppf")]  # make the others
    add(f"scipy.stats.{_name}.{', '.join(_has)}", _of(_law, _seen, _law.ppf(AT, *_shapes)), AT,
        0.1 * r(2), *map(np.float64, _shapes), narrow=None, rtol=1e-5,
        order=2 if _name in SECOND else 1)  # fmt: skip
