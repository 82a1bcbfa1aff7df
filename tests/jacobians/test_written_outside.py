"""Is what a function writes to things outside written once by a matrix of derivatives, unmet?

Forward mode runs a function several times; each run must begin with what was there before.  The
truth is a function without things outside, which begins with the same, and by differences.
"""

from __future__ import annotations

import array
import bisect
import heapq
import itertools
import operator as operators
import queue
import random
from collections import Counter, deque
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jitad

X = np.array([0.4, 1.3, 0.7, 0.9, 1.1])
S: Any = SimpleNamespace()
NUMBERS: list[Any] = []
NAMED: dict[str, Any] = {}
COUNT = 0.0


def begin() -> None:
    global COUNT
    COUNT = 2.0
    S.total, S.spare = 0.5, None
    NUMBERS[:] = [1.0, 2.0, 3.0]
    NAMED.clear()
    NAMED["a"] = 1.5


def state() -> list[float]:
    spare = 0.0 if S.spare is None else S.spare[1]
    return [COUNT, S.total, spare, len(NUMBERS), *NUMBERS, len(NAMED), *NAMED.values()]


def of_an_attribute(x):
    S.total += x[0]
    return S.total**2 * x


def of_a_global(x):
    global COUNT
    COUNT = COUNT * x[1]
    return COUNT * x**2


def of_a_list(x):
    last = NUMBERS.pop()
    NUMBERS.append(x[0] * last)
    NUMBERS[0] += x[1]
    return NUMBERS[0] * NUMBERS[-1] * x + len(NUMBERS)


def of_a_dict(x):
    NAMED["a"] *= x[2]
    NAMED["b"] = NAMED.get("b", 0.25) + x[0]
    return NAMED["a"] * NAMED["b"] * x


def of_what_may_be_there(x):
    if S.spare is None:
        S.spare = (x[0], 1.0)
    S.spare = (S.spare[0] * x[1], S.spare[1] + 1.0)
    return S.spare[0] * S.spare[1] * x


def in_a_loop(x):
    for k in range(3):
        S.total = S.total * x[k] + k
    return S.total * x


def by_builtins(x):
    S.total = S.total * x[0]
    object.__setattr__(S, "spare", (S.total, 2.0))
    operators.setitem(NUMBERS, 0, NUMBERS[0] * x[1])
    return S.total * S.spare[0] * NUMBERS[0] * x


FUNCTIONS = [of_an_attribute, of_a_global, of_a_list, of_a_dict, of_what_may_be_there, in_a_loop,
             by_builtins]  # fmt: skip

# What only the eager engine runs, and what it must find there again.
RECENT: deque[float] = deque(maxlen=3)
HEAP: list[float] = []
COUNTS: Counter[str] = Counter()


def begin_rest() -> None:
    begin()
    RECENT.clear()
    RECENT.extend([0.5, 1.5])
    HEAP[:] = [0.25, 2.0]
    COUNTS.clear()
    COUNTS["k"] = 2


def of_a_deque(x):
    RECENT.append(x[0] * RECENT[0])
    RECENT.rotate(1)
    RECENT[1] = RECENT[1] * x[1]
    return RECENT[0] * RECENT[1] * x + len(RECENT)


def of_a_heap(x):
    least = heapq.heappop(HEAP)
    heapq.heappush(HEAP, least * x[2])
    bisect.insort(HEAP, 1.0 + x[0])
    return HEAP[0] * HEAP[1] * x + len(HEAP)


def of_counts(x):
    COUNTS.update(["k"])
    COUNTS.subtract({"j": 1})
    operators.iadd(NUMBERS, [x[0]])
    return (COUNTS["k"] - COUNTS["j"]) * sum(NUMBERS) * x


def state_of_rest() -> list[float]:
    return [*state(), *RECENT, *HEAP, *COUNTS.values()]


def anew(f):
    """Without a history: each call begins with the same."""

    def run(x):
        begin()
        return f(x)

    return run


def by_differences(f, x, h):
    return np.stack([(anew(f)(x + h * e) - anew(f)(x - h * e)) / (2.0 * h)
                     for e in np.eye(len(x))], axis=-1)  # fmt: skip


@pytest.mark.parametrize("operator", [jitad.jacfwd, jitad.jacrev, jitad.hessian])
@pytest.mark.parametrize("f", [of_a_deque, of_a_heap, of_counts], ids=lambda f: f.__name__)
def test_eager_only(f, operator):
    def given(x):
        begin_rest()
        return (jitad.grad(summed(f)) if operator is jitad.hessian else f)(x)

    want = np.stack([(given(X + h) - given(X - h)) / 2e-6 for h in 1e-6 * np.eye(5)], axis=-1)
    begin_rest()
    f(X)
    then = state_of_rest()
    begin_rest()
    got = operator(summed(f) if operator is jitad.hessian else f)(X)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)
    assert state_of_rest() == pytest.approx(then, rel=1e-12)
    kinds = {type(v) for v in (*RECENT, *HEAP)}
    assert kinds <= {float, np.float64}, "nothing of the derivative may stay in them"


PENDING: Any = queue.Queue()
BYTES = array.array("d", [1.0])
HERE: Any = SimpleNamespace(steps=itertools.count(1), drawn=(k for k in range(1, 100)))


def from_a_counter(x):
    return next(HERE.steps) * x


def from_a_generator(x):
    return sum(itertools.islice(HERE.drawn, 2)) * x


def by_a_queue(x):
    PENDING.put(x[0])
    return PENDING.qsize() * x


def by_an_array(x):
    BYTES.append(1.0)
    return len(BYTES) * x


@pytest.mark.parametrize(
    "f", [from_a_counter, from_a_generator, by_a_queue, by_an_array], ids=lambda f: f.__name__
)
def test_what_cannot_be_undone_is_refused(f):
    with pytest.raises(jitad.JitadError, match="from outside, and runs again here"):
        jitad.jacfwd(f)(X)
    jitad.vjp(f, X)  # one run is as good as any


def test_iterators_of_its_own_are_no_matter():
    def f(x):
        steps, pending = itertools.count(2), queue.Queue()
        pending.put(next(steps))
        return pending.get() * next(steps) * x

    np.testing.assert_allclose(jitad.jacfwd(f)(X), 6.0 * np.eye(5))


def summed(f):
    def scalar(x):
        return np.sum(np.sin(f(x)))

    return scalar


WAYS = {"eager": lambda f: f, "compiled": jitad.jit}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("operator", [jitad.jacfwd, jitad.jacrev, jitad.jacobian])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_jacobians(f, operator, way):
    want = by_differences(f, X, 1e-6)
    begin()
    f(X)
    then = state()
    begin()
    jacobian = WAYS[way](operator(f))
    np.testing.assert_allclose(jacobian(X), want, rtol=1e-7, atol=1e-8)
    assert state() == pytest.approx(then, rel=1e-12)
    jacobian(X)  # goes on from there
    begin()
    np.testing.assert_allclose(jacobian(X), want, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_sparse_jacobians(f):
    want = by_differences(f, X, 1e-6)
    begin()
    f(X)
    then = state()
    begin()
    np.testing.assert_allclose(jitad.sparse_jacobian(f)(X).toarray(), want, rtol=1e-7, atol=1e-8)
    assert state() == pytest.approx(then, rel=1e-12)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_hessians(f, way):
    gradient = jitad.grad(summed(f))
    want = by_differences(gradient, X, 1e-5)
    begin()
    f(X)
    then = state()
    begin()
    hessian = WAYS[way](jitad.hessian(summed(f)))
    np.testing.assert_allclose(hessian(X), want, rtol=1e-6, atol=1e-6)
    assert state() == pytest.approx(then, rel=1e-12)


def test_an_error_leaves_what_was_there():
    def fails(x):
        S.total += x[0]
        if S.total > 0.8:
            raise ValueError("too much")
        return S.total * x

    for operator in (jitad.jacfwd, jitad.jit(jitad.jacfwd(fails))):
        begin()
        with pytest.raises(ValueError, match="too much"):
            (operator(fails) if operator is jitad.jacfwd else operator)(X)


# -- inside of other functions --------------------------------------------------------------------


def _adds(x):
    S.total += x[0]
    NUMBERS[0] = NUMBERS[0] * x[1]
    return S.total * NUMBERS[0] * x


def _may_raise(x):
    S.total += x[0]
    if x[1] > 1.0:
        raise ValueError("too large")
    return S.total * x


def _sum_of(matrix, x):
    y = x * 2.0
    y[0] = S.total * x[1]
    S.total = S.total + 1.0
    return np.sum(np.dot(matrix, y))


def in_a_try(x):
    try:
        matrix = jitad.jacfwd(_may_raise)(x)
    except ValueError:
        matrix = np.eye(len(x))
    return _sum_of(matrix, x)


def in_a_branch(x):
    if x[0] > 0.3:
        matrix = jitad.jacfwd(_adds)(x)
    else:
        matrix = np.eye(len(x)) * S.total
    return _sum_of(matrix, x) * NUMBERS[0]


def in_a_counted_loop(x):
    total = 0.0
    for k in range(3):
        total += _sum_of(jitad.jacfwd(_adds)(x * (1.0 + 0.1 * k)), x)
    return total * S.total * NUMBERS[0]


def in_an_open_loop(x):
    total, k = 0.0, 0
    while total < 40.0 and k < 4:
        total = total + np.sum(jitad.jacobian(_adds)(x)) * S.total
        k += 1
    return total * NUMBERS[0]


def of_a_function_around(x):
    count = [0.0]

    def inner(u):
        count[0] += u[1]
        return u * count[0]

    matrix = jitad.jacfwd(inner)(x)
    return np.sum(np.dot(matrix, x)) * count[0]


def of_a_hessian(x):
    def scalar(u):
        S.total = S.total * u[0] + 1.0
        return S.total * np.sum(u**2)

    return np.sum(jitad.hessian(scalar)(x)) * S.total


AROUND = [in_a_try, in_a_branch, in_a_counted_loop, in_an_open_loop, of_a_function_around,
          of_a_hessian]  # fmt: skip


@pytest.mark.parametrize("at", [X, X * 0.6], ids=["one way", "another"])
@pytest.mark.parametrize("f", AROUND, ids=lambda f: f.__name__)
def test_inside_of_other_functions(f, at):
    """The eager engine runs each as Python does; kernels do the same, and derivatives."""
    begin()
    value = f(at)
    then = state()
    h = 1e-5
    want = [(anew(f)(at + h * e) - anew(f)(at - h * e)) / (2.0 * h) for e in np.eye(len(at))]
    begin()
    assert jitad.jit(f)(at) == pytest.approx(value, rel=1e-12)
    assert state() == pytest.approx(then, rel=1e-12)
    for operator in (jitad.grad, jitad.jit_grad):
        begin()
        np.testing.assert_allclose(operator(f)(at), want, rtol=1e-5, atol=1e-6)
        assert state() == pytest.approx(then, rel=1e-12)


# -- random numbers -------------------------------------------------------------------------------


def begin_drawing() -> None:
    S.own, S.old = np.random.default_rng(1), np.random.RandomState(2)
    S.python = random.Random(3)
    np.random.seed(4)  # noqa: NPY002
    random.seed(5)


def of_a_generator(x):
    return x * S.own.normal(size=5) * x[0] + S.own.uniform()


def of_an_old_one(x):
    return x * S.old.randn() * x[1]


def of_pythons(x):
    return x * S.python.gauss(0.0, 1.0) * x[0] + random.choice([1.0, 2.0, 3.0]) * x**2


def of_the_global_one(x):
    return x * np.random.rand(5) * x[0]  # noqa: NPY002


def of_one_made_inside(x):
    return x * np.random.default_rng(7).normal(size=5) * x[0]


def of_a_shuffled_order(x):
    order = np.arange(5.0)
    S.own.shuffle(order)
    rows = np.reshape(np.arange(10.0), (5, 2)) * x[1]
    S.own.shuffle(rows)
    S.own.shuffle(rows, axis=1)
    S.old.shuffle(rows)
    return x * order * rows[:, 0] + rows[:, 1]


DRAWING = [of_a_generator, of_an_old_one, of_pythons, of_the_global_one, of_one_made_inside,
           of_a_shuffled_order]  # fmt: skip


def next_draws():
    old = np.random.rand()  # noqa: NPY002
    return [S.own.random(), S.old.rand(), S.python.random(), old, random.random()]


@pytest.mark.parametrize("operator", [jitad.jacfwd, jitad.jacrev, jitad.jacobian])
@pytest.mark.parametrize("f", DRAWING, ids=lambda f: f.__name__)
def test_all_runs_draw_the_same(f, operator):
    """Eagerly: a kernel draws nothing but from a seed."""
    columns = []
    for e in np.eye(5):
        values = []
        for h in (1e-6, -1e-6):
            begin_drawing()
            values.append(f(X + h * e))
        columns.append((values[0] - values[1]) / 2e-6)
    draws = next_draws()
    begin_drawing()
    got = operator(f)(X)
    np.testing.assert_allclose(got, np.stack(columns, axis=-1), rtol=1e-7, atol=1e-8)
    assert next_draws() == draws


def test_what_runs_again_may_not_draw():
    drawing = jitad.checkpoint(of_a_generator)
    begin_drawing()
    with pytest.raises(jitad.JitadError, match="writes to things outside"):
        jitad.grad(lambda x: np.sum(drawing(x)))(X)
    seeded = jitad.checkpoint(of_one_made_inside)
    np.testing.assert_allclose(
        jitad.grad(lambda x: np.sum(seeded(x)))(X),
        jitad.grad(lambda x: np.sum(of_one_made_inside(x)))(X), rtol=1e-12,
    )  # fmt: skip


# -- names of globals that slots of the engine have, too ------------------------------------------

content = items = appended = begun = 1.0


def of_content(x):
    global content
    content = content * x[0]
    return content * x


def of_items(x):
    global items
    items = items * x[0]
    return items * x


def of_appended(x):
    global appended
    appended = appended * x[0]
    return appended * x


def of_begun(x):
    global begun
    begun = begun * x[0]
    return begun * x


@pytest.mark.parametrize("f", [of_content, of_items, of_appended, of_begun],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_a_global_variable_may_have_any_name(f):
    name, space = f.__name__[3:], globals()
    want = X[0] * np.eye(5)
    want[:, 0] += X
    for way in (jitad.jacfwd, lambda f: jitad.jit(jitad.jacfwd(f)), jitad.jit):
        space[name] = 1.0
        got = way(f)(X)
        np.testing.assert_allclose(got, X[0] * X if way is jitad.jit else want, rtol=1e-12)
        assert space[name] == X[0]
