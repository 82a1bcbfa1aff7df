"""Are numbers Python's where NumPy and SciPy give Python's, and NumPy's where they give those?

Beside an array of single precision the one keeps its dtype, the other does not: NumPy tells.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.integrate as si
import scipy.linalg as sl
import scipy.optimize as so
import scipy.spatial.distance as sd

from jitad import jvp
from tests.engines import on_tape

X = np.array([0.3, 0.7, 1.2])
M = np.outer(X, X) + np.eye(3)


def _gap(s: Any, t: Any) -> Any:
    return s * s - t


NUMBERS = {
    "math": lambda t, x: (math.sin(x[0]), math.isclose(x[0], t) * 1.0, math.isnan(t) * t),
    "close": lambda t, x: (np.isclose(t, 0.7) * t, np.isclose(t, 2.0, equal_nan=True).any() * t,
                           np.isclose(np.nan * t, np.nan, equal_nan=True) * 2.0),
    "python": lambda t, x: (x[0].item(), float(x[1]), x.tolist()[1], sum(x), max(x), t * x[0]),
    "chosen": lambda t, x: (np.choose(1, [t, 2 * t]), np.where(t > 0, t, 1.0),
                            np.select([t > 0], [t])),
    "integrals": lambda t, x: (si.quad(lambda s: s * t, 0, 1)[0],
                               si.dblquad(lambda y, z: t * y, 0, 1, 0, 1)[0]),
    "roots": lambda t, x: (so.brentq(lambda s: s * s - t, 0, 3), so.newton(_gap, 1.0, args=(t,)),
                           so.toms748(lambda s: s * s - t, 0, 3)),
    "minima": lambda t, x: (so.minimize_scalar(lambda s: (s - t) ** 2).x,
                            so.brent(lambda s: np.cosh(s - t))),
    "norms": lambda t, x: (sl.norm(x), sl.norm(M * t), sl.norm(M * t, 1), sl.norm(x, 1),
                           sl.norm(x, 2), np.linalg.norm(x), sl.norm(x, axis=0), sl.det(M * t)),
    "distances": lambda t, x: (sd.euclidean(x, t * x), sd.minkowski(x, t * x),
                               sd.minkowski(x, t * x, 3), sd.cosine(x, x + t),
                               sd.canberra(x, t * x), sd.seuclidean(x, t * x, x)),
}  # fmt: skip


def _eagerly(f: Any, *args: Any) -> Any:
    return jvp(f, args, tuple(np.ones_like(a) if np.ndim(a) else 1.0 for a in args))[0]


@pytest.mark.parametrize("engine", [on_tape, _eagerly])
@pytest.mark.parametrize("made", NUMBERS.values(), ids=NUMBERS)
def test_a_number_is_weak_where_it_is_so_in_numpy(made: Any, engine: Any) -> None:
    def f(t: Any, x: Any) -> Any:
        return [n * np.ones(2, np.float32) for n in made(t, x)]

    expected, found = f(0.7, X), engine(f, 0.7, X)
    assert [x.dtype for x in found] == [x.dtype for x in expected]
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5)
