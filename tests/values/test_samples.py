"""Do the functions of Python's module `statistics` give what they give, and their derivatives?"""

import statistics as st

import numpy as np
import pytest

import jitad
from tests import truth

X = np.array([1.1, 2.5, 0.7, 3.2])
PROGRAMS = {
    "mean": lambda v: st.mean(v) ** 2,
    "fmean": lambda v: st.fmean(v) + st.fmean(v, weights=[1, 2, 3, 4]) ** 2,
    "geometric_mean": lambda v: st.geometric_mean(v),
    "harmonic_mean": lambda v: st.harmonic_mean(v) + st.harmonic_mean(v, weights=[1, 2, 3, 4]),
    "median": lambda v: st.median(v) + st.median(v[:3]) ** 2,
    "median_low": lambda v: st.median_low(v) ** 2 + st.median_high(v),
    "variance": lambda v: st.variance(v) + st.variance(v, 1.5),
    "pvariance": lambda v: st.pvariance(v) + st.pvariance(v, 1.5),
    "stdev": lambda v: st.stdev(v) + st.pstdev(u * u for u in v),
    "covariance": lambda v: st.covariance(v, [u * u for u in v]),
    "correlation": lambda v: st.correlation(v, [u * u for u in v]),
    "linear_regression": lambda v: st.linear_regression(v, [u * u for u in v]).slope * (
        st.linear_regression([u**3 for u in v], v, proportional=True).slope
        + st.linear_regression(v, [u**3 for u in v])[1]),
    "quantiles": lambda v: sum((k + 1) * q for k, q in enumerate(
        st.quantiles(v) + st.quantiles(v, n=10) + st.quantiles(v, n=3, method="inclusive"))),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_functions(name):
    f = PROGRAMS[name]

    def program(x):
        return f(list(x))

    want = [truth.ridders(lambda t, k=k: program(X + t * np.eye(4)[k]), 1e-3)[0] for k in range(4)]
    for engine in (jitad.value_and_grad, jitad.jit_value_and_grad):
        value, gradient = engine(program)(X)
        assert value == pytest.approx(program(X), rel=1e-14)
        np.testing.assert_allclose(gradient, want, rtol=1e-8, atol=1e-10)


def test_lists_of_unknown_length():
    def f(x):
        steps = []
        while x[0] * 1.5 ** len(steps) < 9.0:
            steps.append(x[0] * x[1] ** len(steps))
        return st.stdev(steps) * st.median(steps) + st.median_high(steps)

    x = np.array([1.1, 1.3])
    want = [truth.ridders(lambda t, k=k: f(x + t * np.eye(2)[k]), 1e-3)[0] for k in range(2)]
    np.testing.assert_allclose(jitad.jit_grad(f)(x), want, rtol=1e-8)


@pytest.mark.parametrize("grad", [jitad.grad, jitad.jit_grad])
def test_too_few(grad):
    with pytest.raises(st.StatisticsError, match="stdev needs at least 2 numbers"):
        grad(lambda x: st.stdev([x]))(1.0)
    for refused in (
        lambda x: st.harmonic_mean([x, -1.0]), lambda x: st.geometric_mean([x, -1.0]),
        lambda x: st.geometric_mean([x, 0.0]), lambda x: st.correlation([x, x], [1.0, 2.0]),
    ):  # fmt: skip
        with pytest.raises(st.StatisticsError):
            grad(refused)(2.0)
    with pytest.raises(jitad.JitadError, match="ranked"):
        grad(lambda x: st.correlation([x, 2.0], [x, 1.0], method="ranked"))(1.0)
