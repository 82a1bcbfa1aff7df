"""Are arrays whose extents a loop changes what they are in Python?

Every program is run by Python, and its derivative taken by differences; arguments decide how long
the arrays get.
"""

import numpy as np
import pytest

import jitad
from tests.engines import as_emitted
from tests.truth import ridders


def appended(x, n):
    y = np.array([x[0]])
    for _ in range(n):
        y = np.append(y, y[-1] - 0.1 * x[1] * y[-1] ** 2)
    return np.sum(y * y) + len(y)


def appended_until(x, n):
    y = x[:1]
    while y[-1] < 10.0:
        y = np.concatenate([y, [y[-1] * 1.3 + x[1]]])
    return np.sum(np.sin(y)) / y.size


def pairs_until_one_is_left(x, n):
    v = np.arange(n + 1.0) * x[0] + x[1]
    for _ in range(n):
        v = 0.5 * (v[1:] * v[:-1]) ** 0.5
    return v[0]


def rows_stacked(x, n):
    path = x[None, :]
    for _ in range(n):
        path = np.vstack((path, path[-1] * 0.9 + 0.1 * x[::-1]))
    return np.sum(np.diff(path, axis=0) ** 2) + path[-1, 0]


def minor_after_minor(x, n):
    a = np.outer(x, x) + np.diag(np.arange(1.0, len(x) + 1.0))
    total = 1.0
    while len(a):
        total *= a[0, 0]
        a = a[1:, 1:] - np.outer(a[1:, 0], a[0, 1:]) / a[0, 0]
    return total


def selected_again_and_again(x, n):
    left, total = x * x, 0.0
    while left.size > 0:
        total += left.sum()
        left = left[left > 0.3] * 0.7
    return total


def halved_and_padded(x, n):
    v = x * n
    while len(v) > 1:
        if len(v) % 2:
            v = np.append(v, 1.0)
        v = v[::2] * v[1::2]
    return v[0]


def written_in_place_as_well(x, n):
    v = np.array([x[0]])
    for k in range(n):
        w = v
        v = np.append(v, 1.0)
        v[k] = v[k] * x[1]
        v[-1] += np.sum(w)
    return np.sum(v)


def two_of_them_in_nested_loops(x, n):
    rows, total = np.zeros(0), 0.0
    for i in range(n):
        part = np.zeros(0)
        for j in range(i):
            part = np.append(part, x[i % 3] * x[j % 3] * j)
        rows = np.concatenate([rows, part])
        total += np.sum(part)
    return total + np.sum(rows * np.arange(len(rows)))


def kept_in_a_dict(x, n):
    state = {"t": np.zeros(1), "y": x[:1]}
    for k in range(n):
        state["t"] = np.append(state["t"], 0.1 * k)
        state["y"] = np.append(state["y"], state["y"][-1] * x[1])
    return np.trapezoid(state["y"], state["t"])


def power_of_a_polynomial(x, n):
    p = np.ones(1)
    for _ in range(n):
        p = np.convolve(p, x)
    return p @ p


def made_in_the_loop(x, n):
    best, k = None, 0
    while k < n and (best is None or best[0] < 1.0):
        y = np.append(np.arange(float(k)), x[k % 3])[::-1]
        best = y if best is None or k % 2 == 0 else best + 0.1 * y[0]
        k += 1
    return np.sum(best * best)


def given_and_joined(x, n):
    y = x
    for k in range(n):
        y = np.concatenate([y, x * (k + 1)])
    return np.sum(y * y)


def given_and_doubled(x, n):
    y = x
    for _ in range(n):
        y = np.concatenate([y[::-1], 0.5 * y])
    return y @ np.arange(len(y))


def given_and_repeated(x, n):
    y = x
    for _ in range(n):
        y = np.repeat(y, 2)[1:]
    return y @ np.arange(len(y))


def given_and_multiplied(x, n):
    y = x
    for _ in range(n):
        y = np.polymul(y, x)
    return y @ y


def given_and_another_from_then_on(x, n):
    y = x
    for k in range(n):
        y = np.tile(x, 2) * (k + y[-1])
    return np.sum(y * y)


PROGRAMS = [
    given_and_joined, given_and_doubled, given_and_repeated, given_and_multiplied,
    given_and_another_from_then_on, appended, appended_until, pairs_until_one_is_left,
    rows_stacked, minor_after_minor, selected_again_and_again, halved_and_padded,
    written_in_place_as_well, two_of_them_in_nested_loops, kept_in_a_dict, power_of_a_polynomial,
    made_in_the_loop,
]  # fmt: skip
X = np.array([0.7, 1.2, 0.9])


def differences(program, x, n):
    units = np.eye(len(x))
    return np.array([ridders(lambda h, e=e: program(x + h * e, n), 0.01)[0] for e in units])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_value_and_both_modes(program):
    for n in (1, 5):
        t = np.array([0.3, -0.5, 0.2])

        def both(x, n, t=t):
            run = jitad.value_and_grad(program)(x, n)
            return run, jitad.jvp(lambda x: program(x, n), (x,), (t,))[1]

        (value, gradient), slope = as_emitted(both, X, n)
        assert value == pytest.approx(program(X, n), rel=1e-13)
        expected = differences(program, X, n)
        np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)
        assert slope == pytest.approx(expected @ t, rel=1e-7, abs=1e-8)


def test_one_kernel_for_all_lengths_and_more_room_where_it_does_not_suffice():
    g = jitad.jit_value_and_grad(appended)
    for n in (12, 0, 700, 3):
        value, gradient = g(X, n)
        assert value == pytest.approx(appended(X, n), rel=1e-12)
        np.testing.assert_allclose(gradient, differences(appended, X, n), rtol=1e-7, atol=1e-8)
    assert g.specialisations == ["first call"]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled(program):
    g = jitad.jit_value_and_grad(program)
    for n in (5, 2, 6):
        value, gradient = g(X, n)
        assert value == pytest.approx(program(X, n), rel=1e-12)
        np.testing.assert_allclose(gradient, differences(program, X, n), rtol=1e-7, atol=1e-8)


def test_an_extent_that_is_set_from_outside_must_be_what_it_was():
    def product(a, x, n):
        for _ in range(n):
            x = a @ x
        return np.sum(x)

    g = jitad.jit(product)
    assert g(np.eye(2), np.ones(2), 3) == 2.0
    with pytest.raises(jitad.JitadError):
        g(np.ones((3, 2)), np.ones(2), 3)


def test_an_extent_that_was_as_before_in_the_first_call():
    def turned(x, z, n):
        y = x
        for k in range(n):
            y = np.tile(z, 2) * (k + y[-1])
        return np.sum(y * y)

    g = jitad.jit_value_and_grad(turned)
    for m, length in ((4, 2), (8, 3), (6, 3), (2, 3)):
        x, z = np.linspace(0.5, 1.0, m), np.linspace(0.3, 0.8, length)
        for n in (3, 0, 7):
            value, gradient = g(x, z, n)
            assert value == pytest.approx(turned(x, z, n), rel=1e-13)
            units = np.eye(m)
            true = [ridders(lambda h, e=e: turned(x + h * e, z, n), 0.01)[0] for e in units]
            np.testing.assert_allclose(gradient, true, rtol=1e-7, atol=1e-8)
