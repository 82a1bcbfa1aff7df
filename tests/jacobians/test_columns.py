"""Are the columns of a Jacobian by forward mode in their places, and written in one pass?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import jacfwd, jit


def outer(x: Any) -> Any:
    """Two axes; what it is is no other derivative's business."""
    out = np.zeros((3, len(x)), x.dtype)
    for i in range(3):
        for k in range(len(x)):
            out[i, k] = np.sin((i + 1.0) * x[k]) * x[0]
    return out


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 13])
def test_all_numbers_of_columns(n: int) -> None:
    x = np.linspace(0.3, 2.0, n)
    steps = [outer(x + 1e-30j * unit).imag / 1e-30 for unit in np.eye(n)]
    for jacobian in (jit(jacfwd(outer)), jacfwd(outer)):
        np.testing.assert_allclose(jacobian(x), np.stack(steps, -1), rtol=1e-13, atol=1e-15)


def test_directions_to_spare_leave_the_last_column_alone() -> None:
    """The fifth has a chunk for itself and three more, which are zero, or nan at the root."""

    def f(x: Any) -> Any:
        return np.array([np.sqrt(x[0]) + x[-1], 2.0 * x[-1], x[1]])

    found = jit(jacfwd(f))(np.array([0.0, 1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(found[1:], [[0.0, 0.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, 0.0, 0.0]])
    assert np.isinf(found[0, 0])


def test_a_chunk_is_written_in_one_pass() -> None:
    def totals(x: Any, a: Any) -> Any:
        out = np.zeros(len(a))
        for i in range(len(a)):
            for k in range(len(x)):
                out[i] += np.sin(a[i] * x[k])
        return out

    jacobian, x, a = jit(jacfwd(totals)), np.linspace(0.3, 2.0, 9), np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(jacobian(x, a), a[:, None] * np.cos(np.outer(a, x)))
    last = jacobian.source.rpartition("columns.py:")[2].partition("empty(")[0]
    assert last.count("for ") == 1 and last.count("store(") + last.count("] = ") == 4, last
