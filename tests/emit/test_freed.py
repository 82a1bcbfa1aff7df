"""Are elements of an array read before its memory is given to another array?

LLVM is told that nothing else points to a new array; it has to know that its header frees it.
The programs fill memory of the same size again and again, so that a read that comes late is seen.
"""

import numpy as np
import pytest

import jitad


def exchanged_rows(m):
    m[[1, 0]] = 0.8 * m[[0, 1]]
    z = np.tanh(m[[1, 1, 0]])
    z[-2, 1] += 0.3 * z[1, 0]
    return np.sum(m) + np.sum(z)


def rows_again_and_again(m):
    total = 0.0
    for k in range(3):
        m[[1, 0]] = np.sin(m[[0, 1]]) + 0.1 * k
        z = m[[0, 1, 0]] * m[[1, 1, 1]]
        z[1, 0] += z[2, 1]
        total += np.sum(z) + z[0, 0] * z[2, 1]
    return total + np.sum(m)


def elements_kept(m):
    first = np.exp(m[[0, 1]])[1, 1]
    second = np.exp(m[[1, 0]])[1, 1]
    third = np.exp(m[[1, 1]])[0, 0]
    return first * second + third


@pytest.mark.parametrize("columns", [2, 4, 9])
@pytest.mark.parametrize("f", [exchanged_rows, rows_again_and_again, elements_kept])
def test_values_and_derivatives(f, columns):
    m = np.arange(1.0, 2.0 * columns + 1.0).reshape(2, columns) / 10.0
    t = np.cos(m)
    want, slope = jitad.jvp(lambda p: f(p), (m.copy(),), (t,))
    assert want == pytest.approx(f(m.copy()), rel=1e-13)
    got = jitad.jit(lambda p, t: jitad.jvp(f, (p,), (t,)))(m, t)
    assert got == pytest.approx((want, slope), rel=1e-12)
    value, gradient = jitad.jit_value_and_grad(f)(m)
    assert value == pytest.approx(want, rel=1e-12)
    assert np.sum(gradient * t) == pytest.approx(slope, rel=1e-11)
