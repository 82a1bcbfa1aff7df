"""Is the derivative right where a formula is 0 / 0, or a factor is zero, and a limit fills it?"""

import numpy as np
import pytest
import scipy.special as sp
import scipy.stats as st

from jitad import derivative, jit
from tests.truth import ridders

X = np.array([0.5, 1.5, 2.5])
CASES = {
    "xlogy": (lambda m: sp.xlogy(m, 2.0), 0.0),
    "xlog1py": (lambda m: np.sum(sp.xlog1py(m, X)), 0.0),
    "gamma": (lambda a: np.sum(st.gamma.logpdf(X, a)), 1.0),
    "beta": (lambda a: np.sum(st.beta.logpdf(X / 3.0, a, a)), 1.0),
    "weibull": (lambda c: np.sum(st.weibull_min.logpdf(X, c)), 1.0),
    "chi2": (lambda n: np.sum(st.chi2.logpdf(X, n)), 2.0),
    "boxcox": (lambda p: sp.boxcox(1.7, p), 0.0),
    "inv_boxcox": (lambda p: sp.inv_boxcox(0.7, p), 0.0),
    "spherical_jn": (lambda z: sp.spherical_jn(0, z) + sp.spherical_jn(1, z), 0.0),
    "spherical_in": (lambda z: sp.spherical_in(0, z) + sp.spherical_in(1, z), 0.0),
    "slope of spherical_jn": (lambda z: sp.spherical_jn(1, z, True) + sp.spherical_jn(2, z, True),
                              0.0),
    "slope of spherical_in": (lambda z: sp.spherical_in(1, z, True) + sp.spherical_in(0, z, True),
                              0.0),
    "sinc": (np.sinc, 0.0),
    "exprel": (sp.exprel, 0.0),
    "spence": (sp.spence, 1.0),
    "inv_boxcox1p": (lambda p: sp.inv_boxcox1p(0.7, p), 0.0),
    "boxcox1p": (lambda p: sp.boxcox1p(0.7, p), 0.0),
    "diric, odd": (lambda x: sp.diric(x, 3), 0.0),
    "diric, even": (lambda x: sp.diric(x, 4), 2.0 * np.pi),
    "diric, between": (lambda x: sp.diric(x, 5), np.pi),
    "ellipkinc": (lambda m: sp.ellipkinc(0.7, m) + sp.ellipkinc(-2.0, m), 0.0),
    "ellipeinc": (lambda m: sp.ellipeinc(0.7, m) + sp.ellipeinc(2.0, m), 0.0),
    "ellipkinc, near zero": (lambda m: sp.ellipkinc(1.2, m), 1e-12),
    "ellipkinc, where its series ends": (lambda m: sp.ellipkinc(1.2, m), 0.02),
    "ellipeinc, where its series ends": (lambda m: sp.ellipeinc(1.2, m), -0.02),
}


# from the right: where a distribution begins, and its density is not zero
ENDS = {
    "gammainc": (lambda x: sp.gammainc(1.0, x), 0.0, 1.0),
    "gammaincc": (lambda x: sp.gammaincc(1.0, x), 0.0, -1.0),
    "gammainc, flat": (lambda x: sp.gammainc(2.0, x), 0.0, 0.0),
    "chdtr": (lambda x: sp.chdtr(2.0, x), 0.0, 0.5),
    "pdtrc": (lambda m: sp.pdtrc(0, m), 0.0, 1.0),
    "betainc": (lambda x: sp.betainc(1.0, 3.0, x), 0.0, 3.0),
    "betainc, above": (lambda x: sp.betainc(2.0, 1.0, x), 1.0, 2.0),
    "norm of nothing": (lambda x: np.linalg.norm(x * np.ones(2), 3), 0.0, 0.0),
}


@pytest.mark.parametrize("name", ENDS)
def test_slope_at_an_end(name):
    f, at, slope = ENDS[name]
    assert derivative(f)(at) == pytest.approx(slope, rel=1e-12)
    assert jit(derivative(f))(at) == pytest.approx(slope, rel=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_slope_and_curvature(name):
    f, at = CASES[name]
    slope = derivative(f)
    assert slope(at) == pytest.approx(ridders(lambda h: f(at + h), 0.1)[0], rel=1e-7, abs=1e-9)
    bend = ridders(lambda h: float(slope(at + h)), 0.1)[0]
    assert derivative(slope)(at) == pytest.approx(bend, rel=1e-6, abs=1e-8)


def test_compiled():
    slopes = jit(lambda m: (derivative(sp.xlogy)(m, 2.0), derivative(sp.xlogy)(m, 0.0)))
    assert slopes(0.0) == (pytest.approx(np.log(2.0)), 0.0)


def test_a_count_of_zero_has_no_part():
    by_rate = derivative(lambda p: np.sum(sp.xlogy(np.array([0.0, 2.0]), np.array([0.0, 1.0]) * p)))
    assert by_rate(0.5) == pytest.approx(4.0)
