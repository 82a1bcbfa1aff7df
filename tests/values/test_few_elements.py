"""Arrays that turn out to have one element, or none, in kernels made for many and for any number.

NumPy and SciPy say what is right: a value, or an error of a class that a program may catch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.special
import scipy.stats

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
    "np.squeeze(b, 0)", "np.outer(b, x).squeeze(axis=0)",
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


def of_shapes(*shapes: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(np.ones(shape) for shape in shapes)


WITHOUT = {  # of one array, or two, without elements
    "lstsq, no rows": (lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], of_shapes((0, 3), (0,))),
    "lstsq, no columns": (
        lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], of_shapes((3, 0), (3,))),
    "lstsq, the rank": (
        lambda a, b: 1.0 * np.linalg.lstsq(a, b, rcond=None)[2], of_shapes((0, 3), (0,))),
    "matrix_rank": (lambda a: 1.0 * np.linalg.matrix_rank(a), of_shapes((0, 3))),
    "matrix_rank of stacks": (lambda a: 1.0 * np.linalg.matrix_rank(a), of_shapes((0, 3, 2))),
    "cond": (np.linalg.cond, of_shapes((3, 0))),
    "cond of stacks": (np.linalg.cond, of_shapes((0, 2, 2))),
    "norm of 2": (lambda a: np.linalg.norm(a, 2), of_shapes((0, 3))),
    "norm of -2": (lambda a: np.linalg.norm(a, -2), of_shapes((0, 3))),
    "nuclear norm": (lambda a: np.linalg.norm(a, "nuc"), of_shapes((0, 3))),
    "pinv": (np.linalg.pinv, of_shapes((0, 3))),
    "svd": (lambda a: np.linalg.svd(a, compute_uv=False), of_shapes((0, 3))),
    "qr": (lambda a: np.linalg.qr(a)[1], of_shapes((0, 3))),
    "solve": (np.linalg.solve, of_shapes((0, 0), (0,))),
    "det": (np.linalg.det, of_shapes((0, 0))),
    "cholesky": (np.linalg.cholesky, of_shapes((0, 0))),
    "expm": (scipy.linalg.expm, of_shapes((0, 0))),
    "solve_triangular": (scipy.linalg.solve_triangular, of_shapes((0, 0), (0,))),
    "roots": (np.roots, of_shapes((0,))),
    "roots of a constant": (np.roots, of_shapes((1,))),
    "polymul": (np.polymul, of_shapes((0,), (2,))),
    "polyadd": (np.polyadd, of_shapes((0,), (2,))),
    "polyval, no coefficients": (np.polyval, of_shapes((0,), (2,))),
    "polyfit": (lambda a, b: np.polyfit(a, b, 1), of_shapes((0,), (0,))),
    "histogram": (lambda a: 1.0 * np.histogram(a, np.array([0.0, 1.0]))[0], of_shapes((0,))),
    "convolve": (np.convolve, of_shapes((0,), (3,))),
    "fftconvolve": (scipy.signal.fftconvolve, of_shapes((0,), (3,))),
    "lfilter": (lambda a: scipy.signal.lfilter([1.0, 0.5], [1.0, 0.2], a), of_shapes((0,))),
    "zscore": (scipy.stats.zscore, of_shapes((0,))),
    "gaussian_filter1d": (lambda a: scipy.ndimage.gaussian_filter1d(a, 1.0), of_shapes((0,))),
    "gaussian_filter": (lambda a: scipy.ndimage.gaussian_filter(a, 1.0), of_shapes((0, 3))),
    "uniform_filter1d": (lambda a: scipy.ndimage.uniform_filter1d(a, 3), of_shapes((0,))),
    "softmax": (scipy.special.softmax, of_shapes((0,))),
    "softmax of rows": (lambda a: scipy.special.softmax(a, axis=1), of_shapes((0, 3))),
    "softmax of columns": (lambda a: scipy.special.softmax(a, axis=0), of_shapes((0, 3))),
    "log_softmax": (scipy.special.log_softmax, of_shapes((0,))),
    "logsumexp": (scipy.special.logsumexp, of_shapes((0,))),
    "vectorize": (lambda a: np.vectorize(lambda t: 2.0 * t)(a), of_shapes((0,))),
    "vectorize, otypes": (
        lambda a: np.vectorize(lambda t: 2.0 * t, otypes=[float])(a), of_shapes((0, 2))),
    "fft": (lambda a: np.abs(np.fft.fft(a)), of_shapes((0,))),
    "median": (np.median, of_shapes((0,))),
    "average": (lambda a: np.average(a, weights=a), of_shapes((0,))),
    "cov": (np.cov, of_shapes((2, 0))),
    "interp": (lambda a: np.interp(a, [0.0, 1.0], [1.0, 2.0]), of_shapes((0,))),
    "gradient": (np.gradient, of_shapes((0,))),
    "matrix_power": (lambda a: np.linalg.matrix_power(a, 3), of_shapes((0, 0))),
    "choose": (lambda a: np.choose(np.zeros(0, int), [a, a]), of_shapes((0,))),
}


@pytest.mark.parametrize("which", WITHOUT)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_no_elements_at_all(which: str) -> None:
    f, given = WITHOUT[which]
    value = outcome(f, *given)
    for found in (outcome(jitad.jit(f), *given), outcome(lambda *a: jitad.vjp(f, *a)[0], *given)):
        if isinstance(value, type):
            assert found is not jitad.JitadError
            assert isinstance(found, type)
            assert issubclass(found, value)
            continue
        assert np.shape(found) == np.shape(value)
        assert np.asarray(found).dtype == np.asarray(value).dtype
        np.testing.assert_array_equal(found, value)
        for a, adjoint in zip(given, jitad.vjp(f, *given)[1](np.ones_like(value)), strict=True):
            assert adjoint.shape == a.shape
