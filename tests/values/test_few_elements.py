"""Arrays that turn out to have one element, or none, in kernels made for many and for any number.

NumPy and SciPy say what is right: a value, or an error of a class that a program may catch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitad
from tests.properties.check import forget, load

X = np.array([0.4, 0.7, 1.3, 2.2])
PROGRAM = """
import numpy as np
import scipy
import scipy.interpolate, scipy.special, scipy.stats


def program(x, k):
    b = x[:k]
    return np.sum({}) * x[0]
"""
OF_FEW = [
    "np.interp(x[0], b, b)", "np.interp(x, b, 2 * b)", "np.interp(1.0, b, b, left=x[1])",
    "np.digitize(x, b)", "np.digitize(x, b[::-1])", "np.digitize(x, b[::-1], right=True)",
    "np.digitize(x, b, right=True)", "np.linalg.norm(b, np.inf)",
    "np.linalg.norm(b, -np.inf)", "np.linalg.norm(np.outer(x, b), 1)",
    "np.linalg.norm(np.outer(b, x), np.inf)", "np.pad(b, 3, mode='reflect')",
    "np.pad(b, 2, mode='symmetric')", "b.item()", "b[b > 0.6].item()",
    "scipy.special.logsumexp(b)", "scipy.interpolate.CubicSpline(b, b)(0.5)",
    "scipy.interpolate.PchipInterpolator(b, b)(0.5)",
    "scipy.integrate.cumulative_trapezoid(b)", "scipy.stats.pearsonr(b, b * b)[0]",
    "np.stack([v * x for v in b])", "np.vstack([v * x for v in b])",
    "np.hstack([v * x for v in b])", "np.concatenate([v * x for v in b])",
    "np.column_stack([v * x for v in b])", "np.split(b, 2)[0]", "np.max(b)", "np.argmin(b)",
]  # fmt: skip
GONE_OVER = [
    "np.stack([v * x for v in x if v > 2.5 - k])", "np.vstack([v * x for v in x if v > 2.5 - k])",
    "np.hstack([v * x for v in x if v > 2.5 - k])",
    "np.concatenate([v * x for v in x if v > 2.5 - k])",
    "np.column_stack([v * x for v in x if v > 2.5 - k])",
    "np.hstack([v for v in x if v > 2.5 - k])", "np.stack([v for v in x if v > 2.5 - k])",
]  # fmt: skip


def outcome(f: Any, *args: Any) -> Any:
    """What comes out, or the class of what is raised; JitadError where jitad alone refuses."""
    try:
        return f(*args)
    except jitad.JitadError as error:
        if not error.of_program:
            return jitad.JitadError
        return next(c for c in type(error).__mro__ if not issubclass(c, jitad.JitadError))
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("what", OF_FEW + GONE_OVER)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_few_elements_or_none(what: str) -> None:
    name = f"few_{abs(hash(what))}"
    program = load(PROGRAM.format(what), name)
    try:
        compiled = jitad.jit(program)
        slope, eager = jitad.jit_grad(program), jitad.grad(program)
        for k in (3, 0, 1, 2, 4):
            value = outcome(program, X.copy(), k)
            found = outcome(compiled, X.copy(), k)
            if isinstance(value, type):
                assert found in (value, jitad.JitadError)
                assert outcome(eager, X.copy(), k) in (value, jitad.JitadError)
                continue
            assert found == pytest.approx(value, rel=1e-12, nan_ok=True)
            rise = [(program(X + 1e-6 * e, k) - program(X - 1e-6 * e, k)) / 2e-6 for e in np.eye(4)]
            if "interp(" not in what and "item" not in what and np.all(np.isfinite(rise)):
                np.testing.assert_allclose(eager(X.copy(), k), rise, rtol=1e-6, atol=1e-7)
            other = eager(X.copy(), k)
            np.testing.assert_allclose(slope(X.copy(), k), other, rtol=1e-9, atol=1e-12)
    finally:
        forget(name)
