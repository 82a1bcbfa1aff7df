"""Do `sorted`, and `min` and `max` with a key, order traced values as Python orders numbers?"""

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.engines import natively, on_tape

PROGRAMS = {
    "sorted": lambda x: sorted(x),
    "reversed": lambda x: sorted(x, reverse=True),
    "by key": lambda x: sorted([e * 1.0 for e in x], key=lambda e: (e - 0.5) ** 2),
    "stable": lambda x: sorted(zip(x, range(len(x)), strict=True), key=lambda p: p[0] > 0.0),
    "stable, reversed": lambda x: sorted(
        zip(x, range(len(x)), strict=True), key=lambda p: p[0] > 0.0, reverse=True
    ),
    "min": lambda x: min(x, key=lambda e: e * e),
    "first min": lambda x: min(zip(x, range(len(x)), strict=True), key=lambda p: p[0] > 0.0),
    "first max": lambda x: max(zip(x, range(len(x)), strict=True), key=lambda p: p[0] > 0.0),
    "max of two": lambda x: max(x[0], x[1], key=lambda e: -e),
    "default": lambda x: min([], key=lambda e: e, default=x[0]),
    "static keys": lambda x: sorted([(3, x[0]), (1, x[1])], key=lambda p: p[0]),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("engine", [on_tape, natively])
def test_as_python(name, engine):
    f = PROGRAMS[name]
    for seed in range(3):
        x = np.random.default_rng(seed).uniform(-1.0, 1.0, 5)
        x[3] = x[1]
        want = np.ravel(np.array(f(x), float))
        assert np.array_equal(np.ravel(np.array(engine(f, x), float)), want)


def test_derivatives_go_to_the_elements():
    weights = np.array([1.0, 10.0, 100.0, 1000.0])
    x = np.array([0.3, -0.2, 0.9, 0.1])

    def f(x):
        return sum(w * e for w, e in zip(weights, sorted(x), strict=True))

    want = weights[np.argsort(np.argsort(x))]
    for g in (jitad.grad(f), jitad.jit_grad(f)):
        assert np.array_equal(g(x), want)


def test_long_sequences_are_refused():
    with pytest.raises(JitadError, match="more than 32 traced numbers"):
        jitad.jit_grad(lambda x: sorted(x.tolist())[0])(np.arange(33.0))


@pytest.mark.parametrize("engine", [on_tape, natively])
def test_the_default_of_an_array_that_may_be_empty(engine):
    def f(x):
        some = x[x > 0.5]
        least = min(some, default=0.25) * 2.0 + max(some, default=x[0])
        farthest = max(some, key=lambda v: -v, default=None)
        return least if farthest is None else least * farthest

    for x in (np.array([0.1, 0.2]), np.array([0.7, 0.2, 0.9])):
        assert engine(f, x) == f(x)
