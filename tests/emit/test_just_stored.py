"""Does an iteration that reads what was stored just before come last, and is nothing else changed?

The truth is NumPy for values, the eager engine (which has no loops) for gradients.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from jitad import jit, jit_value_and_grad, value_and_grad

RNG = np.random.default_rng(5)
A = RNG.normal(size=(9, 9)) / 9 + 2.0 * np.eye(9)
B = RNG.normal(size=9)


def forward(a, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


def backward(a, b):
    x = np.zeros_like(b)
    for i in range(len(b) - 1, -1, -1):
        x[i] = (b[i] - np.sum(a[i, i + 1 :] * x[i + 1 :])) / a[i, i]
    return x


def turned(a, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = b[i] - np.dot(a[i, :i], x[:i][::-1])
    return x


def in_place(a, b):
    x = b.copy()
    for i in range(1, len(b)):
        x[i] -= np.sum(np.sin(x[:i]) * a[:i, i])
    return x


def every_other(a, b):
    x = b.copy()
    for i in range(2, len(b), 2):
        x[i] = x[i] + 0.3 * np.sum(x[: i - 1] ** 2 * a[i, : i - 1])
    return x


def along_a_diagonal(a, b):
    x = a.copy()
    for i in range(1, len(b)):
        x[i, i] = b[i] + 0.1 * np.sum(x[i - 1, :i] * b[:i])
    return x[-1]


def by_columns(a, b):
    x = a.copy()
    for i in range(len(b)):
        for j in range(i):
            x[i, j] = (x[i, j] - np.dot(x[i, :j], x[:j, j])) / x[j, j]
    return x[-1]


def scattered(a, b):
    x = b.copy()
    y = np.zeros(len(b))
    for i in range(len(b)):
        y[:i] += 0.2 * x[:i] * a[i, :i]
        x[i] = x[i] * np.cos(y[0])
    return x + y


def stored_before_it_is_read(a, b):
    x = np.zeros_like(b)
    total = np.zeros(len(b))
    for i in range(len(b)):
        x[i] = b[i] * a[i, 0]
        total[i] = np.sum(np.exp(-(x[: i + 1] ** 2)))
    return total


def where_a_condition_holds(a, b):
    x = b.copy()
    for i in range(1, len(b)):
        if b[i] > 0.0:
            x[i] = x[i] - np.dot(a[i, :i], x[:i])
    return x


def largest_so_far(a, b):
    x = b.copy()
    for i in range(1, len(b)):
        x[i] = np.max(x[:i] * a[i, :i]) + 0.5 * np.min(x[:i]) + b[i]
    return x


def with_integers(a, b):
    counts = np.ones(len(b), dtype=np.int64)
    for i in range(1, len(b)):
        counts[i] = np.sum(counts[:i]) % 7
    return b * counts


def one_behind(a, b):
    x = b.copy()
    for i in range(2, len(b)):
        x[i] = b[i] - np.dot(a[i, : i - 1], x[: i - 1])
    return x


def from_further_on(a, b):
    x = b.copy()
    for i in range(1, len(b) - 2):
        x[i + 2] = b[i] + np.dot(a[i, 1 : i + 2], x[1 : i + 2])
    return x


PROGRAMS = (
    forward, backward, turned, in_place, every_other, along_a_diagonal, by_columns, scattered,
    stored_before_it_is_read, where_a_condition_holds, largest_so_far, with_integers, one_behind,
    from_further_on,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 9])
def test_values_and_gradients(program, n):
    if n < 3 and program in (every_other, one_behind, from_further_on):
        pytest.skip("needs three elements")
    a, b = A[:n, :n].copy(), B[:n].copy()

    def total(a, b):
        return np.sum(np.sin(program(a, b)) * np.arange(1.0, 1.0 + b.shape[0]))

    np.testing.assert_allclose(jit(program)(a, b), program(a, b), rtol=1e-13)
    value, (by_a, by_b) = jit_value_and_grad(total, argnums=(0, 1))(a, b)
    wanted, (wanted_a, wanted_b) = value_and_grad(total, argnums=(0, 1))(a, b)
    np.testing.assert_allclose(value, wanted, rtol=1e-13)
    np.testing.assert_allclose(by_a, wanted_a, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(by_b, wanted_b, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    ("dtype", "rtol"), [(np.float32, 1e-5), (np.complex128, 1e-13)], ids=["float32", "complex128"]
)
def test_other_dtypes(dtype, rtol):
    for program in (forward, backward, turned):
        a, b = A.astype(dtype), B.astype(dtype)
        np.testing.assert_allclose(jit(program)(a, b), program(a, b), rtol=rtol)


_LAST = re.compile(r"if [\w ()-]+ > 0:\n +(\w+) = (0|[\w ()-]+ - 1)\n")


@pytest.mark.parametrize(
    ("program", "where"),
    [(forward, "last"), (backward, "first"), (turned, "first"), (in_place, "last"),
     (stored_before_it_is_read, "last"), (largest_so_far, "last"), (from_further_on, None),
     (one_behind, None)],
    ids=lambda x: getattr(x, "__name__", str(x)),
)  # fmt: skip
def test_one_iteration_stands_behind_its_loop(program, where):
    f = jit(program)
    f(A, B)
    found = _LAST.search(f.source)
    assert (found is None) == (where is None), f.source
    if found is not None:
        assert (found[2] == "0") == (where == "first"), f.source
