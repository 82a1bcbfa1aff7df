"""Are stiff methods of `solve_ivp`, its events and its function of time right, and differentiated?

Truth: SciPy's values, closed forms, differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate as si

from jitad import derivative, grad, jit, jit_grad, jvp, value_and_grad
from jitad.errors import JitadError

ENGINES = {"eager": lambda f: f, "compiled": jit}
engines = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
Engine = Callable[[Any], Any]
TIGHT = {"rtol": 1e-9, "atol": 1e-11}


def van_der_pol(t, y, mu):
    return [y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]]


def test_radaus_steps_are_almost_scipys() -> None:
    """SciPy's Jacobians are differences."""

    def f(mu: Any) -> Any:
        found = si.solve_ivp(van_der_pol, (0.0, 3.0), [2.0, 0.0], "Radau", args=(mu,), rtol=1e-5,
                             atol=np.array([1e-7, 1e-6]))  # fmt: skip
        return found.t, found.y

    (t, y), (want_t, want_y) = jit(f)(9.0), f(9.0)
    np.testing.assert_allclose(t, want_t, rtol=1e-3)
    np.testing.assert_allclose(y, want_y, rtol=1e-4, atol=1e-4)


# y' = -k (y - cos t) - sin t has y = cos t + (y0 - 1) exp(-k t)
def settling(k, method, **how):
    rate = lambda t, y: -k * (y - np.cos(t)) - np.sin(t)
    return si.solve_ivp(rate, (0.0, 0.3), [1.5], method, rtol=1e-6, atol=1e-8, **how)


def test_a_stiff_course_against_a_closed_form() -> None:
    f = lambda k: settling(k, "Radau", t_eval=[0.02, 0.05]).y[0, 1]
    want = math.cos(0.05) + 0.5 * math.exp(-1.5), -0.025 * math.exp(-1.5)
    found = value_and_grad(f)(30.0)
    assert found == pytest.approx(want, rel=1e-4)
    assert jit(value_and_grad(f))(30.0) == pytest.approx(found, rel=1e-6)
    assert jvp(f, (30.0,), (1.0,))[1] == pytest.approx(found[1], rel=1e-9)


def test_second_derivative_of_a_stiff_course() -> None:
    soon = lambda k: settling(k, "BDF", t_eval=[0.05]).y[0, 0]  # by Radau's steps, here
    want = 0.5 * 0.05**2 * math.exp(-1.5)
    assert jit(derivative(grad(soon)))(30.0) == pytest.approx(want, rel=1e-2)


@pytest.mark.parametrize(("method", "engine"), [
    ("RK45", lambda f: f), ("Radau", lambda f: f), ("RK45", jit), ("DOP853", jit)])  # fmt: skip
def test_a_course_as_a_function_of_time(method: str, engine: Engine) -> None:
    """y = exp(-k t), at places one by one and together, and within the places of SciPy's."""

    def f(k: Any, t: Any) -> Any:
        sol = si.solve_ivp(lambda t, y: -k * y, (0.0, 2.0), [1.0], method, rtol=1e-7, atol=1e-9,
                           dense_output=True).sol  # fmt: skip
        return sol(t)[0], sol(1.3)[0], sol.t_max

    at = np.array([0.0, 0.31, 1.999, 2.0])

    def total(k: Any, t: Any) -> Any:
        found = f(k, t)
        return np.sum(found[0]), found

    slopes, (each, one, end) = engine(grad(total, (0, 1), has_aux=True))(0.7, at)
    np.testing.assert_allclose(each, f(0.7, at)[0], rtol=1e-9 if method != "Radau" else 1e-5)
    assert one == pytest.approx(math.exp(-0.91), rel=1e-5) and end == 2.0
    assert slopes[0] == pytest.approx(-np.sum(at * np.exp(-0.7 * at)), rel=1e-4)
    np.testing.assert_allclose(slopes[1], -0.7 * np.exp(-0.7 * at), rtol=2e-3)


def thrown(v, g, **how):
    """A ball that bounces no more; up for v / g, down at 2 v / g, past 0.3 twice."""
    def floor(t, y):
        return y[0]

    def top(t, y):
        return y[1]

    def window(t, y):
        return y[0] - 0.3

    floor.terminal, floor.direction = True, -1
    return si.solve_ivp(lambda t, y: [y[1], -g], (0.0, 9.0), [0.0, v], events=(floor, top, window),
                        **{"rtol": 1e-8, "atol": 1e-10, **how})  # fmt: skip


@pytest.mark.parametrize(("how", "engine"), [
    ({}, lambda f: f), ({}, jit),
    ({"method": "DOP853", "dense_output": True, "t_eval": np.linspace(0.0, 3.3, 16)}, jit),
])  # fmt: skip
def test_events(how: Any, engine: Engine) -> None:
    def f(v: Any, g: Any) -> Any:
        found = thrown(v, g, **how)
        down, up, passed = found.t_events
        return (down, up, passed, found.y_events[1], found.t[-1], found.y[:, -1], found.status,
                found.message, len(found.t) if "t_eval" in how else 0)  # fmt: skip

    def both(v: Any, g: Any) -> Any:
        found = f(v, g)
        return found[0][0] + 3.0 * found[1][0] + found[3][0, 0], found

    slopes, got = engine(grad(both, (0, 1), has_aux=True))(3.0, 2.0)
    want = f(3.0, 2.0)
    for a, b in zip(got[:-2], want[:-2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)
    assert got[-2:] == want[-2:]
    root = math.sqrt(9.0 - 4.0 * 0.3)
    np.testing.assert_allclose(got[2], [(3.0 - root) / 2.0, (3.0 + root) / 2.0], rtol=1e-8)
    # 2 v / g, v / g and v^2 / 2 g, the height
    by_v, by_g = 1.0 + 3.0 / 2.0 + 3.0 / 2.0, -6.0 / 4.0 - 9.0 / 4.0 - 9.0 / 8.0
    np.testing.assert_allclose(slopes, (by_v, by_g), rtol=1e-7)


def test_derivatives_of_an_event_in_both_modes() -> None:
    height = lambda v: thrown(v, 2.0, max_step=1.0, rtol=1e-6).y_events[1][0, 0]
    assert jvp(height, (3.0,), (1.0,))[1] == pytest.approx(3.0 / 2.0, rel=1e-6)
    assert derivative(grad(height))(3.0) == pytest.approx(1.0 / 2.0, rel=1e-6)


@engines
def test_an_event_that_is_not_met_and_one_that_ends_at_the_third_time(engine: Engine) -> None:
    def f(w: Any, often: int) -> Any:
        crossing = lambda t, y: y[0] - 0.1
        crossing.terminal = often
        found = si.solve_ivp(lambda t, y: [y[1], -w * w * y[0]], (0.0, 9.0), [1.0, 0.0],
                             events=[crossing, lambda t, y: y[0] - 5.0], **TIGHT)  # fmt: skip
        return found.t[-1], len(found.t_events[0]), len(found.t_events[1]), found.status

    third = (2.0 * math.pi + math.acos(0.1)) / 1.1
    slope, met = engine(grad(lambda w: ((found := f(w, 3))[0], found), has_aux=True))(1.1)
    assert met == pytest.approx((third, 3, 0, 1), rel=1e-6)
    assert f(1.1, 9) == pytest.approx((9.0, 3, 0, 0), rel=1e-6)
    assert engine(lambda w: f(w, 9))(1.1) == pytest.approx((9.0, 3, 0, 0), rel=1e-6)
    assert slope == pytest.approx(-third / 1.1, rel=1e-5)


def test_what_is_refused() -> None:
    with pytest.raises(JitadError, match="events and stiff methods of complex states"):
        end = lambda a: abs(si.solve_ivp(lambda t, y: a * y, (0.0, 1.0), [1j], "BDF").y[0, -1])
        jit_grad(end)(1.0)
