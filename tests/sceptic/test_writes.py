"""Does the caller see exactly the writes that Python would make, and none of a derivative's?"""

from __future__ import annotations

import numpy as np

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
