"""What are the distributions of scipy.stats that nobody has written out here?

SciPy's own formulas in standard form (`_logpdf`, `_cdf` and so on, which are NumPy and
scipy.special), traced as they are written (`plain/distributed.py` has what is around them).  What
SciPy finds by integrals or searches is refused.  scipy.stats takes a second to import, so this file
is imported where one of its distributions is met, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy._lib._util as util
import scipy.special as sp
import scipy.special._ufuncs as ufuncs
import scipy.stats as st
from scipy._lib import array_api_extra as extra

from jitad.errors import JitadTypeError
from jitad.plain import distributed
from jitad.trace import hooks
from jitad.values.kind import fail
from jitad.values.registry import call, replaces
from jitad.values.scipy import laws
from jitad.values.scipy.distributions import _CONTINUOUS, place

Formula = Callable[..., Any]
BASE: Any = st.rv_continuous

# method -> SciPy's formulas for it, the first of which is taken; what others make of it
_DENSITIES = {"logpdf": ("_logpdf", "_pdf"), "pdf": ("_pdf", "_logpdf")}
_OF_ONE = {"truncnorm": ("_logpdf",)}
_SHARES = {"cdf": (0.0, 1.0), "sf": (1.0, 0.0), "logcdf": (-np.inf, 0.0), "logsf": (0.0, -np.inf)}


# Those that a trace can't follow, here.
_HERE = {("truncnorm", f"_{method}"): getattr(distributed, f"truncated_{method}")
         for method in ("logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")}  # fmt: skip


def own(law: Any, name: str) -> Any:
    """SciPy's formula, where the distribution has one of its own."""
    if (law.name, name) in _HERE:
        return _HERE[law.name, name]
    base = BASE if isinstance(law, BASE) else st.rv_discrete
    return getattr(law, name) if getattr(type(law), name) is not getattr(base, name) else None


def _minus(f: Formula) -> Formula:
    return lambda *given: call(np.subtract, 1.0, hooks.call(f, *given))


def _log(f: Formula) -> Formula:
    return lambda *given: call(np.log, hooks.call(f, *given))


def _share(law: Any, method: str) -> Any:
    """The formula for a share: its own, or what SciPy makes of others."""
    found = own(law, f"_{method}")
    if found is not None:
        return found
    if method == "sf":
        other = own(law, "_cdf")
        return other and _minus(other)
    if method.startswith("log"):
        other = _share(law, method.removeprefix("log"))
        return other and _log(other)
    return None


def _place(law: Any, method: str) -> Any:
    found = own(law, f"_{method}")
    if found is None and method == "isf" and (other := own(law, "_ppf")) is not None:
        return lambda q, *shapes: hooks.call(other, call(np.subtract, 1.0, q), *shapes)
    return found


def _support(law: Any) -> Formula:
    return own(law, "_get_support") or (lambda *_: (law.a, law.b))


def _valid(law: Any) -> Formula:
    def positive(*shapes: Any) -> Any:
        fine: Any = True
        for s in shapes:
            fine = call(np.logical_and, fine, call(np.greater, s, 0.0))
        return fine

    return own(law, "_argcheck") or positive


def _enter(name: str, law: Any) -> None:
    shapes = tuple(law.shapes.split(", ")) if law.shapes else ()

    def enter(method: str, how: Formula, *given: Any) -> None:
        @replaces(getattr(law, method))
        def replacement(x: Any, *args: Any, **kwargs: Any) -> Any:
            parameters, loc, scale = place(args, kwargs, shapes)
            if given[0] is None:
                raise fail(JitadTypeError, f"scipy.stats.{law.name}.{method} is not supported on "
                           "traced or differentiated values: SciPy finds it by an integral or a "
                           "search", "Integrate or search by quad or brentq yourself.")
            formula, *more = given
            around = _support(law), _valid(law), *more
            return hooks.call(how, formula, *around, x, loc, scale, parameters)

    for method, names in _DENSITIES.items():
        found = [n for n in _OF_ONE.get(law.name, names) if own(law, n) is not None]
        formula = own(law, found[0]) if found else None
        enter(method, distributed.density, formula, found[:1] == ["_logpdf"], method == "pdf")
    for method, ends in _SHARES.items():
        enter(method, distributed.share, _share(law, method), *ends)
    for method in ("ppf", "isf"):
        enter(method, distributed.place, _place(law, method), method == "isf")
    laws.enter(name, law)


def written() -> dict[str, Any]:
    """The distributions that are traced as SciPy has written them."""
    named = {n: getattr(st, n) for n in dir(st) if isinstance(getattr(st, n), BASE)}
    return {n: law for n, law in named.items() if n not in _CONTINUOUS}


replaces(extra.apply_where)(lambda *a, **k: hooks.call(distributed.apply_where, *a, **k))
replaces(util._lazyselect)(lambda *a, **k: hooks.call(distributed.lazyselect, *a, **k))
replaces(ufuncs._beta_ppf)(lambda q, a, b: call(sp.betaincinv, a, b, q))
replaces(ufuncs._log1mexp)(lambda x: call(np.log, call(np.negative, call(np.expm1, x))))
for _name, _law in written().items():
    _enter(_name, _law)
