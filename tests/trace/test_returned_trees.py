"""What does a function that calls itself give, if with each call that gets deeper?

No tape has a tree of any depth.  Extents that end the calls say how deep it gets.
"""

import math

import numpy as np
import pytest

import jitad
from tests.trace.test_errors import refusal
from tests.truth import differences


class Node:
    def __init__(self, weight, *parts):
        self.weight, self.parts = weight, parts

    def at(self, x):
        return self.weight * x + sum(math.sin(p.at(x)) for p in self.parts)


def by_halves(w, low, high):
    if high - low == 1:
        return Node(w[low])
    middle = (low + high) // 2
    return Node(w[middle], by_halves(w, low, middle), by_halves(w, middle, high))


def in_a_row(w, low, high):
    return Node(w[low]) if low == high - 1 else Node(w[low], in_a_row(w, low + 1, high))


def in_pairs(w, low, high):
    middle = (low + high) // 2
    return w[low] if high - low == 1 else (in_pairs(w, low, middle), in_pairs(w, middle, high))


def total(tree):
    return tree if isinstance(tree, float) else math.sin(total(tree[0])) * total(tree[1])


@pytest.mark.parametrize("grown", [by_halves, in_a_row])
def test_what_is_returned_gets_deeper_with_each_call(grown):
    def f(w, x):
        return grown(w, 0, len(w)).at(x)

    w = np.linspace(0.2, 0.9, 9)
    value, slope = jitad.jit_value_and_grad(f, 1)(w, 0.7)
    assert value == pytest.approx(f(w, 0.7), rel=1e-14)
    expected, error = differences(f, (w, 0.7), (1,), [1.0])
    assert abs(slope - expected) <= 1e-7 + 10 * error


def test_pairs_of_pairs():
    def f(w):
        return total(in_pairs(w, 0, len(w)))

    w = np.linspace(0.2, 0.9, 9)
    slope = jitad.jit_grad(f)(w)
    expected, error = differences(f, (w,), (0,), [np.ones(9)])
    assert abs(slope.sum() - expected) <= 1e-7 + 10 * error


def test_a_tree_whose_depth_only_a_kernel_knows_is_refused():
    def f(x):
        def grown(size):
            return Node(size) if size < 1.0 else Node(size, grown(size * 0.5), grown(size * 0.3))

        return grown(x).at(x)

    assert "what f.<locals>.grown returns has other parts on other paths" in refusal(f, 3.0)
