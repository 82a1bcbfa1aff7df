"""Are slices of ranges of traced bounds those of Python?"""

import itertools

import numpy as np

from tests.engines import as_emitted, on_tape

BOUNDS = (None, 0, 2, -1, -3, 9)


def sliced(n, start, stop, step):
    return [digits(range(n)[start:stop:step]), digits(range(n, 1, -2)[start:stop:step])]


def digits(indices):
    number = len(indices)
    for i in indices:
        number = 11 * number + i + 1
    return number


def test_all():
    cases = [(a, b, s) for a, b, s in itertools.product(BOUNDS, BOUNDS, (None, 2, -1, -2))]

    def all_of(n):
        return [x for case in cases for x in sliced(n, *case)]

    for n in (5, 0):
        assert on_tape(all_of, n) == all_of(n)


def test_reversed_loop():
    def f(x):
        total = 0.0
        for i in range(len(x))[::-1]:
            total = 2.0 * total + x[i]
        return total

    assert as_emitted(f, np.array([1.0, 10.0, 100.0])) == 421.0
