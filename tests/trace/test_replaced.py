"""Lists of arrays and objects that are replaced, on some paths only: are results right, and does
the work of tracing not double from iteration to iteration?

The truth is the function itself, run by Python; gradients are checked by differences.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from jitad import JitadError, grad, jit, jit_grad
from jitad.calls.arguments import abstract
from jitad.tape.ir import walk
from jitad.tape.verify import verify
from jitad.trace.trace import trace
from jitad.values.journal import Journal

MADE = {
    "displayed": lambda s: [s[0], s[0] + s[1]],
    "comprehension": lambda s: [q * 2.0 for q in s],
    "added": lambda s: [s[0]] + [s[0] + 0.5 * (q - s[0]) for q in s[1:]],
    "starred": lambda s: [s[0], *[q * 2.0 for q in s[1:]]],
    "from a generator": lambda s: list(q * 3.0 for q in s),
    "mapped": lambda s: list(map(lambda q: q - 1.0, s)),
    "sorted": lambda s: sorted([s[0] * 2.0, s[1] * 3.0], key=lambda z: z[0]),
    "a copy": lambda s: s.copy(),
    "turned": lambda s: s[::-1],
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("first", [0.1, 0.25, 0.4])
def test_a_list_that_one_of_three_paths_makes(made: str, first: float) -> None:
    another = MADE[made]

    def f(p: Any) -> Any:
        s = [p * 1.0, p * 2.0]
        if p[0] < 0.2:
            s[1] = p * 3.0
        elif p[0] < 0.3:
            s[1] = s[0]
        else:
            s = another(s)
        s[0] = s[0] + 1.0
        return s[1][0] * s[0][1] + s[1][1]

    p = np.array([first, 0.6])
    assert jit(f)(p) == pytest.approx(f(p), rel=1e-14)
    np.testing.assert_allclose(jit_grad(f)(p), slopes(f, p), rtol=1e-6)
    np.testing.assert_allclose(grad(f)(p), slopes(f, p), rtol=1e-6)


def slopes(f: Any, p: np.ndarray, h: float = 1e-6) -> list[float]:
    return [(f(p + h * d) - f(p - h * d)) / (2.0 * h) for d in np.eye(len(p))]


def simplex(rounds: int) -> Any:
    """The search of Nelder and Mead for the least value of a function that p shapes."""
    def search(p: Any) -> Any:
        def f(z: Any) -> Any:
            return (z[0] - p[0]) ** 2 + 2.0 * (z[1] - p[1]) ** 2 + 0.1 * z[0] * z[1]

        s = [np.array([0.0, 0.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0])]
        for _ in range(rounds):
            s = sorted(s, key=f)
            middle = (s[0] + s[1]) / 2.0
            turned = middle + (middle - s[2])
            if f(turned) < f(s[0]):
                further = middle + 2.0 * (middle - s[2])
                s[2] = further if f(further) < f(turned) else turned
            elif f(turned) < f(s[1]):
                s[2] = turned
            else:
                nearer = middle + 0.5 * (s[2] - middle)
                if f(nearer) < f(s[2]):
                    s[2] = nearer
                else:
                    s = [s[0]] + [s[0] + 0.5 * (q - s[0]) for q in s[1:]]
        return f(min(s, key=f)) + s[1][0]

    return search


def test_a_simplex_is_searched_with() -> None:
    p, f = np.array([0.3, 0.6]), simplex(12)
    assert jit(f)(p) == pytest.approx(f(p), rel=1e-12)
    np.testing.assert_allclose(jit_grad(f)(p), slopes(f, p), rtol=1e-6)


def test_the_tape_grows_with_the_rounds() -> None:
    sizes = []
    for rounds in (8, 16):
        tape = trace(simplex(rounds), [abstract(np.zeros(2))]).tape
        verify(tape)
        sizes.append(sum(1 for _ in walk(tape.body)))
    assert sizes[1] < 2.2 * sizes[0]


class Tree:
    def __init__(self, value: Any) -> None:
        self.value, self.left, self.right = value, None, None

    def insert(self, value: Any) -> None:
        if value < self.value:
            if self.left is None:
                self.left = Tree(value)
            else:
                self.left.insert(value)
        elif self.right is None:
            self.right = Tree(value)
        else:
            self.right.insert(value)

    def sum(self, depth: int) -> Any:
        out = self.value * depth
        if self.left is not None:
            out = out + self.left.sum(depth + 1)
        return out if self.right is None else out + self.right.sum(depth + 1)


def test_a_tree_that_grows_is_given_up_early() -> None:
    """Its types have twice as many parts after each iteration: written out, it is short enough."""
    def f(x: Any) -> Any:
        tree = Tree(x[0])
        for v in x[1:]:
            tree.insert(v * v)
        return tree.sum(1)

    for x in ([0.5, 0.9, 0.2], [0.1, 0.9, 0.8]):
        assert jit(f)(np.array(x)) == pytest.approx(f(x), rel=1e-14)


def weights(x: Any, n: int) -> Any:
    w = [1.0, x] * n
    for k in range(1, len(w)):
        w[k] = w[k - 1] * w[k]
    return sum(w) + len(w)


@pytest.mark.parametrize("n", [3, 1, 0, -1])
def test_a_list_as_often_as_an_argument_says(n: int) -> None:
    assert jit(weights)(1.5, n) == weights(1.5, n)
    difference = (weights(1.5 + 1e-6, n) - weights(1.5 - 1e-6, n)) / 2e-6
    assert jit_grad(weights)(1.5, n) == pytest.approx(difference, rel=1e-7)


def test_its_length_is_in_no_kernel() -> None:
    def f(x: Any) -> Any:
        w = [0.0] * (len(x) + 1)
        for k in range(len(x)):
            w[k + 1] = w[k] + x[k] ** 2
        return w[-1] * w[1]

    g = jit_grad(f)
    for x in (np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.5])):
        np.testing.assert_allclose(g(x), slopes(f, x), rtol=1e-6)
    assert str(g.explain()).count("kernel ") == str(g.explain()).count("kernel 1")


def test_a_write_asks_those_only_that_may_be_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every array that a condition ever chose: with many, that was most of the time."""
    asked: list[int] = []
    plain = Journal.may_alias

    def counted(self: Any, *args: Any) -> bool:
        asked.append(1)
        return plain(self, *args)

    monkeypatch.setattr(Journal, "may_alias", counted)

    def f(x: Any, n: int) -> Any:
        parts = [[x[k], 1.0] for k in range(n)]
        for k in range(n):
            if x[k] > 0.5:
                parts[k] = [x[k] * 2.0, x[k]]
        for k in range(n):
            parts[k][0] = parts[k][0] * x[k]
        return sum(p[0] * p[1] for p in parts)

    counts = []
    for n in (4, 8, 16):
        del asked[:]
        x = np.linspace(0.1, 0.9, n)
        assert jit(lambda x, n=n: f(x, n))(x) == pytest.approx(f(x, n), rel=1e-14)
        counts.append(len(asked))
    assert counts[2] - counts[1] <= 2 * (counts[1] - counts[0]) + 8, counts


def test_an_iterator_reads_what_is_written_meanwhile() -> None:
    """Also over lists that lie in what it is over: it must not give what was there before."""
    def f(x: Any) -> Any:
        s, t = [x, x * x], [2.0 * x]
        u = s if x > 1.0 else t
        total = 0.0
        for v in itertools.chain.from_iterable((s, t)):
            total = total * 3.0 + v
            u[-1] = u[-1] * 1.5
        return total

    for x in (0.5, 1.5):
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        assert grad(f)(x) == pytest.approx(slope, rel=1e-7)
        for g, truth in ((jit(f), f(x)), (jit_grad(f), slope)):
            try:
                assert g(x) == pytest.approx(truth, rel=1e-7)
            except JitadError as e:
                assert "can't be advanced" in str(e)
