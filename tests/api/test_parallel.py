"""Does `parallel=True` compute the same on threads, each time, with the errors of one thread?"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numba import njit

import jitad
from jitad import (
    batch,
    get_num_threads,
    grad,
    jit,
    jit_grad,
    jit_jacobian,
    jit_jvp,
    jit_value_and_grad,
    set_num_threads,
)
from jitad.errors import JitadTypeError, JitadValueError
from jitad.specialise import parallel
from jitad.specialise import rows as whole
from tests.specialise.loops import (
    DIVIDED,
    ORDERED,
    elements_apart,
    iterations_with_a_past,
    lengths_that_a_check_compares_later,
    prefix,
    scatter_with_duplicates,
    stencil,
    sum_over_data,
    triangle,
)

RANDOM = np.random.default_rng(5)
N = 301


@pytest.fixture(autouse=True)
def three(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three threads, for little work."""
    monkeypatch.setattr(parallel, "GRAIN", 20)
    monkeypatch.setattr(whole, "WORTH", 1)
    before = set_num_threads(3)
    yield
    set_num_threads(before)


# -- what is divided ------------------------------------------------------------------------------

FORWARD = DIVIDED[:4]  # compiling takes time


def arguments() -> tuple[np.ndarray, np.ndarray]:
    return RANDOM.uniform(0.2, 0.9, N), RANDOM.normal(0.0, 1.0, N)


@pytest.mark.parametrize("f", DIVIDED)
def test_loops_on_threads(f: Callable[..., Any]) -> None:
    x, data = arguments()
    before = x.copy(), data.copy()
    g = jit_value_and_grad(f, (0, 1), parallel=True)
    value, (by_x, by_data) = g(x, data)
    assert "spread(" in g.source
    assert np.isclose(value, f(x, data), rtol=1e-12)
    direction = [RANDOM.normal(size=N), RANDOM.normal(size=N)]
    along = np.sum(by_x * direction[0]) + np.sum(by_data * direction[1])
    h = 1e-6  # by differences of the function itself, in Python
    up, down = (f(x + s * h * direction[0], data + s * h * direction[1]) for s in (1, -1))
    assert np.isclose(along, (up - down) / (2.0 * h), rtol=1e-6, atol=1e-6)
    one = jit_value_and_grad(f, (0, 1))(x, data)
    for a, b in zip((value, by_x, by_data), (one[0], *one[1]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    if f in FORWARD:
        forward = jit_jvp(f, parallel=True)((x, data), tuple(direction))
        assert np.isclose(forward[1], along, rtol=1e-10)
    for _ in range(5):  # to the last bit
        again = g(x, data)
        assert again[0] == value
        assert np.array_equal(again[1][0], by_x) and np.array_equal(again[1][1], by_data)
    assert np.array_equal(x, before[0]) and np.array_equal(data, before[1])


@pytest.mark.parametrize("threads", [1, 2, 5, 64])
def test_numbers_of_threads(threads: int) -> None:
    set_num_threads(threads)
    x, data = arguments()
    want = jit_grad(stencil)(x, data)
    g = jit_grad(stencil, parallel=True)
    np.testing.assert_allclose(g(x, data), want, rtol=1e-12, atol=1e-14)
    limited = jit_grad(scatter_with_duplicates, parallel=2)
    np.testing.assert_allclose(limited(x, data), jit_grad(scatter_with_duplicates)(x, data))
    assert "threads()" not in limited.source


def test_few_iterations() -> None:
    for n in (2, 3, 4, 5, 7):
        x, data = (a[:n].copy() for a in arguments())
        for f in (sum_over_data, elements_apart, stencil, scatter_with_duplicates):
            np.testing.assert_allclose(
                jit_grad(f, parallel=True)(x, data), jit_grad(f)(x, data), rtol=1e-12, atol=1e-15
            )
    empty = jit_value_and_grad(sum_over_data, (0, 1), parallel=True)(np.ones(2), np.zeros(0))
    assert empty[0] == 0.0 and not empty[1][0].any()


# -- what keeps its order -------------------------------------------------------------------------




@pytest.mark.parametrize("f", ORDERED)
def test_loops_that_have_an_order(f: Callable[..., Any]) -> None:
    x, data = arguments()
    p = jit(f, parallel=True)
    assert p(x, data) == jit(f)(x, data)
    assert "spread(" not in p.source
    np.testing.assert_allclose(
        jit_grad(f, parallel=True)(x, data), jit_grad(f)(x, data), rtol=1e-12, atol=1e-15
    )


def test_what_is_told_of_loops() -> None:
    x, data = arguments()
    told = []
    for f in (scatter_with_duplicates, stencil, prefix):
        g = jit_grad(f, parallel=True)
        g(x, data)
        told.append(g.explain())
    assert "divided among threads; each adds to a copy of x_bar" in told[0]
    assert "divided among threads; the last 3 iterations of each part afterwards" in told[1]
    assert "on one thread: iterations may meet in the same elements of" in told[2]




def test_short_loops_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "GRAIN", 10**6)

    def f(x):
        s = 0.0
        for i in range(100):
            s += x[i] * x[i + 1] * np.sin(x[i])
        return s

    g = jit_grad(f, parallel=True)
    g(arguments()[0])
    assert "spread(" not in g.source and "it is short" in g.explain()


# -- errors ---------------------------------------------------------------------------------------


class Odd(Exception):
    pass


def picky(x, where):
    s = 0.0
    for i in range(len(where)):
        if x[i] == 5.0:
            raise Odd("five")
        if x[i] == 6.0:
            raise ValueError("six")
        s += x[where[i]] ** 2
    return s


@pytest.mark.parametrize(("bad", "error", "text"), [
    ({280: 5.0}, Odd, "five"), ({3: 6.0}, ValueError, "six"),
    ({10: 5.0, 290: 6.0}, Odd, "five"), ({10: 6.0, 290: 5.0}, ValueError, "six"),
])  # fmt: skip
def test_the_first_error_is_raised(bad: dict[int, float], error: type, text: str) -> None:
    where = np.arange(N)
    for make in (jit, jit_grad):
        f = make(picky, parallel=True)
        x, _ = arguments()
        f(x, where)
        assert "spread(" in f.source
        for k, v in bad.items():
            x[k] = v
        for _ in range(10):
            with pytest.raises(error, match=text):
                f(x, where)


def test_lengths_that_differ() -> None:
    """Nothing is read beyond an array before the check that says so."""
    x, data = arguments()
    for f in (jit(lengths_that_a_check_compares_later, parallel=True),
              jit_grad(lengths_that_a_check_compares_later, parallel=True)):  # fmt: skip
        f(x, data)
        for a, b in ((x, data[:7]), (x[:7], data)):
            with pytest.raises(ValueError, match="broadcast"):
                f(a.copy(), b.copy())


def test_an_error_leaves_what_is_written_as_one_thread_does() -> None:
    def scale_and_add(a, b, c):
        a[:] = np.exp(np.sin(a)) * b
        a += c

    rows, other = RANDOM.normal(size=(40, 30)), RANDOM.normal(size=(40, 30))
    left = []
    for option in (False, True):
        p = jit(scale_and_add, parallel=option)
        done, half = rows.copy(), rows.copy()
        p(done, other, np.ones((40, 30)))
        want = np.exp(np.sin(rows)) * other + 1.0
        np.testing.assert_allclose(done, want, rtol=1e-12, atol=1e-12)
        with pytest.raises(ValueError, match="broadcast"):
            p(half, other, np.ones((40, 29)))
        left.append(half)
    assert np.array_equal(*left)


def test_uneven_iterations_are_more_parts_than_threads() -> None:
    x, data = arguments()
    counts = []
    for f in (triangle, sum_over_data):
        p = jit(f, parallel=True)
        assert np.isclose(p(x, data), f(x, data), rtol=1e-12)
        counts.append("threads()" in p.source and "* 8" in p.source)
    assert counts == [True, False]
    limited = jit(triangle, parallel=2)
    assert np.isclose(limited(x, data), triangle(x, data), rtol=1e-12)
    assert "_part1, 9, 2, 0, 0, " in limited.source or "minimum(9, " in limited.source


def test_an_index_out_of_range() -> None:
    x, _ = arguments()
    where = np.arange(N)
    where[250] = N
    messages = []
    for parallel_ in (False, True):
        with pytest.raises(IndexError) as e:
            jit_grad(picky, parallel=parallel_)(x, where)
        messages.append(str(e.value))
    assert messages[0] == messages[1] and "x[where[i]]" in messages[0]


def test_arguments_that_are_written() -> None:
    def double(x, limit):
        for i in range(len(x)):
            if x[i] > limit:
                raise ValueError("too much")
            x[i] = 2.0 * x[i]

    x, _ = arguments()
    f = jit(double, parallel=True)
    want = 2.0 * x
    f(x, 10.0)
    assert "spread(" in f.source
    assert np.array_equal(x, want)


# -- callers --------------------------------------------------------------------------------------


def test_callers_in_several_threads() -> None:
    x, data = arguments()
    g = jit_value_and_grad(iterations_with_a_past, (0, 1), parallel=True)
    want = g(x, data)
    found: list[Any] = []

    def call() -> None:
        for _ in range(200):
            found.append(g(x, data))

    callers = [threading.Thread(target=call) for _ in range(4)]
    for t in callers:
        t.start()
    for t in callers:
        t.join()
    assert len(found) == 800
    for value, (by_x, by_data) in found:
        assert value == want[0]
        assert np.array_equal(by_x, want[1][0]) and np.array_equal(by_data, want[1][1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_begins_anew() -> None:
    x, data = arguments()
    g = jit_grad(scatter_with_duplicates, parallel=True)
    want = g(x, data)  # the team is there
    for _ in range(3):
        child = os.fork()
        if not child:
            code = 1
            try:
                code = 0 if all(np.array_equal(g(x, data), want) for _ in range(5)) else 2
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(g(x, data), want)


def test_callers_in_native_code() -> None:
    x, data = arguments()
    g = jit_grad(stencil, parallel=True)

    @njit
    def descend(x, data):
        for _ in range(3):
            x = x - 0.01 * g(x, data)
        return x

    want = x
    for _ in range(3):
        want = want - 0.01 * jit_grad(stencil)(want, data)
    np.testing.assert_allclose(descend(x, data), want, rtol=1e-12)


def test_batches_and_jacobians() -> None:
    x, data = arguments()
    points = RANDOM.uniform(0.2, 0.9, (50, 8))
    each = jit(batch(grad(iterations_with_a_past), (0, None)), parallel=True)
    want = np.array([grad(iterations_with_a_past)(p, data[:10]) for p in points])
    np.testing.assert_allclose(each(points, data[:10]), want, rtol=1e-10)
    assert "spread(" in each.source

    def map_(x):
        return np.array([np.sum(np.sin(x * k)) for k in range(5)])

    np.testing.assert_allclose(
        jit_jacobian(map_, parallel=True)(x[:9]), jit_jacobian(map_)(x[:9]), rtol=1e-12
    )


def test_float32() -> None:
    x, data = (a.astype("f4") for a in arguments())
    for f in (sum_over_data, scatter_with_duplicates, stencil):
        got = jit_grad(f, parallel=True)(x, data)
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, jit_grad(f)(x, data), rtol=2e-4, atol=1e-5)


# -- the option -----------------------------------------------------------------------------------


def test_how_many_threads() -> None:
    assert get_num_threads() == 3
    assert set_num_threads(2) == 3
    assert jitad.get_num_threads() == 2


@pytest.mark.parametrize(("wrong", "error"), [
    (0, JitadValueError), (-1, JitadValueError), (257, JitadValueError), ("all", JitadTypeError),
    (2.0, JitadTypeError),
])  # fmt: skip
def test_no_number_of_threads(wrong: Any, error: type) -> None:
    with pytest.raises(error, match="is no number of threads"):
        set_num_threads(wrong)
    with pytest.raises(error, match="is no number of threads"):
        jit_grad(stencil, parallel=wrong)


def test_one_thread_is_none() -> None:
    x, data = arguments()
    for option in (False, 1):
        g = jit_grad(stencil, parallel=option)
        g(x, data)
        assert "spread(" not in g.source
        assert "divided" not in g.explain()
