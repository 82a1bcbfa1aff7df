"""Is what nested loops have computed from their inputs read where they stored it, and only there?

The largest of windows, which the adjoint wants: neither recorded nor computed once more where the
arrays that they went to still have them.  The truth is a derivative by complex steps of the
function itself, run by NumPy (whose largest complex number is that of the largest real part).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit_grad
from tests.engines import as_emitted
from tests.sweeps.test_settled import by_complex_steps
from tests.sweeps.test_settled_nests import close

ROWS, COLUMNS, DEPTH = 3, 2, 2
X = np.random.default_rng(47).uniform(0.5, 1.5, 4 * ROWS * COLUMNS * DEPTH)


def image(x: Any) -> Any:
    return x.reshape(2 * ROWS, 2 * COLUMNS, DEPTH)


def empty(x: Any) -> Any:
    return 0.0 * image(x)[:ROWS, :COLUMNS]


def top(m: Any, i: int, j: int) -> Any:
    return np.max(m[2 * i : 2 * i + 2, 2 * j : 2 * j + 2], axis=(0, 1))


def sizes(m: Any) -> tuple[int, int, int]:
    return m.shape[0] // 2, m.shape[1] // 2, m.shape[2]


def largest(m: Any) -> Any:
    rows, columns, _ = sizes(m)
    out = 0.0 * m[:rows, :columns]
    for i in range(rows):
        for j in range(columns):
            out[i, j] = top(m, i, j)
    return np.sum(out * out * out)


def three_deep(m: Any) -> Any:
    rows, columns, depth = sizes(m)
    out = 0.0 * m[:rows, :columns]
    for i in range(rows):
        for j in range(columns):
            for k in range(depth):
                out[i, j, k] = np.max(m[2 * i : 2 * i + 2, 2 * j : 2 * j + 2, k])
    return np.sum(out * out * out)


def backwards(m: Any) -> Any:
    rows, columns, _ = sizes(m)
    out = 0.0 * m[:rows, :columns]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            out[i, j] = top(m, i, j)
    return np.sum(out * out * out)


def in_a_branch(m: Any) -> Any:
    rows, columns, _ = sizes(m)
    out = 0.0 * m[:rows, :columns]
    for i in range(rows):
        for j in range(columns):
            if i != j:
                out[i, j] = top(m, i, j)
    return np.sum(out * out * out)


def used_after_another_change(m: Any) -> Any:
    rows, columns, _ = sizes(m)
    out = 0.0 * m[:rows, :columns]
    for i in range(rows):
        for j in range(columns):
            out[i, j] = top(m, i, j)
    out[0] = out[0] * m[0, 0]
    return np.sum(out * out * out)


LEFT = [largest, three_deep, backwards, in_a_branch, used_after_another_change]


def scaled_in_the_same_row(x: Any) -> Any:
    m, out = image(x), empty(x)
    for i in range(ROWS):
        for j in range(COLUMNS):
            out[i, j] = top(m, i, j)
        out[i] = out[i] * out[i] * x[i]
    return np.sum(out * out * out)


def scaled_rows_before(x: Any) -> Any:
    m, out = image(x), empty(x)
    for i in range(ROWS):
        for j in range(COLUMNS):
            out[i, j] = top(m, i, j)
            out[0, j] = out[0, j] * x[i + j]
    return np.sum(out * out * out)


def one_row_for_all(x: Any) -> Any:
    m, out = image(x), empty(x)
    total = 0.0
    for i in range(ROWS):
        for j in range(COLUMNS):
            out[0, j] = top(m, i, j)
            total = total + np.sum(out[0, j] ** 3)
    return total + np.sum(out)


def added_up(x: Any) -> Any:
    m, out = image(x), empty(x)
    for i in range(ROWS):
        for j in range(COLUMNS):
            out[i, j] += top(m, i, j) ** 2
            out[i - 1, j] += top(m, i, j)
    return np.sum(out * out)


def two_places(x: Any) -> Any:
    m, out, other = image(x), empty(x), empty(x)
    for i in range(ROWS):
        for j in range(COLUMNS):
            v = top(m, i, j)
            other[0, j] = v
            out[i, j] = v
        other[1] = other[0] * out[i]
    return np.sum(out**3) + np.sum(other**2)


def of_what_was_stored(x: Any) -> Any:
    m, out = image(x), empty(x)
    for i in range(ROWS):
        for j in range(COLUMNS):
            out[i, j] = top(m, i, j)
            out[i, j] = np.exp(out[i, j]) + out[i, 0]
    return np.sum(out)


OTHERS = [scaled_in_the_same_row, scaled_rows_before, one_row_for_all, added_up, two_places,
          of_what_was_stored]  # fmt: skip


@pytest.mark.parametrize("f", LEFT, ids=lambda f: f.__name__)
def test_nothing_is_recorded_or_computed_again(f: Callable[[Any], Any]) -> None:
    g = jit_grad(f)
    found = g(image(X)).reshape(-1)
    close(found, by_complex_steps(lambda x: f(image(x)), X))
    code = g.source.partition("def ")[2]
    assert "kept" not in code
    assert code.count("highest(") == 1


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
def test_gradients(f: Callable[[Any], Any]) -> None:
    close(jit_grad(f)(X), by_complex_steps(f, X))


def random_windows(seed: int) -> Callable[[Any], Any]:
    """The largest of windows go to places some of which are stored over, or changed, later."""
    rng = np.random.default_rng(seed)
    a, b, c, d = (int(k) for k in rng.integers(-1, 2, 4))
    again, row, before, reads, triangle = (bool(k) for k in rng.integers(0, 2, 5))

    def windows(x: Any) -> Any:
        m, out = image(x), empty(x)
        total = 0.0
        for i in range(ROWS):
            for j in range(i % COLUMNS if triangle else 0, COLUMNS):
                v = top(m, i, j) * x[i]
                out[(i + a) % ROWS, (j + b) % COLUMNS] = v
                if again:
                    out[(i + c) % ROWS, (j + d) % COLUMNS] = np.sqrt(v) * x[j]
                if reads:
                    total = total + np.sum(out[(i + d) % ROWS, j] * v)
            if row:
                out[(i + c) % ROWS] *= x[i]
            if before:
                out[i, (i + d) % COLUMNS] = np.exp(0.1 * out[i - 1, 0])
        return np.sum(out * out * out) + total

    return windows


@pytest.mark.parametrize("seed", range(32))
def test_random_windows(seed: int) -> None:
    f = random_windows(seed)
    close(as_emitted(grad(f), X), by_complex_steps(f, X))
