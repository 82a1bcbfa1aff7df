"""Are products of matrices NumPy's, whatever their layout, width and extents?"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numba import TypingError

from jitad import jit, jit_grad
from jitad.emit.native import compile

SOURCE = """
from jitad.emit.preamble import times
def product(a, b, out):
    times(a, b, out)
"""


def product(a: Any, b: Any) -> Any:
    want = a @ b
    out = np.full_like(want, np.nan, order="C")  # what is there already has no say
    compile(SOURCE, "product")(a, b, out)
    return out, want


def turned(shape: tuple[int, ...], order: str, dtype: str) -> Any:
    values = np.random.default_rng(len(shape)).integers(-4, 5, shape)  # sums are exact
    return np.array(values, dtype, order=order)  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
def test_products(orders: str, dtype: str) -> None:
    for m, k, n in itertools.product((0, 1, 3, 20), (0, 1, 4, 17), (0, 1, 5)):
        a, b = turned((m, k), orders[0], dtype), turned((k, n), orders[1], dtype)
        for x, y in ((a, b), (a, turned((k,), "C", dtype)), (turned((k,), "C", dtype), b)):
            got, want = product(x, y)
            np.testing.assert_array_equal(got, want, err_msg=f"{x.shape} {y.shape}")
            assert got.dtype == want.dtype == dtype


def test_what_it_is_not_for() -> None:
    a = np.ones((4, 4))
    for x, y in ((a[::2], a), (a, a.astype("f4")), (a.astype(int), a.astype(int)), (a[0], a[0])):
        with pytest.raises(TypingError):
            compile(SOURCE, "product")(x, y, np.zeros_like(x @ y) if (x @ y).ndim else np.zeros(1))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_times_its_transpose(order: str, dtype: str) -> None:
    def products(a: Any) -> Any:
        return a.T @ a, a @ a.T

    compiled = jit(products)
    # up to 16384 products of numbers by one routine, from there on by another
    for shape in ((20, 7), (7, 20), (30, 1), (0, 5), (5, 0), (17, 17), (5, 4), (4, 6),
                  (16, 32), (17, 32), (40, 40)):  # fmt: skip
        a = turned(shape, order, dtype)
        for got, want in zip(compiled(a), products(a), strict=True):
            np.testing.assert_array_equal(got, want, err_msg=str(shape))
            assert got.dtype == want.dtype
    assert "gram(" in compiled.source


def layer(x: Any, w: Any, v: Any) -> Any:
    return np.sum((x @ w.T) @ v) + (v @ w) @ w[0]


def test_programs() -> None:
    """Arguments with steps, backwards, read only, by columns; vectors times vectors."""
    rng = np.random.default_rng(1)
    x, w, v = rng.normal(size=(20, 14)), rng.normal(size=(9, 14)), rng.normal(size=9)
    frozen = w.copy()
    frozen.flags.writeable = False
    g = jit_grad(layer, argnums=1)
    want = np.outer(v, x.sum(axis=0)) + np.outer(v, w[0])
    want[0] += v @ w
    for given in (w, np.asfortranarray(w), frozen, np.repeat(w, 2, axis=0)[::2], w[::-1][::-1]):
        np.testing.assert_allclose(jit(layer)(x, given, v), layer(x, w, v), rtol=1e-12)
        np.testing.assert_allclose(g(x, given, v), want, rtol=1e-12)
