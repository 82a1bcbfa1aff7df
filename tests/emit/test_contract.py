"""Do nests with sums along axes become one, and has what they hand on no memory of its own?

The truth for values is the interpreter, for programs NumPy and complex steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import jit_value_and_grad
from jitad.emit.contract import contract
from jitad.emit.joining import Written
from jitad.emit.print_python import Page
from jitad.tape.build import Builder
from jitad.tape.ir import Tape
from jitad.values.number import o
from tests.emit.running import check
from tests.emit.tapes import MATRIX, finish
from tests.emit.test_joining import nests

A = np.arange(12.0).reshape(4, 3) - 5.0
B = np.cos(np.arange(12.0)).reshape(4, 3)


def of_two(f: Any) -> Tape:
    b = Builder()
    x, y = b.input(MATRIX, "x"), b.input(MATRIX, "y")
    return finish(b, "f", *(b.atom(v) for v in f(b.leaf(x), b.leaf(y))))


def test_sums_along_all_axes_are_one_nest() -> None:
    def f(x: Any, y: Any) -> Any:
        a = x * y
        return o.sum(a, axes=(0,)), o.sum(a, axes=(1,)), o.sum(a, axes=(0, 1)), o.sum(x, axes=(1,))

    source = check(of_two(f), A, B)
    assert source.count("in range") == 3  # the nest, and the zeros that the columns start from


def test_what_only_the_nest_reads_has_no_memory() -> None:
    def f(x: Any, y: Any) -> Any:
        a = o.exp(x * y)  # dear: not computed twice
        return o.sum(a, axes=(1,)), o.sum(a * x, axes=(1,))

    source = check(of_two(f), A, B)
    assert "empty(np.float64, n, m)" not in source
    assert nests(source) == 1


def test_a_sum_is_complete_before_it_is_read() -> None:
    def f(x: Any, y: Any) -> Any:
        rows, columns = o.sum(x, axes=(1,)), o.sum(x, axes=(0,))
        n, m = x.atom.shape
        return (x * o.broadcast(rows, n, m, axes=(0,)), y * o.broadcast(columns, n, m, axes=(1,)),
                o.sum(y, axes=(0, 1)))  # fmt: skip

    check(of_two(f), A, B)


def test_what_stays_afterwards_has_memory() -> None:
    def f(x: Any, y: Any) -> Any:
        a = o.exp(x)
        return o.sum(a, axes=(1,)), a

    check(of_two(f), A, B)


def written(lines: list[str]) -> tuple[Page, Written]:
    page = Page()
    page.write("a1 = empty(np.float64, n)")
    page.write("aa1 = empty(np.float64, n)")
    nest = Written.open(page, ("n",), ("i",))
    with nest.body({1: lines}, {}):
        pass
    return page, nest


@pytest.mark.parametrize(
    "lines",
    [
        ["a1[i] = x[i]", "y[i] = a1[0]"],  # another element
        ["a1[i] = x[i]", "aa1[i] = a1[0]", "y[i] = aa1[i]"],  # a name that ends as it does
        ["a1[i] = a1[i] + 1.0"],  # read before it is written
        ["y[i] = a1[i]", "a1[i] = 2.0"],
        ["a1[i] = x[i]", "accum(a1, 2.0, i)"],  # as an array
    ],
)
def test_what_is_left_alone(lines: list[str]) -> None:
    page, nest = written(lines)
    contract(page.lines, [nest])
    text = page.text()
    assert "\na1 = empty" in f"\n{text}"
    assert all(line in text for line in lines if "aa1" not in line)


def test_used_after_the_nest() -> None:
    page, nest = written(["a1[i] = x[i]"])
    page.write("return a1")
    contract(page.lines, [nest])
    assert "a1[i] = x[i]" in page.text()


def pairs(x: Any, m: Any) -> Any:
    """Each with each, summed along rows and columns."""
    apart = x[:, None] - x[None, :]
    near = m[None, :] / (1.0 + apart * apart) ** 1.5
    return np.sum((near.sum(axis=1) - 2.0 * near.sum(axis=0)) ** 2) + np.sum(near * apart)


def test_a_program_over_pairs() -> None:
    rng = np.random.default_rng(5)
    x, m = rng.normal(size=6), rng.uniform(0.5, 1.5, 6)
    g = jit_value_and_grad(pairs, argnums=(0, 1))
    value, grads = g(x, m)
    assert np.isclose(value, pairs(x, m), rtol=1e-13)
    for k, grad in enumerate(grads):
        for i in range(6):
            moved: list[Any] = [x.astype(complex), m.astype(complex)]
            moved[k][i] += 1e-30j
            assert np.isclose(grad[i], pairs(*moved).imag / 1e-30, rtol=1e-11)


def stepped(x: Any, v: Any, steps: int) -> Any:
    for _ in range(steps):
        apart = x[:, None] - x[None, :]
        r2 = apart * apart
        near = r2 > 0.0
        r2[near] = r2[near] ** (-1.5)
        v = v + 0.01 * (apart * r2).sum(axis=1)
        x = x + 0.01 * v
    return np.sum(x * v)


def test_small_powers_are_not_recorded_and_pairs_have_no_memory() -> None:
    """A loop over steps keeps its state, one number a point, not one a pair of points."""
    rng = np.random.default_rng(2)
    x, v = np.arange(5.0) + 0.1 * rng.normal(size=5), rng.normal(size=5)
    g = jit_value_and_grad(stepped, argnums=(0, 1))
    value, grads = g(x, v, 3)
    assert np.isclose(value, stepped(x, v, 3), rtol=1e-13)
    for k, grad in enumerate(grads):
        for i in range(5):
            moved = [x.copy(), v.copy()], [x.copy(), v.copy()]
            moved[0][k][i] += 1e-5
            moved[1][k][i] -= 1e-5
            slope = (stepped(*moved[0], 3) - stepped(*moved[1], 3)) / 2e-5
            assert np.isclose(grad[i], slope, rtol=1e-6, atol=1e-8)
    reverse = g.source[g.source.index("range(k") :]
    assert "empty(np.float64, n, n)" not in reverse
    assert "n * n" not in g.source  # which a record of pairs would take


def test_what_takes_little_from_what_is_there_anyway_has_no_memory() -> None:
    """The quotient of a softmax: its numerator is in memory, and becomes the gradient."""

    def f(x: Any, w: Any) -> Any:
        e = np.exp(x - np.max(x, axis=1, keepdims=True))
        return np.sum(w * (e / np.sum(e, axis=1, keepdims=True)))

    g = jit_value_and_grad(f)
    p = np.exp(A) / np.sum(np.exp(A), axis=1, keepdims=True)
    value, slope = g(A, B)
    np.testing.assert_allclose(value, np.sum(p * B), rtol=1e-14)
    by_hand = p * (B - np.sum(p * B, axis=1, keepdims=True))
    np.testing.assert_allclose(slope, by_hand, rtol=1e-12, atol=1e-15)
    assert g.source.count("empty(np.float64, n, m)") == 1
