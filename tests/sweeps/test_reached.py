"""Has what is not reached no part in a derivative, though it be infinite there?

Each function takes one path; the slope is that of what it computes there, written by hand.  Values
off the path overflow, or have an infinite derivative.  Both modes agree, in all engines.
"""

import math

import numpy as np
import pytest

import jitad
from tests.engines import ENGINES


def decides_and_is_used(x):
    y = np.exp(400.0 * x)
    return y if y < np.inf else 3.0 * x


def used_after_its_chain_decides(x):
    y = np.exp(400.0 * x)
    z = 2.0 * y + np.sin(y)
    if z < 1e300:
        return z * z
    return np.cos(x)


def used_in_one_of_nested_branches(x):
    y = 1.0 / (x - 2.0)
    if y < np.inf:
        if x < 1.0:
            return y * x
        return 5.0 * x
    return x * x


def one_of_two_conditions(x):
    y = np.exp(400.0 * x)
    total = 2.0 * x
    if y < 10.0:
        total += y
    if y < 1e300:
        total += 0.5 * y
    return total


def factor_of_a_product(x):
    c = x * 3.0
    z = np.exp(400.0 * x) * c
    return z if z < np.inf else c


def loops_on_either_path(x):
    y = np.exp(400.0 * x)
    z = y if y < np.inf else 3.0 * x
    total = 2.0 * x
    if x > 0.5:
        for k in range(int(x > 0.1) + 1):
            total += z * k
    else:
        for k in range(int(x < 10.0) + 2):
            total -= z * k
    return total


def loop_that_may_not_run(x):
    y = np.exp(400.0 * x)
    total = 2.0 * x
    for _ in range(int(y < np.inf) * 3):
        total += y
    return total


def while_that_may_not_run(x):
    y = np.exp(400.0 * x)
    total = 2.0 * x
    left = 2 if y < np.inf else 0
    while left > 0:
        total = total + y
        left -= 1
    return total


def in_each_iteration(x):
    total = 0.0
    for k in range(6):
        y = np.exp(100.0 * k * x)
        if y < np.inf:
            total += 1.0 / y
        else:
            total += 0.25 * x
    return total


def last_state_is_not_used(x):
    total, s = 0.0, x
    for _ in range(3):
        total += s
        s = np.exp(10.0 * s)
    return total


def state_that_is_dropped(x):
    s = x
    for k in range(8):
        s = np.exp(s)
        if k == 5:
            s = 2.0 * x
    return s


def stops_where_it_overflows(x):
    total, s = 0.0, x
    for _ in range(9):
        if s < 1e100:
            total += s
        s = np.exp(s)
    return total


def condition_of_an_array(x):
    a = np.exp(400.0 * x * np.array([1.0, 2.0]))
    return np.sum(a) if np.all(a < np.inf) else 7.0 * x


def by_a_choice_of_numbers(x):
    y = np.exp(400.0 * x)
    return np.where(y < np.inf, np.log(y), 3.0 * x)


def root_of_a_maximum(x):
    return np.sqrt(max(x, 0.0)) + x


def root_of_a_choice(x):
    v = x if x > 0.0 else 0.0
    return np.sqrt(v) + x


def power_of_a_minimum(x):
    return min(-x, 0.0) ** 0.5 + x if x < 0.0 else np.maximum(-x, 0.0) ** 0.5 + x


def logarithm_of_a_clipped_number(x):
    return np.log(np.clip(x, 0.0, 1.0)) * 0.0 + x if x > 0.5 else np.sqrt(np.clip(x, 0.0, 9.0)) + x


def quotient_by_what_was_chosen(x):
    d = x if x > 0.0 else 0.0
    return np.divide(1.0, d) if x > 0.0 else np.minimum(np.sqrt(d), 1.0) + x


def speed_from_rest(x):
    v, path = 0.0, 0.0
    for _ in range(3):
        path += np.sqrt(v * v)
        v += x
    return path


def roots_of_maxima(x):
    a = np.array([x, -x, 2.0 * x])
    return np.sum(np.sqrt(np.maximum(a, 0.0))) + x


def roots_of_choices(x):
    a = np.array([x, -x, 2.0 * x])
    return np.sum(np.sqrt(np.where(a > 0.0, a, 0.0))) + x


def roots_of_clipped(x):
    a = np.array([x, -x, 2.0 * x])
    return np.sum(np.sqrt(np.clip(a, 0.0, 9.0)) * 3.0) + x


def _finite(x, k):
    return 100.0 * k * x < 709.0


def _exp_chain(x):
    """Slopes of x, exp(x), exp(exp(x)), ..., and those values."""
    s, d, out = x, 1.0, []
    for _ in range(9):
        out.append((s, d))
        if s > 700.0:
            break
        s, d = math.exp(s), d * math.exp(s)
    return out


BIG = 2.3  # where exp(400 x) is infinite
SLOPES = {
    decides_and_is_used: lambda x: 3.0 if x == BIG else 400.0 * math.exp(400.0 * x),
    used_after_its_chain_decides: lambda x: -math.sin(x) if x == BIG else (
        2.0 * (2.0 * math.exp(400.0 * x) + math.sin(math.exp(400.0 * x)))
        * (2.0 + math.cos(math.exp(400.0 * x))) * 400.0 * math.exp(400.0 * x)),
    used_in_one_of_nested_branches: lambda x: 5.0 if x == BIG else -2.0 / (x - 2.0) ** 2,
    one_of_two_conditions: lambda x: 2.0 if x == BIG else 2.0 + 600.0 * math.exp(400.0 * x),
    factor_of_a_product: lambda x: 3.0 if x == BIG else (3.0 + 1200.0 * x) * math.exp(400.0 * x),
    loops_on_either_path: lambda x: 5.0 if x == BIG else 2.0 - 1200.0 * math.exp(400.0 * x),
    loop_that_may_not_run: lambda x: 2.0 if x == BIG else 2.0 + 1200.0 * math.exp(400.0 * x),
    while_that_may_not_run: lambda x: 2.0 if x == BIG else 2.0 + 800.0 * math.exp(400.0 * x),
    in_each_iteration: lambda x: sum(-100.0 * k * math.exp(-100.0 * k * x) if _finite(x, k)
                                     else 0.25 for k in range(6)),
    last_state_is_not_used: lambda x: 1.0 + 10.0 * math.exp(10.0 * x) * (
        1.0 + 10.0 * math.exp(min(10.0 * math.exp(10.0 * x), 700.0))),
    state_that_is_dropped: lambda x: 2.0 * math.exp(2.0 * x) * math.exp(math.exp(2.0 * x)),
    stops_where_it_overflows: lambda x: sum(d for s, d in _exp_chain(x) if s < 1e100),
    condition_of_an_array: lambda x: 7.0 if x == BIG else (
        400.0 * math.exp(400.0 * x) + 800.0 * math.exp(800.0 * x)),
    by_a_choice_of_numbers: lambda x: 3.0 if x == BIG else 400.0,
    root_of_a_maximum: lambda x: 1.0 + (0.5 / math.sqrt(x) if x > 0.0 else 0.0),
    root_of_a_choice: lambda x: 1.0 + (0.5 / math.sqrt(x) if x > 0.0 else 0.0),
    power_of_a_minimum: lambda x: math.nan if x < 0.0 else 1.0,
    logarithm_of_a_clipped_number: lambda x: 1.0,
    quotient_by_what_was_chosen: lambda x: -1.0 / x**2 if x > 0.0 else 1.0,
    speed_from_rest: lambda x: 3.0 * math.copysign(1.0, x),
    roots_of_maxima: lambda x: 1.0 + (0.5 * (1.0 + math.sqrt(2.0)) / math.sqrt(x) if x > 0.0
                                      else -0.5 / math.sqrt(-x)),
    roots_of_choices: lambda x: 1.0 + (0.5 * (1.0 + math.sqrt(2.0)) / math.sqrt(x) if x > 0.0
                                       else -0.5 / math.sqrt(-x)),
    roots_of_clipped: lambda x: 1.0 + 3.0 * (0.5 * (1.0 + math.sqrt(2.0)) / math.sqrt(x) if x > 0.0
                                             else -0.5 / math.sqrt(-x)),
}  # fmt: skip
POINTS = {
    last_state_is_not_used: (0.3, -0.1), state_that_is_dropped: (0.3, -1.1),
    logarithm_of_a_clipped_number: (BIG, -1.3), power_of_a_minimum: (BIG,),
    used_in_one_of_nested_branches: (BIG, 0.5), decides_and_is_used: (BIG, -1e-3),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("f", SLOPES, ids=lambda f: f.__name__)
def test_slopes(f, engine):
    for x in POINTS.get(f, (BIG, -1.3e-3, -0.7)):
        for operator in (jitad.grad, jitad.derivative):
            got = ENGINES[engine](operator(f), x)
            want = SLOPES[f](x)
            assert got == pytest.approx(want, rel=1e-11), (operator.__name__, x)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("engine", ["tape", "eager"])
@pytest.mark.parametrize("f", [decides_and_is_used, root_of_a_maximum, roots_of_maxima,
                               in_each_iteration], ids=lambda f: f.__name__)  # fmt: skip
def test_second_derivatives(f, engine):
    """Against differences of the slopes; of reverse over reverse, forward over reverse, ..."""
    for x in (BIG, -1e-2):
        h = 1e-6
        want = (SLOPES[f](x + h) - SLOPES[f](x - h)) / (2.0 * h) if x != BIG or "root" in (
            f.__name__) else 0.0  # fmt: skip
        for outer in (jitad.grad, jitad.derivative):
            for inner in (jitad.grad, jitad.derivative):
                got = ENGINES[engine](outer(inner(f)), x)
                assert got == pytest.approx(want, rel=1e-4, abs=1e-6), (outer, inner, x)


def by_two_conditions(x, p):
    logs, none = np.log(x), x == 0.0
    return np.where(none, 0.0, logs) + np.where(none, np.where(p == 0.0, logs, 7.0 * p), 0.0)


def by_one_of_two(x, p):
    roots = np.sqrt(x)
    return np.where(x > 0.0, roots, x) * np.where(p > 2.0, roots, p)


def by_many_of_one(x, p):
    logs, none = np.log(x), x == 0.0
    finite = np.where(none, 0.0, logs)
    small = np.abs(p * finite) < 1.0
    inside, total = np.where(small, p * finite, 0.0), 0.0
    for k in range(18):
        total = total * inside + 1.0 / (k + 1.0)
    return np.where(none, np.where(p == 0.0, logs, x * p), np.where(small, total, 1.0) * finite)


@pytest.mark.parametrize("f, slope", [(by_two_conditions, 0.0), (by_one_of_two, 1.0),
                                      (by_many_of_one, 1.0)])  # fmt: skip
def test_sums_of_what_several_conditions_choose(f, slope):
    """Of elements, too: a sum is reached where one of its terms is."""

    def summed(x, p):
        return np.sum(f(x, p))

    for x, p in ((0.0, 1.0), (np.zeros(3), 1.0), (np.zeros(3), np.ones(3))):
        for way in (jitad.grad, jitad.jit_grad):
            assert np.all(way(summed)(x, p) == slope)
        if np.ndim(x):
            for way in (jitad.jvp, lambda f, x, t: jitad.jit_jvp(f)(x, t)):
                moved = way(lambda x, p=p: summed(x, p), (x,), (np.ones(3),))[1]
                assert moved == 3.0 * slope


def _filled(x, b):
    b[:] = 2.0 * x[3]
    return np.sum(b)


OVERWRITTEN = {  # an infinity or a nan, or an infinite slope where 0 was written
    "a product": (lambda x: _filled(x, (1.0 / (x - 1.0)) ** 2 * x), [0.0, 0.0, 0.0, 8.0]),
    "a matrix": (lambda x: _columns(np.outer(x, x) / (x - 1.0), x), [8.0, 8.0, 8.0, 8.0]),
    "by fill": (lambda x: _after_fill(np.log(x - 1.0)) * x[1], [0.0, 8.0, 0.0, 0.0]),
    "in rounds": (lambda x: _rounds(np.sqrt(x - 1.0), x), [0.0, 12.0, 0.0, 0.0]),
    "read before": (lambda x: _read_before(1.0 / x), [0.0, -0.25, 0.0, 0.0]),
    "roots of zeros": (lambda x: _roots(x[1] * np.ones(4)) + x[2], [0.0, 0.0, 1.0, 0.0]),
}


def _columns(b, x):
    b[:, :] = 2.0 * x
    return np.sum(b)


def _after_fill(b):
    b.fill(2.0)
    return np.sum(b)


def _rounds(b, x):
    total = 0.0
    for i in range(3):
        b[:] = i * x[1]
        total += np.sum(b)
    return total


def _read_before(b):
    first = b[1]
    b[:] = 2.0
    return np.sum(b) + first


def _roots(b):
    b[:] = 0.0
    for _ in range(3):
        b[:] = b**0.5
    return np.sum(b)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("which", OVERWRITTEN)
def test_of_an_array_that_is_overwritten_nothing_is_left(which, engine):
    f, want = OVERWRITTEN[which]
    x = np.array([1.0, 2.0, 3.0, 4.0])
    for operator in (jitad.grad, jitad.jacfwd):
        assert ENGINES[engine](operator(f), x) == pytest.approx(np.array(want), rel=1e-12)
