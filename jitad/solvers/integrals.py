"""What are scipy.integrate's integrals of functions, where something is traced?

The intervals are found from values alone (`plain/integrals.py`); the integral is a sum over them,
which is differentiated as such, by the ends and breaks as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate as si

from jitad.errors import JitadTypeError, JitadUnsolvedError, JitadValueError
from jitad.operators.solutions import constants, demanded
from jitad.plain import integrals, vector_integrals
from jitad.runtime.tags import awake
from jitad.solvers.entered import here, of_arguments, refuse, stands_in
from jitad.trace import hooks
from jitad.trace.ongoing import current
from jitad.values import extents
from jitad.values.active import any_traced, is_traced
from jitad.values.broadcast import shape_of
from jitad.values.kind import fail
from jitad.values.registry import call

Function = Callable[..., Any]

# Gauss's rule with 10 nodes inside of Kronrod's with 21: those from the end to the middle.
_NODES = (
    0.9956571630258080807, 0.9739065285171717200, 0.9301574913557082260, 0.8650633666889845107,
    0.7808177265864168971, 0.6794095682990244062, 0.5627571346686046833, 0.4333953941292471908,
    0.2943928627014601981, 0.1488743389816312109, 0.0,
)  # fmt: skip
_WEIGHTS = (
    0.0116946388673718743, 0.0325581623079647275, 0.0547558965743519960, 0.0750396748109199528,
    0.0931254545836976055, 0.1093871588022976419, 0.1234919762620658511, 0.1347092173114733259,
    0.1427759385770600808, 0.1477391049013384914, 0.1494455540029169057,
)  # fmt: skip


def _rule() -> tuple[Any, Any, Any]:
    nodes = np.array(_NODES)
    gauss = np.zeros(21)
    gauss[1::2] = np.polynomial.legendre.leggauss(10)[1]
    return (np.concatenate([-nodes, nodes[-2::-1]]), np.array(_WEIGHTS + _WEIGHTS[-2::-1]), gauss)


RULE = _rule()

_FAILED = (JitadUnsolvedError, "quad did not converge",
           "Give points=, a larger epsabs or epsrel, or a larger limit; traced ends are finite.")


@stands_in(si.quad)
def quad(func: Any, a: Any, b: Any, args: Any = (), epsabs: Any = 1.49e-8, epsrel: Any = 1.49e-8,
         limit: Any = 50, points: Any = None) -> Any:  # fmt: skip
    return integral(of_arguments(func, args), a, b, epsabs, epsrel, limit, points)


@stands_in(si.dblquad)
def dblquad(func: Any, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (),
            epsabs: Any = 1.49e-8, epsrel: Any = 1.49e-8) -> Any:  # fmt: skip
    return _nested(func, [(gfun, hfun), (a, b)], args, epsabs, epsrel)


@stands_in(si.tplquad)
def tplquad(func: Any, a: Any, b: Any, gfun: Any, hfun: Any, qfun: Any, rfun: Any, args: Any = (),
            epsabs: Any = 1.49e-8, epsrel: Any = 1.49e-8) -> Any:  # fmt: skip
    def swapped(end: Any) -> Any:  # SciPy gives it the outer one first
        return (lambda y, x, *p: hooks.call(end, x, y, *p)) if callable(end) else end

    inner = swapped(qfun), swapped(rfun)
    return _nested(func, [inner, (gfun, hfun), (a, b)], args, epsabs, epsrel)


@stands_in(si.nquad)
def nquad(func: Any, ranges: Any, args: Any = ()) -> Any:
    def ends(given: Any) -> Any:
        if not callable(given):
            return tuple(given)
        return tuple(lambda *x, k=k: hooks.call(given, *x)[k] for k in range(2))

    args = () if args is None else args if isinstance(args, tuple) else (args,)
    return _nested(func, [ends(r) for r in ranges], args, 1.49e-8, 1.49e-8, passed=True)


def _nested(f: Any, ranges: list[Any], args: Any, epsabs: Any, epsrel: Any,
            passed: bool = False) -> Any:  # fmt: skip
    """An integral of integrals, the innermost first; ends may depend on what is outside of them.

    `passed`: `args` go to the ends, too.  How far off it may be is that of the outermost.
    """
    more = args if passed else ()

    def over(k: int, *outer: Any) -> Any:
        low, high = (hooks.call(end, *outer, *more) if callable(end) else end for end in ranges[k])
        if k:
            return integral(lambda x: over(k - 1, x, *outer)[0], low, high, epsabs, epsrel, 50,
                            None)  # fmt: skip
        return integral(lambda x: hooks.call(f, x, *outer, *args), low, high, epsabs, epsrel, 50,
                        None)  # fmt: skip

    return over(len(ranges) - 1)


@stands_in(si.fixed_quad)
def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: Any = 5) -> Any:
    """Gauss and Legendre's rule, whose nodes are known: nothing but sums."""
    x, w = np.polynomial.legendre.leggauss(int(n))
    half = call(np.multiply, call(np.subtract, b, a), 0.5)
    y = call(np.add, call(np.multiply, half, call(np.add, x, 1.0)), a)
    total = call(np.sum, call(np.multiply, w, hooks.call(func, y, *args)), axis=-1)
    return call(np.multiply, half, total), None


@stands_in(si.quad_vec)
def quad_vec(f: Any, a: Any, b: Any, epsabs: Any = 1e-200, epsrel: Any = 1e-8, norm: Any = "2",
             cache_size: Any = 100e6, limit: Any = 10000, workers: Any = 1, points: Any = None,
             quadrature: Any = None, full_output: Any = False, *,
             args: Any = ()) -> Any:  # fmt: skip
    """`cache_size` and `workers` are how SciPy goes about it."""
    refuse("quad_vec", quadrature=(quadrature, None), full_output=(full_output, False))
    if norm not in ("2", "max"):
        raise fail(JitadTypeError, f"norm={norm!r} of quad_vec is not supported on traced or "
                   "differentiated values", "Leave it at '2', or take 'max'.")  # fmt: skip
    if is_traced(limit):
        raise fail(JitadTypeError, "limit= of quad_vec must be a plain number")
    args = args if isinstance(args, tuple) else (args,)
    breaks = [a, *(sorted(points) if points is not None else ()), b]
    if any(map(_infinite, (a, b))):
        if points is not None:
            raise fail(JitadTypeError, "points= of quad_vec beside an infinite end is not supported"
                       " on traced or differentiated values", "Leave it at None.")  # fmt: skip
        g, breaks = _to_finite(lambda x: call(np.asarray, hooks.call(f, x, *args)), a, b)
    else:
        def g(x: Any) -> Any:
            return hooks.call(f, x, *args)

    middle = call(np.multiply, call(np.add, breaks[0], breaks[1]), 0.5)
    like = call(np.asarray, hooks.call(g, hooks.call(float, middle)))
    shape = shape_of(like)
    count = extents.product(shape)

    def flat(x: Any) -> Any:
        return call(np.reshape, call(np.asarray, hooks.call(g, x)).astype(float), -1)

    pos, rule = here(), tuple(call(np.array, x) for x in RULE)
    ends = call(np.array, [hooks.call(float, x) for x in breaks])
    most = min(max(int(limit), len(breaks) - 1), 1000)
    flags: list[Any] = []

    def search() -> list[Any]:
        *found, near = hooks.call(vector_integrals.intervals, flat, ends, count, rule, epsabs,
                                  epsrel, most, norm == "max")  # fmt: skip
        flags.append(near)
        return found

    owner, left, right, off = constants(search)
    demanded(flags, (_FAILED,), pos)
    whole = hooks.call(vector_integrals.total, flat, ends, count, owner, left, right, rule)
    found = call(np.reshape, whole, shape) if shape else whole[0]
    if like.dtype == np.float32:
        found = found.astype(np.float32) if shape else call(np.float32, found)
    return found, hooks.call(float, off)


def integral(f: Function, a: Any, b: Any, epsabs: Any, epsrel: Any, limit: Any,
             points: Any) -> Any:  # fmt: skip
    """(value, how far off it may be), two numbers of Python's."""
    if is_traced(limit):
        raise fail(JitadTypeError, "limit= of quad must be a plain number")
    # in another's search, which wants nothing but the value
    if current() is None and not awake() and not any_traced((epsabs, epsrel)):
        found = si.quad(f, a, b, (), 1, epsabs, epsrel, limit, points)
        if len(found) == 3 and math.isfinite(found[0]):  # else it has something to say
            return found[:2]
    if any(map(_infinite, (a, b))):
        if points is not None:
            raise fail(JitadValueError, "Infinity inputs cannot be used with break points.")
        return _over_infinity(f, a, b, epsabs, epsrel, limit)
    breaks = [a, b]
    if points is not None:
        inner = call(np.sort, call(np.asarray, points, float))
        breaks = [a, *(inner[k] for k in range(len(points))), b]
    return _pieces(f, breaks, epsabs, epsrel, limit)


def _infinite(x: Any) -> bool:
    """Traced ends are finite: an infinite one is found not to converge."""
    return not is_traced(x) and math.isinf(x)


def _over_infinity(f: Function, a: Any, b: Any, *how: Any) -> Any:
    return _pieces(*_to_finite(f, a, b), *how)


def _to_finite(f: Function, a: Any, b: Any) -> tuple[Function, list[Any]]:
    """The integrand from 0, which stands for infinity, to 1, or back; and these ends."""
    if _infinite(a) and _infinite(b):
        return hooks.call(integrals.both_ways, f), [float(a > b), float(b > a)]
    far, near = (b, a) if _infinite(b) else (a, b)
    g = hooks.call(integrals.outwards, f, near, math.copysign(1.0, far))
    upwards = (far > 0) == (far is b)
    return g, [0.0, 1.0] if upwards else [1.0, 0.0]


def _pieces(f: Function, ends: list[Any], epsabs: Any, epsrel: Any, limit: Any) -> Any:
    breaks = call(np.array, [hooks.call(float, x) for x in ends])
    pos, rule = here(), tuple(call(np.array, x) for x in RULE)  # which traced numbers can index
    most = max(int(limit), len(ends) - 1)
    flags: list[Any] = []

    def search() -> list[Any]:
        given = f, breaks, rule, epsabs, epsrel, most
        *found, near = hooks.call(integrals.intervals, *given)
        flags.append(near)
        return found

    owner, left, right, off = constants(search)
    demanded(flags, (_FAILED,), pos)
    whole = hooks.call(integrals.total, f, breaks, owner, left, right, rule)
    return hooks.call(float, whole), hooks.call(float, off)
