"""Do index sets hold all that a result depends on, and where they can be exact, no more?

Truth: complex steps and differences at several points; where a derivative isn't zero at one of
them, the pattern must have an entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import grad, sparse_hessian, sparse_jacobian
from jitad.sparsity.places import NotLocal
from tests.sparsity import programs
from tests.sparsity.programs import EXACT, LARGER, N

RNG = np.random.default_rng(11)


def jacobian_at(f: Any, x: Any) -> Any:
    """Central differences."""
    h = 1e-6
    moved = [(f(x + h * e), f(x - h * e)) for e in np.eye(len(x))]
    return np.stack([np.ravel(a - b) / (2.0 * h) for a, b in moved], -1)


def met(f: Any, points: Any) -> Any:
    """Where a derivative was seen not to be zero."""
    return np.any([np.abs(jacobian_at(f, x)) > 1e-7 for x in points], axis=0)


POINTS = RNG.standard_normal((6, N)) + 0.1


@pytest.fixture(autouse=True)
def by_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The index sets are found here; `test_direct` has the other way."""

    def never(*args: Any) -> Any:
        raise NotLocal

    monkeypatch.setattr("jitad.operators.sparse.direct", never)



@pytest.mark.parametrize("f", EXACT, ids=lambda f: f.__name__)
def test_exact_patterns(f: Any) -> None:
    np.testing.assert_array_equal(sparse_jacobian(f).pattern(POINTS[0]).toarray(), met(f, POINTS))


@pytest.mark.parametrize("f", LARGER, ids=lambda f: f.__name__)
def test_patterns_that_may_be_larger(f: Any) -> None:
    found = sparse_jacobian(f).pattern(POINTS[0]).toarray()
    assert found[met(f, POINTS)].all()


def test_numbers_that_decide_leave_all_ways_open() -> None:
    found = sparse_jacobian(programs.by_values).pattern(POINTS[0]).toarray()
    exact = np.eye(N, dtype=bool) | np.eye(N, k=1, dtype=bool)
    exact[-1] = False
    np.testing.assert_array_equal(found, exact)
    np.testing.assert_array_equal(
        sparse_jacobian(programs.at_the_largest).pattern(POINTS[0]).toarray()[0], True
    )


def test_time_steps_widen_the_band_by_one_each() -> None:
    found = sparse_jacobian(programs.time_steps).pattern(POINTS[0]).toarray()
    i, j = np.indices((N, N))
    assert not found[np.abs(i - j) > 2].any()
    assert found[met(programs.time_steps, POINTS)].all()


# -- Hessians -------------------------------------------------------------------------------------


def separable(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s += np.exp(x[i]) * np.sin(x[i])
    return s


def chain(x: Any) -> Any:
    return np.sum((x[1:] - x[:-1] ** 2) ** 2)


def arrow(x: Any) -> Any:
    s = 0.0
    for i in range(1, len(x)):
        s += x[0] * x[i] ** 2
    return s


def surface(x: Any) -> Any:
    u = np.reshape(x, (2, 4))
    s = 0.0
    for i in range(1):
        for j in range(3):
            dx, dy = u[i + 1, j] - u[i, j], u[i, j + 1] - u[i, j]
            s += np.sqrt(1.0 + dx * dx + dy * dy)
    return s


def linear_parts(x: Any) -> Any:
    """Only x1 and x4 meet in a product."""
    return 3.0 * x[0] + x[1] * x[4] + np.sum(x)


def path(x: Any) -> Any:
    """A state that goes on: everything meets everything."""
    s = 0.0
    for i in range(len(x)):
        s = np.sin(s) + x[i]
    return s


@pytest.mark.parametrize("f", [separable, chain, arrow, surface, linear_parts, path])
def test_patterns_of_hessians(f: Any) -> None:
    slope = grad(f)
    h = sparse_hessian(f)
    seen = met(slope, POINTS)
    found = h.pattern(POINTS[0]).toarray()
    assert found[seen].all()
    if f is not path:
        np.testing.assert_array_equal(found, seen)


@pytest.mark.parametrize(
    "f", [programs.grid, programs.by_values, programs.by_index_arrays], ids=lambda f: f.__name__
)
def test_entries(f: Any) -> None:
    j = sparse_jacobian(f)
    for x in POINTS[:3]:
        np.testing.assert_allclose(j(x).toarray(), jacobian_at(f, x), rtol=1e-6, atol=1e-6)
