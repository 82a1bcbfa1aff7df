"""Which kernels keep Python's lock, and up to how many elements of their arguments?"""

from __future__ import annotations

import itertools
import math
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_grad
from jitad.emit.brief import BUDGET, _Bound, brief
from jitad.specialise.pipeline import specialise
from jitad.tape.ir import Var
from jitad.tape.types import INT, Array

X = np.linspace(0.5, 1.5, 6)
MATRIX = Array("f8", 2)


def squares(x):
    return np.sum(x * x)


def neighbours(x):
    s = 0.0
    for i in range(len(x) - 1):
        s += (x[i + 1] - x[i] ** 2) ** 2
    return s


def pairs(x):
    s = 0.0
    for i in range(len(x)):
        for j in range(i):
            s += x[i] * x[j]
    return s


def of_one(x):
    return x * x * x


def backwards(x):
    s = 0.0
    for i in range(len(x) - 1, -1, -1):
        s = s * 0.5 + x[i]
    return s


def a_given_number(x, n):
    s = 0.0
    for k in range(n):
        s += x[k] * x[k]
    return s


def until(x):
    while x < 10.0:
        x = x * x
    return x


def itself(x):
    return x if x < 1.0 else itself(0.5 * x) + x


def of_many_zeros(x):
    return np.sum(np.sin(np.zeros(1_000_000) + x[0]))


def many_times(x):
    s = 0.0
    for _ in range(1_000_000):
        s = 0.5 * s + x
    return s


def decomposed(x):
    return np.linalg.det(np.outer(x, x) + np.eye(len(x)))


def in_order(x):
    return np.sort(x)[1] ** 2


def made(f: Callable[..., Any], *args: Any) -> int:
    g = jit_grad(f)
    g(*args)
    return brief(specialise(g._all[0].tape))


@pytest.mark.parametrize(
    "f, least, most",
    [(squares, 1024, 4096), (neighbours, 64, 1024), (pairs, 16, 64), (backwards, 64, 1024)],
)
def test_of_elements(f: Callable[..., Any], least: int, most: int) -> None:
    assert least <= made(f, X) <= most


def gram(a):
    return np.sum(a @ a.T)


def test_the_extents_of_a_matrix_are_not_all_its_elements() -> None:
    assert 16 <= made(gram, np.ones((3, 4))) <= 128


@pytest.mark.parametrize("n", [4, 12, 30])
def test_no_extents_make_more_than_the_bound(n: int) -> None:
    """Of two matrices with n elements in all, whatever their shapes."""
    (a, b, c, d), first, second = (Var(INT) for _ in range(4)), Var(MATRIX), Var(MATRIX)
    of = {a: first, b: first, c: second, d: second}
    for powers in ({a: 1}, {a: 1, b: 2}, {a: 1, c: 1}, {a: 2, c: 1}, {a: 1, b: 1, c: 3, d: 1}):
        bound = _Bound(1.0, Counter(powers)).of(of, n)
        for one in range(1, n):
            other = n - one
            for p, q in itertools.product(range(1, one + 1), range(1, other + 1)):
                extents = {a: p, b: one // p, c: q, d: other // q}
                assert math.prod(extents[v] ** k for v, k in powers.items()) <= bound * 1.000001


def test_of_numbers() -> None:
    assert made(of_one, 2.0) >= 0


@pytest.mark.parametrize(
    "f, args",
    [
        (a_given_number, (X, 3)), (until, (2.0,)), (itself, (3.0,)), (of_many_zeros, (X,)),
        (many_times, (2.0,)), (decomposed, (X,)), (in_order, (X,)),
    ],
)  # fmt: skip
def test_never(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert made(f, *args) == -1


def test_estimates_count_what_is_done() -> None:
    """A loop over all pairs takes as long as there are pairs, also where it counts in steps."""
    n = made(pairs, X)
    assert n * n < BUDGET < 100 * (2 * n) ** 2


def test_others_run_while_a_long_kernel_does() -> None:
    f = jit(many_times_over)
    f(0.5, 1), f(0.5, 10)  # from now on by a shortcut
    ended = threading.Event()

    def run() -> None:
        f(0.5, 300_000_000)
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    was_running = not ended.is_set()  # asked while it runs: it has let go of the lock
    thread.join()
    assert was_running


def many_times_over(x, n):
    for _ in range(n):
        x = 0.5 * x + 0.25
    return x
