"""Is `statistics.NormalDist` traced as it is written, by the variable and by its parameters?"""

from __future__ import annotations

import operator
import statistics
from statistics import NormalDist
from typing import Any

import pytest
import scipy.stats

from jitad import derivative, grad, jit, jit_grad

STANDARD = NormalDist()
CDF = NormalDist(0.5, 2.0).cdf
NORM = scipy.stats.norm

SAME = {
    "cdf": (lambda x: STANDARD.cdf(x), lambda x: NORM.cdf(x)),
    "bound": (lambda x: CDF(x), lambda x: NORM.cdf(x, 0.5, 2.0)),
    "pdf": (lambda x: NormalDist().pdf(x), lambda x: NORM.pdf(x)),
    "inv_cdf": (lambda x: STANDARD.inv_cdf(0.5 * x), lambda x: NORM.ppf(0.5 * x)),
    "parameters": (lambda x: NormalDist(x, 2.0 * x).cdf(0.3), lambda x: NORM.cdf(0.3, x, 2.0 * x)),
    "arithmetic": (lambda x: (NormalDist(x, 1.0) + NormalDist(0.0, x)).cdf(0.3),
                   lambda x: NORM.cdf(0.3, x, (1.0 + x * x) ** 0.5)),
    "zscore": (lambda x: NormalDist(x, 2.0).zscore(0.3), lambda x: (0.3 - x) / 2.0),
}  # fmt: skip


@pytest.mark.parametrize("f, same", SAME.values(), ids=SAME)
def test_derivatives(f: Any, same: Any) -> None:
    for x in (0.7, 1.3):
        assert jit(f)(x) == pytest.approx(same(x), rel=1e-9)
        assert grad(f)(x) == pytest.approx(grad(same)(x), rel=1e-9)
        assert jit_grad(f)(x) == pytest.approx(grad(same)(x), rel=1e-9)
        assert jit(derivative(grad(f)))(x) == pytest.approx(derivative(grad(same))(x), rel=1e-8)


def test_its_errors() -> None:
    with pytest.raises(statistics.StatisticsError):
        jit(lambda x: STANDARD.inv_cdf(x))(1.5)


def test_truth_by_functions() -> None:
    def f(x: Any) -> Any:
        z = x + 0j
        return operator.not_(x), operator.truth(x), bool(z), operator.not_(x > 1.0), not z

    for x in (0.0, 0.7, 2.0):
        assert jit(f)(x) == f(x)
