"""Numbers from outside are inputs of a kernel, unless library code must know them."""

import math
from math import inf

import numpy as np
import pytest
from scipy import signal
from scipy.integrate import nquad, odeint, quad, quad_vec
from scipy.optimize import brentq, root_scalar

from jitad import grad, jit_grad

TOLERANCE = 1e-9
LOW, HIGH = 0.0, 5.0
CUT_OFF, RATE = 12.0, 100.0
SAMPLES = np.sin(np.arange(40.0) ** 1.1)


def over_half_a_line(r):
    return quad(lambda x: math.exp(-r * x), 0, inf)[0]


def over_a_line(r):
    return quad(lambda x: math.exp(-r * x * x), -inf, inf, epsabs=TOLERANCE)[0]


def default(f, a, b, args=(), epsrel=1e-8, epsabs=1e-8):
    return quad(f, a, b, args, epsrel=epsrel, epsabs=epsabs)[0]


def by_defaults(r):
    return default(lambda x, a: math.exp(-a * x), r / 2, r, args=(0.7,))


def of_vectors(r):
    found = quad_vec(lambda x: np.array([math.exp(-r * x), r * x]), LOW, HIGH, epsabs=TOLERANCE)
    return found[0].sum()


def in_a_bracket(r):
    return brentq(lambda x: x**3 - r, LOW, HIGH, xtol=TOLERANCE, rtol=TOLERANCE)


def root(r):
    return root_scalar(lambda x: x**3 - r, bracket=[LOW, HIGH], xtol=TOLERANCE).root


def course(r):
    times = np.linspace(LOW, 1, 5)
    return odeint(lambda y, t: -r * y, [1.0], times, rtol=TOLERANCE, atol=TOLERANCE, hmax=LOW)[
        -1, 0
    ]


def filtered(r):
    b, a = signal.butter(3, CUT_OFF / (0.5 * RATE))
    return np.sum(signal.lfilter(b, a, SAMPLES * r) ** 2)


def bounded(r):
    return min(r, inf) * r + (r if r < inf else 0.0)


@pytest.mark.parametrize("f", [
    over_half_a_line, over_a_line, by_defaults, of_vectors, in_a_bracket, root, course, filtered,
    bounded,
])  # fmt: skip
def test_they_are_known(f):
    h = 1e-4
    by_differences = (8 * (f(1.3 + h) - f(1.3 - h)) - (f(1.3 + 2 * h) - f(1.3 - 2 * h))) / (12 * h)
    for derivative in (grad, jit_grad):
        assert derivative(f)(1.3) == pytest.approx(by_differences, rel=1e-5)


@pytest.mark.filterwarnings("ignore::jitad.FallbackWarning")
def test_they_may_change(monkeypatch):
    g = jit_grad(filtered, fallback=True)
    for cut_off in (12.0, 20.0, 12.0, 30.0, 5.0):
        monkeypatch.setitem(globals(), "CUT_OFF", cut_off)
        assert g(1.3) == pytest.approx(grad(filtered)(1.3), rel=1e-12)


def test_the_sign_of_a_zero_is_known(monkeypatch):
    def f(r):  # LOW is known since the other is
        order = signal.butter(3, CUT_OFF / (0.5 * RATE))[0].size
        return math.atan2(LOW, -r) * order * r

    g = jit_grad(f)
    for low in (0.0, -0.0, 0.0, -0.0):
        monkeypatch.setitem(globals(), "LOW", low)
        assert g(1.0) == grad(f)(1.0) == math.copysign(4 * math.pi, low)


def test_an_infinity_that_becomes_a_number(monkeypatch):
    g = jit_grad(bounded)
    assert g(1.3) == pytest.approx(3.6)
    monkeypatch.setitem(globals(), "inf", 1.0)
    assert g(1.3) == 1.0
    monkeypatch.setitem(globals(), "inf", 2.0)
    assert g(1.3) == pytest.approx(3.6)


def test_what_nquad_does_not_take_is_refused():
    with pytest.raises(TypeError, match="opts="):
        grad(lambda r: nquad(lambda y, x: r * x * y, [[0, 1], [0, 1]], opts={"limit": 9})[0])(1.3)
