"""What becomes `scipy.optimize.linprog`, where something is traced?

SciPy finds the corner at which the objective is least, and which constraints meet there.  The
solution is that of their equations: it moves with the constraints, and not with the objective, as
long as the same ones meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize as so

from jitad.errors import JitadError, JitadTypeError
from jitad.operators.found import answers, indices
from jitad.values.kind import fail, require
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces

_FAILED = {1: "reached its limit of iterations", 2: "is infeasible", 3: "is unbounded",
           4: "ran into numerical difficulties"}  # fmt: skip


def _meeting(c: Any, above: Any, most: Any, equal: Any, right: Any, bounds: Any) -> Any:
    """(status, the rows that meet at the solution): inequalities, equations, lower, upper bounds;
    independent ones, those that push the most first."""
    found = so.linprog(c, above, most, equal, right, bounds)
    n = len(c)
    if found.status:
        return found.status, np.zeros(n, int)
    rows = np.concatenate([above, equal, np.eye(n), np.eye(n)])
    slacks = [np.abs(found.slack), np.zeros(len(right)), found.lower.residual, found.upper.residual]
    pushes = [found.ineqlin.marginals, np.full(len(right), np.inf), found.lower.marginals,
              found.upper.marginals]  # fmt: skip
    slack, push = np.concatenate(slacks), np.abs(np.concatenate(pushes))
    meet = np.flatnonzero((slack <= 1e-7 * (1.0 + np.abs(found.x).max())) | (push > 1e-9))
    chosen: list[int] = []
    basis = np.zeros((0, n))
    for k in meet[np.lexsort((slack[meet], -push[meet]))]:
        row = rows[k] / np.linalg.norm(rows[k])
        rest = row - basis.T @ (basis @ row)
        rest = rest - basis.T @ (basis @ rest)
        if np.linalg.norm(rest) > 1e-9:
            basis = np.concatenate([basis, rest[None] / np.linalg.norm(rest)])
            chosen.append(int(k))
    return (0, np.array(chosen, int)) if len(chosen) == n else (5, np.zeros(n, int))


def _pairs(bounds: Any, n: int) -> Any:
    """Lower and upper bounds as vectors."""
    if hasattr(bounds, "ndim"):
        return bounds[:, 0], bounds[:, 1]
    each = isinstance(bounds[0], (list, tuple, np.ndarray))
    bounds = [tuple(b) for b in bounds] if each else [tuple(bounds)]
    bounds = bounds * n if len(bounds) == 1 else bounds
    least = [-np.inf if low is None else low for low, _ in bounds]
    most = [np.inf if high is None else high for _, high in bounds]
    return call(np.asarray, least, float), call(np.asarray, most, float)


@replaces(so.linprog)
def linprog(c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None,
            bounds: Any = (0, None), method: str = "highs") -> Any:  # fmt: skip
    if not method.startswith("highs"):
        raise fail(JitadTypeError, f"method={method!r} of linprog is not supported on traced or "
                   "differentiated values", "Leave it at 'highs'.")  # fmt: skip
    c = call(np.asarray, c, float)
    n = handle(c)._static(c.shape[0], "the number of unknowns of linprog")

    def rows(a: Any, b: Any) -> tuple[Any, Any]:
        if a is None:
            return np.zeros((0, n)), np.zeros(0)
        return call(np.asarray, a, float), call(np.reshape, call(np.asarray, b, float), -1)

    above, most = rows(A_ub, b_ub)
    equal, right = rows(A_eq, b_eq)
    low, high = _pairs(bounds, n)

    def find(c: Any, above: Any, most: Any, equal: Any, right: Any, low: Any, high: Any) -> Any:
        return _meeting(c, above, most, equal, right, np.stack([low, high], axis=1))

    given = (c, above, most, equal, right, low, high)
    status, chosen = answers(find, (0, indices()))(*given)
    for number, what in _FAILED.items():
        require(call(np.not_equal, status, number), JitadError, f"the linear program {what}",
                "Its derivative is that of a solution, which there is none of.")  # fmt: skip
    require(call(np.not_equal, status, 5), JitadError,
            "the linear program has solutions that are no corners, or its corner has no equations",
            "Bound its unknowns, or add a small quadratic term and use jitad.argmin.")  # fmt: skip
    one = np.eye(n)
    left = call(np.concatenate, [above, equal, one, one])
    values = call(np.concatenate, [most, right, low, high])
    x = call(np.linalg.solve, left[chosen], values[chosen])
    slack = call(np.subtract, most, call(np.matmul, above, x))
    con = call(np.subtract, right, call(np.matmul, equal, x))
    return so.OptimizeResult(
        x=x, fun=call(np.dot, c, x), success=True, status=0, slack=slack, con=con,
        message="Optimization terminated successfully. (HiGHS Status 7: Optimal)",
    )  # fmt: skip
