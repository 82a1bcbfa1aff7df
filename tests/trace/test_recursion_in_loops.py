"""Do functions that call themselves stay short where loops that call them could be written out?"""

import pytest

import jitad
from tests.engines import on_tape
from tests.truth import differences


def powers(x):
    power = lambda n: 1.0 if n == 0 else x * power(n - 1)
    return sum(power(n) * 0.5**n for n in range(60))


def powers_while(x):
    def power(n):
        return 1.0 if n == 0 else x * power(n - 1)

    s, n = 0.0, 0
    while n < 60:
        s += power(n) * 0.5**n
        n += 1
    return s


class Words:
    """A parser that knows the next word, in loops that could go on for long."""

    def __init__(self, words, x):
        self.words, self.x, self.at = words.split(), x, 0

    def take(self, *words):
        if self.at < len(self.words) and self.words[self.at] in words:
            self.at += 1
            return self.words[self.at - 1]
        return None

    def sum(self):
        v = self.product()
        while (op := self.take("+", "-")) is not None:
            v = v + self.product() if op == "+" else v - self.product()
        return v

    def product(self):
        v = self.power()
        while self.take("*"):
            v *= self.power()
        return v

    def power(self):
        v = self.atom()
        return v ** self.power() if self.take("^") else v

    def atom(self):
        if self.take("("):
            v = self.sum()
            self.take(")")
            return v
        return self.x if self.take("x") else float(self.take("1", "2", "3"))


def parsed(x):
    return Words("x * ( x + 3 ) ^ 2 - 2 * x + ( 3 - x * ( x - 1 ) ) * x - x ^ 3 * 2 + 1", x).sum()


@pytest.mark.parametrize("f", [powers, powers_while, parsed])
def test_calls_in_loops_that_could_be_written_out(f):
    expected, _ = differences(f, (0.9,), (0,), [1.0])
    for slope in (jitad.grad(f), jitad.derivative(f)):
        for run in (slope, lambda x, slope=slope: on_tape(slope, x)):
            assert run(0.9) == pytest.approx(expected, rel=1e-7)
    assert jitad.jit(f, fallback=False)(0.9) == pytest.approx(f(0.9), rel=1e-13)
