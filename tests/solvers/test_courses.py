"""Are SciPy's differential equations followed by its own steps, and differentiated?

Truth: SciPy's values, and closed forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate as si

from jitad import derivative, grad, jit, jit_grad, jit_value_and_grad
from jitad.errors import JitadError

ENGINES = {"eager": lambda f: f, "compiled": jit}
engines = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
Engine = Callable[[Any], Any]
PLACES = np.array([0.0, 0.3, 0.35, 1.1, 2.0])


def prey(t, y, a, b):
    u, v = y
    return [a * u - b * u * v, 0.5 * b * u * v - v + 0.1 * math.sin(t)]


@pytest.mark.parametrize("how", [
    {}, {"method": "RK23", "max_step": 0.2}, {"method": "DOP853", "rtol": 1e-8},
    {"t_eval": PLACES}, {"t_eval": PLACES, "method": "RK23", "atol": np.array([1e-4, 1e-7])},
    {"t_eval": PLACES, "method": "DOP853", "first_step": 0.05},
    {"t_eval": PLACES[::-1], "t_span": (2.0, 0.0)}, {"rtol": 1e-7, "t_span": (2.0, -1.0)},
])  # fmt: skip
def test_the_steps_are_scipys(how: Any) -> None:
    def f(a: Any) -> Any:
        found = si.solve_ivp(prey, y0=[1.0, a], **{"t_span": (0.0, 2.0), **how}, args=(a, 0.7))
        return found.t, found.y, found.nfev, found.success

    t, y, calls, success = jit(f)(1.3)
    want_t, want_y, want_calls, _ = f(1.3)
    # the two estimates of DOP853 are differences of almost equal numbers: rounding decides digits
    near = 1e-6 if how.get("method") == "DOP853" else 1e-11
    np.testing.assert_allclose(t, want_t, rtol=near)
    np.testing.assert_allclose(y, want_y, rtol=near)
    assert success is True
    if near < 1e-10:  # those for the polynomial of DOP853 are not counted
        assert calls == want_calls


TIGHT = {"rtol": 1e-10, "atol": 1e-12}

# u' = a cos(t) u has u(t) = u0 exp(a (sin t - sin t0)): the value, its derivatives at 1.3
KNOWN: dict[str, tuple[Any, Any, Any]] = {
    "a rate": (
        lambda a: si.solve_ivp(lambda t, y: a * np.cos(t) * y, (0.0, 1.0), [2.0], **TIGHT).y[0, -1],
        lambda a: math.sin(1.0), lambda a: math.sin(1.0) ** 2),
    "a start": (
        lambda a: si.solve_ivp(lambda t, y: -y * y, (0.0, 1.0), [a], **TIGHT).y[0, -1],
        lambda a: 1.0 / (a * (1.0 + a)), lambda a: -2.0 / (a * (1.0 + a) ** 2)),
    "the end": (
        lambda a: si.solve_ivp(lambda t, y: np.cos(t) * y, (0.0, a), [1.0], **TIGHT).y[0, -1],
        math.cos, lambda a: math.cos(a) ** 2 - math.sin(a)),
    "the beginning": (
        lambda a: si.solve_ivp(lambda t, y: np.cos(t) * y, (a, 2.0), [1.0], "DOP853",
                               **TIGHT).y[0, -1],
        lambda a: -math.cos(a), lambda a: math.cos(a) ** 2 + math.sin(a)),
    "a place": (
        lambda a: si.solve_ivp(lambda t, y: np.cos(t) * y, (0.0, 2.0), [1.0], "DOP853",
                               t_eval=[0.5, a], **TIGHT).y[0, 1],
        math.cos, lambda a: math.cos(a) ** 2 - math.sin(a)),
    "odeint": (
        lambda a: si.odeint(lambda y, t, k: k * np.cos(t) * y, 1.0, [0.0, 0.5, 1.0], (a,),
                            **TIGHT)[-1, 0],
        lambda a: math.sin(1.0), lambda a: math.sin(1.0) ** 2),
    "odeint, t first": (
        lambda a: si.odeint(lambda t, y: np.cos(t) * y, [1.0], [a, 2.0], tfirst=True,
                            **TIGHT)[-1, 0],
        lambda a: -math.cos(a), lambda a: math.cos(a) ** 2 + math.sin(a)),
}  # fmt: skip


@pytest.mark.parametrize("f, slope, bend", KNOWN.values(), ids=KNOWN)
@engines
def test_known_courses(engine: Engine, f: Any, slope: Any, bend: Any) -> None:
    value = f(1.3)
    assert engine(f)(1.3) == pytest.approx(value, rel=1e-7)
    assert engine(grad(f))(1.3) == pytest.approx(value * slope(1.3), rel=1e-7)
    if engine is jit and slope is not math.cos:  # the rest of the compiled ones are like this one
        return
    assert engine(derivative(f))(1.3) == pytest.approx(value * slope(1.3), rel=1e-7)
    assert engine(derivative(grad(f)))(1.3) == pytest.approx(value * bend(1.3), rel=1e-5)


def test_a_fit_to_data() -> None:
    def misfit(p: Any, data: Any) -> Any:
        y = si.solve_ivp(prey, (0.0, 2.0), p[2:], args=(p[0], p[1]), t_eval=PLACES, **TIGHT).y
        return np.sum((y[0] - data) ** 2)

    p, data = np.array([1.3, 0.7, 1.0, 0.8]), np.ones(5)
    found = jit_grad(misfit)(p, data)
    np.testing.assert_allclose(found, grad(misfit)(p, data), rtol=1e-9)
    for k, e in enumerate(np.eye(4)):
        near, far = (misfit(p + h * e, data) - misfit(p - h * e, data) for h in (1e-3, 2e-3))
        assert found[k] == pytest.approx((8.0 * near - far) / 12e-3, rel=1e-6)


def turned(rate: Any, detuning: Any, method: str, at: Any) -> Any:
    """The second of two states that a field couples, in a frame that turns."""
    def slopes(t: Any, c: Any) -> Any:
        phase = np.exp(1j * detuning * t)
        return [-0.5j * rate * c[1] * phase, -0.5j * rate * c[0] * np.conj(phase)]

    fine = 1e-6 if method == "RK23" else 1e-9  # which takes a hundred times as many steps
    found = si.solve_ivp(slopes, (0.0, 3.0), [1.0 + 0j, 0.0], method, at, rtol=fine,
                         atol=0.01 * fine)  # fmt: skip
    return np.abs(found.y[1, -1]) ** 2


def test_a_complex_start() -> None:
    def f(z: Any) -> Any:
        found = si.solve_ivp(lambda t, y: 1j * y * y, (0.0, 1.0), z, rtol=1e-10, atol=1e-12)
        return np.sum(np.abs(found.y[:, -1]) ** 2)

    def closed(z: Any) -> Any:
        return np.sum(np.abs(z / (1.0 - 1j * z)) ** 2)

    z = np.array([0.5 + 0.1j, 0.2 - 0.3j])
    for derive in (grad, jit_grad):
        np.testing.assert_allclose(derive(f)(z), grad(closed)(z), rtol=1e-8)


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853"])
@pytest.mark.parametrize("at", [None, [1.0, 3.0]], ids=["steps", "places"])
def test_complex_states(method: str, at: Any) -> None:
    def closed(rate: Any, detuning: Any) -> Any:
        square = rate**2 + detuning**2
        return rate**2 / square * np.sin(1.5 * np.sqrt(square)) ** 2

    def by_solver(rate: Any, detuning: Any) -> Any:
        return turned(rate, detuning, method, at)

    both, rough = (1.3, 0.4), 1e-4 if method == "RK23" else 1e-8
    expected = grad(closed, (0, 1))(*both)
    np.testing.assert_allclose(grad(by_solver, (0, 1))(*both), expected, rtol=rough)
    value, slope = jit_value_and_grad(by_solver, (0, 1))(*both)
    assert value == pytest.approx(by_solver(*both), rel=1e-11)
    np.testing.assert_allclose(slope, expected, rtol=rough)


# -- what fails -----------------------------------------------------------------------------------


@pytest.mark.parametrize("derive", [grad, jit_grad])
@pytest.mark.parametrize("f, text", [
    (lambda a: si.solve_ivp(lambda t, y: a * y * y, (0.0, 9.0), [1.0]).y[0, -1], "step size is"),
    (lambda a: si.solve_ivp(lambda t, y: a * y, (0, 1), [1.0], t_eval=[0.2, a]).y[0, -1],
     "not within `t_span`"),
    (lambda a: si.odeint(lambda y, t: a * y, 1.0, [0, 1], full_output=True)[0][-1],
     "full_output= of odeint is not supported"),
    (lambda a: si.solve_ivp(lambda t, y: a * 1j * y, (0, 1), [1.0]).y[0, -1],
     "a cast of complex numbers to real ones discards a part"),
])  # fmt: skip
def test_what_fails(derive: Any, f: Any, text: str) -> None:
    with pytest.raises(JitadError, match=text) as raised:
        derive(f)(2.0)
    assert "test_courses.py" in str(raised.value)


def test_too_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    from jitad.solvers import events

    monkeypatch.setattr(events, "MOST", 60)
    f = jit(lambda a: si.solve_ivp(lambda t, y: -a * y, (0.0, 9.0), [1.0]).y[0, -1])
    assert f(1.0) == pytest.approx(math.exp(-9.0), abs=1e-3)
    with pytest.raises(JitadError, match="steps through a differential equation"):
        f(1000.0)
