"""Which loops over planes run line by line, is what they do the same, and what is kept meanwhile?

The truth is the function itself, run by NumPy, and its derivative by complex steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import hvp, jit, jit_grad, jit_value_and_grad, jvp

DRAWN = np.random.default_rng(3)
A, B = DRAWN.uniform(0.2, 0.9, (2, 3, 5, 4))
Program = Callable[..., Any]


def by_complex_steps(f: Program, x: Any) -> Any:
    out = np.empty(x.shape)
    for place in np.ndindex(*x.shape):
        moved = x.astype(complex)
        moved[place] += 1e-30j
        out[place] = f(moved).imag / 1e-30
    return out


def levels(a: Any, b: Any) -> Any:
    """Forwards and backwards through the last axis; neighbours' lines are read."""
    last = a.shape[2]
    c, d = 0.0 * a[:-1] * b[:-1], 0.0 * a[:-1] * b[:-1]
    c[:, :, 0] = b[1:, :, 0] / (2.0 + a[:-1, :, 0])
    for k in range(1, last):
        w = a[1:, :, k] + a[:-1, :, k]
        c[:, :, k] = b[:-1, :, k] / (3.0 - w * c[:, :, k - 1])
        d[:, :, k] = (w + d[:, :, k - 1]) * c[:, :, k]
    x = 1.0 * d[:, :, last - 1]
    out = 0.0 * d
    for k in range(last - 2, -1, -1):
        x = d[:, :, k] - c[:, :, k] * x
        out[:, :, k] = x * x
    return np.sum(out * out)


def in_time(a: Any, b: Any) -> Any:
    """What a loop carries, and keeps for its reverse, is of planes; extents are compared in it."""
    s, v = 0.0 * np.sum(a, axis=2), 0.0 * np.sum(a, axis=2)
    for k in range(a.shape[2]):
        s = 0.5 * s + a[:, :, k] * b[:, :, k] - 0.1 * s * s
        v = v + np.sin(s) * s
    return np.sum(v * v)


def with_sums(a: Any, b: Any) -> Any:
    """A sum over all lines, each of whose elements counts."""
    s = 1.0 * a[:, :, 0]
    for _ in range(a.shape[2]):
        s = s * (1.0 - 0.3 * s * b[:, :, 1])
    return np.sum(np.sum(s * s, axis=0) * np.arange(a.shape[1]))


def one_for_all(a: Any, b: Any) -> Any:
    """A line of numbers that every line meets, and numbers."""
    s, r = 1.0 * a[:, :, 0], b[0, :, 0]
    for k in range(a.shape[2]):
        s = s - 0.1 * k * s * r * s + a[0, 0, 1]
    return np.sum(s**3)


def pooled(a: Any, b: Any) -> Any:
    """Of what is read in parts, only a line is there; the adjoint goes where its values were."""
    d = 0.0 * a * b
    for k in range(a.shape[2]):
        d[:, :, k] = a[:, :, k] * b[:, :, k - 1] + 0.2
    h = np.maximum(d * d - 0.3, 0.1 * d)
    out = 0.0 * h[:, : a.shape[1] // 2]
    for i in range(a.shape[1] // 2):
        out[:, i] = np.max(h[:, 2 * i : 2 * i + 2], axis=1)
    return np.sum(out**3)


def square(a: Any, b: Any) -> Any:
    """All lines of a square meet each of its lines, too."""
    s = a[0, :3, :3] * b[0, :3, :3]
    t = np.zeros((3, 3, 3)) + s * s
    for k in range(a.shape[2]):
        t = t * (1.0 + 0.1 * k * s[:, :, None] * t * np.cos(s))
    return np.sum(t * s)


def one_after_the_other(a: Any, b: Any) -> Any:
    """What the second loop over lines starts from is of lines that only the first one has."""
    s, v = 1.0 * a[:, :, 0], 0.0 * b[:, :, 0]
    for k in range(a.shape[2]):
        v = 0.5 * v + s * b[:, :, k]
        s = np.cos(s) * v
    t = s * b[:, :, 1]
    part, w = np.mean(t), 1.0 * t
    for k in range(a.shape[2]):
        w = w - 0.1 * w * part * a[:, :, k]
        t = np.sin(w * t)
    return np.sum(t * t)


DONE = [levels, in_time, with_sums]


def used_later(a: Any, b: Any) -> Any:
    """Both what a loop carries and what is computed beside it are asked for by other lines."""
    s, c = 1.0 * a[:, :, 0], a[:, :, 1] * b[:, :, 1]
    for _ in range(a.shape[2]):
        s = s * c * s + 0.2
    return np.sum(s[1:] * s[:-1] * c[:-1]) + np.sum(c * c) + np.sum(np.sum(s, axis=0) ** 3)


def other_lines(a: Any, b: Any) -> Any:
    """Each step reads the neighbours' lines."""
    s = a[:, :, 0] * b[:, :, 1]
    for _ in range(a.shape[2]):
        s[1:-1] = s[1:-1] * s[:-2] * b[1:-1, :, 0]
    return np.sum(s * s)


def mean_of_all(a: Any, b: Any) -> Any:
    """Each step waits for a sum over all lines."""
    s = 1.0 * a[:, :, 0]
    for _ in range(a.shape[2]):
        s = s * (1.0 + np.mean(s * b[:, :, 0]))
    return np.sum(s * s)


def of_one_axis(a: Any, b: Any) -> Any:
    """A line would be a number."""
    s = 1.0 * a[:, 0, 0]
    for _ in range(a.shape[2]):
        s = s * (1.0 - s * b[:, 0, 0])
    return np.sum(s)


LEFT = [used_later, one_for_all, other_lines, mean_of_all, of_one_axis]


def loops_in(g: Any) -> tuple[int, list[str]]:
    """How many loops are outermost on the tape, and what is in loops."""
    lines = g.tape("lines").splitlines()
    inside = [line.strip() for line in lines if line.startswith("    ")]
    outermost = [line for line in lines if line.startswith("  ") and " = for " in line]
    return sum(line[2] != " " for line in outermost), inside


ALL = [*DONE, *LEFT, pooled, square, one_after_the_other]


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_value_and_gradient(f: Program) -> None:
    value, (by_a, by_b) = jit_value_and_grad(f, argnums=(0, 1))(A, B)
    np.testing.assert_allclose(value, f(A, B), rtol=1e-13)
    np.testing.assert_allclose(by_a, by_complex_steps(lambda x: f(x, B), A), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(by_b, by_complex_steps(lambda x: f(A, x), B), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("f", DONE, ids=lambda f: f.__name__)
def test_loops_are_inside_of_one(f: Program) -> None:
    g = jit_value_and_grad(f, argnums=(0, 1))
    g(A, B)
    outermost, inside = loops_in(g)
    assert outermost == 1 and sum(" = for " in line for line in inside) >= 2
    made = [line for line in inside if " = full " in line or " = pop " in line]
    assert not any("[:,:,:]" in line for line in made)  # lines of what has three axes


def test_lines_of_one_loop_are_not_those_of_the_next() -> None:
    g = jit(one_after_the_other)
    np.testing.assert_allclose(g(A, B), one_after_the_other(A, B), rtol=1e-13)
    assert loops_in(g)[0] == 2


def test_what_is_light_is_computed_again() -> None:
    """Of three axes are what is kept, and the adjoints; not what a line of it is made of."""
    g = jit_grad(pooled)
    g(A, B)
    tape = g.tape("lines")
    assert " = maximum " in "".join(loops_in(g)[1]) and "f8[:,:,:] = maximum" not in tape


@pytest.mark.parametrize("f", LEFT, ids=lambda f: f.__name__)
def test_lines_that_wait_for_others_stay_together(f: Program) -> None:
    g = jit_value_and_grad(f, argnums=(0, 1))
    g(A, B)
    assert not any(" = for " in line for line in loops_in(g)[1])


@pytest.mark.parametrize("f", [levels, in_time, one_for_all], ids=lambda f: f.__name__)
def test_further_derivatives(f: Program) -> None:
    direction = np.cos(np.arange(A.size)).reshape(A.shape)

    def along(x: Any) -> Any:
        return jvp(lambda y: f(y, B), (x,), (direction,))[1]

    step = 1e-30j
    np.testing.assert_allclose(jit(along)(A), f(A + step * direction, B).imag / 1e-30, rtol=1e-12)
    twice = jit(lambda x: hvp(lambda y: f(y, B))(x, direction))(A)
    nearby = [jit_grad(f)(A + h * direction, B) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(twice, (nearby[0] - nearby[1]) / 2e-5, rtol=1e-6, atol=1e-7)


def test_what_is_asked_for_is_stored() -> None:
    def course(a: Any, b: Any) -> Any:
        s, v, w = 1.0 * a[:, :, 0], 0.0 * b[:, :, 0], b[1:, :, 0] * a[:-1, :, 0]
        seen = 0.0 * a
        for k in range(a.shape[2]):
            v = 0.5 * v - s * b[:, :, k]
            s = s + 0.1 * v
            seen[:, :, k] = np.cos(s)
        return np.sum(seen * b), s, w, np.sum(v, axis=0)

    g = jit(course)
    for found, expected in zip(g(A, B), course(A, B), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert loops_in(g)[0] == 1 and any(" = for " in line for line in loops_in(g)[1])


@pytest.mark.parametrize("shape", [(0, 5, 4), (3, 0, 4), (2, 2, 1), (7, 3, 2), (1, 5, 4)])
def test_other_extents(shape: tuple[int, ...]) -> None:
    a, b = DRAWN.uniform(0.2, 0.9, (2, *shape))
    value, by_a = jit_value_and_grad(in_time)(a, b)
    np.testing.assert_allclose(value, in_time(a, b), rtol=1e-13)
    np.testing.assert_allclose(by_a, by_complex_steps(lambda x: in_time(x, b), a), rtol=1e-11)


def test_extents_that_only_a_loop_compares() -> None:
    """Where the loop does not run, they may be different; where it does, an error comes first."""
    g = jit_value_and_grad(in_time, argnums=(0, 1))
    g(A, B)
    value, (by_a, by_b) = g(A[:, :, :2], B)
    assert value == pytest.approx(in_time(A[:, :, :2], B), rel=1e-13)
    assert by_a.shape == (3, 5, 2) and not by_b[:, :, 2:].any()
    value, (_, by_b) = g(A[:, :, :0].copy(), np.ones((7, 2, 3)))
    assert value == 0.0 and by_b.shape == (7, 2, 3) and not by_b.any()
    with pytest.raises(ValueError, match="broadcast"):
        g(A, B[:2])


def test_float32_and_threads() -> None:
    a, b = A.astype(np.float32), B.astype(np.float32)
    value, by_a = jit_value_and_grad(levels)(a, b)
    assert by_a.dtype == np.float32
    np.testing.assert_allclose(value, levels(A, B), rtol=1e-5)
    np.testing.assert_allclose(
        jit_grad(levels, parallel=True)(A, B),
        by_complex_steps(lambda x: levels(x, B), A), rtol=1e-11,
    )  # fmt: skip
