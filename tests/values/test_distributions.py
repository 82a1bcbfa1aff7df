"""Are distributions right far out, at kinks of their formulas, and for parameters out of range?

The truth is SciPy's value; for derivatives by the variable the density, also SciPy's.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
import scipy.stats as st

from jitad import grad, jit_grad, jvp
from jitad.errors import JitadValueError
from tests.engines import as_emitted

LAWS = {
    "norm": (), "t": (3.0,), "cauchy": (), "logistic": (), "laplace": (), "uniform": (),
    "expon": (), "gamma": (2.3,), "invgamma": (2.0,), "chi2": (3.0,), "beta": (2.0, 1.5),
    "lognorm": (0.7,), "halfnorm": (), "weibull_min": (1.7,), "pareto": (2.5,), "gumbel_r": (),
    "gumbel_l": (), "rayleigh": (), "maxwell": (), "halfcauchy": (), "f": (3.0, 5.0),
}  # fmt: skip
SMALL = np.array([1e-280, 1e-150, 1e-60, 1e-20, 1e-12, 1e-6, 1e-3])
Q = np.concatenate([SMALL, [0.2, 0.499, 0.5, 0.501, 0.8], 1.0 - 10.0 ** -np.arange(2.0, 15.0, 3.0)])
COUNTS = {"poisson": (3.5,), "binom": (12, 0.3), "nbinom": (4, 0.4), "geom": (0.3,),
          "bernoulli": (0.3,)}  # fmt: skip


def _points(name: str, shapes: tuple[float, ...]) -> np.ndarray:
    law = getattr(st, name)
    with np.errstate(all="ignore"):
        x = np.concatenate([law.ppf(Q, *shapes), law.isf(SMALL, *shapes)])
    low, high = law.support(*shapes)
    return np.unique(x[np.isfinite(x) & (x > low) & (x < high) & (abs(x) < 1e70)])


def _slope(name: str, shapes: tuple[float, ...], method: str, x: np.ndarray) -> np.ndarray:
    law = getattr(st, name)
    at = getattr(law, method)(x, *shapes) if method in ("ppf", "isf") else x
    log_density = law.logpdf(at, *shapes)
    match method:
        case "cdf" | "sf":
            return np.exp(log_density) * (1.0 if method == "cdf" else -1.0)
        case "logcdf" | "logsf":
            size = np.exp(log_density - getattr(law, method)(x, *shapes))
            return size if method == "logcdf" else -size
    return np.exp(-log_density) * (1.0 if method == "ppf" else -1.0)


@pytest.mark.parametrize("method", ["cdf", "sf", "logcdf", "logsf", "ppf", "isf"])
@pytest.mark.parametrize("name", LAWS)
def test_far_out(name: str, method: str) -> None:
    shapes, law = LAWS[name], getattr(st, name)
    f = getattr(law, method)
    x = Q if method in ("ppf", "isf") else _points(name, shapes)
    with np.errstate(all="ignore"):
        value, slope = jvp(lambda x: f(x, *shapes), (x,), (np.ones_like(x),))
        want, slopes = f(x, *shapes), _slope(name, shapes, method, x)
    there = np.isfinite(want) & (np.abs(want) > 1e-290)
    if (name, method) == ("f", "isf"):  # SciPy subtracts from one
        there &= x > 1e-3
    np.testing.assert_allclose(value[there], want[there], rtol=2e-9, atol=1e-300)
    some = there & np.isfinite(slopes) & (np.abs(slopes) > 1e-280)
    assert some.sum() > 5
    np.testing.assert_allclose(slope[some], slopes[some], rtol=2e-8)


@pytest.mark.parametrize("method", ["pmf", "logpmf", "cdf", "sf", "logcdf", "logsf"])
@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str, method: str) -> None:
    """Between and at whole numbers, before the first and after the last."""
    *most, p = COUNTS[name]
    f = getattr(getattr(st, name), method)
    k = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 5.5, 11.0, 12.0, 13.0, 40.0])
    with np.errstate(all="ignore"):
        value, slope = jvp(lambda p: f(k, *most, p), (p,), (1.0,))
        h = 1e-4
        a, b = ((f(k, *most, p + s * h) - f(k, *most, p - s * h)) / (2 * s * h) for s in (1, 2))
    np.testing.assert_allclose(value, f(k, *most, p), rtol=1e-10, atol=1e-17)
    known = np.isfinite(a)
    np.testing.assert_allclose(slope[known], ((4 * a - b) / 3)[known], rtol=1e-6, atol=1e-9)


def test_where_a_formula_has_a_kink_and_the_function_none() -> None:
    assert grad(lambda x: st.laplace.cdf(x))(0.0) == 0.5
    assert grad(lambda x: st.t.cdf(x, 3.0))(0.0) == pytest.approx(st.t.pdf(0.0, 3.0), rel=1e-12)
    assert grad(grad(lambda x: st.logistic.logpdf(x)))(0.0) == pytest.approx(-0.5, rel=1e-12)
    assert jit_grad(lambda x: st.cauchy.ppf(x))(0.5) == pytest.approx(np.pi, rel=1e-12)


@pytest.mark.parametrize("f", [
    lambda s: st.norm.logpdf(0.3, 0.0, s), lambda s: st.norm.cdf(0.3, 0.0, s),
    lambda s: st.gamma.logpdf(0.7, s), lambda s: st.beta.logpdf(0.7, s, 2.0),
    lambda s: st.expon.ppf(s), lambda s: st.uniform.ppf(1.0 - s), lambda s: st.poisson.logpmf(2, s),
    lambda s: st.binom.pmf(2, 5, s), lambda s: st.skewnorm.logpdf(0.3, s),
    lambda s: st.norm(0.0, s).sf(0.2),
])  # fmt: skip
@pytest.mark.parametrize("s", [-0.4, 0.4])
def test_parameters_out_of_range_give_nan(f, s: float) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(jvp(f, (s,), (1.0,))[0], f(s), rtol=1e-12)


@pytest.mark.parametrize("cov", [2.0, np.array([0.5, 2.0, 1.0])])
def test_covariances_that_are_no_matrices(cov) -> None:
    x, m = np.array([0.2, -0.3, 0.9]), np.array([0.1, 0.0, 0.3])
    want = -(x - m) / cov
    free, frozen = (lambda x: st.multivariate_normal.logpdf(x, m, cov),
                    lambda x: st.multivariate_normal(m, cov).logpdf(x))  # fmt: skip
    np.testing.assert_allclose(jit_grad(free)(x), want, rtol=1e-12)
    np.testing.assert_allclose(grad(frozen)(x), want, rtol=1e-12)


@pytest.mark.parametrize("name", [*LAWS, *COUNTS])
def test_edges(name: str) -> None:
    """Zero, what is no number, what is in no support."""
    law, shapes = getattr(st, name), (LAWS | COUNTS)[name]
    methods = ("logpmf", "pmf") if name in COUNTS else ("logpdf", "pdf")
    x = np.array([-3.0, -1.0, 0.0, 0.5, 1.0, 30.0, np.nan])
    for method in (*methods, "cdf", "sf", "logcdf", "logsf"):
        f = getattr(law, method)
        with np.errstate(all="ignore"):
            found = as_emitted(lambda x, f=f: f(x, *shapes), x)
            np.testing.assert_allclose(found, f(x, *shapes), rtol=1e-9, atol=1e-15)


def test_logarithms_where_probabilities_underflow() -> None:
    with np.errstate(all="ignore"):
        for k, x in ((0, 1e-9), (1, 1e9)):
            method = ("logcdf", "logsf")[k]
            f = getattr(st.lognorm, method)
            value, slope = jvp(lambda s, f=f, x=x: f(x, s), (0.1,), (1.0,))
            assert value == pytest.approx(f(x, 0.1), rel=1e-12)
            assert slope == pytest.approx((f(x, 0.1 + 1e-6) - f(x, 0.1 - 1e-6)) / 2e-6, rel=1e-6)
        assert jvp(lambda p: st.geom.logsf(1e6, p), (0.3,), (1.0,)) == pytest.approx(
            (1e6 * np.log1p(-0.3), -1e6 / 0.7))  # fmt: skip


def test_vectors_that_are_impossible() -> None:
    p, alpha = np.array([0.2, 0.3, 0.5]), np.array([1.0, 2.0, 3.0])
    for x in ([1, 2, 1], [-1, 3, 3], [1.5, 1.5, 2.0], [1, 2, 2]):
        f = lambda p, x=np.array(x): st.multinomial.logpmf(x, 5, p)
        assert as_emitted(f, p) == pytest.approx(f(p))
    for x, a in ((p - 0.1, alpha), (np.array([-0.5, 0.5, 1.0]), alpha), (p, -alpha)):
        with pytest.raises(ValueError, match=r"simplex|greater than"):
            st.dirichlet.logpdf(x, a)
        with pytest.raises(JitadValueError, match=r"dirichlet.logpdf has no value"):
            grad(lambda a, x=x: st.dirichlet.logpdf(x, a))(a)


@pytest.mark.parametrize("df", [2.5, 40.0, 1e4, 1e9, 1e15, np.inf])
def test_many_degrees_of_freedom(df: float) -> None:
    """Where the logarithms of gamma functions are large, and their difference is not."""
    with mp.workdps(50):
        def logpdf(x, df):
            if df == mp.inf:
                return -x * x / 2 - mp.log(2 * mp.pi) / 2
            ratio = mp.loggamma((df + 1) / 2) - mp.loggamma(df / 2)
            return ratio - mp.log(mp.pi * df) / 2 - (df + 1) / 2 * mp.log1p(x * x / df)

        want = float(logpdf(mp.mpf(0.7), mp.mpf(df)))
        h = mp.mpf(df) / 10**20
        by_df = 0.0 if np.isinf(df) else float(
            (logpdf(mp.mpf(0.7), df + h) - logpdf(mp.mpf(0.7), df - h)) / (2 * h))  # fmt: skip
    value, slope = jvp(lambda df: st.t.logpdf(0.7, df), (df,), (1.0,))
    assert value == pytest.approx(want, rel=1e-14)
    assert slope == pytest.approx(by_df, rel=1e-12, abs=1e-16)
    assert grad(lambda x: st.t.cdf(x, df))(0.7) == pytest.approx(np.exp(want), rel=1e-13)
    assert np.isfinite(grad(lambda df: st.t.cdf(0.7, df))(df))
    if df < 1e12:  # SciPy's own density of F loses digits
        ratio = grad(lambda x: st.f.cdf(x, 3.0, df))(0.7) / st.f.pdf(0.7, 3.0, df)
        assert ratio == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("name", ["invgamma", "lognorm", "gamma", "weibull_min", "pareto", "f"])
def test_before_the_support_nothing_varies(name: str) -> None:
    """By no parameter, and not by nan."""
    law, shapes = getattr(st, name), LAWS[name]
    at = np.array([-1.0, 0.0]) if name != "pareto" else np.array([-1.0, 0.5])
    for method in ("cdf", "sf", "logsf", "pdf"):
        f = getattr(law, method)
        for x in at[:1] if method == "pdf" else at:
            with np.errstate(all="ignore"):
                slopes = grad(lambda p, x=x, f=f: f(x, *p))((*shapes, 0.0, 2.5))
            assert all(d == 0.0 for d in slopes), (method, x)
    assert jvp(lambda x: st.rayleigh.pdf(x), (np.inf,), (1.0,))[0] == 0.0
