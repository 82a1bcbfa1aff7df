"""Is dear work done before an array is stretched, with the same results to the last bit?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_grad
from jitad.specialise.narrow import narrow
from jitad.specialise.simplify import simplify
from jitad.tape.ir import walk
from jitad.values.number import o
from tests.specialise.passes import keeps
from tests.specialise.tapes import M, V, ops, tape_of

A = np.arange(12.0).reshape(4, 3) - 5.5
X = np.array([3.0, -1.0, 0.0])
Y = np.array([2.0, -0.5, np.inf])


def stretched(a: Any, x: Any, axis: int = 1) -> Any:
    n, m = a.atom.shape
    return o.broadcast(x, n, m, axes=(axis,))


def test_a_division_of_rows_is_done_once_a_row() -> None:
    tape = tape_of([("a", M), ("x", V)], lambda b, a, x: a * (1.0 / stretched(a, x)))
    body = keeps(narrow, tape, (A, X), (A, Y))
    (division,) = ops(body, "div")
    assert len(division.outs[0].shape) == 1


def test_two_rows_stretched_alike() -> None:
    def f(b: Any, a: Any, x: Any, y: Any) -> Any:
        return a + stretched(a, x) / stretched(a, y), o.exp(stretched(a, x) / stretched(a, y))

    body = keeps(narrow, tape_of([("a", M), ("x", V), ("y", V)], f), (A, X, Y))
    assert all(len(e.outs[0].shape) == 1 for op in ("div", "exp") for e in ops(body, op))


@pytest.mark.parametrize(
    "f",
    [
        lambda b, a, x, y: stretched(a, x) / o.broadcast(y, 4, *a.atom.shape[1:], axes=(1,)),
        lambda b, a, x, y: a / stretched(a, x),
        lambda b, a, x, y: stretched(a, x) + stretched(a, y),
    ],
)
def test_the_rest_stays(f: Any) -> None:
    keeps(narrow, tape_of([("a", M), ("x", V), ("y", V)], f), (A, X, Y))


def test_a_number_for_all_elements_is_a_number() -> None:
    def f(b: Any, a: Any) -> Any:
        n, m = a.atom.shape
        return a * b.leaf(b.emit("broadcast", b.atom(1.0), n, m, axes=()))

    body = keeps(narrow, tape_of([("a", M)], f), (A,))
    assert not ops(simplify_of(body), "mul")


def simplify_of(body: Any) -> Any:
    from jitad.tape.ir import Tape

    return simplify(Tape("f", body)).body


def test_programs() -> None:
    """Columns scaled by what is computed of them, in both modes of width."""

    def scaled(a: Any) -> Any:
        return np.sum((a - np.mean(a, axis=0)) / np.exp(np.std(a, axis=0)) * np.arange(3.0))

    for dtype, rtol in (("f8", 1e-12), ("f4", 1e-5)):
        a = np.random.default_rng(0).normal(size=(5, 3)).astype(dtype)
        np.testing.assert_allclose(jit(scaled)(a), scaled(a), rtol, rtol)  # it is about zero
    a = np.random.default_rng(0).normal(size=(5, 3))
    g = jit_grad(scaled)
    got = g(a)
    for k in np.ndindex(a.shape):
        up, down = a.copy(), a.copy()
        up[k] += 1e-6
        down[k] -= 1e-6
        assert np.isclose(got[k], (scaled(up) - scaled(down)) / 2e-6, rtol=1e-6, atol=1e-8)
    body = g.tape("last fold")
    assert "exp" in str(body)


def test_divisions_of_matrices_are_few() -> None:
    def scaled(a: Any, x: Any) -> Any:
        return np.sum(np.sin(a / x) ** 2)

    g = jit_grad(scaled, argnums=(0, 1))
    a = np.random.default_rng(0).normal(size=(5, 3))
    g(a, np.array([1.0, 2.0, 3.0]))
    tape = g.tape("last fold").splitlines()
    wide = [line for line in tape if " = div " in line and "[:,:]" in line]
    assert len(wide) == 1  # the user's own


def test_walks_into_blocks() -> None:
    from tests.specialise.tapes import for_

    def f(b: Any, a: Any, x: Any) -> Any:
        return for_(b, 0, 1, 3, [a], lambda i, u: [u + 1.0 / stretched(a, x)])[0]

    body = keeps(narrow, tape_of([("a", M), ("x", V)], f), (A, X))
    assert all(len(e.outs[0].shape) == 1 for e in walk(body) if e.op == "div")
