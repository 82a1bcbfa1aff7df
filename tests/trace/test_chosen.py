"""Do arrays, objects, functions and names that a traced condition chose stay what they are?

Plain Python says what is right: under every name that a thing has, and for both choices.
"""

import dataclasses
import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError, JitadTypeError
from jitad.trace.joins import selected
from tests.engines import on_tape
from tests.trace import two_numbers


class Box:
    def __init__(self, v):
        self.v = v

    def twice(self):
        return 2.0 * self.v


class Ring(Box):
    def twice(self):
        return self.v * self.v


@dataclasses.dataclass
class Layer:
    weight: np.ndarray
    bias: float


class Pair(NamedTuple):
    left: np.ndarray
    right: np.ndarray


def array(x, y):
    a, b = np.zeros(3), np.ones(3)
    target = a if x > y else b
    for i in range(3):
        target[i] += x * i
    return a.sum() + 2.0 * b[2] * target[1]


def swapped_names(x, y):
    a, b = np.full(2, x), np.full(2, y)
    first, second = a, b
    a, b = (b, a) if x > y else (a, b)
    a[0] = x * y
    second[1] *= 3.0
    return first[0] + 2.0 * first[1] + 5.0 * second[0] * b[1] + a[1]


def buffers_swapped_in_a_loop(x, y):
    old, new = np.linspace(0.0, x, 6), np.zeros(6)
    kept = old
    for k in range(7):
        for i in range(1, 5):
            new[i] = 0.4 * (old[i - 1] + old[i + 1]) + y
        if new[2] > 0.1 * k:
            old, new = new, old
    return old.sum() + 3.0 * kept[2] * new[3]


def target_changes_in_a_loop(x, y):
    a, b = np.zeros(8), np.zeros(8)
    at = a
    for i in range(8):
        at[i] += x * i
        if x * i > y:
            at = b
    return a.sum() + 3.0 * (b * b).sum()


def by_a_number(x, y):
    p, q, r = np.zeros(2), np.ones(2), np.full(2, x)
    rows = [p, q, r]
    for k in range(6):
        rows[int(k + x) % 3][k % 2] += y * k
    return p[0] + 2.0 * q[1] + 3.0 * r[0] * r[1]


def rows_of_a_matrix(x, y):
    m = np.outer([x, y, 1.0], [1.0, 2.0])
    row = m[0] if x > y else m[2]
    row[1] = x * x
    m[0, 0] = 7.0 * y
    return m[0] @ m[2] + row[0]


def slices_of_two(x, y):
    a, b = np.full(5, x), np.full(4, y)
    part = a[1:4] if x > y else b[:2]
    part *= 3.0
    part[-1] += x
    return a @ np.arange(5.0) + b @ np.arange(4.0) + part.sum() * len(part)


def unlike_views(x, y):
    m = np.outer([x, y], [1.0, 2.0])
    line = m[:, 1] if x > y else m[0]
    line[0] = x * y
    return m[0] @ np.array([1.0, 3.0]) + m[1, 1] * line[1]


def new_or_old(x, y):
    a = np.full(3, y)
    b = np.zeros(3) if x > y else a
    b[1] = x * x
    a[0] += 2.0
    return a @ np.arange(1.0, 4.0) + b.sum()


def chosen_twice(x, y):
    a, b, c = np.zeros(2), np.ones(2), np.full(2, x)
    p = a if x > y else b
    q = p if x > 1.0 else c
    q[0] = x * y
    p[1] += x
    return a[0] + 2.0 * b[0] + 3.0 * c[0] + 5.0 * a[1] + 7.0 * b[1]


def written_before_the_choice(x, y):
    a, b = np.zeros(2), np.ones(2)
    a[0], b[0] = x, y
    c = a if x > y else b
    a[1] = x * 5.0
    return c.sum()


def written_on_the_way(x, y):
    a, b = np.zeros(2), np.ones(2)
    if x > y:
        a[0] = x * x
        c = a
    else:
        c = b
    c[1] = y
    return a @ np.array([1.0, 2.0]) + 3.0 * b[1] + c[0]


def objects(x, y):
    a, b = Box(x), Box(y)
    c = a if x > y else b
    c.v = c.v * 5.0
    b.v += 1.0
    return a.v + 10.0 * b.v + c.twice()


def objects_of_two_classes(x, y):
    thing = Box(x) if x > y else Ring(x * y)
    thing.v += 1.0
    return thing.twice()


def class_chosen(x, y):
    kind = Box if x > y else Ring
    return kind(x).twice() + kind(y).v


def lists(x, y):
    a, b = [1.0, x], [2.0, y]
    c = a if x > y else b
    c[0] = x * 7.0
    total = 0.0
    for e in c:
        total += e * e
    return a[0] + 10.0 * b[0] + total + len(c) * c[-1]


def dicts(x, y):
    a, b = {"k": x}, {"k": y, "l": 2.0}
    c = a if x > y else b
    c["k"] *= 3.0
    return a["k"] + 10.0 * b["k"] + sum(c.values())


def dataclasses_with_arrays(x, y):
    layers = [Layer(np.full(2, x), y), Layer(np.full(2, y), x)]
    one = layers[0] if x > y else layers[1]
    one.weight[0] *= 2.0
    one.bias = x * y
    return sum(t.weight.sum() * t.bias for t in layers)


def named_tuples(x, y):
    pair = Pair(np.full(2, x), np.full(2, y))
    pair = pair if x > y else Pair(pair.right, pair.left)
    pair.left[0] = 4.0 * x
    return pair.left.sum() + 3.0 * pair.right.sum()


def written_under_the_other_name(x, y):
    a, b = Box(x), Box(y)
    c = a if x > y else b
    a.v = x * 5.0
    return c.v * 3.0


def functions(x, y):
    f = math.sin if x > y else math.exp
    g = (lambda t: t * x) if y > 1.0 else (lambda t: t + y)
    return f(x) * g(y)


def closures_over_what_a_branch_made(x, y):
    if x > y:
        k = x * x
        f = lambda t: k * t
    else:
        k = y + x
        f = lambda t: t / k
    return f(x) + f(y)


def names_chosen(x, y):
    how = "square" if x > y else "cube" if x > 0.0 else "none"
    table = {"square": lambda t: t * t, "cube": lambda t: t**3, "none": lambda t: t}
    scale = 2.0 if how == "square" or how.startswith("n") else 3.0
    return table[how](x) * scale + len(how) * y


def name_in_a_loop(x, y):
    state, total = "up", x
    for k in range(12):
        if state == "up":
            total = total * 1.5 + y
            if total > 4.0:
                state = "down"
        else:
            total = total * 0.4 - 0.1 * k
            if total < 1.0:
                state = "up"
    return total if state == "up" else -total


def tuples_of_two_lengths(x, y):
    t = (x, y, x) if x > y else (y,)
    return sum(t) * len(t) + t[-1]


def number_or_array(x, y):
    v = np.array([x, y]) if x > y else x * y
    return np.sum(v * v) + 1.0


def attribute_that_is_chosen(x, y):
    box = Box(np.zeros(2))
    spare = np.ones(2)
    box.v = spare if x > y else box.v
    box.v[0] = x * y
    return spare @ np.array([1.0, 2.0]) + box.v.sum()


def written_while_iterated(x, y):
    a, b = [x, 2.0, 3.0], [y, 3.0, 4.0]
    c = a if x > y else b
    total, it = 0.0, iter(a)
    for v in a:
        c[1] = 5.0 * x
        total += v
    for k, v in enumerate(b):
        c[2] = 7.0 * y
        total += v * k
    next(it)
    return total + next(it)


def spread_and_star(x, y):
    a, b = [x, 2.0], [y, 3.0]
    c = a if x > y else b
    a[0] = 5.0 * x
    return math.hypot(*c) + max(c) + sum([*c, *a])


def cell_exchanged_in_one_branch(x, y):
    """`b` is a cell, which only one branch rebinds: in the other its array is written."""
    a, b = np.array([x, 2.0 * y, 1.0]), np.array([y, x * y, 3.0])

    def first():
        return b[0]

    if x < y:
        b[0] = 7.0 * x
        b[1:] *= a[1]
    else:
        b, a = a, b
    return np.sum(a * [1.0, 2.0, 3.0]) + np.sum(b * [10.0, 20.0, 30.0]) * first()


def cells_of_lists_exchanged(x, y):
    a, b = [x, 2.0], [y, 3.0]

    def all_of():
        return a[0] * b[1] + 3.0 * b[0]

    if x < y:
        b[0] = x * x
        a.append(y)
    elif x > 5.0:
        a, b = b, a
    else:
        b = [x * y, 4.0]
    return all_of() + a[-1]


def a_function_that_suits_one(x, y):
    a = np.array([x, y])
    if x > 1.0:
        a = a[:, None] * np.array([y, 2.0, x])
    total = 0.0
    if x > 1.0:
        total = np.sum(np.swapaxes(a, 0, 1), axis=(0, 1))[()] * y
    return total + np.sum(a)


def a_call_that_suits_one(x, y):
    a = np.array([x, y])
    for _ in range(2):
        if np.sum(a) > 1.5:
            break
        a = a * 0.5 + np.array([[x], [y]])
    if a.ndim == 2:
        return np.sum(np.sum(a, axis=(0, -1)) * np.cumsum(a, axis=1)) + y
    return np.sum(a * a)


PROGRAMS = two_numbers.programs(globals())
POINTS = [(1.3, 0.4), (0.6, 1.7), (-0.5, 0.2)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    two_numbers.check(f, POINTS, 0.003)


@pytest.mark.parametrize("f", PROGRAMS[::4], ids=lambda f: f.__name__)
def test_natively_to_second_order(f):
    two_numbers.check_natively(f, POINTS[:2])


def test_an_axis_that_one_of_two_arrays_lacks():
    def f(x, y):
        a = np.array([x, y])
        if x < 1.0:
            a = a[:, None] * np.array([y, 2.0, x])
        return np.sum(a, axis=(0, -1))  # of an array with one axis they are the same

    for run in (jitad.jit(f), lambda *v: on_tape(f, *v)):
        assert np.isclose(run(0.6, 1.7), f(0.6, 1.7))
        with pytest.raises(ValueError, match="duplicate value in 'axis'"):
            run(1.3, 0.4)


def test_results_are_what_was_chosen():
    compiled = jitad.jit(lambda x: ("small" if x < 1.0 else "large", x if x > 1.0 else "none"))
    assert compiled(0.5) == ("small", "none") and compiled(2.0) == ("large", 2.0)


def test_identity():
    def f(x):
        a, b = Box(x), Box(x)
        u, v = np.zeros(2), np.zeros(2)
        c, w = (a, u) if x > 1.0 else (b, v)
        c.v, w[0] = 2.0 * x, x
        return c is a, c is b, w is u, w is v, a.v, b.v, u[0], v[0]

    for x in (0.5, 2.0):
        assert on_tape(f, x) == f(x)


def test_writes_reach_the_caller():
    def f(a, b, x):
        c = a if x > 1.0 else b
        c[0] = x
        c[1:] *= 2.0

    compiled = jitad.jit(f)
    for x in (0.5, 2.0):
        mine, python = [np.ones(3), np.full(3, 7.0)], [np.ones(3), np.full(3, 7.0)]
        compiled(*mine, x)
        f(*python, x)
        assert np.array_equal(mine, python)


def test_what_an_iteration_makes_and_another_name_had():
    """A loop that makes its object anew each time: what the first one was is not known after it."""
    def kept(x):
        first = box = Box(x)
        for _ in range(10):
            box.v = box.v * 2.0
            box = Box(box.v + 1.0)
        return first.v * 5.0 + box.v

    def forgotten(x):
        box = Box(x)
        for _ in range(10):
            box.v = box.v * 2.0
            box = Box(box.v + 1.0)
        return box.v

    assert math.isclose(on_tape(forgotten, 0.7), forgotten(0.7), rel_tol=1e-14)
    with pytest.raises(JitadError, match="may be the same as what was written meanwhile"):
        on_tape(kept, 0.7)


@pytest.mark.parametrize("read", [
    lambda a: sum(a), lambda a: len(a), lambda a: sorted(a)[0], lambda a: [*a][0],
    lambda a: a + [1.0], lambda a: max(*a), lambda a: [v for v in a][0], lambda a: (a, 1),
    lambda a: np.array([a, a]), lambda a: 1.0 in a, lambda a: list(map(abs, a)), lambda a: a.copy(),
    lambda a: np.array(a), lambda a: {"k": a}, lambda a: list(zip(a, a))[0],
    lambda a: [a, [0.0]][0][0], lambda a: list(itertools.chain(a, a)), lambda a: dict(a=a)["a"][0],
    lambda a: list(itertools.chain.from_iterable([a, a])), lambda a: [list(e) for e in (a,)],
])  # fmt: skip
def test_every_way_to_read_what_may_be_another(read):
    """The first trace takes the two to be apart; whatever reads one of them must notice."""
    def f(x):
        a, b = [x, 2.0], [3.0 * x, 4.0]
        c = a if x > 1.0 else b
        c[0] = 10.0 * x
        return read(a), read(b)

    for x in (0.5, 2.0):
        got, want = on_tape(f, x), f(x)
        assert all(map(np.array_equal, got, want)) or got == want


def test_texts_that_double_with_each_condition_are_given_up(monkeypatch):
    """Which of 2**12 texts it is: the trace would take that many times as long."""
    monkeypatch.setattr(selected, "MOST", 20)

    def letters(x):
        word = ""
        for k in range(12):
            word = word + ("a" if x > 0.1 * k else "b")
        return x * word.count("a")

    with pytest.raises(JitadTypeError, match=r"(?s)more than 20 things, such as.*word \+"):
        jitad.jit_grad(letters)(0.55)
    assert jitad.grad(letters)(0.55) == 6.0
