"""Does the caller see exactly the writes that Python would make, and none of a derivative's?"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import jitad


def test_a_derivative_changes_no_argument_and_no_capture():
    scratch = np.zeros(2)

    def f(a, b):
        b[0] = a[0] * a[1]
        scratch[1] = b[0]
        a[1] = b[0] + scratch[1]
        return a[1] * b[1]

    a, b = np.array([2.0, 3.0]), np.array([5.0, 7.0])
    g = jitad.jit_grad(f)
    for _ in range(3):
        np.testing.assert_allclose(g(a, b), [2 * 3.0 * 7, 2 * 2.0 * 7])
    assert a.tolist() == [2.0, 3.0] and b.tolist() == [5.0, 7.0] and scratch.tolist() == [0.0, 0.0]


def test_a_counter_under_a_derivative_counts_once():
    class Model:
        calls = 0

        def loss(self, x):
            self.calls += 1
            return x * x

    m = Model()
    g = jitad.jit_grad(m.loss)
    assert [g(3.0), g(4.0)] == [6.0, 8.0] and m.calls == 2


def test_writes_through_a_chosen_name_reach_the_caller():
    def f(a, b, x):
        c = a if x > 0 else b
        c[0] = 7.0
        return c[1]

    def swap(u, n):
        v = u.copy()
        for _ in range(n):
            v[0] = u[1] + 1.0
            u, v = v, u
        return u[0]

    for x in (1.0, -1.0):
        a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
        assert jitad.jit(f)(a, b, x) == (2.0 if x > 0 else 4.0)
        assert (a[0], b[0]) == ((7.0, 3.0) if x > 0 else (1.0, 7.0))
    u, python = np.array([1.0, 2.0]), np.array([1.0, 2.0])
    assert jitad.jit(swap)(u, 3) == swap(python, 3) and u.tolist() == python.tolist()
    assert jitad.jit_grad(swap)(np.array([1.0, 2.0]), 3).tolist() == [0.0, 1.0]


def test_what_a_differentiated_function_notes_is_noted_once():
    class Log:
        last = None

    log, history, table = Log(), [], {}

    def f(x):
        y = x * x
        history.append(y)
        table["y"] = (y, 2.0 * x)
        log.last = [x, np.ones(2) * y]
        return y * x

    g = jitad.jit_grad(f)
    assert [g(3.0), g(2.0)] == [27.0, 12.0]
    assert history == [9.0, 4.0] and table == {"y": (4.0, 4.0)}
    assert log.last[0] == 2.0 and log.last[1].tolist() == [4.0, 4.0]


def _derivatives(f, x):
    """What derivatives of f give, however they are taken."""
    yield jitad.derivative(f)(x)
    yield jitad.grad(f)(x)
    yield jitad.jvp(f, (x,), (1.0,))[1]
    value, pullback = jitad.vjp(f, x)
    yield value * pullback(1.0)[0]


_outside = np.array([1.0, 2.0, 3.0])


def of_a_local(x):
    a = x * np.ones(3)

    def f(y):
        b = a[1:]
        b[0] += y
        a[0] = b[0] * y
        return a[0] * b[1]

    return [[d, a[0] + 2.0 * a[1]] for d in _derivatives(f, x + 1.0)]


def of_constants(x):
    a = np.zeros(2)

    def f(y):
        a[1] = 3.0
        a[:] += y
        return a[0] * a[1]

    return [[d, a[1] * x] for d in _derivatives(f, x)]


def of_a_field(x):
    class Model:
        pass

    m = Model()
    m.a, m.made = np.zeros(2), None

    def f(y):
        m.a[0] += y * y
        m.made = np.array([y, y])
        m.made[0] *= 2.0
        return m.a[0] * y

    return [[d, m.a[0] + x, m.made[0] - m.made[1]] for d in _derivatives(f, 2.0 * x)]


def of_a_global(x):
    def f(y):
        _outside[0] = y
        return _outside[0] * _outside[1]

    return [[d, _outside[0] * x] for d in _derivatives(f, x)]


def of_an_argument(x):
    a = np.array([x, 2.0])

    def f(y, b):
        b[1] = y * b[0]
        return b[1]

    return [[jitad.grad(f)(x, a), a[1]], [jitad.grad(f, 1)(x, a)[0], a[1]]]


def of_one_inside(x):
    a = np.zeros(2)

    def f(y):
        def g(z):
            a[0] += z
            return a[0] * a[0] * y

        a[1] = jitad.grad(g)(y) + a[0]
        return a[1] * y

    return [[d, a[0] + a[1]] for d in _derivatives(f, x)]


@pytest.mark.parametrize(
    "program", [of_a_local, of_constants, of_a_field, of_a_global, of_an_argument, of_one_inside]
)
def test_writes_end_with_the_derivative_inside_of_other_derivatives(program):
    """Of a function that is differentiated in turn, and traced, as of the user's program."""
    plain = np.array(program(1.5), float)
    by = (np.array(program(1.5 + 1e-5), float) - np.array(program(1.5 - 1e-5), float)) / 2e-5
    for of in (lambda x: np.array(program(x)), jitad.jit(lambda x: np.array(program(x)))):
        value, tangent = jitad.jvp(of, (1.5,), (1.0,))
        np.testing.assert_allclose(value, plain)
        np.testing.assert_allclose(tangent, by, rtol=1e-8, atol=1e-8)
    for i, j in np.ndindex(*plain.shape):
        value, slope = jitad.value_and_grad(lambda x, i=i, j=j: program(x)[i][j] * 1.0)(1.5)
        np.testing.assert_allclose([value, slope], [plain[i, j], by[i, j]], rtol=1e-8, atol=1e-8)


def test_a_pullback_takes_what_was_captured_as_it_was():
    x = np.array([0.7, -1.3, 2.1])
    a, m, held = x * 2.0, np.diag(x + 5.0), {"list": [np.ones(3)]}
    sparse = scipy.sparse.csr_array(m.copy())

    class Model:
        w = x + 1.0

    def f(z):
        return z * z * a + m @ (z * z) + np.sin(z * held["list"][0]) + sparse @ z + z**2 * Model.w

    value, pullback = jitad.vjp(f, x)
    # of ones: the column sums of the diagonal Jacobian
    want = 2 * x * a + 2 * np.diag(m) * x + np.cos(x) + np.diag(m) + 2 * x * Model.w
    for changed in (x, a, m, held["list"][0], sparse.data, Model.w, value):
        changed[:] = 100.0
    np.testing.assert_allclose(pullback(np.ones(3))[0], want)


def test_a_pullback_in_another_derivative_takes_what_was_there():
    def program(x):
        y = x * 2.0
        pullbacks = []
        for k in range(3):
            value, pullback = jitad.vjp(lambda z, k=k: z * z[k] * y, x)
            pullbacks.append(pullback)
            y[k] *= value[k]
        return sum(np.sum(p(y)[0]) for p in pullbacks)

    x = np.array([0.7, -1.3, 2.1])
    value, slope = jitad.value_and_grad(program)(x)
    assert np.isclose(value, program(x))
    by = [(program(x + h) - program(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(slope, by, rtol=1e-6)


def test_masks_written_through_a_view_twice():
    def f(x):
        a = x.copy()
        v = a[1:]
        a[a > 0.35] *= v[0]
        v[v < 0] = np.abs(v[v < 0]) * 2
        return np.sum(a**2)

    x = np.array([-0.3, 0.7, -1.1, -0.4, -0.9])
    true = np.array([2.0, 12 * x[1] ** 2, 8.0, 8.0, 8.0])
    np.testing.assert_allclose(jitad.jit_hvp(f)(x, np.ones(5)), true, rtol=1e-14)
