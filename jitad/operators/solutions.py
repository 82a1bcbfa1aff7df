"""What is the derivative of a solution: of a fixed point, of a root, of a minimum?

An iteration finds the solution; the implicit function theorem gives its derivative, in which the
iteration plays no part.  All three functions state an equation x = f(x) that the solution fulfils
(`trace.implicit` and `runtime.implicit`; the rules are in `sweeps.implicit`).  The iterations
themselves (`jitad.plain.iterations`) are ordinary Python that is rewritten as user code is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitad.errors import JitadConvergenceError, JitadError, JitadTypeError, JitadUnsolvedError
from jitad.operators.api import grad
from jitad.operators.outermost import given
from jitad.plain import bounded, constrained, iterations
from jitad.runtime import implicit as eager
from jitad.runtime.leaves import is_real, own
from jitad.runtime.tagged import dtype_of
from jitad.runtime.tags import asleep
from jitad.structures import flatten, unflatten
from jitad.tape.build import Leaf
from jitad.tape.ir import Pos
from jitad.trace import hooks, ongoing
from jitad.trace import implicit as recorded
from jitad.trace.around.outside import Outside
from jitad.values.number import bind
from jitad.values.registry import call
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
    state = _State("fixed_point", x0, JitadConvergenceError)

    def once(x: Leaves) -> Leaves:
        return state.leaves(hooks.call(f, state.whole(x), *args))

    found = state.solution(state.start, iterations.repeat, (once,), lambda held: once, tol,
                           max_iterations)  # fmt: skip
    return given(state.whole(found))


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
    return given(root_of("root", g, x0, *args, tol=tol, max_iterations=max_iterations,
                         kind=JitadConvergenceError))  # fmt: skip


def root_of(
    name: str, g: Function, x0: Any, *args: Any, tol: float = 1e-10, max_iterations: int = 100,
    kind: type[JitadError] = JitadUnsolvedError,
) -> Any:  # fmt: skip
    """What `root` gives; errors have another name."""
    state = _State(name, x0, kind)

    def residual(v: Any) -> Any:
        return _vector(list(map(own, flatten(hooks.call(g, state.from_vector(v), *args))[0])))

    return state.by_newton(iterations.newton, (residual,), lambda _: residual, tol,
                           max_iterations)  # fmt: skip


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
    ...     return float(np.sum(ridge(penalty, a, b) ** 2))
    >>> a, b = np.eye(2), np.array([1.0, 2.0])
    >>> round(validation(1.0, a, b), 9), round(jit_grad(validation)(1.0, a, b), 9)
    (1.25, -1.25)
    """
    return given(argmin_of("argmin", f, x0, *args, tol=tol, max_iterations=max_iterations,
                           kind=JitadConvergenceError))  # fmt: skip


def argmin_of(
    name: str, f: Function, x0: Any, *args: Any, tol: float = 1e-10, max_iterations: int = 200,
    kind: type[JitadError] = JitadUnsolvedError,
) -> Any:  # fmt: skip
    """What `argmin` gives; errors have another name."""
    state = _State(name, x0, kind)

    def value(v: Any) -> Any:
        return hooks.call(f, state.from_vector(v), *args)

    slope = grad(value)
    return state.by_newton(iterations.descend, (value, slope), lambda _: slope, tol,
                           max_iterations)  # fmt: skip


def argmin_within(
    name: str, f: Function, x0: Any, low: Any, high: Any, tol: float = 1e-10,
    max_iterations: int = 200, kind: type[JitadError] = JitadUnsolvedError,
) -> Any:  # fmt: skip
    """Where f is smallest between bounds; what is at a bound goes with it."""
    state = _State(name, x0, kind)

    def value(v: Any) -> Any:
        return hooks.call(f, state.from_vector(v))

    slope = grad(value)

    def pushed(held: Leaves) -> Function:
        return lambda v: hooks.call(bounded.residual, v, slope(v), low, high, *held)

    given = value, slope, untagged(low), untagged(high)
    return state.by_newton(bounded.descend, given, pushed, tol, max_iterations)


def argmin_under(
    name: str, f: Function, x0: Any, low: Any, high: Any, equal: Function, above: Function,
    tol: float = 1e-10, max_iterations: int = 200,
) -> Any:  # fmt: skip
    """Where f is smallest between bounds, and some numbers are zero, and others not negative.

    `equal` and `above` give these, in vectors.
    """
    n = x0.shape[0]
    c, d = equal(x0), above(x0)
    m = call(np.add, n, c.shape[0])
    state = _State(name, call(np.concatenate, [x0, call(np.zeros_like, c), call(np.zeros_like, d)]))

    def value(v: Any) -> Any:
        return hooks.call(f, v)

    def at(held: Leaves) -> Function:
        given = value, equal, above, low, high, (n, m), *held
        return lambda u: hooks.call(constrained.residual, u, *given)

    given = value, equal, above, untagged(low), untagged(high), (n, m)
    return state.by_newton(constrained.descend, given, at, tol, max_iterations)[:n]


class _State:
    """The structure that x0 has, and ways between it, its leaves and a vector."""

    def __init__(
        self, name: str, x0: Any, kind: type[JitadError] = JitadUnsolvedError
    ) -> None:
        self.name, self.kind = name, kind
        trace = ongoing.current()
        self.pos = trace.builder.pos if trace is not None else None  # of the user's call
        self.start, self.structure = flatten(x0)
        for leaf, path in zip(self.start, self.structure.paths(), strict=True):
            if not is_real(leaf):
                at = f" at {path}" if path else ""
                what = "a function" if callable(leaf) else f"a {type(leaf).__name__}"
                raise JitadTypeError(f"{name}: the start{at} is {what}, not a float", caller(),
                                     "Pass floats (3.0 instead of 3).")  # fmt: skip
        if not self.start:
            raise JitadTypeError(f"{name}: the start has no floats", caller())

    def whole(self, xs: Leaves) -> Any:
        return unflatten(self.structure, map(own, xs))

    def leaves(self, value: Any) -> Leaves:
        """The leaves of what the user's function gave."""
        found, structure = flatten(value)
        if structure != self.structure:
            raise JitadTypeError(
                f"{self.name}: the function gives another structure than it takes", None,
                "Give back what has the structure of the start.",
            )  # fmt: skip
        return list(map(own, found))

    def from_vector(self, v: Any) -> Any:
        return self.whole(hooks.call(iterations.split, v, self.start))

    def by_newton(
        self, how: Function, given: tuple[Any, ...], residual: Callable[[Leaves], Function],
        tol: Any, most: int,
    ) -> Any:  # fmt: skip
        """The root that `how` finds of `residual(held)`, a function from vectors to vectors.

        `how` holds the inverse of its Jacobian, and what else the function needs.
        """

        def equation(held: Leaves) -> Function:
            inverse, *others = held
            return lambda x: [hooks.call(iterations.corrected, x[0], inverse, residual(others))]

        start = [_vector(self.start)]
        (v,) = self.solution(start, how, given, equation, tol, most)
        found = hooks.call(iterations.split, v, self.start)
        return self.whole([_as(was, x) for was, x in zip(self.start, found, strict=True)])

    def solution(
        self, start: Leaves, how: Function, given: tuple[Function, ...],
        equation: Callable[[Leaves], Function], tol: Any, most: int,
    ) -> Leaves:  # fmt: skip
        """What `how(start, tol, most, *given)` ends with: the solution of x = equation(held)(x)."""
        if isinstance(tol, (int, float)):  # no smaller than rounding lets an iteration reach
            tol = max(tol, 8.0 * max(float(np.finfo(dtype_of(leaf)).eps) for leaf in start))

        def search() -> Any:
            x, held, ok = hooks.call(how, list(map(untagged, start)), tol, most, *given)
            return x, held, (ok,), ()

        remedy = "Start nearer, or give a larger tol or max_iterations."
        failures = [(self.kind, f"{self.name} did not converge", remedy)]
        return solution(search, equation, failures, tol, most, self.pos)[0]


Failure = tuple[type[JitadError], str, str]


def untagged(leaf: Any) -> Any:
    """What an eager search starts from; a trace finds by itself what depends on nothing."""
    return leaf if ongoing.current() is not None else eager.plain(leaf)


def constants(search: Callable[[], Leaves]) -> Leaves:
    """What a search gives, as numbers that no derivative is taken by."""
    if ongoing.current() is not None:
        return list(map(recorded.constant, search()))
    with Outside(), asleep(), np.errstate(all="ignore"):
        return list(map(eager.plain, search()))


def demanded(oks: Sequence[Any], failures: Sequence[Failure], pos: Pos | None) -> None:
    """The failure whose condition doesn't hold is raised, at the user's call."""
    trace = ongoing.current()
    for ok, failure in zip(oks, failures, strict=True):
        if trace is not None:
            trace.builder.pos = pos
            recorded.demand(ok, *failure)
        elif not ok:
            kind, what, remedy = failure
            raise kind(what, caller(), remedy)


def solution(
    search: Callable[[], Any], equation: Callable[[Leaves], Function],
    failures: Sequence[Failure], tol: Any, most: int, pos: Pos | None,
) -> tuple[Leaves, Any]:  # fmt: skip
    """The solution of x = equation(held)(x) that a search finds, and what else the search tells.

    `search()` gives x, what is held, for each failure whether it was avoided, and the rest; `tol`
    and `most` are for the derivative.
    """
    if ongoing.current() is not None:
        x, held, oks, rest = search()
        demanded(oks, failures, pos)
        fulfilled = equation(list(map(recorded.constant, held)))
        return recorded.implicit(fulfilled, x, tol, most), rest
    with Outside():
        with asleep(), np.errstate(all="ignore"):
            x, held, oks, rest = search()
            x, held = list(map(eager.plain, x)), list(map(eager.plain, held))
        demanded(oks, failures, pos)
        return eager.implicit(equation(held), x, tol, most), rest


def _as(start: Any, found: Any) -> Any:
    """Python floats go in, so Python floats come out: elements of a vector are NumPy's."""
    if isinstance(found, Leaf):
        python = type(start) is float or getattr(getattr(start, "type", None), "py", False)
        return bind("cast", found, dtype="f8", py=True) if python else found
    return float(found) if type(start) is float and type(found) is np.float64 else found


def _vector(xs: Leaves) -> Any:
    return hooks.call(iterations.joined, xs)
