"""Does `checkpointed_loop` run each step as often as it must, in all engines, and no more?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import Snapshots, checkpointed_loop, derivative, grad, hessian, jit, jit_grad
from jitad.errors import JitadTypeError
from jitad.runtime.tags import LIVE
from tests.engines import ENGINES, on_tape
from tests.sweeps.test_schedule import best, counted

Function = Callable[..., Any]


def step(k: int, x: Any, w: Any) -> Any:
    return np.sin(w * x) + 0.01 * k


def by_hand(x: float, w: float, n: int) -> tuple[float, float]:
    """d/dx, d/dw by pushing tangents."""
    dx, dw = 1.0, 0.0
    for k in range(n):
        c = np.cos(w * x)
        dx, dw, x = c * w * dx, c * (x + w * dw), np.sin(w * x) + 0.01 * k
    return dx, dw


def looped(n: int, slots: int, leaf: int = 1) -> Function:
    return lambda x, w: checkpointed_loop(step, x, n, w, memory=Snapshots(slots, leaf))


@pytest.mark.parametrize("slots", [1, 2, 3, 6])
@pytest.mark.parametrize("n", [0, 1, 2, 23])
def test_as_few_calls_as_the_binomial_optimum(n: int, slots: int) -> None:
    calls = 0

    def counting(k: int, x: Any, w: Any) -> Any:
        nonlocal calls
        calls += 1
        return step(k, x, w)

    def f(x: float, w: float) -> Any:
        return checkpointed_loop(counting, x, n, w, memory=Snapshots(slots))

    optimum = n + best(n, slots) if n else 0
    np.testing.assert_allclose(grad(f, (0, 1))(0.7, 1.1), by_hand(0.7, 1.1, n), rtol=1e-13)
    assert calls == optimum
    got, runs, _ = counted(grad(looped(n, slots), (0, 1)), 0.7, 1.1, memory=None)
    np.testing.assert_allclose(got, by_hand(0.7, 1.1, n), rtol=1e-13)
    assert runs == optimum or n < 5  # some of those are written out


def test_the_eager_engine_holds_no_more_steps_than_a_leaf() -> None:
    most = 0

    def watching(k: int, x: Any, w: Any) -> Any:
        nonlocal most
        most = max(most, sum(map(len, LIVE.values())))
        return step(k, x, w)

    def f(x: float, w: float) -> Any:
        return checkpointed_loop(watching, x, 200, w, memory=Snapshots(5, 4))

    grad(f)(0.7, 1.1)
    checkpointed, most = most, 0
    grad(lambda x, w: checkpointed_loop(watching, x, 200, w, memory=np.inf))(0.7, 1.1)
    assert checkpointed < 0.15 * most


def heat(k: int, state: Any, w: Any) -> Any:
    """A step that writes to its state."""
    u, t = state
    u[1:] += w * np.sin(u[:-1])
    return u, t + 1.0


def ended(u: Any, w: float) -> Any:
    final = checkpointed_loop(
        heat, (u, 0.0), lambda state, w: state[1] < 20.0, w, memory=Snapshots(4)
    )
    return np.sum(final[0])


def ended_plainly(u: Any, w: float) -> Any:
    u = u.copy()
    for _ in range(20):
        u[1:] += w * np.sin(u[:-1])
    return np.sum(u)


@pytest.mark.parametrize("engine", ENGINES)
def test_loops_that_end_when_a_condition_does(engine: str) -> None:
    run, u = ENGINES[engine], np.linspace(0.0, 1.0, 4)
    before = u.copy()
    assert run(ended, u, 0.1) == pytest.approx(ended_plainly(u, 0.1), rel=1e-14)
    want = grad(ended_plainly, (0, 1))(u, 0.1)
    got = run(grad(ended, (0, 1)), u, 0.1)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-13)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-13)
    np.testing.assert_allclose(
        run(hessian(ended), u, 0.1), hessian(ended_plainly)(u, 0.1), rtol=1e-12, atol=1e-14
    )
    np.testing.assert_array_equal(u, before)


@pytest.mark.parametrize("engine", ENGINES)
def test_other_modes_and_orders(engine: str) -> None:
    run, f = ENGINES[engine], looped(9, 2)
    w = 1.1
    np.testing.assert_allclose(run(derivative(f), 0.7, w), by_hand(0.7, w, 9)[0], rtol=1e-13)
    h = 1e-5
    second = (by_hand(0.7, w + h, 9)[1] - by_hand(0.7, w - h, 9)[1]) / (2 * h)
    np.testing.assert_allclose(run(grad(grad(f, 1), 1), 0.7, w), second, rtol=1e-7)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_step_takes_from_around_it(engine: str) -> None:
    def f(x: float, w: float) -> Any:
        return checkpointed_loop(lambda k, x: step(k, x, w), x, 23, memory=Snapshots(3))

    got = ENGINES[engine](grad(f, (0, 1)), 0.7, 1.1)
    np.testing.assert_allclose(got, by_hand(0.7, 1.1, 23), rtol=1e-13)


@pytest.mark.parametrize("memory", [None, Snapshots(3), 400])
def test_inside_of_other_loops(memory: Any) -> None:
    """Its snapshots are not recorded there, but taken when its turn comes."""

    def f(x: float, w: float, n: int) -> Any:
        for _ in range(n):
            x = checkpointed_loop(step, x, 10, w, memory=Snapshots(2))
        return x

    def plainly(x: float, w: float, n: int) -> Any:
        for _ in range(n):
            for k in range(10):
                x = step(k, x, w)
        return x

    args = (0.7, 1.1, 12)
    got, _, most = counted(grad(f, (0, 1)), *args, memory=memory)
    want, _, without = counted(grad(plainly, (0, 1)), *args, memory=None)
    np.testing.assert_allclose(got, want, rtol=1e-13)
    assert without == 8 * 120
    if memory is None:
        assert most < 8 * 12 * 2 + 100 * 12  # an inner shelf is made anew each time


def test_a_number_of_steps_that_is_none() -> None:
    with pytest.raises(JitadTypeError, match="neither an int nor a function"):
        checkpointed_loop(step, 0.7, 2.5, 1.1)  # type: ignore[arg-type]


def test_an_argument_may_be_the_number_of_steps() -> None:
    f = lambda x, n: checkpointed_loop(step, x, n, 1.1, memory=Snapshots(4))
    for n in (0, 5, 40):
        want = by_hand(0.7, 1.1, n)[0]
        np.testing.assert_allclose(jit_grad(f)(0.7, n), want, rtol=1e-13)
        np.testing.assert_allclose(on_tape(grad(f), 0.7, n), want, rtol=1e-13)
        np.testing.assert_allclose(grad(f)(0.7, n), want, rtol=1e-13)
    assert jit(f)(0.7, 3) == f(0.7, 3)
