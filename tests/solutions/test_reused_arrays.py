"""May a function that is solved for give the same array each time, or write to its argument?

So may one that runs for each element.  Truth: a function that gives a new array each time.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import odeint, solve_ivp
from scipy.optimize import fsolve, least_squares

from jitad import batch, fixed_point, grad, jvp, root, value_and_grad
from tests.engines import as_emitted


def coupled(w, x):
    return [np.cos(w[1]) * 0.4 * x, 0.3 * w[0] + 0.1]


def two(w, x):
    return [w[0] ** 2 + w[1] - x, w[0] - w[1] ** 3 * x]


def line(p, x):
    return [p[0] * np.exp(p[1] * i * 0.3) - x * (i + 1) for i in range(3)]


def spring(y, x):
    return [y[1], -x * y[0]]


SOLVERS = {
    "fixed_point": (coupled, lambda f, x: fixed_point(f, np.ones(2))),
    "root": (two, lambda f, x: root(f, np.ones(2))),
    "fsolve": (two, lambda f, x: fsolve(f, np.ones(2))),
    "least_squares": (line, lambda f, x: least_squares(f, np.array([1.0, 0.5])).x),
    "solve_ivp": (spring, lambda f, x: solve_ivp(lambda t, y: f(y), (0.0, 1.0), [1, 0]).y[:, -1]),
    "odeint": (spring, lambda f, x: odeint(lambda y, t: f(y), [1.0, 0.0], [0.0, 1.0])[-1]),
}  # fmt: skip


def anew(name, x):
    of, solve = SOLVERS[name]
    return np.sum(solve(lambda w: np.array(of(w, x)), x) ** 2)


def into_a_buffer(name, x):
    of, solve = SOLVERS[name]
    buffer = np.zeros(3 if of is line else 2)

    def f(w):
        buffer[:] = of(w, x)
        return buffer

    return np.sum(solve(f, x) ** 2)


def into_the_argument(name, x):
    of, solve = SOLVERS[name]

    def f(w):
        w[:] = of(w, x)
        return w

    return np.sum(solve(f, x) ** 2)


@pytest.mark.parametrize("engine", [lambda f, x: f(x), as_emitted], ids=["eager", "emitted"])
@pytest.mark.parametrize("name", SOLVERS)
def test_a_buffer(name, engine):
    got = engine(lambda x: value_and_grad(lambda y: into_a_buffer(name, y))(x), 1.3)
    want = value_and_grad(lambda y: anew(name, y))(1.3)
    np.testing.assert_allclose(got, want, rtol=1e-9)


@pytest.mark.parametrize("engine", [lambda f, x: f(x), as_emitted], ids=["eager", "emitted"])
@pytest.mark.parametrize("name", ["fixed_point", "root"])
def test_the_argument(name, engine):
    got = engine(lambda x: value_and_grad(lambda y: into_the_argument(name, y))(x), 1.3)
    want = value_and_grad(lambda y: anew(name, y))(1.3)
    np.testing.assert_allclose(got, want, rtol=1e-9)
    assert np.isclose(into_the_argument(name, 1.3), want[0], rtol=1e-9)  # undifferentiated, too


def test_in_forward_mode():
    want = grad(lambda y: anew("fixed_point", y))(1.3)
    for f in (into_a_buffer, into_the_argument):
        got = as_emitted(lambda x, f=f: jvp(lambda y: f("fixed_point", y), (x,), (1.0,))[1], 1.3)
        assert np.isclose(got, want, rtol=1e-9)


@pytest.mark.parametrize("over", ["batch", "apply_along_axis"])
def test_elements(over):
    def of(x):
        buffer = np.zeros(2)

        def f(a):
            buffer[0] = np.sin(a)
            buffer[1] = a * a
            return {"same": buffer, "half": buffer[1:]} if over == "batch" else buffer

        if over == "batch":
            out = batch(f)(x)
            return np.sum(out["same"] * np.array([1.0, 2.0])) + np.sum(out["half"])
        out = np.apply_along_axis(lambda row: f(row[0]), 1, np.outer(x, np.ones(2)))
        return np.sum(out * np.array([1.0, 3.0]))

    x = np.array([0.7, -1.3, 2.1])
    value, slope = np.sum(np.sin(x) + 3.0 * x * x), np.cos(x) + 6.0 * x
    assert np.isclose(of(x), value)
    for engine in (lambda f, x: f(x), as_emitted):
        got = engine(lambda x: value_and_grad(of)(x), x)
        assert np.isclose(got[0], value)
        np.testing.assert_allclose(got[1], slope)
