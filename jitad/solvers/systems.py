"""What are scipy.optimize's solutions of systems of equations, where something is traced?

Newton's method finds them all (`plain/iterations.py`): it is the solution that counts, not the way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.optimize as so

from jitad.operators.solutions import root_of
from jitad.solvers.entered import of_arguments, stands_in, vector
from jitad.values.registry import call


class Root(NamedTuple):
    """What SciPy's result of `root` holds."""

    x: Any
    fun: Any
    success: bool
    status: int
    message: str


_FOUND = "The solution converged."


def _solved(name: str, func: Any, x0: Any, args: Any, several: bool = False) -> Root:
    f = of_arguments(func, args)

    def residual(x: Any) -> Any:
        value = f(x)[0] if several else f(x)
        return call(np.reshape, call(np.asarray, value), -1)

    x = root_of(name, residual, call(np.asarray, x0, float))
    return Root(x, residual(x), True, 1, _FOUND)


@stands_in(so.fsolve)
def fsolve(func: Any, x0: Any, args: Any = (), fprime: Any = None, full_output: Any = False,
           col_deriv: Any = 0, xtol: Any = 1.49012e-8, maxfev: Any = 0) -> Any:  # fmt: skip
    found = _solved("fsolve", func, vector(x0), args)
    return (found.x, {"fvec": found.fun}, 1, _FOUND) if full_output else found.x


@stands_in(so.root)
def root(fun: Any, x0: Any, args: Any = (), method: str = "hybr", jac: Any = None,
         tol: Any = None) -> Any:  # fmt: skip
    return _solved("root", fun, vector(x0), args, several=jac is True)


def _enter(original: Any) -> None:
    name = original.__name__

    @stands_in(original)
    def solved(F: Any, xin: Any, f_tol: Any = None, x_tol: Any = None) -> Any:
        return _solved(name, F, xin, ()).x


for _original in (so.broyden1, so.broyden2, so.anderson, so.newton_krylov):
    _enter(_original)

