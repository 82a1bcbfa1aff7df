"""What are means, variances, entropies, medians and intervals of the distributions of scipy.stats?

SciPy's formulas in standard form (`_stats`, `_munp`, `_entropy`), traced as they are written, and
quantiles.  What SciPy finds by integrals is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats as st

from jitad.errors import JitadTypeError
from jitad.solvers.distributions import own
from jitad.trace import hooks
from jitad.values.broadcast import as_operand, elementwise
from jitad.values.kind import fail
from jitad.values.numpy.ufuncs import numpy_number, where
from jitad.values.registry import call, replaces
from jitad.values.scipy.distributions import place
from jitad.values.scipy.laws import LAWS

DISCRETE: Any = st.rv_discrete


def _refused(law: Any, method: str) -> JitadTypeError:
    return fail(JitadTypeError, f"scipy.stats.{law.name}.{method} is not supported on traced or "
                "differentiated values: SciPy finds it by an integral or a sum",
                "Write its formula, or integrate by quad yourself.")  # fmt: skip


def _first_two(law: Any, method: str, shapes: Any) -> tuple[Any, Any]:
    """Mean and variance in standard form."""
    formula = own(law, "_stats")
    if formula is not None:
        mean, variance = hooks.call(formula, *shapes)[:2]
        if mean is not None and (variance is not None or method == "mean"):
            return mean, variance
    moment = own(law, "_munp")
    if moment is None:
        raise _refused(law, method)
    mean = hooks.call(moment, 1, *shapes)
    square = None if method == "mean" else hooks.call(moment, 2, *shapes)
    return mean, None if square is None else call(np.subtract, square, call(np.square, mean))


def _valid(found: Any, law: Any, shapes: Any, scale: Any) -> Any:
    check = own(law, "_argcheck")
    fine = call(np.greater, scale, 0.0)
    if check is not None:
        fine = call(np.logical_and, fine, hooks.call(check, *shapes))
    else:
        for s in shapes:
            fine = call(np.logical_and, fine, call(np.greater, s, 0.0))
    return numpy_number(where(fine, found, np.nan))


def _enter(name: str, law: Any) -> None:
    names = tuple(law.shapes.split(", ")) if law.shapes else ()

    def given(args: Any, kwargs: Any) -> tuple[Any, Any, Any]:
        shapes, loc, scale = place(args, kwargs, names)
        return [call(np.asarray, s, float) for s in shapes], loc, scale

    @replaces(law.mean)
    def mean(*args: Any, **kwargs: Any) -> Any:
        shapes, loc, scale = given(args, kwargs)
        found, _ = _first_two(law, "mean", shapes)
        return _valid(call(np.add, loc, call(np.multiply, scale, found)), law, shapes, scale)

    def variance(method: str, args: Any, kwargs: Any) -> Any:
        shapes, _, scale = given(args, kwargs)
        _, found = _first_two(law, method, shapes)
        found = call(np.multiply, call(np.square, scale), found)
        return _valid(found, law, shapes, scale)

    @replaces(law.var)
    def var(*args: Any, **kwargs: Any) -> Any:
        return variance("var", args, kwargs)

    @replaces(law.std)
    def std(*args: Any, **kwargs: Any) -> Any:
        return call(np.sqrt, variance("std", args, kwargs))

    @replaces(law.entropy)
    def entropy(*args: Any, **kwargs: Any) -> Any:
        shapes, _, scale = given(args, kwargs)
        formula = own(law, "_entropy")
        if formula is None:
            raise _refused(law, "entropy")
        found = hooks.call(formula, *shapes)
        if not isinstance(law, DISCRETE):
            found = call(np.add, found, call(np.log, scale))
        return _valid(found, law, shapes, scale)

    if isinstance(law, DISCRETE):
        return

    @replaces(law.median)
    def median(*args: Any, **kwargs: Any) -> Any:
        return call(law.ppf, 0.5, *args, **kwargs)

    @replaces(law.interval)
    def interval(confidence: Any, *args: Any, **kwargs: Any) -> Any:
        rest = elementwise("div", elementwise("sub", 1.0, as_operand(confidence)), 2.0)
        return tuple(call(law.ppf, q, *args, **kwargs)
                     for q in (rest, elementwise("sub", 1.0, rest)))  # fmt: skip


for _name, _law in LAWS.items():
    if isinstance(_law, (st.rv_continuous, DISCRETE)):
        _enter(_name, _law)
