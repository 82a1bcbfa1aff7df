"""Do `interp` and `digitize` give what NumPy gives where knots coincide or numbers are infinite?"""

import numpy as np
import pytest

import jitad
from jitad.errors import JitadValueError

INF, NAN = np.inf, np.nan


def line(x, xp, fp):
    return np.interp(x, xp, fp)


def bounded(x, xp, fp):
    return np.interp(x, xp, fp, left=-7.0, right=9.0)


def drawn(rng):
    n = int(rng.integers(1, 6))
    knots = [-INF, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, INF]
    xp = np.sort(rng.choice(knots, n, replace=rng.random() < 0.3))
    fp = rng.choice([0.0, 1.0, 2.0, -1.0, 5.0, INF, -INF, NAN], n)
    if rng.random() < 0.5:
        fp = np.where(np.isfinite(fp), fp, 1.5)
    at = [-INF, -1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, INF, NAN]
    return rng.choice(at, 7), xp, fp


@pytest.mark.parametrize("f", [line, bounded])
def test_interp(f):
    rng = np.random.default_rng(5)
    compiled = jitad.jit(f, fallback=False)
    for _ in range(200):
        x, xp, fp = drawn(rng)
        with np.errstate(all="ignore"):
            expected = f(x, xp, fp)
            np.testing.assert_allclose(compiled(x, xp, fp), expected, rtol=1e-12)
            value, _ = jitad.vjp(f, x, xp, fp)
        np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_slopes_are_those_of_the_pieces():
    xp, fp = np.array([0.0, 1.0, 3.0]), np.array([1.0, 3.0, -1.0])
    for gradient in (jitad.grad(line), jitad.jit_grad(line, fallback=False)):
        slopes = [gradient(x, xp, fp) for x in (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0)]
        np.testing.assert_allclose(slopes, [0.0, 2.0, 2.0, -2.0, -2.0, -2.0, 0.0])


def test_one_knot():
    for gradient in (jitad.grad(line, (0, 2)), jitad.jit_grad(line, (0, 2), fallback=False)):
        by_x, by_value = gradient(0.25, np.array([0.5]), np.array([2.0]))
        assert by_x == 0.0 and by_value == [1.0]


@pytest.mark.parametrize("xp, fp", [([0.0, 1.0], [1.0]), ([0.0], [1.0, 2.0])])
def test_lengths_that_differ(xp, fp):
    for f in (jitad.jit(line, fallback=False), lambda *args: jitad.vjp(line, *args)):
        with pytest.raises(JitadValueError, match="not of the same length"):
            f(np.ones(2), np.array(xp), np.array(fp))


@pytest.mark.parametrize("bins", [
    [0.0, 1.0, 2.0], [2.0, 1.0, 1.0], [1.0, 1.0], [1.0], [], [0.0, 1.0, INF, NAN, NAN], [-INF, 0.0],
])  # fmt: skip
def test_digitize(bins):
    x, bins = np.array([-1.0, 0.0, 0.5, 1.0, 2.5, INF, NAN]), np.array(bins)

    def places(x, bins):
        return np.digitize(x, bins), np.digitize(x, bins, right=True)

    for found in (jitad.jit(places, fallback=False)(x, bins), jitad.vjp(places, x, bins)[0]):
        for got, expected in zip(found, places(x, bins), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_what_numpy_refuses():
    with pytest.raises(JitadValueError, match="monotonically"):
        jitad.jit(np.digitize, fallback=False)(np.ones(2), np.array([0.0, 2.0, 1.0]))
    with pytest.raises(TypeError, match="bool"):
        jitad.jit(lambda x: np.ediff1d(x), fallback=False)(np.array([True, False]))
