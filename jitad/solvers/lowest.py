"""What are scipy.optimize's minima of functions of one number, where something is traced?

Brent's search finds them by values, as SciPy's does (`plain/scalar_minima.py`), and Newton's method
the last digits; the derivative is that of the place where the slope is zero, or that of a bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize as so

from jitad.errors import JitadUnsolvedError, JitadValueError
from jitad.operators.solutions import argmin_within, constants, demanded, untagged
from jitad.plain import scalar_minima, scalar_roots
from jitad.solvers.entered import here, of_arguments, refuse, stands_in
from jitad.solvers.roots import failed, found
from jitad.trace import hooks
from jitad.values.kind import fail
from jitad.values.numpy.ufuncs import numpy_number
from jitad.values.registry import call

Function = Callable[..., Any]

_TOL, _MOST, _BOUNDED = 1.48e-8, 500, 1e-5
_HIGHER = (JitadValueError, "no place of the bracket is lower than those around it",
           "Give places a, b, c of which the middle one is the lowest.")  # fmt: skip
_ORDER = (JitadValueError, "the lower bound exceeds the upper bound", "")
_NOT_SMOOTH = (JitadUnsolvedError,
               "what was found has no derivative: the function isn't smooth there",
               "Find places where it isn't by a loop of your own.")  # fmt: skip
_DONE = "Optimization terminated successfully."


class Lowest(NamedTuple):
    """What SciPy's result of `minimize_scalar` holds."""

    x: Any
    fun: Any
    success: bool
    nit: Any
    nfev: Any
    message: str


def _lowest(name: str, f: Function, search: Function, failure: Any) -> Lowest:
    """`search()` gives the place, convergence, rounds, and the flag of the failure."""

    def slope(x: Any) -> Any:
        return hooks.call(scalar_roots.slope_of, f, x)

    def bend(x: Any) -> Any:
        return hooks.call(scalar_roots.slope_of, slope, x)

    def whole() -> Any:
        x, ok, rounds, given = search()
        x = hooks.call(scalar_minima.polished, x, slope, bend)
        return given, x, ok, rounds, call(np.add, rounds, 1)

    def near(x: Any) -> Any:
        return call(np.add, 1e-9, call(np.multiply, 1e-9, call(np.abs, x)))

    best = found(name, whole, slope, near, (failure,), _NOT_SMOOTH)
    place = numpy_number(best.root)
    return Lowest(place, f(place), True, best.iterations, best.function_calls, _DONE)


def _in_bracket(name: str, fun: Any, args: Any, bracket: Any, tol: Any, most: Any) -> Lowest:
    f = of_arguments(fun, args)
    places = [untagged(x) for x in (bracket if bracket is not None else (0.0, 1.0))]
    a, x, b = places if len(places) == 3 else (places[0], None, places[1])

    def search() -> Any:
        return hooks.call(scalar_minima.in_bracket, f, a, x, b, tol, most)

    return _lowest(name, f, search, _HIGHER)


def _in_bounds(name: str, fun: Any, args: Any, bounds: Any, tol: Any, most: Any) -> Lowest:
    """What lies at a bound goes with it."""
    f = of_arguments(fun, args)
    low, high = bounds
    x, ok, rounds, ordered = constants(lambda: list(hooks.call(
        scalar_minima.in_bounds, f, untagged(low), untagged(high), tol, most)))  # fmt: skip
    demanded((ordered, ok), (_ORDER, failed(name)), here())
    ends = (call(np.reshape, end, 1) for end in bounds)
    best = argmin_within(name, lambda v: f(v[0]), call(np.reshape, x, 1), *ends)[0]
    return Lowest(best, f(best), True, rounds, call(np.add, rounds, 1), _DONE)


@stands_in(so.minimize_scalar)
def minimize_scalar(fun: Any, bracket: Any = None, bounds: Any = None, args: Any = (),
                    method: Any = None, tol: Any = None, options: Any = None) -> Any:  # fmt: skip
    given = dict(options or {})
    most = given.pop("maxiter", _MOST)
    tol = given.pop("xatol", given.pop("xtol", tol))
    given.pop("disp", None)
    refuse("minimize_scalar", **{k: (v, None) for k, v in given.items()})
    method = method or ("brent" if bounds is None else "bounded")
    if method == "bounded":
        if bounds is None:
            raise fail(JitadValueError, "The `bounds` parameter is mandatory for method `bounded`.")
        return _in_bounds("minimize_scalar", fun, args, bounds, tol or _BOUNDED, most)
    if bounds is not None or method not in ("brent", "golden"):
        raise fail(JitadValueError, f"method={method!r} of minimize_scalar takes no bounds, or is "
                   "unknown")  # fmt: skip
    return _in_bracket("minimize_scalar", fun, args, bracket, tol or _TOL, most)


@stands_in(so.fminbound)
def fminbound(func: Any, x1: Any, x2: Any, args: Any = (), xtol: Any = _BOUNDED,
              maxfun: Any = _MOST, *, disp: Any = 1) -> Any:  # fmt: skip
    return _in_bounds("fminbound", func, args, (x1, x2), xtol, maxfun).x


@stands_in(so.brent, so.golden)
def brent(func: Any, args: Any = (), brack: Any = None, tol: Any = _TOL, *,
          maxiter: Any = _MOST) -> Any:  # fmt: skip
    return _in_bracket("brent", func, args, brack, tol, maxiter).x
