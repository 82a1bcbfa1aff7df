"""What are the Riccati equations of scipy.linalg, where something is traced?

An iteration finds the solution; the equation that it fulfils is a step of Newton's method
(Kleinman's), a linear equation of matrices, whose derivative is that of the solution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg as sl

from jitad.errors import JitadLinAlgError, JitadTypeError, JitadValueError
from jitad.operators.solutions import solution, untagged
from jitad.plain import riccati
from jitad.trace import hooks
from jitad.trace.ongoing import current
from jitad.values.kind import fail, require
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces

_NONE = (JitadLinAlgError, "Failed to find a finite solution.",
         "The system must be stabilisable, and the equation regular.")  # fmt: skip


def _product(*matrices: Any) -> Any:
    found = matrices[0]
    for m in matrices[1:]:
        found = call(np.matmul, found, m)
    return found


def _reduced(name: str, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any) -> tuple[Any, Any, Any]:
    """The three matrices of an equation without control: that is put in."""
    if e is not None:
        raise fail(JitadTypeError, f"e= of {name} is not supported on traced or differentiated "
                   "values", "Multiply the equation by its inverse.")  # fmt: skip
    a, b, q, r = (call(np.atleast_2d, handle(m)).astype(float) for m in (a, b, q, r))
    for word, m in (("q", q), ("r", r)):
        off, most = call(np.max, call(np.abs, m - m.T)), call(np.max, call(np.abs, m))
        require(call(np.less_equal, off, 1e-13 * most), JitadValueError,
                f"Matrix {word} should be symmetric/hermitian.")  # fmt: skip
    g = _product(b, call(np.linalg.solve, r, b.T))
    if s is not None:
        s = call(np.atleast_2d, handle(s))
        a = a - _product(b, call(np.linalg.solve, r, s.T))
        q = q - _product(s, call(np.linalg.solve, r, s.T))
    return a, g, q


def _solved(search: Callable[..., Any], step: Callable[..., Any], matrices: Any) -> Any:
    def whole() -> Any:
        x, ok = hooks.call(search, *map(untagged, matrices))
        return [newton(x)], [], (ok,), ()

    def newton(x: Any) -> Any:
        # of a matrix that is not symmetric the step is none of Newton's
        return step(call(np.multiply, 0.5, call(np.add, x, call(np.transpose, x))))

    def equation(_: list[Any]) -> Callable[..., Any]:
        return lambda x: [newton(x[0])]

    trace = current()
    pos = None if trace is None else trace.builder.pos
    return solution(whole, equation, (_NONE,), 1e-9, 50, pos)[0][0]


@replaces(sl.solve_continuous_are)
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None,
                         balanced: bool = True) -> Any:  # fmt: skip
    a, g, q = _reduced("solve_continuous_are", a, b, q, r, e, s)

    def step(x: Any) -> Any:
        closed = a - _product(g, x)
        return call(sl.solve_continuous_lyapunov, closed.T, -(q + _product(x, g, x)))

    return _solved(riccati.continuous, step, (a, g, q))


@replaces(sl.solve_discrete_are)
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None,
                       balanced: bool = True) -> Any:  # fmt: skip
    a, g, q = _reduced("solve_discrete_are", a, b, q, r, e, s)

    def step(x: Any) -> Any:
        one = call(np.eye, a.shape[0])
        closed = call(np.linalg.solve, one + _product(g, x), a)
        right = q + _product(closed.T, x, g, x, closed)
        return call(sl.solve_discrete_lyapunov, closed.T, right)

    return _solved(riccati.discrete, step, (a, g, q))
