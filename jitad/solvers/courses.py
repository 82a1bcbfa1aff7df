"""What are scipy.integrate's differential equations, where something is traced?

The steps are SciPy's, found from values alone (`plain/courses.py`); the course over them is
differentiated with steps that are constant, but for those that go along where the ends move.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.integrate as si

from jitad.errors import JitadConvergenceError, JitadTypeError, JitadValueError
from jitad.operators.solutions import constants, demanded
from jitad.plain import courses
from jitad.solvers.entered import here, of_arguments, refuse, stands_in, vector
from jitad.trace import hooks
from jitad.values.kind import fail
from jitad.values.registry import any_traced, call, is_traced, of_complex

Function = Callable[..., Any]

MOST = 100_000  # steps

_SMALL = (JitadConvergenceError, "Required step size is less than spacing between numbers.",
          "The solution may become infinite before the end: stop before.")  # fmt: skip
_MANY = (JitadConvergenceError, f"more than {MOST} steps through a differential equation",
         "If it is stiff, write the steps of an implicit method as a loop, with jitad.root.")
_ORDER = (JitadValueError, "Values in `t_eval` are not properly sorted, or not within `t_span`.",
          "Give times from the start to the end.")  # fmt: skip
_STIFF = "Write the steps of an implicit method as a loop, with jitad.root; or take DOP853."


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
    status: int
    message: str
    success: bool


class Method(NamedTuple):
    """A Runge-Kutta method: row k of `a` says where slope k is taken, the last at the end.

    `extra_a` and `extra_c` are these with the slopes for the polynomial of a step.
    """

    a: Any
    c: Any
    weights: Any
    order: int
    extra_a: Any
    extra_c: Any
    between: Any


@functools.cache
def _method(name: str) -> Method:
    """SciPy's own coefficients."""
    kind: Any = getattr(si, name)
    n = kind.n_stages
    a = np.zeros((n + 1, n + 1))
    a[:n, : kind.A.shape[1]] = kind.A
    a[n, :n] = kind.B
    c = np.append(kind.C, 1.0)
    if name != "DOP853":
        weights, order = kind.E[np.newaxis], kind.error_estimator_order
        return Method(a, c, weights, order, a, c, np.array(kind.P))
    extra_a = np.zeros((n + 4, n + 4))
    extra_a[: n + 1, : n + 1] = a
    extra_a[n + 1 :] = kind.A_EXTRA
    return Method(a, c, np.array([kind.E5, kind.E3]), kind.error_estimator_order, extra_a,
                  np.append(c, kind.C_EXTRA), np.array(kind.D))  # fmt: skip


class _Course(NamedTuple):
    times: Any
    states: Any
    calls: Any


def _followed(
    f: Function, ends: tuple[Any, Any], y0: Any, at: Any, method: Method, rtol: Any, atol: Any,
    largest: Any, first: Any, most: int,
) -> _Course:  # fmt: skip
    """The states, a row each, at the steps or at the places `at`."""
    pos = here()
    flags: list[Any] = []
    method = Method(*(m if isinstance(m, int) else call(np.array, m) for m in method))
    t0, t1 = (hooks.call(float, t) for t in ends)
    if not is_traced(t0) and not is_traced(t1) and t0 == t1:
        raise fail(JitadValueError, "the start of a differential equation is its end")
    y = call(np.asarray, y0)
    y = y.astype(complex if y.dtype.kind == "c" else float)
    if call(np.ndim, y) != 1:
        raise fail(JitadValueError, "`y0` must be 1-dimensional.")

    def search() -> list[Any]:
        how = method[:4], rtol, atol, largest, first, most
        times, calls, large, few = hooks.call(courses.steps, f, t0, t1, y, *how)
        flags.extend((large, few))
        ready = [hooks.call(np.asarray, times), hooks.call(float, calls), t0, t1]
        if at is None:
            return ready
        passed, ordered = hooks.call(courses.passed, times, at)
        flags.append(ordered)
        return [*ready, passed]

    times, calls, was0, was1, *passed = constants(search)
    demanded(flags, (_SMALL, _MANY, _ORDER)[: len(flags)], pos)
    if is_traced(t0) or is_traced(t1):
        times = hooks.call(courses.moved, times, t0, t1, was0, was1)
    if at is None:
        states = hooks.call(courses.course, f, times, y, method.a, method.c)
        return _Course(times, states, hooks.call(int, calls))
    last = len(method.c) - 1
    given = method.extra_a, method.extra_c, last, method.between, at, passed[0]
    states = hooks.call(courses.course_at, f, times, y, *given)
    return _Course(at, states, hooks.call(int, calls))


@stands_in(si.solve_ivp)
def solve_ivp(fun: Any, t_span: Any, y0: Any, method: Any = "RK45", t_eval: Any = None,
              dense_output: bool = False, events: Any = None, args: Any = None,
              max_step: Any = np.inf, rtol: Any = 1e-3, atol: Any = 1e-6,
              first_step: Any = None) -> Any:  # fmt: skip
    refuse("solve_ivp", dense_output=(dense_output, False), events=(events, None))
    name = method if isinstance(method, str) else getattr(method, "__name__", repr(method))
    if name not in ("RK45", "RK23", "DOP853"):
        raise fail(JitadTypeError, f"method={name!r} of solve_ivp is not supported on traced or "
                   "differentiated values", _STIFF)  # fmt: skip
    at = None if t_eval is None else call(np.asarray, t_eval, float)
    rate = of_arguments(fun, () if args is None else tuple(args))
    found = _followed(rate, tuple(t_span), y0, at, _method(name), rtol, atol, max_step, first_step,
                      MOST)  # fmt: skip
    return OdeResult(found.times, call(np.transpose, found.states), None, None, None, found.calls,
                     0, 0, 0, _REACHED, True)  # fmt: skip


of_complex(si.solve_ivp)(solve_ivp)
_REACHED = "The solver successfully reached the end of the integration interval."


@stands_in(si.odeint)
def odeint(func: Any, y0: Any, t: Any, args: Any = (), tfirst: bool = False, rtol: Any = 1.49e-8,
           atol: Any = 1.49e-8, hmax: Any = 0.0, h0: Any = 0.0) -> Any:  # fmt: skip
    if any_traced((hmax, h0)):
        raise fail(JitadTypeError, "hmax= and h0= of odeint must be plain numbers")
    f = of_arguments(func, args)
    places = call(np.asarray, t, float)
    how = _method("DOP853"), rtol, atol, hmax or np.inf, h0 or None, MOST
    rate = f if tfirst else lambda t, y: f(y, t)
    return _followed(rate, (places[0], places[-1]), vector(y0), places, *how).states
