"""Does a loop's forward part run again where all that it reads of arrays is still in place?

Columns made of the columns before them, in inner loops over whole vectors: recorded, these would
take memory with the cube of n.  The truth is a derivative by complex steps of the function itself,
run by NumPy.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit, jit_grad, jvp
from tests.sweeps.test_settled import by_complex_steps

X = np.random.default_rng(11).uniform(0.5, 1.5, 5)


def matrix(x: Any) -> Any:
    return 0.3 * np.outer(x, x * x[::-1]) + 1.5 * np.eye(len(x))


def orthogonal(x: Any) -> Any:
    """Each column loses its parts along those before it, one after the other."""
    a = matrix(x)
    q, r = np.zeros_like(a), np.zeros_like(a)
    for j in range(len(x)):
        v = a[:, j].copy()
        for k in range(j):
            r[k, j] = np.dot(q[:, k], v)
            v = v - q[:, k] * r[k, j]
        r[j, j] = np.sqrt(np.dot(v, v))
        q[:, j] = v / r[j, j]
    return np.sum(q * a) + np.sum(r * r * r)


def from_the_last(x: Any) -> Any:
    """The rows after it, last first, with a step that bends."""
    a = matrix(x)
    y = a * a
    for i in range(len(x) - 2, -1, -1):
        v = 1.0 * a[i]
        for k in range(len(x) - 1, i, -1):
            v = v + 0.1 * y[k] * np.sin(v) * v[0]
        y[i] = v * v
    return np.sum(y * y)


def own_row_first(x: Any) -> Any:
    """The iteration reads what it has stored itself, before the inner loop and in it."""
    a = matrix(x)
    y, s = 0.0 * a, 0.0 * a
    for i in range(len(x)):
        y[i] = a[i] * a[i]
        v = 1.0 * a[i]
        for k in range(i + 1):
            s[i, k] = np.dot(y[k], v)
            v = v - 0.05 * y[k] * s[i, k] * v
        a[i] = v
    return np.sum(a * a * a) + np.sum(s * y)


def under_a_condition(x: Any) -> Any:
    """Stores and reads in branches."""
    a = matrix(x)
    q = np.zeros_like(a)
    for j in range(len(x)):
        v = 1.0 * a[j]
        for k in range(j):
            if v[k] > 0.2:
                v = v - q[k] * np.dot(q[k], v)
            else:
                v = v * q[k]
        if v[0] > 0.4:
            q[j] = v / np.sqrt(np.dot(v, v))
        else:
            q[j] = 0.5 * v
    return np.sum(q * a)


IN_PLACE = [orthogonal, from_the_last, under_a_condition]


def used_after(x: Any) -> Any:
    """What the loop has left is overwritten behind it, twice."""
    a = matrix(x)
    q = np.zeros_like(a)
    for j in range(len(x)):
        v = 1.0 * a[j]
        for k in range(j):
            v = v - 0.3 * q[k] * np.dot(q[k], v)
        q[j] = v / (1.0 + np.dot(v, v))
    total = np.sum(q * q * q)
    for j in range(len(x)):
        q[j] = q[j] * q[0] * q[j]
    q[0] = 1.0
    return total + np.sum(q * a)


def another_past(x: Any) -> Any:
    """A number goes from iteration to iteration, too."""
    a = matrix(x)
    q = np.zeros_like(a)
    c = 1.0
    for j in range(len(x)):
        v = c * a[j]
        for k in range(j):
            v = v - 0.3 * q[k] * np.dot(q[k], v) * c
        q[j] = v
        c = c * v[0]
    return np.sum(q * q)


def overwritten(x: Any) -> Any:
    """A later iteration changes a row that was read."""
    a = matrix(x)
    q = 1.0 * a
    for j in range(len(x)):
        v = 1.0 * a[j]
        for k in range(j):
            v = v - 0.3 * q[k] * np.dot(q[k], v)
        q[j] = v
        q[0] = q[0] * v
    return np.sum(q * q)


def twice_over(x: Any) -> Any:
    """A loop around fills the same rows again."""
    a = matrix(x)
    q = 0.1 * a
    for t in range(2):
        for j in range(len(x)):
            v = 1.0 * a[j] + 0.1 * t * q[j]
            for k in range(j):
                v = v - 0.3 * q[k] * np.dot(q[k], v)
            q[j] = v
    return np.sum(q * q)


OTHERS = [own_row_first, used_after, another_past, overwritten, twice_over]


@pytest.mark.parametrize("f", IN_PLACE + OTHERS, ids=lambda f: f.__name__)
def test_gradients(f: Callable[[Any], Any]) -> None:
    expected = by_complex_steps(f, X)
    for found in (jit_grad(f)(X), jit_grad(f)(np.ascontiguousarray(X[::-1]))[::-1]):
        np.testing.assert_allclose(
            found, expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max()
        )
        expected = by_complex_steps(lambda x, f=f: f(x[::-1]), X)


@pytest.mark.parametrize("f", IN_PLACE, ids=lambda f: f.__name__)
def test_records_are_of_one_iteration(f: Callable[[Any], Any]) -> None:
    """Stacks begin and end in an iteration of the outer loop; nothing is recorded before it."""
    g = jit_grad(f)
    g(X)
    tape = str(g.tape("resolve"))
    assert "stack element" in tape
    assert not re.search(r"^  \S+ = stack", tape, re.MULTILINE)


def test_derivatives_of_it() -> None:
    """Forward over reverse: a directional derivative of the gradient, by steps of the gradient."""
    direction = np.cos(np.arange(len(X)))
    gradient = jit_grad(orthogonal)
    both = jit(lambda x, v: jvp(jit_grad(orthogonal), (x,), (v,))[1])
    h = 1e-5
    expected = (gradient(X + h * direction) - gradient(X - h * direction)) / (2.0 * h)
    np.testing.assert_allclose(both(X, direction), expected, rtol=1e-6, atol=1e-7)


def of_inner_loops(seed: int) -> Callable[[Any], Any]:
    """Rows are added to in an inner loop, by products that a loop inside it makes; elements of
    other rows, and of the same, are read there, in front, and behind."""
    rng = np.random.default_rng(seed)
    before, inside, behind, added, summed = (bool(k) for k in rng.integers(0, 2, 5))
    row, down = int(rng.integers(0, 3)), bool(rng.integers(0, 2))

    def program(m: Any) -> Any:
        out = m[:, :, 0] * 1.0
        total = 0.0
        for i in range(len(m) - 1, 0, -1) if down else range(1, len(m)):
            at = (0, i - 1, i)[row]
            if before:
                total = total + out[at, 0] ** 2
            for j in range(m.shape[1]):
                v = 1.0 + 0.0 * m[i, :, 0]
                for k in range(m.shape[2]):
                    v = v * m[i, :, k]
                if added:
                    out[i] += v
                else:
                    out[i, j:] = v[j:] * m[i, j, 1]
                if inside or not before:
                    total = total + out[at, j] ** 2
            if behind:
                total = total + np.sum(out[at] ** 2)
        return total + (np.sum(out**2) if summed else 0.0)

    return program


@pytest.mark.parametrize("seed", range(40))
def test_what_inner_loops_read(seed: int) -> None:
    """Found by random programs: what an inner loop read of the array that it carried had no part
    in the derivative."""
    f, x = of_inner_loops(seed), np.random.default_rng(seed).uniform(0.5, 1.5, 24)
    m = x.reshape(4, 3, 2)
    expected = by_complex_steps(lambda x: f(x.reshape(m.shape)), x).reshape(m.shape)
    for found in (jit_grad(f)(m), grad(f)(m)):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
