"""Are adjoints of the type of their variables where float32 data meet float64 numbers in loops?"""

import numpy as np
import pytest

import jitad
from tests.engines import as_emitted
from tests.truth import ridders

X = np.array([0.5, 1.5, -0.5, 0.25], np.float32)


def smoothed(f):
    u = np.zeros(len(f))
    for _ in range(5):
        u[1:-1] = u[1:-1] + 0.5 * (u[2:] + 0.25 * f[1:-1])
    return u @ f


def scaled_by_double(f):
    u = np.ones(len(f))
    for _ in range(5):
        u = u + 0.5 * u * f
    return u @ f


def numbers_carried(f):
    total, state = 0.0, np.float64(1.0)
    for k in range(9):
        state = 0.5 * state + f[k % 4] * f[0]
        total += state * f[(k + 1) % 4]
    return total


def product_of_a_matrix(f):
    a = np.eye(len(f))
    for _ in range(5):
        a = a + 0.125 * np.outer(a @ f, f)
    return np.sum(a @ f)


@pytest.mark.parametrize(
    "program", [smoothed, scaled_by_double, numbers_carried, product_of_a_matrix],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_gradients(program):
    wide = X.astype(float)
    units = np.eye(len(X))
    expected = [ridders(lambda h, e=e: float(program(wide + h * e)), 0.01)[0] for e in units]
    for run in (lambda f, x: f(x), as_emitted):
        value, gradient = run(jitad.value_and_grad(program), X)
        assert float(value) == pytest.approx(float(program(X)), rel=1e-6)
        assert gradient.dtype == np.float32
        np.testing.assert_allclose(gradient, expected, rtol=2e-6, atol=2e-6)
        hvp = run(lambda x: jitad.jvp(jitad.grad(program), (x,), (x,))[1], X)
        assert hvp.dtype == np.float32
