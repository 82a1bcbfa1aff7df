"""Are elements at places of an index array read and written by the nest that they are for?

Arrays between are counted in the emitted source; results are NumPy's, derivatives by complex steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit, jit_value_and_grad

RANDOM = np.random.default_rng(5)
P = RANDOM.integers(-5, 5, 9)
Q = RANDOM.integers(0, 9, 5)
X = RANDOM.normal(size=5)
Y = RANDOM.normal(size=9)
A = RANDOM.normal(size=(5, 5))


def added(x: Any, p: Any, y: Any) -> Any:
    z = np.zeros(len(x), x.dtype)
    np.add.at(z, p, y * y)
    return np.sum(z * z * x)


def fitted(x: Any, p: Any, y: Any) -> Any:
    return np.sum((x[p] - y) ** 2)


def picked_twice(x: Any, p: Any, y: Any) -> Any:
    return np.sum(x[p] * y + np.sin(x[p]) * x[p[::-1]])


def picked_from_picked(x: Any, p: Any, y: Any) -> Any:
    return np.sum(y[Q[p]] * x[p]) + np.sum(x[p][Q] ** 2)


def rows_and_columns(a: Any, p: Any, y: Any) -> Any:
    rows, columns = a[p], a[:, p]
    return np.sum(rows.T * columns) + np.sum(a[p] * a[p][:, p[:5]])


def both_axes_with_long_operands(a: Any, p: Any, y: Any) -> Any:
    b = np.sin(a[p] * a[p] + np.cos(a[p]) * y[:, None]) * np.exp(-a[p])
    return np.sum(b * b[::-1]) + np.sum(np.outer(a[0][p], y[p]) * a[1][p])


def reversed_into_itself(x: Any, p: Any, y: Any) -> Any:
    z = x * 1.0
    z[p] = z[::-1][p] * y
    return np.sum(z * z)


def added_to_itself(x: Any, p: Any, y: Any) -> Any:
    z = x * 1.0
    np.add.at(z, p, z[p[::-1]] * y)
    np.subtract.at(z, p[:5], z)
    return np.sum(z * z)


def written_before_it_is_used(x: Any, p: Any, y: Any) -> Any:
    z = x * 1.0
    was = z[p]
    z[1:] *= 2.0
    more = z[p] * was
    z[p] = more
    return np.sum(z * z) + np.sum(was * y)


def carried(x: Any, p: Any, y: Any) -> Any:
    z = x * 1.0
    for k in range(4):
        z = z[p[k : k + 5]] * x + z
        z[p[k : k + 3]] += z[:3] * y[k]
    return np.sum(z)


def by_rows(a: Any, p: Any, y: Any) -> Any:
    return np.sum(np.max(a[p], axis=1) * np.sum(a[p] * a[p], axis=1)) + np.sum(a[p].sum(axis=0))


def where_a_condition_holds(x: Any, p: Any, y: Any) -> Any:
    out = 0.0 * y[0]
    for k in range(5):
        if k % 2 == 0:
            out = out + np.sum(x[p] * y) * k
        x = x * 0.5
    return out


def set_by_places(a: Any, p: Any, y: Any) -> Any:
    b = np.zeros((5, 9), a.dtype)
    b[:, Q] = a * a.T
    b[p % 5, np.arange(9)] += y * y
    return np.sum(b * b * y)


PROGRAMS = [
    added, fitted, picked_twice, picked_from_picked, rows_and_columns,
    both_axes_with_long_operands, reversed_into_itself, added_to_itself,
    written_before_it_is_used, carried, by_rows, where_a_condition_holds, set_by_places,
]  # fmt: skip


def slopes(f: Callable[..., Any], x: Any, p: Any, y: Any) -> tuple[Any, Any]:
    out: tuple[Any, Any] = np.empty(x.shape), np.empty(y.shape)
    for k, a in enumerate((x, y)):
        for i in np.ndindex(a.shape):
            moved = [x.astype(complex), y.astype(complex)]
            moved[k][i] += 1e-30j
            out[k][i] = f(moved[0], p, moved[1]).imag / 1e-30
    return out


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_results_are_those_of_numpy(f: Callable[..., Any]) -> None:
    x = A if f.__code__.co_varnames[0] == "a" else X
    by_x, by_y = slopes(f, x, P, Y) if f is not by_rows else (None, None)
    value, found = jit_value_and_grad(f, (0, 2))(x, P, Y)
    assert value == pytest.approx(f(x, P, Y), rel=1e-13)
    assert jit(f)(x, P, Y) == pytest.approx(f(x, P, Y), rel=1e-13)
    eager = grad(f, (0, 2))(x, P, Y)
    for got, same, true in zip(found, eager, (by_x, by_y), strict=True):
        np.testing.assert_allclose(got, same, rtol=1e-12, atol=1e-13)
        if true is not None:  # the complex maximum is another
            np.testing.assert_allclose(got, true, rtol=1e-12, atol=1e-13)


def arrays_of(f: Callable[..., Any]) -> list[str]:
    g = jit_value_and_grad(f, (0, 2))
    g(X, P, Y)
    source = g.source.partition("\n\n\n")[2]
    assert "reshape" not in source
    return re.findall(r"(\w+) = (?:empty|zeros)\(", source)


def test_what_is_added_at_places_has_no_array_and_neither_have_the_places() -> None:
    """The sums, and the two adjoints; the checked places are computed where they are used."""
    assert len(arrays_of(added)) == 3


def test_what_is_picked_for_several_is_picked_once() -> None:
    """But once, for the three that want it: what is summed, and the two adjoints."""
    assert len(arrays_of(fitted)) == 3


def test_what_is_picked_for_one_has_no_array() -> None:
    g = jit(lambda x, p, y: np.sum(x[p] * y))
    assert g(X, P, Y) == pytest.approx(np.sum(X[P] * Y), rel=1e-14)
    assert "empty(" not in g.source.partition("\n\n\n")[2]


def test_another_name_for_an_extent_is_checked() -> None:
    g = jit_value_and_grad(lambda x, n: np.sum(np.sin(x).reshape(n) ** 2))
    for n in (5, -1):
        assert g(X, n)[0] == pytest.approx(np.sum(np.sin(X) ** 2), rel=1e-14)
    for n in (4, 6):
        with pytest.raises(ValueError):
            g(X, n)
