"""May a function with derivative rules, or one that runs again, write to what is outside?

A rule tells nothing of it, and a second run would do it again: both engines refuse it, but let such
a function write to what it has made itself, and count its calls.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jitad

X = np.array([0.4, 1.3, 0.7])
S: Any = SimpleNamespace()
NUMBERS: list[Any] = []


@pytest.fixture(autouse=True)
def _begin():
    S.total, S.calls = 0.5, 0
    NUMBERS[:] = [1.0, 2.0, 3.0]


def to_an_attribute(x):
    S.total += x[0]
    return S.total**2 * x


def takes_from_a_list(x):
    return NUMBERS.pop() * np.sin(x)


def adds_to_a_list(x):
    NUMBERS.append(x[0])
    return 2.0 * x


def to_a_variable(x):
    global COUNT
    COUNT = COUNT + x[0]
    return COUNT * x


COUNT = 1.0


class _Node:
    def __init__(self, value):
        self.value, self.next = value, None
        self.me = self


def to_its_own(x):
    parts, kept = [], {}
    for k in range(3):
        parts.append(x * k)
        kept[k] = parts[k] * 2.0
    node = _Node(parts)
    node.next = _Node(kept)
    node.next.next = node
    node.value.append(x**2)
    node.total = np.sum(x)
    return parts[2] + node.next.value[1] + parts[3] * node.total


def gives_what_it_wrote_to(x):
    out = [x]
    out.append(x**2)
    return out


def with_rules(f):
    g = jitad.custom_vjp(f)
    g.defvjp(lambda x: (g(x), x), lambda x, s: (2.0 * s * x,))
    return g


def with_a_tangent(f):
    g = jitad.custom_jvp(f)

    @g.defjvp
    def rule(primals, tangents):
        return g(*primals), 2.0 * tangents[0]

    return g


def in_a_loop(f):
    return lambda x: jitad.checkpointed_loop(lambda k, s: np.tanh(f(s)), x, 6,
                                             memory=jitad.Snapshots(2))  # fmt: skip


KINDS = {"checkpoint": jitad.checkpoint, "vjp": with_rules, "jvp": with_a_tangent}
OPERATORS = {"grad": jitad.grad, "jacfwd": jitad.jacfwd, "jit_grad": jitad.jit_grad}
OUTSIDE = [to_an_attribute, takes_from_a_list, adds_to_a_list, to_a_variable]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("f", OUTSIDE, ids=lambda f: f.__name__)
def test_writes_to_things_outside_are_refused(f, kind, operator):
    g = KINDS[kind](f)
    derivative = OPERATORS[operator](lambda x: np.sum(g(x) * x))
    if f is takes_from_a_list and kind != "checkpoint" and operator != "jit_grad":
        derivative(X)  # which writes no numbers, and happens once
        assert NUMBERS == [1.0, 2.0]
        return
    with pytest.raises(jitad.JitadError, match="writes to things outside"):
        derivative(X)


@pytest.mark.parametrize("operator", ["grad", "jacfwd"])
@pytest.mark.parametrize("f", OUTSIDE, ids=lambda f: f.__name__)
def test_a_loop_with_snapshots_refuses_them_eagerly(f, operator):
    with pytest.raises(jitad.JitadError, match="writes to things outside"):
        OPERATORS[operator](lambda x: np.sum(in_a_loop(f)(x)))(X)


def test_a_kernel_carries_them():
    f = to_an_attribute
    got = jitad.jit_grad(lambda x: np.sum(in_a_loop(f)(x)))(X)
    total = S.total
    S.total = 0.5

    def plain(x):
        for _ in range(6):
            x = np.tanh(f(x))
        return np.sum(x)

    np.testing.assert_allclose(got, jitad.grad(plain)(X), rtol=1e-12)
    assert total == pytest.approx(S.total, rel=1e-12)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("wrap", [jitad.checkpoint, in_a_loop])
def test_what_it_has_made_is_its_own(wrap, operator):
    g = wrap(to_its_own)

    def scalar(f):
        return lambda x: np.sum(f(x) * x)

    def plain(x):
        for _ in range(6):
            x = np.tanh(to_its_own(x))
        return x

    want = jitad.grad(scalar(to_its_own if wrap is jitad.checkpoint else plain))(X)
    np.testing.assert_allclose(OPERATORS[operator](scalar(g))(X), want, rtol=1e-12)


@pytest.mark.parametrize("operator", OPERATORS)
def test_what_it_gives_may_be_what_it_wrote_to(operator):
    g = jitad.checkpoint(gives_what_it_wrote_to)
    got = OPERATORS[operator](lambda x: np.sum(g(x)[0] * g(x)[1]))(X)
    np.testing.assert_allclose(got, 3.0 * X**2, rtol=1e-12)


@pytest.mark.parametrize("kind", ["vjp", "jvp"])
@pytest.mark.parametrize("operator", ["grad", "jacfwd"])
def test_calls_may_be_counted_eagerly(kind, operator):
    def counts(x):
        S.calls += 1
        return x * x if kind == "vjp" else 2.0 * x

    if kind == "vjp" and operator == "jacfwd":
        return  # a rule for reverse mode alone
    g = KINDS[kind](counts)
    got = OPERATORS[operator](lambda x: np.sum(g(x)))(X)
    np.testing.assert_allclose(got, 2.0 * X if kind == "vjp" else np.full(3, 2.0))
    assert S.calls >= 1


def test_steps_may_be_counted_too():
    def step(k, s):
        S.calls += 1
        return 0.5 * s

    def last(x):
        return np.sum(jitad.checkpointed_loop(step, x, lambda s: s[0] > 0.01))

    np.testing.assert_allclose(jitad.grad(last)(X), np.full(3, 0.5**6))
    assert S.calls >= 6
    S.calls = 0
    np.testing.assert_allclose(jitad.jit_grad(last)(X), np.full(3, 0.5**6))
    assert S.calls == 6
