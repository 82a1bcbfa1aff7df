"""Does `checkpoint` keep less and change nothing?  Does `stop_gradient` stop all derivatives?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import checkpoint, derivative, grad, jit, jit_grad, jvp, stop_gradient
from jitad.errors import JitadError
from jitad.primitives import TABLE
from jitad.runtime.tags import LIVE
from tests.engines import ENGINES, on_tape
from tests.sweeps.truth import evaluating


def records(f: Callable[..., Any], *args: Any) -> tuple[int, int]:
    """How many records the tape's stacks hold at once, and how many there are in all."""
    now = most = total = 0
    push, pop = TABLE["push"].evaluate, TABLE["pop"].evaluate

    def pushed(s: Any, v: Any) -> Any:
        nonlocal now, most, total
        now, total = now + 1, total + 1
        most = max(most, now)
        return push(s, v)

    def popped(s: Any, *dims: Any) -> Any:
        nonlocal now
        now -= 1
        return pop(s, *dims)

    with evaluating({"push": pushed, "pop": popped}):
        on_tape(f, *args)
    assert now == 0
    return most, total


def inner(x: Any, w: Any) -> Any:
    for _ in range(10):
        x = math.sin(x * w)
    return x


def walk(step: Callable[..., Any], x: float, w: float, n: int) -> float:
    for _ in range(n):
        x = step(x, w)
    return x


def by_hand(x: float, w: float, n: int) -> tuple[float, float]:
    """d/dx, d/dw by pushing tangents."""
    dx, dw = 1.0, 0.0
    for _ in range(10 * n):
        c = math.cos(x * w)
        dx, dw, x = c * w * dx, c * (x + w * dw), math.sin(x * w)
    return dx, dw


def plain(x: float, w: float, n: int) -> float:
    return walk(inner, x, w, n)


def kept(x: float, w: float, n: int) -> float:
    return walk(checkpoint(inner), x, w, n)


def closing_over(x: float, w: float, n: int) -> float:
    step = checkpoint(lambda x: inner(x, w))
    return walk(lambda x, w: step(x), x, w, n)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("f", [kept, closing_over])
def test_the_derivative_is_the_same(f: Any, engine: str) -> None:
    run = ENGINES[engine]
    want = by_hand(0.7, 1.3, 3)
    np.testing.assert_allclose(run(grad(f, (0, 1)), 0.7, 1.3, 3), want, rtol=1e-12)
    np.testing.assert_allclose(run(derivative(f), 0.7, 1.3, 3), want[0], rtol=1e-12)
    h = 1e-5
    difference = (by_hand(0.7, 1.3 + h, 3)[1] - by_hand(0.7, 1.3 - h, 3)[1]) / (2 * h)
    np.testing.assert_allclose(run(grad(grad(f, 1), 1), 0.7, 1.3, 3), difference, rtol=1e-6)


@pytest.mark.parametrize("f", [kept, closing_over])
def test_a_checkpoint_keeps_its_arguments_only(f: Any) -> None:
    """Run as a tape: pushes while going forwards, where ten times as many states pass by."""
    n = 7
    assert records(grad(plain, (0, 1)), 0.7, 1.3, n) == (10 * n, 10 * n)
    most, total = records(grad(f, (0, 1)), 0.7, 1.3, n)
    assert total == n + 10 * n  # each call of the step, then its own when it is run again
    assert most == n + 9  # while the last one is


def test_the_eager_engine_records_less() -> None:
    """The tape of the one application that runs, when it is over."""
    lengths: dict[str, int] = {}

    def measured(name: str, step: Any) -> Any:
        def f(x: Any) -> Any:
            out = walk(step, x, 1.3, 7)
            (lengths[name],) = map(len, LIVE.values())
            return out

        return f

    grad(measured("plain", inner))(0.7)
    grad(measured("checkpoint", checkpoint(inner)))(0.7)
    assert lengths["plain"] == 1 + 2 * 10 * 7
    assert lengths["checkpoint"] == 1 + 2 * 7


def test_prints_are_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    @checkpoint
    def f(x: float) -> float:
        print("once")
        return math.sin(x)

    def g(x: float) -> float:
        for _ in range(2):
            x = f(x)
        return x

    jit_grad(g)(1.0)
    assert capsys.readouterr().out == "once\n" * 2


def test_a_checkpoint_that_writes_is_refused() -> None:
    seen: list[Any] = []

    @checkpoint
    def f(x: float) -> float:
        seen.append(x)
        return x

    with pytest.raises(JitadError, match="writes to things outside"):
        jit_grad(f)(1.0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("way", [grad, lambda f: lambda u: jvp(f, (u,), (u,))])
def test_one_that_writes_to_its_arguments_is_refused(way: Any, engine: str) -> None:
    """A second run would start from what the first has written."""

    @checkpoint
    def f(u: Any) -> Any:
        u[0] = u[0] * u[1]
        return np.sum(u * u)

    with pytest.raises(JitadError, match="writes to an array that it was given"):
        ENGINES[engine](way(lambda u: f(1.0 * u)), np.array([2.0, 3.0]))


@pytest.mark.parametrize("engine", ENGINES)
def test_stop_gradient(engine: str) -> None:
    run = ENGINES[engine]

    def f(x: float) -> float:
        return x * stop_gradient(x * x) + x * x

    assert run(grad(f), 3.0) == run(derivative(f), 3.0) == 15.0
    for first in (grad, derivative):
        for second in (grad, derivative):
            assert run(second(first(f)), 3.0) == 2.0

    def among_others(p: dict[str, Any]) -> Any:
        q = stop_gradient(p)
        return np.sum(p["w"] * q["w"]) * q["n"]

    got = run(grad(among_others), {"w": np.array([1.0, 2.0]), "n": 2})
    np.testing.assert_array_equal(got["w"], [2.0, 4.0])
    assert run(lambda x: stop_gradient(x) + 1.0, 2.0) == 3.0


def test_stop_gradient_of_an_unbounded_factor() -> None:
    """0 * inf would be nan: the zero is symbolic."""
    f = lambda x: x + stop_gradient(np.log(x * 0.0))
    for g in (grad(f), jit(grad(f)), jit(derivative(f))):
        with np.errstate(divide="ignore"):
            assert g(np.float64(2.0)) == 1.0
