"""Logistic regression: is a tumour benign, given thirty features of its cell nuclei?"""

import math

import numpy as np
from numba import njit

from benchmarks.demo import datasets
from benchmarks.demo.problem import Problem


def objective(weights, features, signs, strength):
    """Negative log-likelihood, ridge penalty on all weights but the intercept (the first)."""
    slopes = weights[1:]
    margins = signs * (features @ slopes + weights[0])
    return np.sum(np.logaddexp(0.0, -margins)) + 0.5 * strength * np.sum(slopes**2)


@njit(fastmath={"reassoc", "contract"}, error_model="numpy")
def gradient(weights, features, signs, strength):
    """Two matrix-vector products around one loop that overwrites activations with their shares."""
    rows, columns = features.shape
    intercept, slopes = weights[0], weights[1:]
    shares = features @ slopes
    value = 0.5 * strength * np.dot(slopes, slopes)
    total = 0.0
    for i in range(rows):
        margin = signs[i] * (shares[i] + intercept)
        decay = math.exp(-abs(margin))
        value += math.log1p(decay) + max(-margin, 0.0)
        shares[i] = -signs[i] * (decay if margin > 0.0 else 1.0) / (1.0 + decay)
        total += shares[i]
    result = np.empty(columns + 1)
    result[0] = total
    result[1:] = shares @ features + strength * slopes
    return value, result


def problem() -> Problem:
    features, signs = datasets.breast_cancer()

    def verdict(weights):
        accuracy = np.mean(np.sign(features @ weights[1:] + weights[0]) == signs)
        return f"{100 * accuracy:.1f} % of the tumours are on the right side", accuracy > 0.97

    return Problem(
        name="logistic regression",
        objective=objective,
        gradient=gradient,
        start=np.zeros(features.shape[1] + 1),
        args=(features, signs, 1.0),
        complex_safe=False,  # logaddexp takes no complex numbers
        verdict=verdict,
    )
