"""Is a division by a number that is known before a loop still that division, to the last bit?"""

import itertools
import re

import numpy as np
import pytest

from jitad import jit, jit_value_and_grad
from jitad.emit import native
from jitad.specialise.quotients import quotients
from jitad.tape.types import FLOAT, INT
from jitad.values.number import o
from tests.specialise.passes import keeps, twin
from tests.specialise.tapes import V, for_, in_loops, ops, run, tape_of

MANY = '''
from jitad.emit.preamble import quotient, rescale
def divide(x, d, out):
    scale = rescale(d)
    moderate = d * scale
    inverse = 1.0 / moderate
    for i in range(x.shape[0]):
        out[i] = quotient(x[i], moderate, inverse, scale)
'''
INF, NAN, TINY, MOST = np.inf, np.nan, 5e-324, np.finfo(float).max
EDGES = [0.0, 1.0, 3.0, INF, NAN, MOST, 1e300, 1e-290, 2.0**-1022]
DIVISORS = [*EDGES, TINY, 1e-310, 2.0**-1023, 2.0**1023, 1.7e308, 1 / 3, np.pi, 1 - 2.0**-53]


def divided(x, d):
    out = np.empty_like(x)
    native.compile(MANY, "divide")(x, d, out)
    with np.errstate(all="ignore"):
        return out, x / np.float64(d)


def same_bits(got, want):
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got), nan)
    np.testing.assert_array_equal(got[~nan].view("i8"), want[~nan].view("i8"))


@pytest.mark.parametrize("d", [s * d for d in DIVISORS for s in (1.0, -1.0)])
def test_edges(d):
    x = np.array([s * e for e in EDGES for s in (1.0, -1.0)])
    same_bits(*divided(x, d))


def test_random_numbers():
    rng = np.random.default_rng(1)
    for _ in range(50):
        d = float(rng.uniform(1.0, 2.0)) * 2.0 ** int(rng.integers(-300, 300))
        x = rng.uniform(-2.0, 2.0, 4000) * 2.0 ** rng.integers(-600, 600, 4000)
        same_bits(*divided(x, d))


def test_hard_cases():
    """Quotients next to a halfway point: multiples of d and what is one or two bits off."""
    rng = np.random.default_rng(2)
    for d in (3.0, 49.0, 10.0, np.pi, 2.0 - 2.0**-52, 1.0 + 2.0**-52):
        k = rng.integers(2**52, 2**53, 4000).astype(float)
        x = k * d
        for near in (x, np.nextafter(x, INF), np.nextafter(x, 0.0)):
            same_bits(*divided(near, d))


def test_the_smallest_numbers_differ_by_a_bit_at_most():
    rng = np.random.default_rng(3)
    x = rng.uniform(-2.0, 2.0, 4000) * 2.0 ** rng.integers(-1074, -960, 4000)
    for d in (3.0, 7e-300, 1e300, np.pi):
        got, want = divided(x, d)
        assert np.all(np.abs(got - want) <= np.spacing(np.abs(want)))


# -- which divisions -----------------------------------------------------------------------------


def scaled(count, body):
    """y[i] = body(x[i], d, i, carried), carried being what it gave before."""
    def f(b, x, d, n):
        def step(i, y, before):
            v = body(o.load(x, i), d, i, before)
            return [o.store(y, v, i), v]

        return for_(b, 0, 1, count or n, [x, 1.0], step)[0]

    return tape_of([("x", V), ("d", FLOAT), ("n", INT)], f)


X = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, -6.0, 5.0, 0.5])
POINTS = [(X, d, n) for d, n in itertools.product((3.0, -0.1), (10, 1, 0))]


def test_a_loop_divides_by_what_it_is_given():
    after = keeps(quotients, scaled(0, lambda x, d, i, c: x / d), *POINTS)
    assert len(in_loops(after, "quotient")) == 1


@pytest.mark.parametrize(
    "body",
    [
        lambda x, d, i, c: o.floor(x / d + 1.0),  # 49 * (1 / 49) is less than 1
        lambda x, d, i, c: o.where(o.gt(x / d, 1.0), x, d),
        lambda x, d, i, c: o.where(o.gt(x, 1.0), -(x / d), 0.0),  # seen by itself
    ],
)
def test_a_last_bit_that_matters(body):
    after = keeps(quotients, scaled(0, body), *POINTS)
    assert len(in_loops(after, "quotient")) == 1


def test_a_last_bit_that_decides_nothing():
    tape = scaled(0, lambda x, d, i, c: x / d * 1.5)
    after = quotients(twin(tape)).body
    assert not in_loops(after, "quotient")
    divisors = [s * d for d in DIVISORS for s in (1.0, -1.0)]
    numbers = np.array([*EDGES, -7.0, -TINY, 1e-300, 2.0**-1060])
    for d in divisors:
        with np.errstate(all="ignore"):
            got, want = run(after, numbers, d, len(numbers))[0], numbers / d * 1.5
            close = np.abs(got - want) <= 5e-16 * np.abs(want) + 3 * TINY
        assert np.all(close | (got == want) | (np.isnan(got) & np.isnan(want))), (d, got, want)


@pytest.mark.parametrize(
    "tape",
    [
        scaled(0, lambda x, d, i, c: c / d),  # waits for the iteration before
        scaled(0, lambda x, d, i, c: x / (x + d)),  # another divisor each time
        scaled(0, lambda x, d, i, c: x / 4.0),  # LLVM multiplies by a quarter
        scaled(0, lambda x, d, i, c: d / 3.0 * x),  # leaves the loop
        scaled(5, lambda x, d, i, c: x / d),  # too short
    ],
)
def test_others_stay(tape):
    assert not ops(keeps(quotients, tape, *POINTS), "quotient")


def smoothed(x, d):
    """Each element waits for the one before, in memory; only what comes of them is seen."""
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = (y[i] + y[i - 1]) / d
    return np.sum(y * y)


def smoothed_number(x, d):
    s, total = 0.0, 0.0
    for i in range(len(x)):
        s = (s + x[i]) / d
        total += s * s
    return total


def smoothed_up_to(x, d):
    s, total = 0.0, 0.0
    for i in range(len(x)):
        s = (s + x[i]) / d
        total += s if s > 0.25 else 0.0
    return total


@pytest.mark.parametrize("f", [smoothed, smoothed_number])
@pytest.mark.parametrize("d", [9.0, -3.0, 1e-3, 0.1])
def test_a_recurrence_whose_last_bit_decides_nothing_does_not_wait_for_divisions(f, d):
    rng = np.random.default_rng(4)
    x = rng.normal(size=20)
    g = jit_value_and_grad(f)
    value, slope = g(x, d)
    np.testing.assert_allclose(value, f(x, d), rtol=1e-13)
    truth = [f(x + 1e-30j * e, d).imag / 1e-30 for e in np.eye(len(x))]
    np.testing.assert_allclose(slope, truth, rtol=1e-11)
    assert not re.search(r"^ {8}.*( / |quotient\()", g.source, re.MULTILINE), g.source


def test_a_recurrence_that_decides_divides():
    x = np.random.default_rng(5).normal(size=40)
    value, _ = jit_value_and_grad(smoothed_up_to)(x, 3.0)
    assert value == smoothed_up_to(x, 3.0)


def test_arrays():
    after = keeps(quotients, tape_of([("x", V), ("d", FLOAT)], lambda b, x, d: x / d), (X, 3.0))
    assert len(ops(after, "quotient")) == 1


def normalised(x, d):
    total = 0.0
    for i in range(len(x)):
        total += np.floor(x[i] / d) + x[i] / d
    return total


def test_a_floor_of_a_whole_quotient():
    """49 * (1 / 49) is less than 1."""
    x = np.arange(1.0, 100.0) * 49.0
    assert jit(normalised)(x, 49.0) == normalised(x, 49.0)
    value, slope = jit_value_and_grad(normalised)(x, 49.0)
    assert value == normalised(x, 49.0)
    np.testing.assert_allclose(slope, 1 / 49)
