"""Are sums over rows of which few have a tangent right, and shorter?  And left alone elsewhere?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from jitad import grad, jacfwd, jit, jit_grad
from jitad.specialise.pipeline import stages
from jitad.tape.ir import Block, Equation, walk

SEEN = np.array([[0.3, -0.7], [1.1, 0.4], [-0.2, 0.9]])
WEIGHTS = np.random.default_rng(0).uniform(0.5, 1.5, (3, 9))


def posed(x: Any, weights: Any, seen: Any) -> Any:
    """Each point follows all rows of a table; each row of the table follows two numbers."""
    n = len(x) - 1
    rows = np.zeros((n, 2))
    for b in range(n):
        rows[b, 0], rows[b, 1] = x[b] * x[b + 1], np.sin(x[b])
    out = np.zeros(len(seen))
    for i in range(len(seen)):
        total = 0.0
        for b in range(n):
            total += weights[i, b] * (rows[b, 0] * seen[i, 0] + rows[b, 1] * seen[i, 1])
        out[i] = total
    return out


def by_complex_steps(f: Any, x: Any) -> Any:
    columns = []
    for k in range(len(x)):
        moved = np.array(x, complex)
        moved[k] += 1e-30j
        columns.append(np.array(f(moved)).imag / 1e-30)
    return np.stack(columns, axis=-1)


def plain(x: Any) -> Any:
    """The same without loops, for complex numbers."""
    rows = np.stack([x[:-1] * x[1:], np.sin(x[:-1])], axis=1)
    return np.sum(WEIGHTS[:, : len(x) - 1, None] * rows * SEEN[:, None, :], axis=(1, 2))


@pytest.mark.parametrize("n", [10, 7, 3, 2, 1])
def test_few_rows_and_many_rows(n: int) -> None:
    """Of nine rows a sweep in four directions moves five at most, of one or two rows all."""
    x = np.linspace(0.5, 1.5, n)
    jacobian = jit(jacfwd(posed))
    np.testing.assert_allclose(jacobian(x, WEIGHTS, SEEN), by_complex_steps(plain, x), rtol=1e-13)


def inner_blocks(block: Block) -> Iterator[Block]:
    for e in walk(block):
        yield from e.blocks


def looks(block: Block) -> bool:
    """Is a loop of this very block one that compares?"""
    loops = [e.blocks[0].equations for e in block.equations if e.op == "for"]
    return any(x.op == "ne" for body in loops for x in body)


def walk_in(e: Equation) -> Iterator[Equation]:
    for block in e.blocks:
        yield from walk(block)


def test_the_rows_are_looked_for_outside_of_the_outer_loop() -> None:
    jacobian = jit(jacfwd(posed))
    jacobian(np.linspace(0.5, 1.5, 10), WEIGHTS, SEEN)
    traced = jacobian._latest().tape
    swept = next(tape for name, tape in stages(traced) if name == "resolve")
    looking = [block.equations for block in inner_blocks(swept.body) if looks(block)]
    (chunk,) = looking  # not the body of the loop over points, which is in the loop over chunks
    (points,) = [e for e in chunk if any(x.op == "if" for x in walk_in(e))]
    assert points.op == "for" and len(chunk) > 1


def test_a_tangent_that_is_zero_here_has_a_derivative() -> None:
    """At 0 the tangents of squares are zero, those of their tangents are not."""

    def squares(x: Any, weights: Any) -> Any:
        rows = np.zeros(len(x))
        for b in range(len(x)):
            rows[b] = x[b] * x[b]
        out = np.zeros(len(weights))
        for i in range(len(weights)):
            total = 0.0
            for b in range(len(x)):
                total += weights[i, b] * rows[b]
            out[i] = total
        return out

    x, weights = np.zeros(8), WEIGHTS[:, :8]
    expected = np.zeros((3, 8, 8))
    expected[:, np.arange(8), np.arange(8)] = 2.0 * weights
    np.testing.assert_allclose(jit(jacfwd(jacfwd(squares)))(x, weights), expected)
    of_one = jit_grad(lambda x: np.sum(jacfwd(squares)(x, weights)))
    np.testing.assert_allclose(of_one(x), 2.0 * np.sum(weights, axis=0))
    np.testing.assert_allclose(grad(lambda x: np.sum(jacfwd(squares)(x, weights)))(x), of_one(x))


def test_sums_that_never_run_are_not_looked_into() -> None:
    """Without points nothing is read, however long the rows are said to be."""

    def f(x: Any, n: int, seen: Any) -> Any:
        rows = np.zeros(len(x))
        for b in range(len(x)):
            rows[b] = x[b] * 2.0
        out = np.zeros(len(seen))
        for i in range(len(seen)):
            total = 0.0
            for b in range(n):
                total += seen[i] * rows[b]
            out[i] = total
        return out

    jacobian = jit(jacfwd(f))
    np.testing.assert_allclose(jacobian(np.ones(6), 6, np.ones(2)), np.full((2, 6), 2.0))
    assert jacobian(np.ones(6), 10_000_000, np.ones(0)).shape == (0, 6)
    with pytest.raises(IndexError):
        jacobian(np.ones(6), 7, np.ones(2))
