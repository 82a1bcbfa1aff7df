"""Do indices from data mean what they do in Python, whatever way they are checked in?"""

from __future__ import annotations

import re

import numpy as np
import pytest

from jitad import JitadError, grad, jit, jit_grad


def walk(x, after, steps):
    """Along a list that is linked by indices; each place is asked for twice."""
    at, total = 0, 0.0
    for _ in range(steps):
        total += x[at] * np.sin(x[after[at]])
        at = after[at]
    return total


def pairs(x, i, j):
    total = 0.0
    for k in range(len(i)):
        a, b = i[k], j[k]
        total += (x[a] - x[b]) ** 2
        x[a] = x[b]
    return total


def deep(x, after, at, depth):
    if depth == 0:
        return x[at]
    return x[at] * deep(x, after, after[at], depth - 1)


@pytest.mark.parametrize("ways", [[2, 0, 3, 1], [-2, -4, 3, -3], [-1, 3, -2, 0]])
def test_links_from_either_end(ways):
    x, after = np.array([0.5, -1.5, 2.0, 0.25]), np.array(ways)
    for f, rest in ((walk, (after, 9)), (deep, (after, 1, 6))):
        gradient = jit_grad(f)
        found = gradient(x, *rest)
        for k in range(4):
            z = x.astype(complex)
            z[k] += 1e-30j
            np.testing.assert_allclose(found[k], f(z, *rest).imag / 1e-30, rtol=1e-13, atol=1e-15)
        assert "inside(" in gradient.source
        np.testing.assert_allclose(grad(f)(x, *rest), found, rtol=1e-13)


def test_two_indices_an_iteration():
    x = np.array([0.5, -1.5, 2.0, 0.25])
    i, j = np.array([0, -1, 2, -4, 3, 3]), np.array([-1, 1, -2, 2, 0, -1])
    found = jit_grad(lambda x, i, j: pairs(x.copy(), i, j))(x, i, j)
    for k in range(4):
        z = x.astype(complex)
        z[k] += 1e-30j
        np.testing.assert_allclose(found[k], pairs(z, i, j).imag / 1e-30, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("wrong", [4, -5, 2**62, -(2**62), 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("place", [0, 2])
def test_what_is_out_of_bounds_is_said_to_be(wrong, place):
    x = np.array([0.5, -1.5, 2.0, 0.25])
    after = np.array([1, 2, 3, 0])
    after[place] = wrong
    gradient = jit_grad(walk)
    with pytest.raises(IndexError, match="out of bounds") as caught:
        gradient(x, after, 9)
    assert isinstance(caught.value, JitadError) and "after[at]" in str(caught.value)
    with pytest.raises(IndexError, match="out of bounds"):
        jit(deep)(x, after, 0, 5)
    assert np.isfinite(gradient(x, np.array([1, 2, 3, 0]), 9)).all()


def test_an_index_is_checked_once_by_one_comparison():
    gradient = jit_grad(walk)
    gradient(np.ones(4), np.array([1, 2, 3, 0]), 3)
    # the first time that `at` is used, and `after[at]`, which is the next one; the same in
    # the reverse sweep, if it does not keep them
    ways = re.findall(r"inside\((\w+), (\w+)\)", gradient.source)
    assert 1 <= len(ways) == len(set(ways)) <= 4, gradient.source
    assert " if " not in "".join(re.findall(r"load\(.*", gradient.source))
