"""What is `solve_ivp`, where something is traced: all methods, its function of time, its events?

Where only states are asked for, explicit methods keep nothing of a step (`courses.py`).  Else the
polynomials of the steps are kept (`plain/pieces.py`).  An event is a root of its function along the
course, and moves with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.integrate as si

from jitad.errors import JitadTypeError, JitadUnsolvedError
from jitad.operators.jacobians import jacfwd
from jitad.operators.solutions import constants, demanded, solution, untagged
from jitad.plain import courses, iterations, pieces, stiff
from jitad.solvers.courses import MANY, MOST, ORDER, SMALL, arrays, began, followed, method_of
from jitad.solvers.entered import here, of_arguments, stands_in
from jitad.solvers.roots import failed, in_bracket
from jitad.trace import hooks
from jitad.values.active import is_traced
from jitad.values.kind import fail
from jitad.values.registry import call, of_complex

Function = Callable[..., Any]

_EXPLICIT = ("RK45", "RK23", "DOP853")
_STIFF = ("Radau", "BDF", "LSODA")
_LOST = (JitadUnsolvedError, "the event that ends a differential equation was not found again",
         "Give smaller tolerances.")  # fmt: skip
_EPS = 4.0 * float(np.finfo(float).eps)


class OdeResult(NamedTuple):
    """What SciPy's object of this name holds."""

    t: Any
    y: Any
    sol: Any
    t_events: Any
    y_events: Any
    nfev: Any
    njev: int
    nlu: int
    status: Any
    message: Any
    success: bool


class _Event(NamedTuple):
    function: Function
    way: float
    most: float  # how often it may be met


@stands_in(si.solve_ivp)
def solve_ivp(fun: Any, t_span: Any, y0: Any, method: Any = "RK45", t_eval: Any = None,
              dense_output: bool = False, events: Any = None, args: Any = None,
              max_step: Any = np.inf, rtol: Any = 1e-3, atol: Any = 1e-6, first_step: Any = None,
              jac: Any = None, jac_sparsity: Any = None, min_step: Any = 0.0) -> Any:  # fmt: skip
    name = method if isinstance(method, str) else getattr(method, "__name__", repr(method))
    if name not in _EXPLICIT + _STIFF:
        raise fail(JitadTypeError, f"method={name!r} of solve_ivp is not supported on traced or "
                   "differentiated values", f"Take one of {', '.join(_EXPLICIT + _STIFF)}.")
    given = () if args is None else tuple(args)
    at = None if t_eval is None else call(np.asarray, t_eval, float)
    how = rtol, atol, max_step, first_step
    rate = of_arguments(fun, given)
    if name in _EXPLICIT and events is None and not dense_output:
        found = followed(rate, tuple(t_span), y0, at, method_of(name), *how, MOST)
        return OdeResult(found.times, call(np.transpose, found.states), None, None, None,
                         found.calls, 0, 0, 0, hooks.call(pieces.message, False), True)
    marks = None if events is None else [_event(e, given) for e in
                                         ((events,) if callable(events) else events)]  # fmt: skip
    return _in_pieces(rate, tuple(t_span), y0, at, name, how, marks, dense_output)


of_complex(si.solve_ivp)(solve_ivp)


def _event(event: Any, args: tuple[Any, ...]) -> _Event:
    most = hooks.call(getattr, event, "terminal", None)
    way = hooks.call(getattr, event, "direction", 0.0)
    of_both = of_arguments(event, args)
    return _Event(lambda t, y: call(float, of_both(t, y)), float(way), float(most or np.inf))


def _in_pieces(f: Function, ends: Any, y0: Any, at: Any, name: str, how: Any,
               events: list[_Event] | None, dense: bool) -> OdeResult:  # fmt: skip
    pos, explicit = here(), name in _EXPLICIT
    (t0, t1), y = began(ends, y0)
    if y.dtype.kind == "c" and (events or not explicit):
        raise fail(JitadTypeError, "events and stiff methods of complex states are not supported "
                   "on traced or differentiated values", "Follow their parts.")  # fmt: skip
    method = arrays(method_of(name)) if explicit else None
    watched = None
    if events:
        watched = (lambda t, y: call(np.array, [e.function(t, y) for e in events]),
                   call(np.array, [e.way for e in events]),
                   call(np.array, [e.most for e in events]))  # fmt: skip
    flags: list[Any] = []

    def search() -> list[Any]:
        if method is not None:
            found = hooks.call(courses.steps, f, t0, t1, y, method[:4], *how, MOST, watched)
        else:
            jac = lambda t, y: jacfwd(lambda v: hooks.call(courses.derivative, f, t, v))(y)  # noqa: E731
            found = hooks.call(stiff.steps, f, jac, t0, t1, y, *how, MOST, watched)
        times, calls, large, few, stopped = found
        flags.extend((large, few))
        if at is not None:
            flags.append(hooks.call(pieces.in_order, at, t0, t1))
        return [hooks.call(np.asarray, times), hooks.call(float, calls), t0, t1, stopped]

    times, calls, was0, was1, stopped = constants(search)
    demanded(flags, (SMALL, MANY, ORDER)[: len(flags)], pos)
    if is_traced(t0) or is_traced(t1):
        times = hooks.call(courses.moved, times, t0, t1, was0, was1)
    if method is not None:
        last, by_turns = len(method.c) - 1, name == "DOP853"
        coefficients = (method.extra_a, method.extra_c) if by_turns else (method.a, method.c)
        states, parts = hooks.call(pieces.explicit, f, times, y, *coefficients, last,
                                   method.between)  # fmt: skip
    else:
        by_turns = False
        states, parts = hooks.call(stiff.course, f, times, y, _stages(f, pos))
    whole = hooks.call(pieces.Solution, times, states, parts, by_turns)
    end, met = times[-1], None
    if events is not None:
        end, met = _met(events, whole, stopped, pos)
    if at is not None:
        if met is not None and watched is not None:
            at = at[_reached(at, end, t0, t1)]
        t, found = at, hooks.call(whole, at)
    else:
        t, rows = hooks.call(pieces.ended, whole, end, stopped) if met else (times, states)
        found = call(np.transpose, rows)
    kept: tuple[Any, Any] = (None, None)
    if met is not None:
        inside = [m[_reached(m, end, t0, t1)] for m in met]
        kept = inside, [call(np.transpose, hooks.call(whole, m)) for m in inside]
    return OdeResult(t, found, whole if dense else None, *kept, hooks.call(int, calls), 0, 0,
                     hooks.call(int, stopped), hooks.call(pieces.message, stopped), True)


def _stages(f: Function, pos: Any) -> Function:
    """The stages of an implicit step, with the derivative of their equations."""

    def slopes(t: Any, y: Any, h: Any, z: Any) -> Any:
        return jacfwd(lambda u: hooks.call(stiff.slopes_at, f, t, call(np.add, y, u), h, z))(
            call(np.zeros, y.shape[0]))  # fmt: skip

    def solve(t: Any, y: Any, h: Any, guess: Any) -> Any:
        def search() -> Any:
            given = map(untagged, (t, y, h, guess))
            z, inverse, ok = hooks.call(stiff.staged, f, slopes, *given)
            return [z], [inverse], (ok,), ()

        def equation(held: list[Any]) -> Function:
            off = lambda v: hooks.call(stiff.missing, f, t, y, h, v)  # noqa: E731
            return lambda x: [hooks.call(iterations.corrected, x[0], held[0], off)]

        return solution(search, equation, (failed("a step of solve_ivp"),), 1e-10, 100, pos)[0][0]

    return solve


def _met(events: list[_Event], whole: Any, stopped: Any, pos: Any) -> tuple[Any, list[Any]]:
    """Where all ends, and when each event is met before and shortly after."""
    locate = lambda g, a, b: in_bracket("solve_ivp", g, a, b, _EPS, _EPS).root  # noqa: E731
    end, met = whole.ts[-1], []
    way = call(np.sign, call(np.subtract, end, whole.ts[0]))
    enough: Any = False
    for e in events:
        steps = hooks.call(pieces.steps_with, e.function, e.way, whole.ts, whole.states)
        met.append(hooks.call(pieces.places, e.function, whole, steps, locate))
    for e, times in zip(events, met, strict=True):
        if e.most < np.inf:
            enough = call(np.logical_or, enough, call(np.greater_equal, times.shape[0], e.most))
            end = hooks.call(pieces.sooner, times, int(e.most) - 1, end, way)
    demanded([call(np.equal, stopped, enough)], [_LOST], pos)
    return end, met


def _reached(times: Any, end: Any, t0: Any, t1: Any) -> Any:
    way = call(np.sign, call(np.subtract, t1, t0))
    return call(np.less_equal, call(np.multiply, way, call(np.subtract, times, end)), 0.0)
