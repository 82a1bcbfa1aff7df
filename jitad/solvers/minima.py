"""What are scipy.optimize's minima, where something is traced?

`jitad.argmin` finds them, by Newton's method: it is the minimiser that counts, not the way.  Sums
of squares are minima as others are.  Those of functions of one number are in `lowest.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize as so

from jitad.errors import (
    JitadConvergenceError,
    JitadError,
    JitadTypeError,
    JitadUnsolvedError,
    JitadValueError,
)
from jitad.operators.api import grad
from jitad.operators.jacobians import jacfwd
from jitad.operators.solutions import argmin_of, argmin_under, argmin_within
from jitad.solvers.constraints import parted, together
from jitad.solvers.entered import of_arguments, refuse, stands_in, vector
from jitad.trace import hooks
from jitad.values.kind import fail, require
from jitad.values.registry import call

Function = Callable[..., Any]

_FOUND = "Optimization terminated successfully."
_TOLERANCES = frozenset({"gtol", "ftol", "xtol", "xatol", "fatol", "xrtol", "eps", "disp",
                         "maxiter", "maxfun", "maxfev", "norm"})  # fmt: skip


class Minimum(NamedTuple):
    """What SciPy's result of `minimize` holds."""

    x: Any
    fun: Any
    jac: Any
    success: bool
    status: int
    message: str


class LeastSquares(NamedTuple):
    """What SciPy's result of `least_squares` holds."""

    x: Any
    cost: Any
    fun: Any
    success: bool
    status: int
    message: str


def _number(value: Any) -> Any:
    """SciPy takes an array of one element as well."""
    return value if call(np.ndim, value) == 0 else call(np.reshape, value, -1)[0]


@stands_in(so.minimize)
def minimize(fun: Any, x0: Any, args: Any = (), method: Any = None, jac: Any = None,
             hess: Any = None, hessp: Any = None, bounds: Any = None, constraints: Any = (),
             tol: Any = None, callback: Any = None, options: Any = None) -> Any:  # fmt: skip
    refuse("minimize", callback=(callback, None))
    for name in options or {}:
        if name not in _TOLERANCES:
            raise fail(JitadTypeError, f"the option {name!r} of minimize is not supported on "
                       "traced or differentiated values", "Leave it out.")  # fmt: skip
    f = of_arguments(fun, args)

    def value(x: Any) -> Any:
        return _number(f(x)[0] if jac is True else f(x))

    zero, above = parted(constraints)
    if zero or above:
        x0 = vector(x0)
        low, high = _ends(_pairs(bounds) or _NONE, x0)
        x = argmin_under("minimize", value, x0, low, high, together(zero), together(above))
    else:
        x = _least("minimize", value, vector(x0), _pairs(bounds))
    return Minimum(x, value(x), grad(value)(x), True, 0, _FOUND)


def _pairs(bounds: Any) -> Any:
    """The bounds of all elements, below and above, given in pairs, as a table or as `Bounds`."""
    if bounds is None or hasattr(bounds, "lb"):
        return bounds if bounds is None else _of_object(bounds)
    pairs = list(bounds)
    ends = [[end if b is None else b for b in side] for end, side in
            zip((-np.inf, np.inf), zip(*pairs, strict=True), strict=True)]  # fmt: skip
    return ends[0], ends[1]


def _of_object(bounds: Any) -> tuple[Any, Any]:
    """Those of a `Bounds`, read as the user's function would read them."""
    return hooks.get_attr(bounds, "lb"), hooks.get_attr(bounds, "ub")


def _sides(bounds: Any) -> Any:
    """The same, given side by side; None where there are none."""
    low, high = _of_object(bounds) if hasattr(bounds, "lb") else bounds
    return None if low is _NONE[0] and high is _NONE[1] else (low, high)


_NONE = (-np.inf, np.inf)


def _within(x0: Any, bounds: Any) -> Any:
    """The start, where sums of squares must have it."""
    x0 = vector(x0)
    if bounds is not None:
        inside = call(np.logical_and, call(np.less_equal, bounds[0], x0),
                      call(np.less_equal, x0, bounds[1]))  # fmt: skip
        require(call(np.all, inside), JitadValueError, "Initial guess is outside of provided "
                "bounds")  # fmt: skip
    return x0


def _between(one: Any, low: Any, high: Any) -> Any:
    """Where a fit starts that was given no start: in the middle, or one from the only bound."""
    bounded, capped = call(np.isfinite, low), call(np.isfinite, high)
    low, high = call(np.where, bounded, low, 0.0), call(np.where, capped, high, 0.0)
    middle = call(np.where, capped, call(np.multiply, 0.5, call(np.add, low, high)),
                  call(np.add, low, 1.0))  # fmt: skip
    outside = call(np.where, capped, call(np.subtract, high, 1.0), one)
    return call(np.where, bounded, middle, outside)


def _least(name: str, value: Function, x0: Any, bounds: Any,
           kind: type[JitadError] = JitadUnsolvedError) -> Any:  # fmt: skip
    if bounds is None:
        return argmin_of(name, value, x0, kind=kind)
    return argmin_within(name, value, x0, *_ends(bounds, x0), kind=kind)


def _ends(bounds: Any, x0: Any) -> tuple[Any, Any]:
    """The bounds of all elements."""
    low, high = (call(np.broadcast_to, call(np.asarray, b, float), x0.shape) for b in bounds)
    require(call(np.all, call(np.less_equal, low, high)), JitadValueError,
            "An upper bound is less than the corresponding lower bound.")
    return low, high


def _squares(name: str, residuals: Function, x0: Any, bounds: Any = None,
             kind: type[JitadError] = JitadUnsolvedError) -> tuple[Any, Any]:  # fmt: skip
    """Where half the sum of squares is least, and the residuals there."""

    def value(x: Any) -> Any:
        r = residuals(x)
        return call(np.multiply, 0.5, call(np.sum, call(np.multiply, r, r)))

    x = _least(name, value, vector(x0), bounds, kind)
    return x, residuals(x)


@stands_in(so.fmin, so.fmin_powell)
def fmin(func: Any, x0: Any, args: Any = (), xtol: Any = 1e-4, ftol: Any = 1e-4,
         maxiter: Any = None, maxfun: Any = None, *, disp: Any = 1) -> Any:  # fmt: skip
    return minimize(func, x0, args).x


@stands_in(so.fmin_bfgs, so.fmin_cg)
def fmin_bfgs(f: Any, x0: Any, fprime: Any = None, args: Any = (), gtol: Any = 1e-5, *,
              maxiter: Any = None, disp: Any = 1) -> Any:  # fmt: skip
    return minimize(f, x0, args).x


@stands_in(so.fmin_ncg)
def fmin_ncg(f: Any, x0: Any, fprime: Any = None, fhess_p: Any = None, fhess: Any = None,
             args: Any = (), avextol: Any = 1e-5, *, maxiter: Any = None,
             disp: Any = 1) -> Any:  # fmt: skip
    return minimize(f, x0, args).x


@stands_in(so.fmin_slsqp)
def fmin_slsqp(func: Any, x0: Any, eqcons: Any = (), f_eqcons: Any = None, ieqcons: Any = (),
               f_ieqcons: Any = None, bounds: Any = (), fprime: Any = None,
               fprime_eqcons: Any = None, fprime_ieqcons: Any = None, args: Any = (),
               iter: Any = 100, acc: Any = 1e-6, iprint: Any = 1,
               disp: Any = None) -> Any:  # fmt: skip
    """Of constraints one by one, and those that one function gives."""
    kept = [{"type": kind, "fun": g, "args": args}
            for kind, given, all_ in (("eq", eqcons, f_eqcons), ("ineq", ieqcons, f_ieqcons))
            for g in ([all_] if all_ is not None else given)]  # fmt: skip
    return minimize(func, x0, args, bounds=bounds or None, constraints=kept).x


@stands_in(so.fmin_l_bfgs_b)
def fmin_l_bfgs_b(func: Any, x0: Any, fprime: Any = None, args: Any = (), approx_grad: Any = 0,
                  bounds: Any = None, m: Any = 10, factr: Any = 1e7, pgtol: Any = 1e-5,
                  epsilon: Any = 1e-8, maxfun: Any = 15000, maxiter: Any = 15000, *,
                  maxls: Any = 20) -> Any:  # fmt: skip
    found = minimize(func, x0, args, jac=fprime is None and not approx_grad, bounds=bounds)
    return found.x, found.fun, {"grad": found.jac, "warnflag": 0, "task": found.message}


@stands_in(so.least_squares)
def least_squares(fun: Any, x0: Any, jac: Any = "2-point", bounds: Any = _NONE,
                  method: str = "trf", ftol: Any = 1e-8, xtol: Any = 1e-8, gtol: Any = 1e-8,
                  x_scale: Any = None, max_nfev: Any = None, args: Any = (),
                  kwargs: Any = None) -> Any:  # fmt: skip
    f = of_arguments(fun, args)

    def residuals(x: Any) -> Any:
        value = f(x) if not kwargs else hooks.call(fun, x, *args, **kwargs)
        return vector(value)

    x, r = _squares("least_squares", residuals, _within(x0, _sides(bounds)), _sides(bounds))
    cost = call(np.multiply, 0.5, call(np.sum, call(np.multiply, r, r)))
    return LeastSquares(x, cost, r, True, 1, _FOUND)


@stands_in(so.leastsq)
def leastsq(func: Any, x0: Any, args: Any = (), Dfun: Any = None, *,
            ftol: Any = 1.49e-8, xtol: Any = 1.49e-8, maxfev: Any = 0) -> Any:  # fmt: skip
    return _squares("leastsq", lambda x: vector(of_arguments(func, args)(x)), x0)[0], 1


def _linear(name: str, a: Any, b: Any, low: Any, high: Any) -> tuple[Any, Any]:
    a, b = call(np.asarray, a, float), call(np.asarray, b, float)
    off = lambda x: call(np.subtract, call(np.matmul, a, x), b)  # noqa: E731
    return _squares(name, off, call(np.zeros, a.shape[1]), (low, high))


@stands_in(so.nnls)
def nnls(A: Any, b: Any, *, maxiter: Any = None) -> Any:
    x, r = _linear("nnls", A, b, 0.0, np.inf)
    return x, call(np.linalg.norm, r)


@stands_in(so.lsq_linear)
def lsq_linear(A: Any, b: Any, bounds: Any = _NONE, method: str = "trf", tol: Any = 1e-10,
               max_iter: Any = None) -> Any:  # fmt: skip
    x, r = _linear("lsq_linear", A, b, *(_sides(bounds) or _NONE))
    cost = call(np.multiply, 0.5, call(np.sum, call(np.multiply, r, r)))
    return LeastSquares(x, cost, r, True, 1, _FOUND)


@stands_in(so.curve_fit)
def curve_fit(f: Any, xdata: Any, ydata: Any, p0: Any = None, sigma: Any = None,
              absolute_sigma: bool = False, check_finite: Any = None,
              bounds: Any = _NONE, method: Any = None, jac: Any = None, *, ftol: Any = None,
              xtol: Any = None, gtol: Any = None, maxfev: Any = None,
              max_nfev: Any = None) -> Any:  # fmt: skip
    if sigma is not None and call(np.ndim, sigma) > 1:
        raise fail(JitadTypeError, "a covariance as sigma= of curve_fit is not supported on traced "
                   "or differentiated values", "Give standard deviations.")  # fmt: skip
    sides = _sides(bounds)
    if p0 is None:
        p0 = np.ones(len(inspect.signature(f).parameters) - 1)
        p0 = p0 if sides is None else _between(p0, *sides)
    start = _within(p0, sides)
    n = start.shape[0]

    def residuals(p: Any) -> Any:
        model = hooks.call(f, xdata, *(p[k] for k in range(n)))
        r = vector(call(np.subtract, model, ydata))
        return r if sigma is None else call(np.divide, r, sigma)

    p, r = _squares("curve_fit", residuals, start, sides, JitadConvergenceError)
    by = jacfwd(residuals)(p)
    spread = call(np.linalg.inv, call(np.matmul, call(np.transpose, by), by))
    if not absolute_sigma:
        left = call(np.subtract, r.shape[0], n)
        share = call(np.divide, call(np.sum, call(np.multiply, r, r)), left)
        spread = call(np.multiply, spread, share)
    return p, spread
