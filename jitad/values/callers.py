"""What becomes of those functions of SciPy that call the user's and have no stand-in in `solvers/`?

Where nothing is traced they run as they are.  Where their function gives something traced, or they
are given it, they are refused, with what to write instead: they decide by numbers where to call it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate as si
import scipy.optimize as so

from jitad.errors import JitadError, JitadTypeError
from jitad.values.kind import fail
from jitad.values.registry import any_traced, call, call_plain, calling, is_traced, replaces

_LEAST = "Use jitad.argmin(f, x0): its derivative is that of the minimiser."
_INTEGRAL = "Use scipy.integrate.quad (inside of quad) or fixed_quad, or add up at your own nodes."
_STEPS = "Write the steps as a loop (Runge-Kutta, say): it is compiled, with its derivative."

REMEDIES: dict[Any, str] = {
    **dict.fromkeys((so.minimize_scalar, so.leastsq, so.fmin, so.fmin_bfgs, so.fmin_cg,
                     so.fmin_l_bfgs_b, so.fminbound, so.brent, so.golden,
                     so.differential_evolution, so.basinhopping, so.dual_annealing, so.shgo,
                     so.brute), _LEAST),
    **dict.fromkeys((si.dblquad, si.tplquad, si.nquad, si.quad_vec), _INTEGRAL),
    si.solve_bvp: _STEPS,
}  # fmt: skip


def _refusal(original: Any) -> JitadError:
    name = f"scipy.{original.__module__.split('.')[1]}.{original.__name__}"
    return fail(JitadTypeError, f"{name} is not supported on traced or differentiated values",
                REMEDIES[original])  # fmt: skip


def _enter(original: Any) -> None:
    calling.add(original)

    @replaces(original, plain=False)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        if any_traced((*args, *kwargs.values())):
            raise _refusal(original)
        met: list[Exception] = []

        def watched(f: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(f)
            def run(*a: Any, **k: Any) -> Any:
                try:
                    out = f(*a, **k)
                    if is_traced(out):
                        raise _refusal(original)
                except Exception as error:  # compiled code may lose it on its way
                    met.append(error)
                    raise
                return out.peek() if hasattr(out, "peek") else out

            return run

        def given(value: Any) -> Any:
            users = callable(value) and not isinstance(value, type)
            return watched(value) if users else value

        try:
            return call_plain(original, tuple(map(given, args)),
                              {k: given(v) for k, v in kwargs.items()})  # fmt: skip
        except Exception:
            if met:
                raise met[0] from None
            raise


for _original in REMEDIES:
    _enter(_original)


@replaces(si.fixed_quad, plain=False)
def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: int = 5) -> Any:
    """Gauss and Legendre's rule, whose nodes are known: nothing but sums."""
    x, w = np.polynomial.legendre.leggauss(int(n))
    half = call(np.multiply, call(np.subtract, b, a), 0.5)
    y = call(np.add, call(np.multiply, half, call(np.add, x, 1.0)), a)
    total = call(np.sum, call(np.multiply, w, func(y, *args)), axis=-1)
    return call(np.multiply, half, total), None


calling.add(si.fixed_quad)
