"""Do masked arrays give what NumPy's give, and derivatives of what counts alone?"""

import numpy as np
import pytest

from jitad import JitadError, grad, jit, jit_grad

X = np.array([0.3, 0.7, 0.5, 0.9])
SEEN = np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[0, 1, 0, 0])


def made(x):
    m = np.ma.array(x, mask=x > 0.8)
    below = np.ma.masked_less(x, 0.4)
    return [
        below.mean(), below.sum(), np.ma.masked_where(x > 0.8, x**2).std(ddof=1),
        ((m - m.mean()) / m.std()).filled(0.0) @ np.arange(4), m.var(), m.max() - m.min(),
        m.count() * x[0], m.prod(), (np.ma.masked_not_equal(np.arange(4), 2) * x).sum(),
        np.ma.log(np.ma.masked_invalid(np.where(x > 0.6, np.nan, x))).sum(),
        (np.ma.masked_outside(x, 0.4, 0.8).anom() ** 2).sum(),
    ]  # fmt: skip


def from_outside(x):
    return [((SEEN - x) ** 2).mean(), (x * SEEN).sum(), (SEEN / x).compressed()[1],
            np.mean(SEEN) * x[1], (np.exp(SEEN) * x).sum(), SEEN[2] * x[3]]  # fmt: skip


def asked(x):
    below, wide = np.ma.masked_less(x, 0.4), np.ma.masked_greater(np.outer(x, x), 0.4)
    return [
        np.sum(below), np.exp(below).sum(), below[1:].sum(), below[below > 0.6].sum(), below[2],
        len(below) * x[1], (-below + 1.0 - x).sum(), (2.0 / below).sum(), abs(below).max(),
        wide.mean(axis=0).sum(), (wide.sum(axis=1) ** 2).filled(0.0).sum(), wide.T[0].sum(),
        wide.reshape(-1)[:3].sum(), np.ma.average(below, weights=x), np.ma.median(below),
        np.ma.sqrt(x - 0.6).sum(), (x / np.ma.array(x * np.arange(4))).sum(),
        np.ma.getmaskarray(below)[0] * x[1],
    ]  # fmt: skip


@pytest.mark.parametrize("f", [made, from_outside, asked])
def test_derivatives(f):
    weights = np.cos(np.arange(20.0))

    def loss(x):
        return sum(w * v for w, v in zip(weights, f(x), strict=False))

    h = 1e-6
    want = [(loss(X + h * e) - loss(X - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(jit(f, fallback=False)(X), f(X), rtol=1e-12)
    for derive in (grad, jit_grad):
        np.testing.assert_allclose(derive(loss)(X), want, rtol=1e-6, atol=1e-6)


def test_what_does_not_count_has_no_part():
    """Though there be no number."""

    def f(x):
        return np.ma.masked_invalid(1.0 / x).sum() + np.ma.array(np.log(x), mask=x <= 0.0).sum()

    x = np.array([0.0, 0.5])
    with np.errstate(all="ignore"):
        for derive in (grad, jit_grad):
            np.testing.assert_allclose(derive(f)(x), [0.0, -2.0], rtol=1e-12)


@pytest.mark.parametrize("f, what", [
    (lambda x: np.ma.masked_less(x, 4.0).mean(), "all elements are masked"),
    (lambda x: np.ma.masked_less(x, 4.0)[0], "this element is masked"),
    (lambda x: np.sort(np.ma.masked_less(x, 0.4)).sum(), "sort of a masked array"),
    (lambda x: np.ma.masked_less(x, 0.4).dot(x), "'dot' of a masked array"),
])  # fmt: skip
def test_refusals(f, what):
    with pytest.raises(JitadError, match=what):
        jit_grad(f, fallback=False)(X)


def test_an_argument_says_what_to_pass():
    with pytest.raises(JitadError, match="filled"):
        jit_grad(lambda x, seen: ((seen - x) ** 2).mean())(X, SEEN)
