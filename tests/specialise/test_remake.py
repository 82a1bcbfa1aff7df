"""Are arrays of all pairs computed again behind a loop, and only where that saves their memory?

The truth is a complex step, and the interpreter for tapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad import jit_value_and_grad
from jitad.specialise.remake import remake
from jitad.values.number import o
from tests.specialise.passes import keeps
from tests.specialise.tapes import V, tape_of

X = np.array([0.3, -1.1, 2.0, 0.7])
W = np.array([1.0, 0.5, -2.0, 3.0])


def pulls(x: Any, w: Any) -> Any:
    apart = x[:, np.newaxis] - x
    return (apart * (apart**2 + 0.5) ** -1.5) @ w


def drift(x0: Any, w: Any, steps: int) -> Any:
    """By hand there is no array of all pairs."""
    x, v = x0.copy(), pulls(x0, w)
    for _ in range(steps):
        x = x + 0.1 * v
        v = v + 0.1 * pulls(x, w)
    return np.sum(v * x)


def slope(f: Any, x: Any, *more: Any) -> Any:
    steps = 1e-30j * np.eye(len(x))
    return np.array([f(x + step, *more).imag for step in steps]) / 1e-30


def test_what_is_computed_from_vectors_is_not_held_over_a_loop() -> None:
    g = jit_value_and_grad(drift)
    value, found = g(X, W, 3)
    np.testing.assert_allclose(value, drift(X, W, 3), rtol=1e-13)
    np.testing.assert_allclose(found, slope(drift, X, W, 3), rtol=1e-11)
    assert ", n, n)" not in g.source


def test_what_a_product_of_matrices_reads_is_held() -> None:
    def f(x: Any, w: Any, steps: int) -> Any:
        pairs = np.sin(x[:, np.newaxis] * w)
        a = pairs @ pairs
        for _ in range(steps):
            a = a - 0.1 * a * a
        return np.sum(a)

    g = jit_value_and_grad(f)
    np.testing.assert_allclose(g(X, W, 2)[1], slope(f, X, W, 2), rtol=1e-11)
    assert g.source.count("sin(") == 1


def test_what_is_dear_again_and_again_is_held() -> None:
    def f(x: Any, w: Any, steps: int) -> Any:
        pairs = np.exp(np.sin(np.cos(x[:, np.newaxis] - w)))
        s = np.sum(pairs, axis=1)
        for _ in range(steps):
            s = s - 0.1 * s * s
        return np.sum(s)

    g = jit_value_and_grad(f)
    np.testing.assert_allclose(g(X, W, 2)[1], slope(f, X, W, 2), rtol=1e-11)
    assert g.source.count("= exp(") == 1


def test_the_tape_computes_the_same() -> None:
    def f(b: Any, x: Any, y: Any) -> Any:
        (n,) = x.atom.shape
        pairs = o.broadcast(x, n, n, axes=(0,)) * o.broadcast(y, n, n, axes=(1,))
        turned = o.transpose(o.exp(pairs), perm=(1, 0))
        return o.sum(pairs, axes=(0, 1)), o.sum(turned, axes=(1,)), turned

    keeps(remake, tape_of([("x", V), ("y", V)], f), (X, W))
