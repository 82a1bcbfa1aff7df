"""Are factors taken out of the sums of adjoints where that is right, and is it always right?"""

import numpy as np
import pytest
from scipy.special import softmax

import jitad
from tests import truth


def of_scipy(x, w):
    return np.sum(w * softmax(x, axis=1))


def by_hand(x, w):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return np.sum(w * (e / e.sum(axis=1, keepdims=True)) ** 2)


def of_columns(x, w):
    e = np.exp(x)
    return np.sum(w * (e / e.sum(axis=0)))


def whole(x, w):
    e = np.exp(x)
    return np.sum(w * (e / np.sum(e)))


def negative(x, w):
    e = np.exp(x)
    return np.sum(w * (-e / -e.sum(axis=1)[:, None]))


def two_quotients(x, w):
    e = np.exp(x)
    s = e.sum(axis=1)[:, None]
    return np.sum(w * (e / s) + np.sin(e) / s) + np.sum(s * e)


def normed(x, w):
    away = x - x.mean(axis=1, keepdims=True)
    return np.sum(w * away / np.sqrt(np.mean(away * away, axis=1, keepdims=True) + 0.1))


def scaled_rows(x, w):
    return np.sum((w * x / np.sum(x * x, axis=1)[:, None]) @ x.T)


PROGRAMS = [of_scipy, by_hand, of_columns, whole, negative, two_quotients, normed, scaled_rows]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    g = np.random.default_rng(3)
    x, w, d = (g.normal(size=(3, 4)) for _ in range(3))
    slope, _ = truth.ridders(lambda t: f(x + t * d, w), 1e-2)
    eager, compiled = jitad.grad(f)(x, w), jitad.jit_grad(f)(x, w)
    assert np.sum(eager * d) == pytest.approx(slope, rel=1e-8)
    np.testing.assert_allclose(compiled, eager, rtol=1e-12, atol=1e-14)
    bend, _ = truth.ridders(lambda t: np.sum(d * jitad.grad(f)(x + t * d, w)), 1e-2)
    assert np.sum(d * jitad.jit_hvp(f)(x, d, w)) == pytest.approx(bend, rel=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
def test_single_precision(f):
    x, w = (np.random.default_rng(4).normal(size=(3, 4)).astype("f4") for _ in range(2))
    eager, compiled = jitad.grad(f)(x, w), jitad.jit_grad(f)(x, w)
    assert compiled.dtype == np.float32
    np.testing.assert_allclose(compiled, eager, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("f", [of_scipy, lambda x, w: of_scipy(x, np.sin(w))])
def test_a_softmax_keeps_its_result_alone(f):
    slope = jitad.jit_grad(f)
    slope(np.ones((3, 4)), np.ones((3, 4)))
    tape = slope.tape("fold")
    quotient, of = next(
        (line.split(":")[0].strip(), line.split(" div ")[1].split()[0])
        for line in tape.splitlines() if " div " in line and "f8[:,:]" in line
    )  # fmt: skip
    behind = tape.split(f" {quotient}:")[1].split("\n", 1)[1]
    words = behind.split()
    assert quotient in words and of not in words
    assert " div " not in behind


def test_extremes_stay_finite():
    """Rows whose smallest terms underflow, as a softmax has them."""
    x = np.array([[0.0, -800.0, -1e5], [700.0, -700.0, 0.0]])
    w = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = softmax(x, axis=1)
    want = y * (w - np.sum(w * y, axis=1, keepdims=True))
    np.testing.assert_allclose(jitad.jit_grad(of_scipy)(x, w), want, rtol=1e-12, atol=1e-300)
