"""Does a loop over a generator that is left at once leave the generator's variables alone?

The generator waits in a loop of the kernel; no path goes on with it, so what its variables would be
then is asked by nobody.
"""

import numpy as np
import pytest

from tests.trace.running import kernel_or_refusal


def _some(x):
    return [v for v in (0.3 * x, 0.7, -0.4 * x, 1.2 * x) if v > 0.1]


def _in_turn(values):
    k = 0
    while k < len(values):
        yield values[k]
        k += 1


def _counted(values):
    n = 0
    for v in _in_turn(values):
        yield n, v
        n += 1


def the_first(x):
    for v in _in_turn(_some(x)):
        return v * v
    return 0.0


def broken_at_once(x):
    values, s = _some(x), 0.0
    for v in _in_turn(values):
        s += v
        values.append(v)
        break
    return s + len(values)


def broken_through_two(x):
    values, s = _some(x), 0.0
    for n, v in _counted(values):
        s += v + n
        values.append(v)
        break
    return s + sum(values)


def broken_later(x):
    s = 0.0
    for n, v in _counted(_some(x)):
        s += v + n
        if s > x:
            break
    return s


def raised_at_once(x):
    s = 0.0
    try:
        for v in _in_turn(_some(x)):
            s += v
            raise ValueError
    except ValueError:
        s += 10.0
    return s


def asked_for_the_next(x):
    n, v = next(_counted(_some(x)), (0, 1.0))
    return v * (n + 1.0) + next(_in_turn(_some(2.0 * x)))


def handed_on(x):
    def through(values):
        yield from values
        yield from _in_turn(values)

    return sum(k * v for k, v in enumerate(through(_some(x))))


@pytest.mark.parametrize("f", [the_first, broken_at_once, broken_through_two, broken_later,
                               raised_at_once, asked_for_the_next, handed_on])  # fmt: skip
def test_it_is_a_kernel(f):
    assert kernel_or_refusal(f, (1.1, 0.6, 2.3), "none is refused")


def test_its_numbers_are_right():
    assert the_first(2.0) == 0.36
    np.testing.assert_allclose(handed_on(1.0), 0.7 + 2.4 + 0.9 + 2.8 + 6.0)
