"""Does the eager engine run what a trace can't follow, and does it say so?"""

from __future__ import annotations

import heapq
import math
import random
import warnings
from collections import ChainMap, UserDict
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.optimize import approx_fprime

from jitad import (
    FallbackWarning,
    JitadError,
    jit,
    jit_grad,
    jit_hessian,
    jit_jvp,
    jit_value_and_grad,
    jit_vjp,
)
from jitad.errors import JitadMemoryError

GRID = np.random.default_rng(7).uniform(0.5, 2.0, 16)


def gradient(f: Any, x: Any) -> Any:
    """By differences: the programs are quadratic where they are smooth, but for one sine."""
    return 0.5 * (approx_fprime(x, f, 1e-5) + approx_fprime(x, f, -1e-5))


def cheapest(cost: Any) -> Any:
    """Dijkstra over a grid, with a dict of distances whose keys a heap of numbers decides."""
    cost = cost.reshape(4, 4)
    distance, heap, done = {(0, 0): cost[0, 0]}, [(cost[0, 0], (0, 0))], set()
    while heap:
        so_far, at = heapq.heappop(heap)
        if at in done:
            continue
        done.add(at)
        if at == (3, 3):
            return so_far
        for step in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            to = at[0] + step[0], at[1] + step[1]
            if 0 <= to[0] < 4 and 0 <= to[1] < 4:
                longer = so_far + cost[to] ** 2
                if longer < distance.get(to, math.inf):
                    distance[to] = longer
                    heapq.heappush(heap, (longer, to))
    return math.inf


def by_name(x: Any) -> Any:
    """Sums by a text that shows numbers."""
    sums: dict[str, Any] = {}
    for e in x:
        sums[f"{e:.0f}"] = sums.get(f"{e:.0f}", 0.0) + e * e
    return max(sums.values())


def alternately(x: Any) -> Any:
    """A generator that is advanced where numbers say so."""
    weights = iter([1.0, 2.0, 3.0, 5.0])
    return sum(e * e * next(weights) for e in x if e > 0.0)


def mixed(x: Any) -> Any:
    """A list of things of different kinds, by an index that numbers decide."""
    things: list[Any] = [math.sin, 2.0, "four", x]
    chosen = things[int(np.argmax(x))]
    if callable(chosen):
        return chosen(x[1]) * x[0]
    return len(chosen) * x.sum() if isinstance(chosen, str) else np.sum(chosen * x)


def by_rounded(x: Any) -> Any:
    """A dict with keys that are floats, and do not vary with what they are made of."""
    kept: dict[Any, Any] = {}
    for e in x:
        for key in (round(e, 1), np.floor(e), np.sign(e), e // 0.5):
            kept[key] = kept.get(key, 0.0) * e + e
    return sum(v * w for v, w in zip(kept.values(), range(1, 20)))


X = np.array([0.9, 2.1, -1.9, 1.2])
PROGRAMS = [(by_rounded, X), (cheapest, GRID), (cheapest, GRID[::-1].copy()), (by_name, X),
            (alternately, X), (mixed, X), (mixed, X[[1, 0, 2, 3]]),
            (mixed, X[[0, 2, 3, 1]])]  # fmt: skip


@pytest.mark.filterwarnings("ignore::jitad.FallbackWarning")
@pytest.mark.parametrize(("f", "x"), PROGRAMS)
def test_the_derivative_is_that_of_the_program(f: Any, x: Any) -> None:
    before = x.copy()
    value, slope = jit_value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-13)
    np.testing.assert_allclose(slope, gradient(f, x), rtol=1e-6, atol=1e-8)
    _, along = jit_jvp(f)((x,), (np.cos(x),))
    assert along == pytest.approx(slope @ np.cos(x), rel=1e-12)
    np.testing.assert_array_equal(x, before)


@pytest.mark.filterwarnings("ignore::jitad.FallbackWarning")
def test_each_call_goes_its_own_way() -> None:
    g = jit_grad(by_name)
    for k in range(3):
        x = np.roll(X, k)
        np.testing.assert_allclose(g(x), gradient(by_name, x), rtol=1e-6, atol=1e-8)
    out = np.empty(len(X))
    assert g(X, out=out) is out
    np.testing.assert_array_equal(out, g(X))
    assert g.explain().startswith("5 calls in the eager engine, because ")


@pytest.mark.filterwarnings("ignore::jitad.FallbackWarning")
def test_other_operators() -> None:
    of_dict = lambda p: by_name(p["x"]) * p["scale"]
    found = jit_grad(of_dict)({"x": X, "scale": 2.0})
    np.testing.assert_allclose(found["x"], [0.0, 8.4, 0.0, 0.0])
    assert found["scale"] == 2.1 * 2.1
    np.testing.assert_allclose(jit_hessian(by_name)(X), np.diag([0.0, 2.0, 0.0, 0.0]), atol=1e-12)
    value, (pulled,) = jit_vjp(by_name)((X,), 3.0)
    np.testing.assert_allclose(pulled, [0.0, 12.6, 0.0, 0.0])
    assert value == by_name(X)


@pytest.mark.filterwarnings("ignore::jitad.FallbackWarning")
def test_arguments_that_a_trace_can_not_look_into() -> None:
    f = lambda x, p: sum(x * v for v in p.values())
    assert jit_grad(f)(2.0, UserDict(a=3.0, b=1.0)) == 4.0
    assert jit_grad(f)(2.0, ChainMap({"a": 3.0}, {"b": 2.0})) == 5.0
    assert jit_grad(lambda x, p: sum(x * v for v in p))(2.0, iter([1.0, 2.5])) == 3.5


def test_it_is_said_once_and_where() -> None:
    g = jit_grad(by_name)
    with pytest.warns(FallbackWarning, match=r"grad\(by_name\) runs in the eager engine: a text "
                      r"that shows a traced value .*\(test_untraceable.py:\d+\)"):  # fmt: skip
        g(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g(X)


def test_it_may_be_forbidden() -> None:
    with pytest.raises(JitadError, match="a text that shows a traced value"):
        jit_grad(by_name, fallback=False)(X)


def test_from_native_code_there_is_no_eager_engine() -> None:
    g = jit_grad(by_name)

    @njit
    def use(x):
        return g(x)

    with pytest.raises(JitadError, match="a text that shows a traced value"):
        use(X)


def test_what_is_something_else_at_every_call_is_refused() -> None:
    with pytest.raises(JitadError, match="gives something else at every call"):
        jit_grad(lambda x: x * random.random())(2.0)
    with pytest.raises(JitadError, match="gives something else at every call"):
        jit_grad(lambda x: x * np.random.default_rng().normal())(2.0)
    with pytest.raises(JitadError, match="acts on the world"):
        jit_grad(lambda x: x * len(open(__file__).read()))(2.0)


def test_memory_that_does_not_suffice_is_refused() -> None:
    def f(x):
        for _ in range(100):
            x = np.sin(x) * x
        return np.sum(x)

    with pytest.raises(JitadMemoryError):
        jit_grad(f, memory=8)(np.ones(50))


def test_what_neither_can_do_is_what_the_trace_says() -> None:
    def turned(x):
        return np.sum(np.linalg.svd(np.outer(x, x[:2]))[0])

    with pytest.raises(JitadError, match="the full matrices of an SVD") as raised:
        jit_grad(turned)(X)
    assert "return np.sum(np.linalg.svd(np.outer(x, x[:2]))[0])" in str(raised.value)
    with pytest.raises(JitadError, match="no floats to differentiate"):
        jit_grad(by_name)(3)


def test_exceptions_are_those_of_the_program() -> None:
    def f(x):
        prices = {f"{x:.0f}": x}
        return prices["3"]

    g = jit_grad(f)
    with pytest.warns(FallbackWarning):
        assert g(3.2) == 1.0
    with pytest.raises(KeyError, match="3"):
        g(4.2)
    with pytest.raises(KeyError, match="3"):
        jit_grad(f)(5.2)


def test_a_function_writes_to_its_arguments_and_derivatives_do_not() -> None:
    def f(x, seen):
        x *= 2.0
        seen[f"{x[0]:.1f}"] = 1.0
        return x[0] * len(seen)

    x, seen = np.ones(2), {"a": 1.0}
    with pytest.warns(FallbackWarning):
        assert jit(f)(x, seen) == 4.0
    assert seen == {"a": 1.0, "2.0": 1.0}
    np.testing.assert_array_equal(x, [2.0, 2.0])
    with pytest.warns(FallbackWarning):
        np.testing.assert_array_equal(jit_grad(f)(x, seen), [6.0, 0.0])
    np.testing.assert_array_equal(x, [2.0, 2.0])
