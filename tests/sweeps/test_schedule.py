"""Are loops reversed from snapshots with as little repetition as can be, and is nothing changed?

How often steps run is counted by interpreting the tape; truth is the binomial formula of Griewank
and, independently of any formula, the best of all schedules by dynamic programming.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import jitad
from jitad import (
    Snapshots,
    checkpoint,
    custom_vjp,
    grad,
    hessian,
    hvp,
    jit,
    jit_grad,
    jit_hessian,
    jit_value_and_grad,
    jit_vjp,
    set_memory,
)
from jitad.errors import JitadError, JitadMemoryError
from jitad.primitives import TABLE
from jitad.primitives.schedules import leaf_of, slots_of
from tests.engines import on_tape
from tests.sweeps.truth import evaluating

Function = Callable[..., Any]


# -- the least number of runs ---------------------------------------------------------------------


@cache
def best(steps: int, slots: int) -> int:
    """The fewest runs of steps without recording, over all schedules: the start is in a slot."""
    if steps == 1:
        return 0
    if slots == 1:
        return steps - 1 + best(steps - 1, 1)
    return min(k + best(steps - k, slots - 1) + best(k, slots) for k in range(1, steps))


def by_formula(steps: int, slots: int) -> int:
    runs = 0
    while math.comb(slots + runs, runs) < steps:
        runs += 1
    return runs * steps - (math.comb(slots + runs, runs - 1) if runs else 0)


def test_both_truths_agree() -> None:
    assert all(best(n, s) == by_formula(n, s) for n in range(1, 50) for s in range(1, 9))


def counted(f: Function, *args: Any, memory: Any, op: str = "sin") -> tuple[Any, int, int]:
    """The result; how often `op` is computed; and the most bytes of records at any one time,
    with what the snapshots take."""
    runs = now = most = slab = 0
    push, pop, full, evaluate = (TABLE[x].evaluate for x in ("push", "pop", "full", op))

    def run(*ins: Any, **params: Any) -> Any:
        nonlocal runs
        runs += np.size(ins[0])
        return evaluate(*ins, **params)

    def pushed(s: Any, v: Any) -> Any:
        nonlocal now, most
        now += np.asarray(v).nbytes
        most = max(most, now)
        return push(s, v)

    def popped(s: Any, *dims: Any) -> Any:
        nonlocal now
        now -= np.asarray(s[1]).nbytes
        return pop(s, *dims)

    def filled(v: Any, *dims: Any, dtype: str) -> Any:
        nonlocal slab
        out = full(v, *dims, dtype=dtype)
        slab += out.nbytes
        return out

    with evaluating({op: run, "push": pushed, "pop": popped, "full": filled}):
        out = on_tape(f, *args, memory=memory)
    assert now == 0
    return out, runs, most + slab


def walk(x: float, w: float, n: int) -> float:
    for _ in range(n):
        x = math.sin(w * x)
    return x


def by_hand(x: float, w: float, n: int) -> tuple[float, float]:
    """d/dx, d/dw by pushing tangents."""
    dx, dw = 1.0, 0.0
    for _ in range(n):
        c = math.cos(w * x)
        dx, dw, x = c * w * dx, c * (x + w * dw), math.sin(w * x)
    return dx, dw


@pytest.mark.parametrize("slots", [1, 2, 3, 5, 8])
def test_as_few_runs_as_the_binomial_optimum(slots: int) -> None:
    for n in (0, 1, 2, 3, 7, 20, 41):
        got, runs, _ = counted(grad(walk, (0, 1)), 0.7, 1.3, n, memory=Snapshots(slots))
        np.testing.assert_allclose(got, by_hand(0.7, 1.3, n), rtol=1e-12)
        assert runs == (n + best(n, slots) if n else 0)


@pytest.mark.parametrize("leaf", [2, 3, 10])
def test_of_leaves_as_of_steps(leaf: int) -> None:
    """Whole leaves are repeated, the one at the end, which may be shorter, never."""
    for n in (1, leaf, leaf + 1, 4 * leaf, 9 * leaf + 1):
        got, runs, _ = counted(grad(walk, (0, 1)), 0.7, 1.3, n, memory=Snapshots(3, leaf))
        np.testing.assert_allclose(got, by_hand(0.7, 1.3, n), rtol=1e-12)
        assert runs == n + leaf * best(-(-n // leaf), 3)


# -- loops of unknown length ----------------------------------------------------------------------


def until(x: float, w: float, length: float) -> float:
    path = 0.0
    while path < length:
        path += 1.0
        x = math.sin(w * x)
    return x


@pytest.mark.parametrize(("slots", "leaf"), [(1, 1), (2, 1), (3, 4), (4, 1), (9, 1), (16, 3)])
def test_unknown_lengths_within_the_proven_bound(slots: int, leaf: int) -> None:
    """No step runs more than r + 1 times again; r: of a window, see the head of `schedule`."""
    for n in (0, 1, 2, 5, 16, 33, 100):
        memory = Snapshots(slots, leaf)
        got, runs, _ = counted(grad(until, (0, 1)), 0.7, 1.3, float(n), memory=memory)
        np.testing.assert_allclose(got, by_hand(0.7, 1.3, n), rtol=1e-12)
        most = 2 * max(slots // 4, 1)
        window = leaf
        while slots > 1 and window * most < n:
            window *= 2
        leaves = -(-min(window if slots > 1 else n, n) // leaf)
        r = 0
        while leaves > 1 and math.comb(slots - min(most, slots) + 1 + r, r) < leaves:
            r += 1
        assert n <= runs <= n * (2 + r)


def test_the_end_of_a_loop_with_a_break_is_found_once() -> None:
    def f(x: float, n: int) -> float:
        total = 0.0
        for k in range(n):
            x = math.sin(x) * 1.5
            total += k * x
            if total > 30.0:
                break
        return total * x

    want = grad(f)(0.8, 1000)
    for memory in (Snapshots(3), Snapshots(6, 4), 2000):
        got, runs, _ = counted(grad(f), 0.8, 1000, memory=memory)
        np.testing.assert_allclose(got, want, rtol=1e-13)
        assert runs < 60


# -- sizes ----------------------------------------------------------------------------------------


def test_plans_keep_to_the_memory_and_repeat_no_more_than_they_must() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        record, state = (int(10 ** rng.uniform(0, 6)) for _ in range(2))
        count = int(10 ** rng.uniform(0, 7))
        limit = int(2 * record + state + 10 ** rng.uniform(0, 9))
        leaf = leaf_of(count, record, state, limit)
        slots = slots_of(count, leaf, record, state, limit)
        if leaf >= count:
            assert count * record <= limit
            continue
        assert leaf >= 1 and slots >= 1
        assert 2 * leaf * record + slots * state <= limit
        # all in one repetition, if any division of the memory would do for that
        parts = [k for k in range(1, 2000) if 2 * k * record + state <= limit]
        if any(k * ((limit - 2 * k * record) // state + 1) >= 2 * count for k in parts):
            assert slots + 1 >= -(-count // leaf)
    assert leaf_of(100, 8, 8, 23) == 0


@pytest.mark.parametrize("memory", [200, 1000, 4000, 100_000])
@pytest.mark.parametrize("f", [walk, until])
def test_records_and_snapshots_take_no_more_than_is_given(f: Function, memory: int) -> None:
    n = 400
    plain, _, all_of_them = counted(grad(f, (0, 1)), 0.7, 1.3, n, memory=None)
    got, runs, most = counted(grad(f, (0, 1)), 0.7, 1.3, n, memory=memory)
    np.testing.assert_allclose(got, plain, rtol=1e-13)
    assert all_of_them == 8 * n
    assert most <= memory
    if memory >= 4 * 8 * n:
        assert runs == n  # recorded as ever


def heat(u: Any, a: Any, n: int) -> Any:
    u = u.copy()
    for _ in range(n):
        for i in range(1, len(u) - 1):
            u[i] += a * (u[i + 1] - 2.0 * u[i] + u[i - 1]) - 0.1 * np.sin(u[i])
    return np.sum(u * u)


def test_arrays_that_are_written_in_place() -> None:
    u, n, size = np.linspace(0.0, 1.0, 12), 200, 12 * 8
    plain, _, all_of_them = counted(grad(heat, (0, 1)), u, 0.2, n, memory=None)
    assert all_of_them == 10 * 8 * n
    for memory in (40 * size, 10 * size):
        got, runs, most = counted(grad(heat, (0, 1)), u, 0.2, n, memory=memory)
        np.testing.assert_allclose(got[0], plain[0], rtol=1e-13)
        np.testing.assert_allclose(got[1], plain[1], rtol=1e-13)
        # beside them: adjoints and copies of the argument, which there are without a limit, too
        assert most <= memory + 8 * size
        assert runs > 10 * n


def test_memory_that_does_not_suffice_is_refused() -> None:
    with pytest.raises(JitadMemoryError, match="does not suffice") as error:
        jit_grad(heat, memory=500)(np.ones(100), 0.1, 1000)
    assert "for _ in range(n)" in str(error.value)
    np.testing.assert_allclose(jit_grad(heat, memory=500)(np.ones(5), 0.1, 10),
                               jit_grad(heat)(np.ones(5), 0.1, 10), rtol=1e-13)  # fmt: skip


@pytest.mark.parametrize("memory", [0, -1.0, float("nan"), "1GB", True])
def test_what_is_no_memory(memory: Any) -> None:
    with pytest.raises(JitadError, match="memory="):
        jit_grad(walk, memory=memory)
    with pytest.raises(JitadError):
        set_memory(memory)


def test_snapshots_are_positive_numbers() -> None:
    for bad in ((0, 1), (3, 0)):
        with pytest.raises(JitadError, match="no room"):
            Snapshots(*bad)


def test_the_setting_counts_for_what_is_compiled_under_it() -> None:
    before = set_memory(Snapshots(2))
    try:
        limited = jit_grad(walk)
        unlimited = jit_grad(walk, memory=math.inf)
    finally:
        assert set_memory(before) == Snapshots(2)
    assert limited(0.7, 1.3, 9) == unlimited(0.7, 1.3, 9) == jit_grad(walk)(0.7, 1.3, 9)
    assert "advance" in limited.source
    assert "advance" not in unlimited.source + jit_grad(walk, memory=None).f.__name__
