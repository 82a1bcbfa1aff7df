"""Are entries right at the borders of grids, inside, and where branches write?

Truth: complex steps of the same functions in plain Python, or of gradients written by hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import sparse_hessian, sparse_jacobian
from jitad.sparsity import places
from jitad.sparsity.places import Terms
from tests.jacobians.truth import complex_step
from tests.sparsity.test_direct import laid_out

RNG = np.random.default_rng(8)


# -- places ---------------------------------------------------------------------------------------


def cells_of_a_grid(n: int, m: int) -> Terms:
    """Each cell of a grid adds to all pairs of three of its corners."""
    corner = np.arange(n * m).reshape(n, m)[:-1, :-1, None] + np.array([0, 1, m])
    rows = np.repeat(corner, 3, axis=-1)
    columns = np.tile(corner, (1, 1, 3))
    return Terms((rows,), (columns,), (0,), (n * m, n * m))


@pytest.mark.parametrize(("n", "m"), [(8, 8), (9, 30), (30, 9), (4, 20), (2, 2)])
def test_entries_of_a_grid(n: int, m: int) -> None:
    terms = cells_of_a_grid(n, m)
    laid_out(list(terms.rows), list(terms.columns), terms.shape)


def test_inside_a_grid_places_are_told_by_numbers() -> None:
    terms = cells_of_a_grid(20, 30)
    (site,) = places.layout(terms, terms.pattern()).sites
    assert site.inner is not None and site.inner.table is None
    assert not all(site.inner.stored) and any(site.inner.stored)
    layout = places.layout(terms, terms.pattern())
    (down, right) = ((low.value, layout.numbers[high.at or 0]) for low, high in site.box)
    assert down == (1, 18) and right == (1, 28)  # of 19 x 29 cells


# -- functions ------------------------------------------------------------------------------------


def reaction_diffusion(u: Any) -> Any:
    n, m = u.shape
    out = 0.0 * u
    for i in range(n):
        for j in range(m):
            if i == 0 or j == 0 or i == n - 1 or j == m - 1:
                out[i, j] = u[i, j] * 2.0
            else:
                c = u[i, j]
                out[i, j] = (
                    u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * c
                    + np.exp(-c) * c
                )  # fmt: skip
    return out


def periodic(u: Any) -> Any:
    n, m = u.shape
    out = 0.0 * u
    for i in range(n):
        for j in range(m):
            out[i, j] = np.sqrt(1.0 + (u[(i + 1) % n, j] - u[i, (j + 1) % m]) ** 2)
    return out


def upwind(u: Any) -> Any:
    """One side of a branch writes, in the other nothing happens; then it goes on."""
    n, m = u.shape
    out = 0.0 * u
    for i in range(n):
        for j in range(m):
            if j > 0:
                out[i, j] = np.sin(u[i, j]) - u[i, j - 1]
    for i in range(n):
        if i % 2 == 0:
            out[i, 0] += u[i, 0] * u[i, 1]
    return out


def nested_branches(u: Any) -> Any:
    n, m = u.shape
    out = 0.0 * u
    for i in range(n):
        for j in range(m):
            if (i + j) % 2 == 0:
                out[i, j] = u[i, j] ** 2
                if i > 0:
                    out[i - 1, j] += u[i, j] * u[i - 1, j]
            elif j == 0:
                out[i, j] += np.exp(u[i, j])
    return out


def arrays_in_branches(u: Any) -> Any:
    out = 0.0 * u
    for i in range(len(u)):
        if i < 2:
            out[i] = u[i] * u[0]
        else:
            out[i, 1:] = np.exp(u[i, 1:]) - u[i, :-1]
    return out


FUNCTIONS = (reaction_diffusion, periodic, upwind, nested_branches, arrays_in_branches)
BY_DIRECTIONS = (arrays_in_branches,)  # arrays whose size an iteration computes


@pytest.mark.parametrize("shape", [(8, 9), (3, 2)])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_residuals_on_a_grid(f: Any, shape: tuple[int, int]) -> None:
    u = RNG.standard_normal(shape)
    size = u.size
    exact = np.reshape(complex_step(f, u), (size, size))
    j = sparse_jacobian(f)
    np.testing.assert_allclose(j(u).toarray(), exact, rtol=1e-12, atol=1e-13)
    assert (j.sweeps(u) == 1) == (f not in BY_DIRECTIONS)
    v = u[::-1].copy()
    exact = np.reshape(complex_step(f, v), (size, size))
    np.testing.assert_allclose(j(v).toarray(), exact, rtol=1e-12, atol=1e-13)


def energy(u: Any) -> Any:
    n, m, p = u.shape
    total = 0.0
    for i in range(n - 1):
        for j in range(m - 1):
            for k in range(p - 1):
                c = u[i, j, k]
                total += np.sqrt(
                    1.0 + (u[i + 1, j, k] - c) ** 2 + (u[i, j + 1, k] - c) ** 2
                    + (u[i, j, k + 1] - c) ** 2
                ) + 0.25 * c**4  # fmt: skip
    return total


def energy_by_slices(u: Any) -> Any:
    c = u[:-1, :-1, :-1]
    a, b, d = u[1:, :-1, :-1] - c, u[:-1, 1:, :-1] - c, u[:-1, :-1, 1:] - c
    return np.sum(np.sqrt(1.0 + a**2 + b**2 + d**2) + 0.25 * c**4)


def slope_of_energy(u: Any) -> Any:
    """By hand, in NumPy that takes complex numbers."""
    g = 0.0 * u
    c = u[:-1, :-1, :-1]
    a, b, d = u[1:, :-1, :-1] - c, u[:-1, 1:, :-1] - c, u[:-1, :-1, 1:] - c
    root = np.sqrt(1.0 + a**2 + b**2 + d**2)
    g[1:, :-1, :-1] += a / root
    g[:-1, 1:, :-1] += b / root
    g[:-1, :-1, 1:] += d / root
    g[:-1, :-1, :-1] += c**3 - (a + b + d) / root
    return g


@pytest.mark.parametrize("f", [energy, energy_by_slices], ids=lambda f: f.__name__)
def test_hessians_of_energies_in_three_dimensions(f: Any) -> None:
    h = sparse_hessian(f)
    for shape in ((8, 7, 9), (2, 3, 70)):
        u = RNG.standard_normal(shape)
        exact = np.reshape(complex_step(slope_of_energy, u), (u.size, u.size))
        np.testing.assert_allclose(h(u).toarray(), exact, rtol=1e-11, atol=1e-12)
        np.testing.assert_array_equal(h.pattern(u).toarray(), exact != 0.0)
        assert h.sweeps(u) == 1


def test_long_rows_go_in_several_strips() -> None:
    def f(u: Any) -> Any:
        out = np.zeros(u.shape)
        for i in range(u.shape[0] - 1):
            for j in range(u.shape[1] - 1):
                d = np.exp(0.1 * u[i, j] * u[i + 1, j + 1])
                out[i, j] += d
                out[i + 1, j] -= d
                out[i, j + 1] += d * u[i, j + 1]
        return out

    def by_slices(u: Any) -> Any:
        out = 0.0 * u
        d = np.exp(0.1 * u[:-1, :-1] * u[1:, 1:])
        out[:-1, :-1] += d
        out[1:, :-1] -= d
        out[:-1, 1:] += d * u[:-1, 1:]
        return out

    u = RNG.standard_normal((7, 135))
    exact = np.reshape(complex_step(by_slices, u), (u.size, u.size))
    np.testing.assert_allclose(sparse_jacobian(f)(u).toarray(), exact, rtol=1e-12, atol=1e-13)
