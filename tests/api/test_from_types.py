"""Does tracing from types alone, as for native callers, give what tracing a call gives?

Nothing is known of the extents then, not even that they are not 1: no check keeps them alive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

from jitad import JitadError, jit_grad

A = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 4.0]])
B = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 1.0]])
MATRICES: dict[str, Callable[[Any, Any], Any]] = {
    "matmul": lambda x, y: np.sum(x @ y),
    "weighed matmul": lambda x, y: np.sum((x @ y) * (x @ y)),
    "two matmuls": lambda x, y: np.sum((x @ y) @ x),
    "outer": lambda x, y: np.sum(np.outer(x[0], y[0]) ** 2),
    "dot": lambda x, y: np.dot(x[0], y[:, 0]) ** 2,
    "concatenate": lambda x, y: np.sum(np.concatenate([x, y.T]) ** 2),
    "stack": lambda x, y: np.sum(np.stack([x, y.T])),
    "hstack": lambda x, y: np.mean(np.hstack([x[0], y[0]]) ** 2),
    "reshape": lambda x, y: np.sum(x.reshape(-1) * y.T.reshape(-1)),
    "ravel": lambda x, y: np.mean(x.ravel()) * np.sum(y),
    "transpose": lambda x, y: np.sum(x.T * y),
    "slices": lambda x, y: np.sum(x[:, ::-1][:, :2]) + np.sum(y[1:] ** 2),
    "rows": lambda x, y: sum(np.sum(row**2) for row in x) + y[0, 0],
    "column": lambda x, y: np.sum(x[:, 0][:, None] * y[0]),
    "sum of axis": lambda x, y: np.sum(np.sum(x, axis=0) ** 2) + np.sum(y),
    "mean of axis": lambda x, y: np.sum(np.mean(x, axis=1)) + np.sum(y),
    "cumsum": lambda x, y: np.sum(np.cumsum(x[0])) + np.sum(y),
    "zeros": lambda x, y: np.sum(np.zeros_like(x) + x) + np.sum(y),
    "where": lambda x, y: np.sum(np.where(x > 1.5, x**2, 0.0)) + np.sum(y),
    "max": lambda x, y: np.max(x) * np.max(y),
}


@pytest.mark.parametrize("name", MATRICES)
def test_arrays_of_unknown_extents(name: str) -> None:
    f = MATRICES[name]
    g = jit_grad(f, (0, 1)).compile(numba.float64[:, :], numba.float64[:, :])
    for x, y in ((A, B), (A.copy(), B + 1.0)):
        for k, got in enumerate(g.entry((numba.typeof(x), numba.typeof(y)))(x, y)):
            np.testing.assert_allclose(got, differences(f, x, y, k), rtol=1e-6, atol=1e-7)


def differences(f: Any, x: Any, y: Any, which: int) -> Any:
    out, h = np.zeros_like((x, y)[which]), 1e-6
    for at in np.ndindex(out.shape):
        ends = []
        for sign in (1.0, -1.0):
            moved = [x.copy(), y.copy()]
            moved[which][at] += sign * h
            ends.append(f(*moved))
        out[at] = (ends[0] - ends[1]) / (2.0 * h)
    return out


def test_an_extent_of_one_says_what_to_do() -> None:
    """NumPy would stretch it; a kernel made from types alone can't, and says how it would."""
    g = jit_grad(lambda x, y: np.sum(x * y))

    @numba.njit
    def use(x, y):
        return g(x, y)

    x, one = np.array([1.0, 2.0, 3.0]), np.array([5.0])
    np.testing.assert_array_equal(use(x, x), x)
    np.testing.assert_array_equal(use(one, one), one)
    with pytest.raises(JitadError, match="broadcast") as e:
        use(x, one)
    assert str(e.value).splitlines()[-1] == (
        "Where an extent is 1 to be stretched, call the function from Python with such arrays "
        "before, or give them to compile()."
    )

    g(x, one)

    @numba.njit
    def stretched(x, y):
        return g(x, y)

    np.testing.assert_array_equal(stretched(x, one), [5.0, 5.0, 5.0])
