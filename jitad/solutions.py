"""What is the derivative of a solution: of a fixed point, of a root, of a minimum?

An iteration finds the solution; the implicit function theorem gives its derivative, in which the
iteration plays no part.  All three functions state an equation x = f(x) that the solution fulfils
(`trace.implicit` and `runtime.implicit`; the rules are in `sweeps.implicit`).  The iterations
themselves (`jitad.iterations`) are ordinary Python that is rewritten as user code is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad import iterations
from jitad.errors import JitadConvergenceError, JitadTypeError
from jitad.runtime import implicit as eager
from jitad.runtime.leaves import is_real
from jitad.runtime.tagged import dtype_of
from jitad.runtime.tags import asleep
from jitad.structures import Structure, flatten, unflatten
from jitad.tape.build import Leaf
from jitad.tape.types import is_float
from jitad.trace import context, hooks
from jitad.trace import implicit as recorded
from jitad.trace.outside import Outside
from jitad.trace.rewrite import rewrite
from jitad.values.array import ArrayHandle
from jitad.where import caller

Function = Callable[..., Any]
Leaves = list[Any]


def fixed_point(
    f: Function, x0: Any, *args: Any, tol: float = 1e-12, max_iterations: int = 100_000
) -> Any:
    """The limit of x, f(x), f(f(x)), ... from x0 on; its derivative is the limit's.

    Parameters
    ----------
    f : function `f(x, *args)` that gives a value of x's structure, shapes and dtypes.  It may
        close over values that are differentiated.
    x0 : where to start: a float, a float array of any shape, or a structure of them.
    args : further arguments of `f`.
    tol : the iteration ends when no element changes by more than `tol * max(1, largest element)`.
    max_iterations : so many calls of `f` at most.

    Returns
    -------
    x with x = f(x, *args), in the structure, shapes and dtypes of `x0`.  The derivative with
    respect to `x0` is zero.

    Raises
    ------
    JitadTypeError : `x0` has parts that are not floats, or `f` gives another structure.
    JitadConvergenceError : the iteration did not converge, or that of its derivative.

    Source: B. Christianson, *Reverse accumulation and attractive fixed points*, Optimization
    Methods and Software 3 (1994).

    >>> from jitad import derivative, fixed_point, jit_grad
    >>> def root_of(a):
    ...     return fixed_point(lambda y: 0.5 * (y + a / y), 1.0)
    >>> root_of(9.0), round(derivative(root_of)(9.0), 12), round(jit_grad(root_of)(9.0), 12)
    (3.0, 0.166666666667, 0.166666666667)
    """
    state = _State("fixed_point", x0)

    def once(x: Leaves, held: Leaves) -> Leaves:
        return state.taken(hooks.call(f, state.whole(x), *args))

    tol = state.reachable(tol)
    return state.solve(iterations.repeat, once, (), tol, max_iterations)


def root(
    g: Function, x0: Any, *args: Any, tol: float = 1e-10, max_iterations: int = 100
) -> Any:
    """The x near x0 with g(x) = 0; its derivative is that of the solution.

    Parameters
    ----------
    g : function `g(x, *args)` that gives as many floats as x has, in any structure.
    x0 : where to start: a float, a float array of any shape, or a structure of them.
    args : further arguments of `g`.
    tol : the search ends with a step that moves no element by more than `tol * max(1, largest
        element)`.
    max_iterations : so many steps at most.

    Returns
    -------
    x with g(x, *args) = 0, in the structure, shapes and dtypes of `x0`.  The derivative with
    respect to `x0` is zero.  The Jacobian is dense: time grows as the cube of the size of x.

    Raises
    ------
    JitadTypeError : `x0` has parts that are not floats, or `g` gives another number of floats.
    JitadConvergenceError : no root was found, or the Jacobian is singular there.

    Source: Newton's method with steps halved until |g| decreases; Dennis & Schnabel, *Numerical
    Methods for Unconstrained Optimization and Nonlinear Equations*, ch. 6.

    >>> from jitad import jit_grad, root
    >>> def cube_root(a):
    ...     return root(lambda y: y**3 - a, 1.0)
    >>> round(cube_root(8.0), 12), round(jit_grad(cube_root)(8.0), 12)
    (2.0, 0.083333333333)
    """
    state = _State("root", x0)

    def residual(v: Any) -> Any:
        got = hooks.call(g, state.whole(state.parts(v)), *args)
        return state.vector(flatten(got)[0])

    return state.newton(iterations.newton, residual, (residual,), tol, max_iterations)


def argmin(
    f: Function, x0: Any, *args: Any, tol: float = 1e-10, max_iterations: int = 200
) -> Any:
    """The x near x0 where f(x) is smallest; its derivative is that of the minimiser.

    Parameters
    ----------
    f : function `f(x, *args)` that gives a number, twice differentiable.
    x0 : where to start: a float, a float array of any shape, or a structure of them.
    args : further arguments of `f`.
    tol : the search ends with a Newton step that moves no element by more than `tol * max(1,
        largest element)`.
    max_iterations : so many steps at most.

    Returns
    -------
    A local minimiser, in the structure, shapes and dtypes of `x0`.  The derivative with respect
    to `x0` is zero.  The Hessian is dense: time grows as the cube of the size of x.

    Raises
    ------
    JitadTypeError : `x0` has parts that are not floats, or `f` gives something else than a number.
    JitadConvergenceError : no minimum was found, or the Hessian is singular there.

    Source: Newton's method with a multiple of the identity added to the Hessian as needed
    (Levenberg-Marquardt); Nocedal & Wright, *Numerical Optimization*, ch. 3.4.

    >>> import numpy as np
    >>> from jitad import argmin, jit_grad
    >>> def ridge(penalty, a, b):
    ...     return argmin(lambda w: np.sum((a @ w - b) ** 2) + penalty * np.sum(w * w), np.zeros(2))
    >>> def validation(penalty, a, b):
    ...     return np.sum(ridge(penalty, a, b) ** 2)
    >>> a, b = np.eye(2), np.array([1.0, 2.0])
    >>> round(validation(1.0, a, b), 9), round(jit_grad(validation)(1.0, a, b), 9)
    (1.25, -1.25)
    """
    from jitad.api import grad

    state = _State("argmin", x0)

    def value(v: Any) -> Any:
        return hooks.call(f, state.whole(state.parts(v)), *args)

    slope = grad(value)
    return state.newton(iterations.descend, slope, (value, slope), tol, max_iterations)


class _State:
    """The structure that x0 has, and ways between it, its leaves and a vector."""

    def __init__(self, name: str, x0: Any) -> None:
        self.name = name
        self.start, self.structure = flatten(x0)
        for leaf, path in zip(self.start, self.structure.paths(), strict=True):
            if not _is_float(leaf):
                at = f" at {path}" if path else ""
                what = "a function" if callable(leaf) else f"a {type(leaf).__name__}"
                raise JitadTypeError(f"{name}: the start{at} is {what}, not a float", caller(),
                                     "Pass floats (3.0 instead of 3).")  # fmt: skip
        if not self.start:
            raise JitadTypeError(f"{name}: the start has no floats", caller())

    def reachable(self, tol: float) -> float:
        """A tolerance that rounding lets the iteration reach."""
        if not isinstance(tol, (int, float)):
            return tol
        return max(tol, 8.0 * max(np.finfo(_dtype(leaf)).eps for leaf in self.start))

    def whole(self, xs: Leaves) -> Any:
        return unflatten(self.structure, xs)

    def taken(self, value: Any) -> Leaves:
        found, structure = flatten(value)
        if structure != self.structure:
            raise JitadTypeError(
                f"{self.name}: the function gives another structure than it takes", None,
                "Give back what has the structure of the start.",
            )  # fmt: skip
        return found

    def vector(self, xs: Leaves) -> Any:
        return hooks.call(rewrite(iterations.joined), xs)

    def parts(self, v: Any) -> Leaves:
        return hooks.call(rewrite(iterations.split), v, self.start)

    def newton(
        self, how: Function, residual: Function, given: tuple[Function, ...], tol: float, most: int
    ) -> Any:
        """A root of `residual`, a function from vectors to vectors, that `how` finds."""

        def preconditioned(x: Leaves, held: Leaves) -> Leaves:
            (v,), (inverse,) = x, held
            return [hooks.call(rewrite(iterations.corrected), v, inverse, residual)]

        vector = _State(self.name, self.vector(self.start))
        (v,) = vector.solve(how, preconditioned, given, self.reachable(tol), most, whole=False)
        return self.whole(self.parts(v))

    def solve(
        self, how: Function, equation: Function, given: tuple[Function, ...], tol: float,
        most: int, whole: bool = True,
    ) -> Any:  # fmt: skip
        """What the iteration `how` ends with, as the solution of x = equation(x, held)."""
        functions = given or (equation,)
        trace = context.current()
        failed = f"{self.name} did not converge"
        remedy = f"Start nearer, or give a larger tol ({tol:g}) or max_iterations ({most})."
        if trace is not None:
            pos = trace.builder.pos
            x, held, ok = hooks.call(rewrite(how), self.start, tol, most, *functions)
            trace.builder.pos = pos
            recorded.demand(ok, failed, remedy)
            out = recorded.implicit(equation, x, held, tol, most)
        else:
            with Outside():
                with asleep():
                    start = list(map(eager.plain, self.start))
                    x, held, ok = hooks.call(rewrite(how), start, tol, most, *functions)
                    x, held = list(map(eager.plain, x)), list(map(eager.plain, held))
                if not ok:
                    raise JitadConvergenceError(failed, caller(), remedy)
                out = eager.implicit(lambda x: equation(x, held), x, tol, most)
        return self.whole(out) if whole else out


def _is_float(leaf: Any) -> bool:
    if isinstance(leaf, Leaf) or (isinstance(leaf, ArrayHandle) and not leaf.concrete):
        kind = getattr(leaf, "type", None)
        return is_float(kind) if kind is not None else is_real(leaf)
    return is_real(leaf)


def _dtype(leaf: Any) -> np.dtype[Any]:
    return np.dtype(leaf.type.dtype) if isinstance(leaf, Leaf) else dtype_of(leaf)


__all__ = ["Structure", "argmin", "fixed_point", "root"]
