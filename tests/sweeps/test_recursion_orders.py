"""Are derivatives of derivatives right where a function calls itself and writes to arrays?

Each order of reverse mode puts records on stacks and takes them off while others are put there:
what is read of them must be read before.  Truth: differences of complex steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import grad, jvp
from tests.engines import as_emitted
from tests.truth import ridders


def product_tree(a, n):
    if n < 1:
        a[0] = a[0] * a[1]
        return a[0]
    s = product_tree(a, n - 1)
    a *= s
    return s + product_tree(a, n - 1)


def halves_scaled(a, lo, hi):
    if hi - lo < 2:
        a[lo] = np.sin(a[lo]) * a[0]
        return a[lo]
    middle = (lo + hi) // 2
    s = halves_scaled(a, lo, middle)
    a[middle:hi] *= s
    return s + halves_scaled(a, middle, hi)


def turned(a, n):
    if n == 0:
        return a[0, 1] * a[1, 0]
    b = a.T * a
    s = turned(b, n - 1)
    a[0] = b[1] * s
    return s * turned(a + b.T, n - 1)


def of_tree(x):
    a = x.copy()
    return product_tree(a, len(a) - 1) + np.sum(a)


def of_halves(x):
    a = x.copy()
    return halves_scaled(a, 0, len(a)) + np.sum(a)


def of_turned(x):
    return turned(np.outer(x, x[::-1]) * 0.5 + 1.0, len(x) - 1)


PROGRAMS = (of_tree, of_halves, of_turned)
X, V = np.array([0.3, 1.7, -0.9]), np.array([0.5, -1.0, 2.0])


def slope(f: Callable[[Any], Any], x: Any) -> np.ndarray:
    return np.array([f(x + 1e-30j * e).imag / 1e-30 for e in np.eye(len(x))])


def reverse_over_reverse(f):
    return lambda x, v: grad(lambda y: np.sum(grad(f)(y) * v))(x)


def forward_over_reverse(f):
    return lambda x, v: jvp(grad(f), (x,), (v,))[1]


def reverse_over_forward(f):
    return lambda x, v: grad(lambda y: jvp(f, (y,), (v,))[1])(x)


ORDERS = (reverse_over_reverse, forward_over_reverse, reverse_over_forward)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_products_with_the_hessian(f, order):
    want = [ridders(lambda t, k=k: slope(f, X + t * V)[k], 1e-3)[0] for k in range(len(X))]
    assert np.allclose(as_emitted(order(f), X, V), want, rtol=1e-8)

