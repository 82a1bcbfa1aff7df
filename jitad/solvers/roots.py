"""What are scipy.optimize's roots of functions of one number, where something is traced?

A search (`plain/scalar_roots.py`) finds the root; its derivative is that of the equation
(`operators/solutions.py`), in which the search, its tolerances and its start play no part.
"""

from __future__ import annotations

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
from jitad.operators.solutions import solution, untagged
from jitad.plain import iterations, scalar_roots
from jitad.solvers.entered import here, of_arguments, refuse, stands_in
from jitad.trace import hooks
from jitad.values.kind import fail
from jitad.values.numpy.ufuncs import numpy_number
from jitad.values.registry import call

Function = Callable[..., Any]

_SIGNS = (JitadValueError, "f(a) and f(b) must have different signs",
          "Give an interval at whose ends the function has different signs.")  # fmt: skip
_JUMP = (JitadUnsolvedError, "what was found is no root: the function jumps over zero there",
         "Find places of jumps by a loop of your own.")  # fmt: skip
_TOL, _MOST = 1e-10, 100  # for derivatives: a Newton step with the right slope converges at once
_EPS = 4.0 * float(np.finfo(float).eps)


class RootResults(NamedTuple):
    """What SciPy's object of this name holds."""

    root: Any
    iterations: Any
    function_calls: Any
    converged: Any
    flag: str
    method: str


def failed(name: str, kind: type[JitadError] = JitadUnsolvedError) -> tuple[Any, str, str]:
    return (kind, f"{name} did not converge",
            "Start nearer, or give a larger tolerance or more iterations.")  # fmt: skip


def _kind(disp: Any) -> type[JitadError]:
    """Unless it is to be displayed, SciPy tells of no error."""
    return JitadConvergenceError if disp else JitadUnsolvedError


def found(name: str, search: Function, f: Function, near: Function,
          failures: tuple[Any, ...] = (), jump: Any = _JUMP,
          kind: type[JitadError] = JitadUnsolvedError) -> RootResults:  # fmt: skip
    """`search()` gives the flags of the failures, the root, convergence, rounds, calls of f.

    What does not converge is an error of this `kind`.
    """

    def whole() -> Any:
        *flags, x, ok, rounds, calls = search()
        held, regular = hooks.call(scalar_roots.inverse_slope, f, x, near(x))
        return [x], [held], (*flags, ok, regular), (rounds, calls)

    def equation(held: list[Any]) -> Function:
        return lambda x: [hooks.call(scalar_roots.corrected, x[0], held[0], f)]

    pos, failures = here(), (*failures, failed(name, kind), jump)
    (x,), (rounds, calls) = solution(whole, equation, failures, _TOL, _MOST, pos)
    return RootResults(x, rounds, calls, True, "converged", name)


def _slack(xtol: Any, rtol: Any) -> Function:
    """How far a Newton step may lead from a root that was found to these tolerances."""
    return lambda x: call(np.add, 100.0 * xtol, call(np.multiply, 100.0 * rtol + 1e-7,
                                                     call(np.abs, x)))  # fmt: skip


def _in_bracket(name: str, f: Function, a: Any, b: Any, args: Any, xtol: Any, rtol: Any,
                maxiter: Any, disp: Any, full_output: Any) -> Any:  # fmt: skip
    if xtol <= 0.0:
        raise fail(JitadValueError, f"xtol too small ({xtol:g} <= 0)")
    result = in_bracket(name, of_arguments(f, args), a, b, xtol, rtol, maxiter, _kind(disp))
    return (result.root, result) if full_output else result.root


def in_bracket(name: str, f: Function, a: Any, b: Any, xtol: Any, rtol: Any,
               maxiter: Any = 100,
               kind: type[JitadError] = JitadUnsolvedError) -> RootResults:  # fmt: skip
    """The root between places where the function has different signs."""

    def search() -> Any:
        return hooks.call(scalar_roots.bracketed, f, untagged(a), untagged(b), xtol, rtol, maxiter)

    return found(name, search, f, _slack(xtol, rtol), (_SIGNS,), kind=kind)


def _enter(original: Any) -> None:
    name = original.__name__

    @stands_in(original)
    def bracketed(f: Any, a: Any, b: Any, args: Any = (), xtol: Any = 2e-12, rtol: Any = _EPS,
                  maxiter: Any = 100, full_output: bool = False,
                  disp: bool = True) -> Any:  # fmt: skip
        return _in_bracket(name, f, a, b, args, xtol, rtol, maxiter, disp, full_output)


for _original in (so.brentq, so.brenth, so.bisect, so.ridder):
    _enter(_original)


@stands_in(so.toms748)
def toms748(f: Any, a: Any, b: Any, args: Any = (), k: int = 1, xtol: Any = 2e-12,
            rtol: Any = _EPS, maxiter: Any = 100, full_output: bool = False,
            disp: bool = True) -> Any:  # fmt: skip
    result = _in_bracket("toms748", f, a, b, args, xtol, rtol, maxiter, disp, full_output)
    return result if full_output else numpy_number(result)


@stands_in(so.newton)
def newton(func: Any, x0: Any, fprime: Any = None, args: Any = (), tol: Any = 1.48e-8,
           maxiter: Any = 50, fprime2: Any = None, x1: Any = None, rtol: Any = 0.0,
           full_output: bool = False, disp: bool = True) -> Any:  # fmt: skip
    args = tuple(args)  # as SciPy does here, and nowhere else
    f, slope, bend = (g and of_arguments(g, args) for g in (func, fprime, fprime2))
    if call(np.ndim, x0) == 0:
        result = _from_start("newton", f, slope, bend, x0, x1, tol, rtol, maxiter,
                             _kind(disp))  # fmt: skip
        root = numpy_number(result.root)
        return (root, result) if full_output else root
    refuse("newton of an array", full_output=(full_output, False), x1=(x1, None))
    start = call(np.asarray, x0, float)
    rise = slope or (lambda x: hooks.call(scalar_roots.slope_of, f, x))

    def search() -> Any:
        given = f, rise, bend, untagged(start), tol, maxiter
        return hooks.call(scalar_roots.newton_each, *given)

    return found("newton", search, f, _slack(tol, rtol), kind=_kind(disp)).root


def _from_start(name: str, f: Any, slope: Any, bend: Any, x0: Any, x1: Any, tol: Any, rtol: Any,
                maxiter: Any, kind: type[JitadError] = JitadUnsolvedError
                ) -> RootResults:  # fmt: skip
    def search() -> Any:
        first, second = untagged(x0), None if x1 is None else untagged(x1)
        if slope is None:
            return hooks.call(scalar_roots.secant, f, first, second, tol, rtol, maxiter)
        return hooks.call(scalar_roots.newton, f, slope, bend, first, tol, rtol, maxiter)

    return found(name, search, f, _slack(tol, rtol), kind=kind)


@stands_in(so.root_scalar)
def root_scalar(f: Any, args: Any = (), method: Any = None, bracket: Any = None,
                fprime: Any = None, fprime2: Any = None, x0: Any = None, x1: Any = None,
                xtol: Any = None, rtol: Any = None, maxiter: Any = None) -> Any:  # fmt: skip
    several = f
    if fprime2 is True:
        f, fprime, fprime2 = (_part(several, k) for k in range(3))
    elif fprime is True:
        f, fprime = (_part(several, k) for k in range(2))
    if method is None:
        method = ("brentq" if bracket is not None else "halley" if fprime and fprime2
                  else "newton" if fprime or x1 is None else "secant")  # fmt: skip
    if method in ("brentq", "brenth", "bisect", "ridder", "toms748"):
        if bracket is None:
            raise fail(JitadValueError, f"Bracket needed for {method}")
        a, b = bracket
        return _in_bracket(method, f, a, b, args, xtol or 2e-12, rtol or _EPS, maxiter or 100,
                           False, True)[1]  # fmt: skip
    if method not in ("newton", "secant", "halley"):
        raise fail(JitadTypeError, f"method={method!r} of root_scalar is not supported on traced "
                   "or differentiated values", "Give a bracket.")  # fmt: skip
    if x0 is None:
        raise fail(JitadValueError, f"x0 must not be None for {method}")
    f, slope, bend = (g and of_arguments(g, args) for g in (f, fprime, fprime2))
    if method == "newton" and slope is None:
        slope = lambda x: hooks.call(scalar_roots.slope_of, f, x)  # noqa: E731
    if method == "secant":
        slope = None
    if method != "halley":
        bend = None
    elif not (slope and bend):
        raise fail(JitadValueError, "fprime and fprime2 must be specified for halley")
    return _from_start(method, f, slope, bend, x0, x1, xtol or 1.48e-8, rtol or 0.0, maxiter or 50)


def _part(f: Function, k: int) -> Function:
    return lambda *a: hooks.call(f, *a)[k]


@stands_in(so.fixed_point)
def fixed_point(func: Any, x0: Any, args: Any = (), xtol: Any = 1e-8, maxiter: Any = 500,
                method: str = "del2") -> Any:  # fmt: skip
    if method not in ("del2", "iteration"):
        raise fail(JitadValueError, f"method={method!r} of fixed_point is neither 'del2' nor "
                   "'iteration'")  # fmt: skip
    f = of_arguments(func, args)
    if call(np.ndim, x0) > 1:
        raise fail(JitadTypeError, "fixed_point of an array with several axes is not supported on "
                   "traced or differentiated values", "Use jitad.fixed_point(f, x0).")  # fmt: skip
    scalar = call(np.ndim, x0) == 0
    start = call(float, x0) if scalar else call(np.asarray, x0, float)

    def search() -> Any:
        given = f, untagged(start), xtol, maxiter, method == "del2"
        x, ok, _, _ = hooks.call(scalar_roots.accelerated, *given)
        if scalar:
            return [x], [hooks.call(scalar_roots.inverse_slope, gap, x, np.inf)[0]], (ok,), ()
        return [x], [hooks.call(iterations.inverse_jacobian, gap, x)], (ok,), ()

    def gap(x: Any) -> Any:
        return call(np.subtract, hooks.call(f, x), x)

    def equation(held: list[Any]) -> Function:
        correct = scalar_roots.corrected if scalar else iterations.corrected
        return lambda x: [hooks.call(correct, x[0], held[0], gap)]

    failures = (failed("fixed_point", JitadConvergenceError),)
    return solution(search, equation, failures, _TOL, _MOST, here())[0][0]
