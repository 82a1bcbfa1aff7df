"""What are the higher derivatives of a function along a path?

The path is a polynomial in one number t; the function of t is differentiated n times, each time
together with all derivatives before, so that one nest of n forward sweeps gives them all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from jitad.errors import JitadTypeError, JitadValueError
from jitad.linear import add, scale
from jitad.operators.api import jvp
from jitad.trace import hooks
from jitad.where import caller

Function = Callable[..., Any]


def jet(
    f: Function, primals: tuple[Any, ...], series: tuple[Sequence[Any], ...]
) -> tuple[Any, list[Any]]:
    """The derivatives of `f` along a path that is given by its own derivatives.

    Parameters
    ----------
    f : function of floats, float arrays of any shape and structures of them.
    primals : where the path is at t = 0: the positional arguments of `f`.
    series : for each primal its first, second, ... derivative by t, each of the primal's structure
        and shapes; as many for each primal.

    Returns
    -------
    `(f(*primals), [first, second, ...])`, the derivatives by t of `f` along the path, with the
    structure, shapes and dtypes of the value.  Divided by k! they are Taylor coefficients.

    Raises
    ------
    JitadTypeError : primals or series that are no tuples.
    JitadValueError : series that differ in length, or are not as many as the primals.

    Source: Griewank & Walther, *Evaluating Derivatives*, ch. 13; here by n nested sweeps of forward
    mode, whose cost doubles with each order.

    >>> import math
    >>> from jitad import jet
    >>> jet(math.exp, (0.0,), ([2.0, 0.0, 0.0],))
    (1.0, [2.0, 4.0, 8.0])
    """
    if not (isinstance(primals, (tuple, list)) and isinstance(series, (tuple, list))):
        raise JitadTypeError(
            f"jet: primals are a {type(primals).__name__}, series a {type(series).__name__}",
            caller(), "Give tuples: jet(f, (x,), ([x1, x2],)).",
        )  # fmt: skip
    if len(series) != len(primals) or len({len(s) for s in series}) > 1:
        raise JitadValueError(
            f"jet: {len(primals)} primals with series of lengths {[len(s) for s in series]}",
            caller(), "Give for each primal a list of as many derivatives.",
        )  # fmt: skip
    order = len(series[0]) if series else 0

    def on_path(t: Any) -> tuple[Any, ...]:
        return (hooks.call(f, *(_at(x, ds, t) for x, ds in zip(primals, series, strict=True))),)

    along: Callable[[Any], tuple[Any, ...]] = on_path
    for _ in range(order):
        along = _with_next(along)
    value, *derivatives = along(0.0)
    return value, derivatives


def _at(x: Any, derivatives: Sequence[Any], t: Any) -> Any:
    """The path x + t x' + t²/2 x'' + ..., by Horner's rule."""
    step: Any = None
    for k in range(len(derivatives), 0, -1):
        term = scale(derivatives[k - 1], 1.0 / math.factorial(k))
        step = scale(term if step is None else add(term, step), t)
    return x if step is None else add(x, step)


def _with_next(before: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], tuple[Any, ...]]:
    """One derivative more: those of (v, v', ...) are (v', v'', ...)."""

    def further(t: Any) -> tuple[Any, ...]:
        values, slopes = jvp(before, (t,), (1.0,))
        return (values[0], *slopes)

    return further
