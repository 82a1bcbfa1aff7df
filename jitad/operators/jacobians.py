"""Which matrices of derivatives do users call for?  Jacobians, Hessians, and products with them.

Like the operators of `api.py` they take a function and give a function, which runs eagerly, is
recorded in a trace, and nests; `jit_jacobian(f)` is `jit(jacobian(f))`, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitad.calls.compiled import Compiled
from jitad.errors import JitadTypeError
from jitad.operators.api import Argnums, Derivative, grad, jvp, vjp
from jitad.operators.blocks import Point
from jitad.operators.outermost import given
from jitad.primitives.schedules import Snapshots
from jitad.runtime.operators import positions_of
from jitad.structures import ZERO, unflatten
from jitad.trace import ongoing, operators
from jitad.trace.pointwise import Fixed
from jitad.where import caller

Function = Callable[..., Any]


class Jacobian(Derivative):
    """The function that gives the Jacobian of `f`; `mode` is forward, reverse or either."""

    def __init__(self, operator: str, f: Function, argnums: Argnums, mode: str) -> None:
        super().__init__(operator, f, argnums)
        self.mode = mode

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        f = operators.inner(self) if ongoing.current() is not None else self.f
        positions = positions_of(self.argnums, len(args), self.operator)
        at = Point(self.operator, f, args, positions, kwargs)
        by_columns = self.mode == "forward" or (self.mode == "either" and at.is_small())
        rows = []
        for row in at.by_columns() if by_columns else at.by_rows():
            blocks = iter(row)
            by = [unflatten(s, [next(blocks) for _ in range(s.size)]) for s in at.arguments]
            rows.append(tuple(by) if isinstance(self.argnums, tuple) else by[0])
        return given(unflatten(at.result, rows))


class Product(Derivative):
    """The function of a point and a vector that gives the Hessian of `f` times the vector."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        f = operators.inner(self) if ongoing.current() is not None else self.f
        if len(args) < 2:
            raise JitadTypeError("hvp: a point and a vector are needed", caller(),
                                 "Call it with (x, v), further arguments after them.")  # fmt: skip
        x, v, *rest = args
        primals = (x, *rest)
        positions = positions_of(self.argnums, len(primals), "hvp")
        given = v if isinstance(self.argnums, tuple) else (v,)
        if not isinstance(given, tuple) or len(given) != len(positions):
            raise JitadTypeError(f"hvp: the vector is not a tuple of {len(positions)}", caller(),
                                 "Give a vector for each of argnums.")  # fmt: skip
        along: list[Any] = [ZERO] * len(primals)
        for k, part in zip(positions, given, strict=True):
            along[k] = part
        slope: Any = grad(f, self.argnums)
        slope = Fixed(slope, (), kwargs) if kwargs else slope
        return jvp(slope, primals, tuple(along))[1]


class Along(Derivative):
    """`jvp` of a function, as a function of (primals, tangents)."""

    def __call__(self, primals: Any, tangents: Any) -> Any:
        f = operators.inner(self) if ongoing.current() is not None else self.f
        return jvp(f, tuple(primals), tuple(tangents))


class Pulled(Derivative):
    """`vjp` of a function, as a function of (primals, sensitivity)."""

    def __call__(self, primals: Any, sensitivity: Any) -> Any:
        f = operators.inner(self) if ongoing.current() is not None else self.f
        value, pullback = vjp(f, *primals)
        return value, pullback(sensitivity)


# -- what users call ------------------------------------------------------------------------------


def jacobian(f: Function, argnums: Argnums = 0) -> Function:
    """The Jacobian of a function, by forward or by reverse mode, as the sizes make it cheaper.

    Parameters
    ----------
    f : function of floats, float64 or float32 arrays of any shape and structures of them, whose
        result is one, too; ints and bools are data.
    argnums : which positional arguments to differentiate with respect to; an int or a tuple.

    Returns
    -------
    A function of the same arguments.  Its result has the structure of the result of `f`, with, in
    the place of every number and array, the structure of the chosen argument (a tuple of those
    for a tuple of `argnums`), with blocks in it: a block has the shape of the result's leaf
    followed by that of the argument's leaf, and the dtype of the result's (of the argument's, by
    reverse mode).

    Raises
    ------
    JitadTypeError : an argument has no floats, or the result has parts that are no numbers.
    JitadValueError : `argnums` names an argument that the call doesn't give.

    Source: Griewank & Walther, *Evaluating Derivatives*, ch. 3; the structure is that of JAX.

    >>> import numpy as np
    >>> from jitad import jacobian
    >>> jacobian(lambda x: np.array([x[0] * x[1], 3.0 * x[1]]))(np.array([5.0, 2.0]))
    array([[2., 5.],
           [0., 3.]])
    >>> jacobian(lambda x, y: {"product": x * y}, (0, 1))(5.0, 2.0)
    {'product': (2.0, 5.0)}
    """
    return Jacobian("jacobian", f, argnums, "either")


def jacfwd(f: Function, argnums: Argnums = 0) -> Function:
    """The Jacobian by forward mode, column by column, several columns in one sweep.

    Parameters
    ----------
    f, argnums : as for `jacobian`.

    Returns
    -------
    As `jacobian`: blocks of the shape of a result followed by that of an argument, in the dtype
    of the result.  Eagerly, `f` runs once for each column.

    Raises
    ------
    JitadTypeError, JitadValueError : as `jacobian`.

    Source: vector forward mode; Griewank & Walther, *Evaluating Derivatives*, ch. 3.3.

    >>> from jitad import jacfwd
    >>> jacfwd(lambda x: (x * x, [2.0 * x]))(3.0)
    (6.0, [2.0])
    """
    return Jacobian("jacfwd", f, argnums, "forward")


def jacrev(f: Function, argnums: Argnums = 0) -> Function:
    """The Jacobian by reverse mode, row by row.

    Parameters
    ----------
    f, argnums : as for `jacobian`.

    Returns
    -------
    As `jacobian`: blocks of the shape of a result followed by that of an argument, in the dtype
    of the argument.

    Raises
    ------
    JitadTypeError, JitadValueError : as `jacobian`.

    Source: Griewank & Walther, *Evaluating Derivatives*, ch. 3.2.

    >>> import numpy as np
    >>> from jitad import jacrev
    >>> jacrev(lambda x: np.sum(x * x))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Jacobian("jacrev", f, argnums, "reverse")


def hessian(f: Function, argnums: Argnums = 0) -> Function:
    """The matrix of second derivatives of a function with a scalar result.

    Parameters
    ----------
    f : as for `grad`.
    argnums : which positional arguments; an int or a tuple.

    Returns
    -------
    A function of the same arguments, which gives `jacfwd(grad(f, argnums), argnums)`: for every
    leaf of the chosen arguments the structure of the chosen arguments; a block has the shapes of
    both leaves one after the other, and the dtype of the first.

    Raises
    ------
    JitadTypeError, JitadValueError : as `grad`.

    Source: forward over reverse; Griewank & Walther, *Evaluating Derivatives*, ch. 5.

    >>> import numpy as np
    >>> from jitad import hessian
    >>> hessian(lambda x: x[0] * x[0] * x[1])(np.array([3.0, 5.0]))
    array([[10.,  6.],
           [ 6.,  0.]])
    """
    return Jacobian("hessian", grad(f, argnums), argnums, "forward")


def hvp(f: Function, argnums: Argnums = 0) -> Function:
    """The Hessian of a scalar function times a vector, at the cost of a few gradients.

    Parameters
    ----------
    f : as for `grad`.
    argnums : which positional arguments the Hessian is by; an int or a tuple.

    Returns
    -------
    A function of `(x, v, *others)`, where `f` takes `(x, *others)`: the vector comes second, as
    `scipy.optimize.minimize` has it in `hessp`.  `v` has the structure and shapes of the chosen
    argument (it is a tuple of such for a tuple of `argnums`), and so has the result, in the
    dtypes of the argument.

    Raises
    ------
    JitadTypeError, JitadValueError : as `grad`; or the vector doesn't conform.

    Source: B. A. Pearlmutter, *Fast exact multiplication by the Hessian*, Neural Computation 6
    (1994).

    >>> import numpy as np
    >>> from jitad import hvp
    >>> hvp(lambda x: x[0] * x[0] * x[1])(np.array([3.0, 5.0]), np.array([1.0, 0.0]))
    array([10.,  6.])
    """
    return Product("hvp", f, argnums)


def jit_jacobian(
    f: Function, argnums: Argnums = 0, *, fallback: bool | None = None,
    memory: float | Snapshots | None = None, parallel: bool | int = False,
) -> Compiled:
    """`jit(jacobian(f, argnums))`: the Jacobian as a native kernel.

    Parameters
    ----------
    f, argnums : as for `jacobian`; fallback, memory, parallel : as for `jit`.

    Returns
    -------
    A `Compiled` function of the same arguments; shapes and dtypes of its result as of `jacobian`.
    Which mode it uses is decided by the sizes in the first call.

    Raises
    ------
    JitadTypeError, JitadValueError, JitadError : as `jacobian` and `jit`.

    Source: as `jacobian`.

    >>> import numpy as np
    >>> from jitad import jit_jacobian
    >>> jit_jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return Compiled(jacobian(f, argnums), fallback, memory, parallel)


def jit_hessian(
    f: Function, argnums: Argnums = 0, *, fallback: bool | None = None,
    memory: float | Snapshots | None = None, parallel: bool | int = False,
) -> Compiled:
    """`jit(hessian(f, argnums))`: the Hessian as a native kernel.

    Parameters
    ----------
    f, argnums : as for `hessian`; fallback, memory, parallel : as for `jit`.

    Returns
    -------
    A `Compiled` function of the same arguments; shapes and dtypes of its result as of `hessian`.

    Raises
    ------
    JitadTypeError, JitadValueError, JitadError : as `hessian` and `jit`.

    Source: as `hessian`.

    >>> import numpy as np
    >>> from jitad import jit_hessian
    >>> jit_hessian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    return Compiled(hessian(f, argnums), fallback, memory, parallel)


def jit_hvp(
    f: Function, argnums: Argnums = 0, *, fallback: bool | None = None,
    memory: float | Snapshots | None = None, parallel: bool | int = False,
) -> Compiled:
    """`jit(hvp(f, argnums))`: what Newton's method with conjugate gradients wants.

    Parameters
    ----------
    f, argnums : as for `hvp`; fallback, memory, parallel : as for `jit`.

    Returns
    -------
    A `Compiled` function of `(x, v, *others)`; shapes and dtypes of its result as of `hvp`.

    Raises
    ------
    JitadTypeError, JitadValueError, JitadError : as `hvp` and `jit`.

    Source: as `hvp`.

    >>> import numpy as np
    >>> from scipy.optimize import minimize
    >>> from jitad import jit_grad, jit_hvp
    >>> def rosenbrock(x):
    ...     return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
    >>> found = minimize(rosenbrock, np.zeros(5), jac=jit_grad(rosenbrock),
    ...                  hessp=jit_hvp(rosenbrock), method="trust-ncg")
    >>> bool(np.allclose(found.x, 1.0, atol=1e-4))
    True
    """
    return Compiled(hvp(f, argnums), fallback, memory, parallel)


def jit_jvp(
    f: Function, *, fallback: bool | None = None, memory: float | Snapshots | None = None,
    parallel: bool | int = False,
) -> Compiled:
    """`jvp` of one function, compiled: values and derivatives along directions.

    Parameters
    ----------
    f : as for `jvp`; fallback, memory, parallel : as for `jit`.

    Returns
    -------
    A `Compiled` function of `(primals, tangents)`, both tuples, with the result of
    `jvp(f, primals, tangents)`, shapes and dtypes included.

    Raises
    ------
    JitadValueError, JitadError : as `jvp` and `jit`.

    Source: as `jvp`.

    >>> from jitad import jit_jvp
    >>> jit_jvp(lambda x, y: x * y)((3.0, 2.0), (1.0, 0.5))
    (6.0, 3.5)
    """
    return Compiled(Along("jvp", f), fallback, memory, parallel)


def jit_vjp(
    f: Function, *, fallback: bool | None = None, memory: float | Snapshots | None = None,
    parallel: bool | int = False,
) -> Compiled:
    """`vjp` of one function, compiled: values and sensitivities pulled back.

    Parameters
    ----------
    f : as for `vjp`; fallback, memory, parallel : as for `jit`.

    Returns
    -------
    A `Compiled` function of `(primals, sensitivity)`, the first a tuple.  Its result is
    `(f(*primals), sensitivities)`, with a sensitivity of the structure, shapes and dtypes of each
    primal.

    Raises
    ------
    JitadValueError, JitadError : as `vjp` and `jit`.

    Source: as `vjp`.

    >>> from jitad import jit_vjp
    >>> jit_vjp(lambda x, y: x * y)((3.0, 2.0), 10.0)
    (6.0, (20.0, 30.0))
    """
    return Compiled(Pulled("vjp", f), fallback, memory, parallel)
