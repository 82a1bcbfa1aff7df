"""What becomes of densities and distances that a sample of scipy.stats has: `gaussian_kde`,
`wasserstein_distance`?
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.stats as st

from jitad.errors import JitadTypeError
from jitad.values.extents import product
from jitad.values.kind import fail
from jitad.values.numpy.shaping import handle
from jitad.values.registry import call, replaces
from jitad.values.stand_ins import Read, StandIn, stands_for


class KernelDensity(StandIn):
    """A sum of normal densities, one at each point of a sample."""

    _what = "kernel density"

    def __init__(self, dataset: Any, covariance: Any, weights: Any) -> None:
        self.dataset, self.covariance, self.weights = map(handle, (dataset, covariance, weights))

    def evaluate(self, points: Any) -> Any:
        return call(np.exp, self.logpdf(points))

    __call__ = pdf = evaluate

    def logpdf(self, x: Any) -> Any:
        points, data = call(np.atleast_2d, x), self.dataset
        d = data._static(data.shape[0], "the number of axes of a kernel density")
        if d == points.shape[1] and d != points.shape[0] and points.shape[0] == 1:
            points = call(np.reshape, points, (d, 1))  # one point
        f = call(np.linalg.cholesky, self.covariance)
        apart = handle(points)[:, :, None] - data[:, None, :]
        apart = call(np.reshape, apart, (d, product(apart.shape[1:])))
        white = call(sl.solve_triangular, f, apart, lower=True)
        energy = 0.5 * call(np.sum, white * white, axis=0)
        logs = call(np.log, self.weights) - call(np.reshape, energy, (-1, data.shape[1]))
        scale = call(np.sum, call(np.log, call(np.diag, f))) + 0.5 * d * math.log(2.0 * math.pi)
        top = call(np.max, logs, axis=1, keepdims=True)
        return call(np.log, call(np.sum, call(np.exp, logs - top), axis=1)) + top[:, 0] - scale


_NARROWER: dict[Any, Any] = {
    None: lambda n, d: n ** (-1.0 / (d + 4)),
    "silverman": lambda n, d: (n * (d + 2.0) / 4.0) ** (-1.0 / (d + 4)),
}
_NARROWER["scott"] = _NARROWER[None]


@replaces(st.gaussian_kde, plain=False)
def gaussian_kde(dataset: Any, bw_method: Any = None, weights: Any = None) -> KernelDensity:
    data = call(np.atleast_2d, dataset)
    data = data if data.dtype.kind == "f" else data.astype(float)
    n: Any = data.shape[1]
    if weights is None:
        weights, effective = call(np.full, n, 1.0 / n), n * 1.0
    else:
        weights = handle(weights) / call(np.sum, weights)
        effective = 1.0 / call(np.sum, weights * weights)
    if callable(bw_method):
        raise fail(JitadTypeError, "a function for bw_method is not supported here",
                   "Give the number that it gives.")  # fmt: skip
    named = bw_method is None or isinstance(bw_method, str)
    factor = _NARROWER[bw_method](effective, data.shape[0]) if named else bw_method
    covariance = call(np.atleast_2d, call(np.cov, data, rowvar=1, bias=False, aweights=weights))
    return KernelDensity(data, covariance * factor**2, weights)


@stands_for(st.gaussian_kde)
def of_outside(value: Any, read: Read) -> KernelDensity:
    """One that was made outside."""
    return KernelDensity(*(read(name) for name in ("dataset", "covariance", "weights")))


def _apart(u: Any, v: Any, u_weights: Any, v_weights: Any) -> tuple[Any, Any]:
    """How far the two distribution functions are apart, and on how long a stretch."""
    every = call(np.sort, call(np.concatenate, [u, v]))
    reached = []
    for x, w in ((u, u_weights), (v, v_weights)):
        order = call(np.argsort, x)
        at = call(np.searchsorted, x[order], every[:-1], "right")
        if w is None:
            reached.append(at / x.shape[0])
        else:
            total = call(np.concatenate, [call(np.zeros, 1), call(np.cumsum, handle(w)[order])])
            reached.append(total[at] / total[-1])
    return reached[0] - reached[1], call(np.diff, every)


@replaces(st.wasserstein_distance)
def wasserstein_distance(u_values: Any, v_values: Any, u_weights: Any = None,
                         v_weights: Any = None) -> Any:  # fmt: skip
    apart, steps = _apart(handle(u_values), handle(v_values), u_weights, v_weights)
    return call(np.sum, call(np.abs, apart) * steps)


@replaces(st.energy_distance)
def energy_distance(u_values: Any, v_values: Any, u_weights: Any = None,
                    v_weights: Any = None) -> Any:  # fmt: skip
    apart, steps = _apart(handle(u_values), handle(v_values), u_weights, v_weights)
    return call(np.sqrt, 2.0 * call(np.sum, apart * apart * steps))
