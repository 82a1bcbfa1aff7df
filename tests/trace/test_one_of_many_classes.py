"""Is an object of one of several classes, chosen by a traced index or number, met as in Python?

A choice among three is a choice between one and a choice between two: what the inner one made is
as new to the outer one as what its branches made.
"""

import math

import numpy as np
import pytest

import jitad
from tests import truth


class Law:
    def __init__(self, theta):
        self.theta = theta


class Power(Law):
    def of(self, u):
        return u**self.theta


class Decay(Law):
    def of(self, u):
        return np.exp(-self.theta * u)


class Wave(Law):
    def __init__(self, theta, phase=0.3):
        super().__init__(theta)
        self.shift = {"phase": phase, "at": [theta, 1.0]}

    def of(self, u):
        return np.sin(self.shift["at"][0] * u + self.shift["phase"])


class Ratio(Law):
    def of(self, u):
        self.theta = self.theta + 1.0
        return u / self.theta


LAWS = [Power, Decay, Wave, Ratio]


def by_position(theta, u):
    """The loop ends with the shorter of the two, hence is one of the tape."""
    return sum(np.sum(law(t).of(u)) for law, t in zip(LAWS, theta, strict=False))


def by_number(theta, u):
    total = 0.0
    for t in theta:
        law = Power(t) if t > 1.0 else Decay(t) if t > 0.8 else Wave(t) if t > 0.6 else Ratio(t)
        law.theta *= 1.5
        total += np.sum(law.of(u)) + law.theta
    return total


def kept_on(theta, u):
    last = None
    for k in range(len(theta)):
        if theta[k] > 1.0:
            last = Power(theta[k])
        elif theta[k] > 0.8:
            last = Decay(theta[k])
        elif last is None or math.sin(9.0 * theta[k]) > 0.5:
            last = Wave(theta[k])
        else:
            last.theta = last.theta + 0.5
    return np.sum(last.of(u)) + last.theta


@pytest.mark.parametrize("operator", [jitad.value_and_grad, jitad.jit_value_and_grad])
@pytest.mark.parametrize("f", [by_position, by_number, kept_on])
def test_the_class_that_it_is(f, operator):
    g = operator(f)
    u = np.array([0.2, 0.7, 1.1])
    for theta in ([0.7, 1.1, 0.9, 0.5], [1.3, 0.9, 0.65], [0.65, 0.5], [0.9, 0.55, 0.5, 1.2, 0.3]):
        x = np.array(theta)
        value, slope = g(x, u)
        assert value == pytest.approx(f(x, u), rel=1e-12)
        for direction in truth.directions((x,), (0,)):
            expected, _ = truth.differences(lambda x: f(x, u), (x,), (0,), direction, 1e-3)
            assert np.sum(slope * direction[0]) == pytest.approx(expected, rel=1e-7, abs=1e-7)
