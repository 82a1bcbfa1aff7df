"""Are the derivatives of all kinds of loops the same from snapshots as from records?

The unscheduled derivative, which other tests hold to the truth, to rounding; and differences of the
plain function, which know of no engine, to what they are good for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from jitad import Snapshots, checkpoint, custom_vjp, grad, hessian, jit, jit_vjp, jvp, opaque
from jitad.errors import JitadError, JitadValueError
from jitad.specialise.simplify import simplify_block
from jitad.sweeps.calls import Library
from jitad.sweeps.reverse import vjp_block
from jitad.sweeps.schedule import scheduled
from jitad.tape.ir import Block
from tests.engines import on_tape
from tests.examples import examples
from tests.sweeps import checks
from tests.sweeps.random_tapes import Case, cases
from tests.sweeps.truth import AtKink

Function = Callable[..., Any]
MEMORY = (Snapshots(3), Snapshots(2, 4), 1500, 100_000)


def trajectory(x: Any) -> Any:
    """All states are kept by the function itself; none of them is read again."""
    out = np.zeros((50, 2))
    a, b = x[0], x[1]
    for i in range(50):
        a, b = a + 0.1 * b, b - 0.1 * np.sin(a)
        out[i, 0] = a
        out[i, 1] = b
    return np.sum(out**2)


def swapped(u: Any) -> Any:
    u, v = u.copy(), np.zeros_like(u)
    for _ in range(30):
        for i in range(1, len(u) - 1):
            v[i] = u[i] + 0.1 * (u[i + 1] - u[i] * u[i - 1])
        u, v = v, u
    return np.sum(u * u)


def whole_arrays(u: Any) -> Any:
    for _ in range(30):
        u = u + 0.1 * np.sin(u) * u[::-1]
    return np.sum(u * u)


def matrices(a: Any) -> Any:
    x = np.eye(2)
    for _ in range(20):
        x = np.tanh(np.reshape(a, (2, 2)) @ x)
    return np.sum(x)


def newton_inside(p: Any) -> Any:
    x = 1.0
    for _ in range(30):
        y = x
        while abs(y * y * y + y - x - p[0]) > 1e-12:
            y = y - (y * y * y + y - x - p[0]) / (3.0 * y * y + 1.0)
        x = y * p[1]
    return x


def data_from_outside(d: Any) -> Any:
    x, s = 0.3, 0.0
    for i in range(len(d)):
        x = np.tanh(d[0] * x + d[i])
        s += x * d[i]
    return s * x


def from_what_it_takes(d: Any) -> Any:
    """One value is what the loop starts with and what it takes from around it, twice."""
    w = d[0] * d[1]
    x, y = w, w
    for _ in range(30):
        x, y = np.sin(w * y), np.cos(x * d[2])
    return x * y


def downwards(d: Any) -> Any:
    x = 0.3
    for i in range(len(d) - 1, 0, -2):
        x = np.tanh(1.3 * x + d[i]) + 0.1 * i
    return x


def under_a_condition(d: Any) -> Any:
    x = 0.3
    if d[0] > 0.0:
        for i in range(len(d)):
            x = np.sin(1.2 * x) * d[i] if x > 0.2 else x + 0.5
    return x


def one_after_the_other(d: Any) -> Any:
    x = 0.3
    for i in range(len(d)):
        x = np.sin(d[1] * x) + d[i]
    y = x
    for _ in d:
        y = np.cos(y * d[0]) + x
    return y * x


def triangle(d: Any) -> Any:
    x = d[0]
    for i in range(12):
        y = x
        for j in range(i + 1):
            y = np.sin(d[1] * y) + 0.1 * j
        x = x * 0.5 + y
    return x


def recurrence(d: Any) -> Any:
    x = np.zeros(42)
    x[0], x[1] = d[0], d[1]
    for i in range(40):
        x[i + 2] = np.sin(d[1] * x[i + 1]) + 0.5 * x[i] * d[0]
    return np.sum(x)


def adaptive(d: Any) -> Any:
    t, h, x, k = 0.0, 0.1, d[0], 0
    while t < 20.0:
        if t + h > 20.0:
            h = 20.0 - t
        if abs(h * h * np.sin(d[1] * x)) < 1e-3:
            x = x + h * np.sin(d[1] * x)
            t, h, k = t + h, h * 1.5, k + 1
        else:
            h = h * 0.5
        if k > 500:
            break
    return x * x + 0.01 * k


def sums_of_arrays(u: Any) -> Any:
    total = np.zeros(len(u))
    for k in range(30):
        u = np.sin(u) * 1.1
        total += u * k
    return np.sum(total * total)


def a_growing_list(u: Any) -> Any:
    xs = [u[0]]
    for _ in range(30):
        xs.append(np.sin(xs[-1]) * 1.2 + 0.1 * u[1])
    return xs[-1] * xs[15]


@custom_vjp
def clipped(x: Any) -> Any:
    return 1.0 * x


clipped.defvjp(lambda x: (1.0 * x, x), lambda x, s: (1.0 * s,))


def functions_with_rules(d: Any) -> Any:
    x = d[0]
    for _ in range(30):
        x = clipped(np.sin(x) * d[1]) * 1.3
    return x


def _ten_steps(x: Any, w: Any) -> Any:
    for _ in range(10):
        x = np.sin(x * w) * 1.2
    return x


def checkpoints_inside(d: Any) -> Any:
    step, x = checkpoint(_ten_steps), d[0]
    for _ in range(20):
        x = step(x, d[1])
    return x


def inside_a_checkpoint(d: Any) -> Any:
    def many(x: Any, w: Any) -> Any:
        for _ in range(40):
            x = np.sin(x * w) * 1.2
        return x

    return checkpoint(many)(d[0], d[1]) ** 2


def around_an_opaque_function(d: Any) -> Any:
    """Python is asked as often as ever: such a loop is recorded."""
    known = opaque(lambda k: 0.5 + k % 3, like=0.0)
    x = d[0]
    for k in range(30):
        x = np.sin(x * d[1]) + 0.1 * known(k)
    return x


def for_each_of_many(d: Any) -> Any:
    total = 0.0
    for i in range(len(d)):
        x = d[i]
        for _ in range(20):
            x = np.sin(x) * 1.2
        total += x * x
    return total


PROGRAMS = [
    trajectory, swapped, whole_arrays, matrices, newton_inside, data_from_outside,
    from_what_it_takes, downwards, under_a_condition, one_after_the_other, triangle, recurrence,
    adaptive, sums_of_arrays, a_growing_list, functions_with_rules, checkpoints_inside,
    inside_a_checkpoint, around_an_opaque_function, for_each_of_many,
]  # fmt: skip
AT = np.array([0.9, 1.1, 0.4, 0.6])
RECORDED = {recurrence, around_an_opaque_function}  # by proof without records; with a callback


def differences(f: Function, x: Any) -> Any:
    """The gradient by central differences of two steps, extrapolated."""

    def central(k: int, h: float) -> float:
        e = np.zeros(len(x))
        e[k] = h
        return float(f(x + e) - f(x - e)) / (2 * h)

    return [(4 * central(k, 1e-4) - central(k, 2e-4)) / 3 for k in range(len(x))]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_the_gradient_is_what_it_is_without_a_limit(f: Function) -> None:
    plain = on_tape(grad(f), AT)
    np.testing.assert_allclose(plain, differences(f, AT), rtol=1e-6, atol=1e-8)
    for memory in MEMORY:
        got = on_tape(grad(f), AT, memory=memory)
        np.testing.assert_allclose(got, plain, rtol=1e-13, atol=1e-15)


IN_KERNELS = [
    trajectory, swapped, newton_inside, data_from_outside, recurrence, adaptive, a_growing_list,
    checkpoints_inside, around_an_opaque_function,
]  # fmt: skip


@pytest.mark.parametrize("f", IN_KERNELS, ids=lambda f: f.__name__)
def test_kernels_as_well(f: Function) -> None:
    g = jit(grad(f), memory=Snapshots(3, 2))
    np.testing.assert_allclose(g(AT), on_tape(grad(f), AT), rtol=1e-12, atol=1e-14)
    assert ("advance" in g.source) != (f in RECORDED)


ORDERS: dict[str, Callable[[Function], Function]] = {
    "reverse over reverse": lambda f: grad(lambda x: np.sum(grad(f)(x))),
    "forward over reverse": lambda f: lambda x: jvp(grad(f), (x,), (np.ones(len(x)),))[1],
    "reverse over forward": lambda f: grad(lambda x: jvp(f, (x,), (np.ones(len(x)),))[1]),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("f", [data_from_outside, swapped, adaptive], ids=lambda f: f.__name__)
def test_nested_derivatives(f: Function, order: str) -> None:
    """All of these are the product of the Hessian with a vector of ones."""
    want = differences(lambda x: np.sum(on_tape(grad(f), x)), AT)
    h = ORDERS[order](f)
    plain = on_tape(h, AT)
    for memory in (Snapshots(2, 4), 3000):
        got = on_tape(h, AT, memory=memory)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(got, plain, rtol=1e-12, atol=1e-13)


def test_a_hessian() -> None:
    want = on_tape(hessian(data_from_outside), AT)
    got = on_tape(hessian(data_from_outside), AT, memory=Snapshots(3))
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


def test_third_derivatives() -> None:
    def f(x: float) -> float:
        for _ in range(9):
            x = math.sin(1.1 * x) + 0.1 * x * x
        return x

    third = grad(grad(grad(f)))
    np.testing.assert_allclose(
        on_tape(third, 0.7, memory=Snapshots(2)), on_tape(third, 0.7), rtol=1e-13
    )


def test_single_precision_stays_single() -> None:
    x = AT.astype(np.float32)
    for f in (data_from_outside, swapped, whole_arrays):
        got = on_tape(grad(f), x, memory=Snapshots(2, 3))
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, on_tape(grad(f), x), rtol=1e-6)
        np.testing.assert_allclose(got, on_tape(grad(f), AT), rtol=1e-3, atol=1e-4)


def test_pullbacks_of_several_results() -> None:
    def f(x: Any, n: int) -> Any:
        path = np.zeros(n)
        y = x[0]
        for i in range(n):
            y = np.sin(x[1] * y)
            path[i] = y
        return path, y * y, n

    seeds = (np.arange(20.0), 2.0, 0)
    for memory in (Snapshots(3), 600):
        value, found = jit_vjp(f, memory=memory)((AT, 20), seeds)
        plain, want = jit_vjp(f)((AT, 20), seeds)
        np.testing.assert_array_equal(value[0], plain[0])
        np.testing.assert_allclose(found[0], want[0], rtol=1e-13)


def test_errors_and_prints_happen_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: float, n: int) -> float:
        for k in range(n):
            if k % 10 == 0:
                print("step", k)
            if x > 0.99:
                raise ValueError("too large")
            x = math.sin(1.2 * x)
        return x

    g = jit(grad(f), memory=Snapshots(2))
    np.testing.assert_allclose(g(0.5, 25), jit(grad(f))(0.5, 25), rtol=1e-13)
    assert capsys.readouterr().out == "step 0\nstep 10\nstep 20\n" * 2
    with pytest.raises(ValueError, match="too large"):
        g(1.0, 25)


def test_arguments_stay_what_they_are() -> None:
    def f(u: Any) -> Any:
        for _ in range(20):
            for i in range(1, len(u)):
                u[i] = np.sin(u[i] + u[i - 1])
        return np.sum(u)

    u = AT.copy()
    got = jit(grad(f), memory=Snapshots(3))(u)
    np.testing.assert_array_equal(u, AT)
    np.testing.assert_allclose(got, jit(grad(f))(u), rtol=1e-13)


def test_a_derivative_inside_has_the_memory_it_is_given() -> None:
    """`jit_grad(f, memory=...)` called in a function that is traced."""
    inner = jit(grad(lambda x: data_from_outside(x)), memory=Snapshots(2))

    def f(x: Any) -> Any:
        return np.sum(inner(x) ** 2)

    g = jit(f)
    np.testing.assert_allclose(g(AT), np.sum(on_tape(grad(data_from_outside), AT) ** 2), rtol=1e-13)
    assert "advance" in g.source


def test_a_value_error_is_one() -> None:
    with pytest.raises(JitadValueError):
        jit(grad(trajectory), memory=0.5)
    with pytest.raises(JitadError, match="no size"):
        jit(grad(trajectory), memory="1e9")  # type: ignore[arg-type]


@settings(derandomize=True, database=None, deadline=None, max_examples=examples(25),
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(case=cases(), slots=st.integers(1, 4), leaf=st.integers(1, 3))
def test_random_tapes(case: Case, slots: int, leaf: int) -> None:
    """All first and second derivatives by the complex step, each reverse sweep scheduled."""

    def swept(block: Block, active: Any, *rest: Any) -> Block:
        library = Library()
        library.memory = Snapshots(slots, leaf)
        done = vjp_block(scheduled(block, active, library), active, *rest)
        return simplify_block(done)  # without what was for the sweep only

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(checks, "vjp_block", swept)
            checks.check(case.block, case.args, case.active, zeros=case.zeros)
    except (AtKink, checks.Unsuitable):
        reject()
