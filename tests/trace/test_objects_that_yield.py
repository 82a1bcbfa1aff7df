"""Are objects whose `__iter__` is a generator, as arguments and in `yield from`, as in Python?

Lists of nodes and trees, whose shape the values decide.
"""

import functools
import itertools

import numpy as np
import pytest

import jitad


class Link:
    def __init__(self, value, after=None):
        self.value, self.after = value, after


class Chain:
    def __init__(self, values):
        self.head = None
        for v in values:
            self.head = Link(v, self.head)

    def __iter__(self):
        at = self.head
        while at is not None:
            yield at.value
            at = at.after

    def without_negative(self):
        at = self.head
        while at.after:
            if at.after.value < 0.0:
                at.after = at.after.after
            else:
                at = at.after
        return self


class Node:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None

    def insert(self, key):
        if key < self.key:
            if self.left is None:
                self.left = Node(key)
            else:
                self.left.insert(key)
        elif self.right is None:
            self.right = Node(key)
        else:
            self.right.insert(key)

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.key
        if self.right:
            yield from self.right


def tree_of(x):
    root = Node(x[0])
    for v in x[1:]:
        root.insert(v)
    return root


def in_a_loop(x):
    s = 0.0
    for v in tree_of(x):
        s = s * 0.5 + v
    return s


def numbered(x):
    tree, chain = tree_of(x), Chain(x).without_negative()
    return sum(k * v for k, v in enumerate(tree)) + sum(v * v * k for k, v in enumerate(chain, 1))


def as_lists(x):
    values = list(Chain(x).without_negative())
    return sum(values) * len(values) + values[-1] + max(Chain(x)) + sorted(Chain(x))[0]


def paired(x):
    pairs = zip(Chain(x).without_negative(), tree_of(x), strict=False)
    return sum(a * b for a, b in pairs) + functools.reduce(lambda s, v: s * 0.3 + v, Chain(x), 0.1)


def chained(x):
    c = Chain(x).without_negative()
    return sum(k * v for k, v in enumerate(itertools.chain(c, tree_of(x)))) + sum(map(abs, c))


@pytest.mark.parametrize("f", [in_a_loop, numbered, as_lists, paired, chained])
def test_programs(f):
    compiled = jitad.jit_value_and_grad(f, fallback=False)
    for x in (np.array([1.2, -0.4, 0.9]), np.array([0.5, 0.9, -3.0])):
        want = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
        for engine in (jitad.value_and_grad(f), compiled):
            value, gradient = engine(x)
            assert value == pytest.approx(f(x), rel=1e-13)
            np.testing.assert_allclose(gradient, want, rtol=1e-6, atol=1e-7)
