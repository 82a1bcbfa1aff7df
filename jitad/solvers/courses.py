"""How are scipy.integrate's differential equations followed, where something is traced?

The steps are SciPy's, found from values alone (`plain/courses.py`); the course over them is
differentiated with steps that are constant, but for those that go along where the ends move.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.integrate as si

from jitad.errors import JitadTypeError, JitadUnsolvedError, JitadValueError
from jitad.operators.solutions import constants, demanded
from jitad.plain import courses
from jitad.solvers.entered import here, of_arguments, stands_in, vector
from jitad.trace import hooks
from jitad.values.active import any_traced, is_traced
from jitad.values.kind import fail
from jitad.values.registry import call

Function = Callable[..., Any]

MOST = 100_000  # steps

SMALL = (JitadUnsolvedError, "Required step size is less than spacing between numbers.",
          "The solution may become infinite before the end: stop before.")  # fmt: skip
MANY = (JitadUnsolvedError, f"more than {MOST} steps through a differential equation",
         "If it is stiff, take the method Radau.")
ORDER = (JitadValueError, "Values in `t_eval` are not properly sorted, or not within `t_span`.",
          "Give times from the start to the end.")  # fmt: skip


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
def method_of(name: str) -> Method:
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


def arrays(method: Method) -> Method:
    return Method(*(m if isinstance(m, int) else call(np.array, m) for m in method))


def began(ends: tuple[Any, Any], y0: Any) -> tuple[tuple[Any, Any], Any]:
    """The ends and the state at the first, as SciPy takes them."""
    t0, t1 = (hooks.call(float, t) for t in ends)
    if not is_traced(t0) and not is_traced(t1) and t0 == t1:
        raise fail(JitadValueError, "the start of a differential equation is its end")
    y = call(np.asarray, y0)
    y = y.astype(complex if y.dtype.kind == "c" else float)
    if call(np.ndim, y) != 1:
        raise fail(JitadValueError, "`y0` must be 1-dimensional.")
    return (t0, t1), y


class _Course(NamedTuple):
    times: Any
    states: Any
    calls: Any


def followed(
    f: Function, ends: tuple[Any, Any], y0: Any, at: Any, method: Method, rtol: Any, atol: Any,
    largest: Any, first: Any, most: int,
) -> _Course:  # fmt: skip
    """The states, a row each, at the steps or at the places `at`."""
    pos = here()
    flags: list[Any] = []
    method = arrays(method)
    (t0, t1), y = began(ends, y0)

    def search() -> list[Any]:
        how = method[:4], rtol, atol, largest, first, most, None
        times, calls, large, few, _ = hooks.call(courses.steps, f, t0, t1, y, *how)
        flags.extend((large, few))
        ready = [hooks.call(np.asarray, times), hooks.call(float, calls), t0, t1]
        if at is None:
            return ready
        passed, ordered = hooks.call(courses.passed, times, at)
        flags.append(ordered)
        return [*ready, passed]

    times, calls, was0, was1, *passed = constants(search)
    demanded(flags, (SMALL, MANY, ORDER)[: len(flags)], pos)
    if is_traced(t0) or is_traced(t1):
        times = hooks.call(courses.moved, times, t0, t1, was0, was1)
    if at is None:
        states = hooks.call(courses.course, f, times, y, method.a, method.c)
        return _Course(times, states, hooks.call(int, calls))
    last = len(method.c) - 1
    given = method.extra_a, method.extra_c, last, method.between, at, passed[0]
    states = hooks.call(courses.course_at, f, times, y, *given)
    return _Course(at, states, hooks.call(int, calls))


@stands_in(si.odeint)
def odeint(func: Any, y0: Any, t: Any, args: Any = (), tfirst: bool = False, rtol: Any = 1.49e-8,
           atol: Any = 1.49e-8, hmax: Any = 0.0, h0: Any = 0.0) -> Any:  # fmt: skip
    if any_traced((hmax, h0)):
        raise fail(JitadTypeError, "hmax= and h0= of odeint must be plain numbers")
    f = of_arguments(func, args)
    places = call(np.asarray, t, float)
    how = method_of("DOP853"), rtol, atol, hmax or np.inf, h0 or None, MOST
    rate = f if tfirst else lambda t, y: f(y, t)
    return followed(rate, (places[0], places[-1]), vector(y0), places, *how).states
