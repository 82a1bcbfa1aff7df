"""Do arrays without axes go through branches and loops, and can they be written to?

Slopes are of complex steps; the content of such an array is a number on the tape.
"""

import numpy as np
import pytest

import jitad
from tests.engines import ENGINES
from tests.jacobians.truth import complex_step

X = np.array([0.5, -1.25, 2.0])


def replaced(x, k):
    t = np.zeros((), x.dtype)
    if k > 1:
        t = np.array(x[1] * x[0])
    return t * 2.0 + x[2]


def made_in_a_loop(x, k):
    total = x[0] * 0.0
    for i in range(3):
        t = np.array(x[i])
        total = total + t * t
        if i > k:
            continue
    return total + 3.0 * t


def carried(x, k):
    t = np.array(x[1])
    for i in range(k):
        if x[0].real > 0.1 * i:
            t = x[:1].reshape(()) + t * x[2]
    return t * t


def written_on_a_path(x, k):
    t = np.array(x[1])
    if k > 1:
        t[...] = x[0] * x[2]
    return t * x[1]


def covariance_written_over(x, k):
    z = np.cov(x.reshape(1, 3))
    np.exp(z, out=z[...])
    return z * x[0]


def greatest_so_far(x, k):
    best = 0.0
    for v in x:
        best = np.where(v.real > best.real, v, best)
    return best * x[1]


def sum_written_under_another_name(x, k):
    total = np.where(x[0].real > 0, x[0], 1.0)
    other = total
    for i in range(k + 1):
        total += np.where(x[i].real > 0.2, x[i], 0.5 * x[i])
    return other * x[2]


def number_or_array(x, k):
    t = x[0]
    if k > 1:
        t = np.where(x[1].real > 0, x[1], x[0] * x[1])
    u = [t, x[2]]
    return t * x[2] + max(u, key=lambda v: v.real)


def of_a_list(x, k):
    items = [np.where(v.real > 0.2, v, 0.5 * v) for v in x]
    return np.array(items)[k - 1] * items[0] + sum(items)


def of_a_dict(x, k):
    d = {"last": 0.0}
    for v in x:
        d["last"] = np.where(v.real > 0.2, v * x[1], d["last"])
    return d["last"]


def returned_on_a_path(x, k):
    if x[0].real * k > 0.5:
        return np.where(x[1].real > 0, x[1], x[0] * x[1])
    return x[2] * x[0]


def list_of_both(x, k):
    items = [x[0]]
    for i in range(k + 1):
        items.append(np.where(x[i].real > 0.2, x[i], 0.5 * x[i]))
        if i * x[0].real > 0.75:
            items.append(x[0] * x[1])
    return items[-1] * items[k] + items[0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("k", [0, 2])
@pytest.mark.parametrize(
    "f", [replaced, made_in_a_loop, carried, written_on_a_path, covariance_written_over,
          greatest_so_far, sum_written_under_another_name, number_or_array, of_a_list,
          of_a_dict, returned_on_a_path, list_of_both]
)  # fmt: skip
def test_arrays_without_axes(f, k, engine):
    run = ENGINES[engine]
    plain = f(X.copy(), k)
    if f is covariance_written_over:  # np.cov of complex numbers conjugates
        c = np.exp(np.var(X, ddof=1))
        want = c * X[0] * (X - X.mean()) + c * np.array([1.0, 0.0, 0.0])
    else:
        want = complex_step(f, X, k)
    value, slope = run(jitad.value_and_grad(f), X, k)
    assert np.isclose(value, plain, rtol=1e-13)
    np.testing.assert_allclose(slope, want, rtol=1e-12, atol=1e-14)
    direction = np.array([1.0, -2.0, 0.5])
    _, forward = run(lambda v: jitad.jvp(lambda w: f(w, k), (v,), (direction,)), X)
    np.testing.assert_allclose(forward, want @ direction, rtol=1e-12, atol=1e-14)


def test_a_number_on_one_path_is_not_written_to():
    """NumPy would write to what `y` is too, on the path on which it is an array."""
    def f(x):
        t = x[0]
        if x[1] > 0:
            t = np.where(x[2] > 0, x[2], 0.0)
        y = t
        t += 1.0
        return y * x[0]

    with pytest.raises(jitad.JitadError, match="a number on one path and an array without axes"):
        jitad.jit(f, fallback=False)(X)


def in_order(x):
    items = [np.where(v > 0.1, v, v * v) for v in x]
    items.sort()
    least, *_ = sorted(items, reverse=True)
    return items[0] + 2.0 * items[1] * items[2] + least * max(items) + min(items)


def in_order_of_unknown_length(x):
    items = []
    for v in x:
        items.append(np.where(v > 0.1, v, v * v))
        if v > 0.35:
            items.append(v)
    return sorted(items)[1] * max(items) + min(items) + sum(items) * items[-1]


def beside_numbers(x):
    a = np.where(x[0] > 0, x[0], 1.0)
    return max(a, 0.2) * min(0.7, a, x[2]) + max([a, x[1]], default=0.0)


def number_in_the_end(x):
    t = np.where(x[0] > 0, x[0], 1.0)
    while t < 5.0:
        t = t * 1.5 - x[1]
    return t * x[2]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "f", [in_order, in_order_of_unknown_length, beside_numbers, number_in_the_end]
)
def test_compared(f, engine):
    value, slope = ENGINES[engine](jitad.value_and_grad(f), X)
    assert np.isclose(value, f(X), rtol=1e-13)
    h = 1e-6
    want = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(slope, want, rtol=1e-7, atol=1e-8)
