"""Are iterations that move nothing passed by, is that right, and is nothing else passed by?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jitad import grad, jacfwd, jit, jit_grad
from jitad.specialise.pipeline import stages
from jitad.tape.ir import Block, Equation, walk

PARENTS = np.array([-1, 0, 1, 0, 3, 4, 0, 6, 7])
REST = np.random.default_rng(1).uniform(-1.0, 1.0, (9, 3, 3))


def tree(x: Any, parents: Any, rest: Any) -> Any:
    """Each node turns by an angle of its own, and with its parent; no hand, and no homogeneous
    coordinates."""
    n = len(x)
    placed = np.zeros((n, 3, 3))
    out = np.zeros((n, 3, 3))
    for b in range(n):
        c, s = np.cos(x[b]), np.sin(x[b])
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        placed[b] = rest[b] @ turn
        if parents[b] >= 0:
            placed[b] = placed[parents[b]] @ placed[b]
        out[b] = placed[b] @ rest[b]
    return out


def tree_of_complex(x: Any, parents: Any, rest: Any) -> Any:
    """The same by recursion, for complex numbers."""

    def placed(b: int) -> Any:
        c, s = np.cos(x[b]), np.sin(x[b])
        own = rest[b] @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return own if parents[b] < 0 else placed(parents[b]) @ own

    return np.stack([placed(b) @ rest[b] for b in range(len(x))])


def by_complex_steps(f: Any, x: Any, *others: Any) -> Any:
    columns = []
    for k in range(len(x)):
        moved = np.array(x, complex)
        moved[k] += 1e-30j
        columns.append(np.array(f(moved, *others)).imag / 1e-30)
    return np.stack(columns, axis=-1)


def after(f: Any, name: str) -> Block:
    return next(tape for stage, tape in stages(f._latest().tape) if stage == name).body


def that_look(block: Block) -> list[Equation]:
    """The loops that look at what they read before anything else is done."""
    return [
        e for e in walk(block)
        if e.op == "for" and [x.op for x in e.blocks[0].equations[-2:]] == ["ne", "if"]
    ]  # fmt: skip


@pytest.mark.parametrize("n", [9, 6, 2])
def test_a_tree_of_which_few_nodes_move(n: int) -> None:
    x, parents, rest = np.linspace(0.2, 1.7, n), PARENTS[:n], REST[:n]
    jacobian = jit(jacfwd(tree))
    expected = by_complex_steps(tree_of_complex, x, parents, rest)
    np.testing.assert_allclose(jacobian(x, parents, rest), expected, rtol=1e-12, atol=1e-13)
    if n == 2:
        return  # one chunk: no loop is around the other
    (loop,) = that_look(after(jacobian, "still"))
    moved, none = ([e.op for e in walk(x)] for x in loop.blocks[0].equations[-1].blocks)
    assert moved.count("mul") > 200
    # places are computed there, and zeros stored: no product
    assert {*none} <= {"store", "if", "lt", "add", "where", "full", "store_slice"}


def test_all_parents_and_no_parent() -> None:
    x = np.linspace(0.2, 1.7, 9)
    for parents in (np.arange(-1, 8), np.full(9, -1)):
        expected = by_complex_steps(tree_of_complex, x, parents, REST)
        found = jit(jacfwd(tree))(x, parents, REST)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_what_is_not_moved_has_no_derivative() -> None:
    """Zero, also where what it would be multiplied by is infinite."""
    rest = REST.copy()
    rest[8] = np.inf
    x = np.linspace(0.2, 1.7, 9)
    with np.errstate(invalid="ignore"):
        found = jit(jacfwd(tree))(x, np.full(9, -1), rest)
    expected = by_complex_steps(tree_of_complex, x[:8], np.full(8, -1), REST[:8])
    np.testing.assert_allclose(found[:8, ..., :8], expected, rtol=1e-12, atol=1e-13)
    assert not np.any(found[8, ..., :8])  # by the angles of two chunks that it isn't in
    assert np.any(np.isnan(found[8, ..., 8]) | np.isinf(found[8, ..., 8]))


def test_not_a_number_is_no_zero() -> None:
    x = np.linspace(0.2, 1.7, 9)
    x[0] = np.nan
    found = jit(jacfwd(tree))(x, PARENTS, REST)
    assert np.all(np.isnan(found[:, :2, :2, 0]))


def test_a_tangent_that_is_zero_here_has_a_derivative() -> None:
    """At 0 the tangents of squares are zero, those of their tangents are not."""

    def powers(x: Any, rest: Any) -> Any:
        out = np.zeros((len(x), 3, 3))
        for b in range(len(x)):
            out[b] = (x[b] * x[b] * rest[b]) @ rest[b] @ rest[b] @ rest[b]
        return out

    x = np.zeros(8)
    fourth = np.stack([r @ r @ r @ r for r in REST[:8]])
    twice = np.zeros((8, 3, 3, 8, 8))
    for b in range(8):
        twice[b, :, :, b, b] = 2.0 * fourth[b]
    np.testing.assert_allclose(jit(jacfwd(jacfwd(powers)))(x, REST), twice, rtol=1e-13)
    along = jit_grad(lambda x: np.sum(jacfwd(powers)(x, REST)))
    np.testing.assert_allclose(along(x), 2.0 * np.sum(fourth, (1, 2)), rtol=1e-13)
    np.testing.assert_allclose(grad(lambda x: np.sum(jacfwd(powers)(x, REST)))(x), along(x))
    assert not that_look(after(along, "still"))


def test_a_loop_of_the_users_around_a_jacobian_is_none_over_chunks() -> None:
    """What differs from round to round is no tangent there, and infinity times zero no zero."""

    def rounds(x: Any, rest: Any) -> Any:
        total = np.zeros((3, 3))
        for k in range(3):
            scaled = np.zeros((4, 3, 3))
            for b in range(4):
                scaled[b] = (k * rest[b]) @ rest[b] @ rest[b] @ rest[b]
            by_x = jacfwd(lambda x, k=k: x * k)(x)
            total = total + scaled[0] + by_x[0, 0] + scaled[3]
        return total

    rest = REST[:4].copy()
    rest[3, 0, 0] = np.inf
    with np.errstate(invalid="ignore"):
        compiled = jit(rounds)
        found = compiled(np.ones(4), rest)
        expected = sum(
            (k * rest[0]) @ rest[0] @ rest[0] @ rest[0] + k
            + (k * rest[3]) @ rest[3] @ rest[3] @ rest[3] for k in range(3)
        )  # fmt: skip
    np.testing.assert_allclose(found, expected)
    assert not that_look(after(compiled, "still"))


def test_little_work_is_done_without_looking() -> None:
    def rows(x: Any, rest: Any) -> Any:
        out = np.zeros((len(x), 3))
        for b in range(1, len(x)):
            out[b] = out[b - 1] + x[b] * rest[b, 0]
        return out

    jacobian = jit(jacfwd(rows))
    x = np.linspace(0.2, 1.7, 9)
    expected = np.zeros((9, 3, 9))
    for k in range(1, 9):
        expected[k:, :, k] = REST[k, 0]
    np.testing.assert_allclose(jacobian(x, REST), expected)
    assert not that_look(after(jacobian, "still"))
