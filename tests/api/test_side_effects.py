"""Do side effects happen exactly once a call, on the branch taken, compiled and eager?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

from jitad import JitadError, derivative, grad, jit, jit_grad, jit_value_and_grad, jvp, vjp

Operator = Callable[[Any], Any]


def by_vjp(f: Any) -> Any:
    return lambda x: vjp(f, x)[1](1.0)[0]


def by_jvp(f: Any) -> Any:
    return lambda x: jvp(f, (x,), (1.0,))[1]


WAYS: dict[str, Operator] = {
    "plain": lambda f: f,
    "jit": jit,
    "grad": grad,
    "derivative": derivative,
    "vjp": by_vjp,
    "jvp": by_jvp,
    "jit_grad": jit_grad,
    "jit_value_and_grad": jit_value_and_grad,
    "jit of derivative": lambda f: jit(derivative(f)),
    "grad of grad": lambda f: grad(grad(f)),
    "jit_grad of grad": lambda f: jit_grad(grad(f)),
    "jit of vjp": lambda f: jit(by_vjp(f)),
}
every_way = pytest.mark.parametrize("way", WAYS)


@every_way
def test_append_to_a_captured_list(way: str) -> None:
    log: list[Any] = []

    def f(x):
        log.append(x)
        if x > 1.5:
            log.append("large")
        return x * x

    g = WAYS[way](f)
    for x in (1.0, 2.0, 3.0):
        g(x)
    assert log == [1.0, 2.0, "large", 3.0, "large"]
    assert all(type(v) in (float, str) for v in log)


@every_way
def test_append_texts(way: str) -> None:
    log: list[Any] = []

    def f(x):
        log.append(f"x is {x:.2f}" + "!")
        return x * x

    g = WAYS[way](f)
    g(1.0)
    g(2.5)
    assert log == ["x is 1.00!", "x is 2.50!"]


class Counter:
    def __init__(self) -> None:
        self.calls = 0
        self.last: Any = None
        self.large: list[Any] = []
        self.seen: dict[str, Any] = {}

    def __call__(self, x):
        self.calls += 1
        self.last = x
        self.seen["double"] = 2 * x
        if x > 1.5:
            self.large.append(x)
        return x * x


@every_way
def test_count_calls_on_an_object(way: str) -> None:
    counter = Counter()
    g = WAYS[way](counter)
    for k, x in enumerate((1.0, 2.0, 3.0), 1):
        g(x)
        assert counter.calls == k
        assert counter.last == x and type(counter.last) is float
    assert counter.large == [2.0, 3.0]
    assert counter.seen == {"double": 6.0}


TOTAL = 0.0


@every_way
def test_write_a_global_and_a_cell(way: str) -> None:
    global TOTAL
    TOTAL = 1.0
    count = 0

    def f(x):
        global TOTAL
        nonlocal count
        TOTAL = TOTAL + x
        count += 1
        return x * x * TOTAL

    g = WAYS[way](f)
    g(1.0)
    g(2.0)
    assert TOTAL == 4.0 and type(TOTAL) is float
    assert count == 2


@every_way
def test_prints_under_a_branch(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        if x > 0:
            print("positive", x)
        else:
            print(f"negative {x:.1f}", end=";")
        for k in range(2):
            if x > k:
                print(k, x > 2.0, sep="|")
        return x * x

    g = WAYS[way](f)
    for x in (1.5, -2.0, 3.0):
        g(x)
    expected = (
        "positive 1.5\n0|False\n1|False\n" "negative -2.0;" "positive 3.0\n0|True\n1|True\n"
    )
    assert capsys.readouterr().out == expected


def test_prints_in_loops_of_traced_length(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        s = 0.0
        for k in range(len(x)):
            if x[k] > 0:
                print("at", k, "is", x[k])
            s += x[k] ** 2
        return s

    values = np.array([1.0, -1.0, 2.0])
    for g in (f, jit(f), grad(f), jit_grad(f)):
        g(values)
        assert capsys.readouterr().out == "at 0 is 1.0\nat 2 is 2.0\n"


def test_prints_of_arrays_and_objects(capsys: pytest.CaptureFixture[str]) -> None:
    class Named:
        def __str__(self) -> str:
            return "<named>"

    named = Named()

    def f(x):
        print(named, x, [1, "a"], x[0] > 0)
        return np.sum(x * x)

    texts = []
    for g in (f, jit(f), grad(f), jit_grad(f)):
        g(np.array([1.0, 2.0]))
        texts.append(capsys.readouterr().out)
    assert set(texts) == {"<named> [1. 2.] [1, 'a'] True\n"}


def test_print_from_native_code(capfd: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print(f"at {x:.2f}")
        return x * x

    g = jit_grad(f)

    @njit
    def twice(x):
        return g(x) + g(2 * x)

    assert twice(1.0) == 6.0
    assert capfd.readouterr().out == "at 1.00\nat 2.00\n"


# -- arrays ---------------------------------------------------------------------------------------

DERIVATIVES = ["grad", "vjp", "jit_grad", "jit_value_and_grad", "grad of grad"]


@pytest.mark.parametrize("way", DERIVATIVES[:-1])
def test_derivatives_change_no_argument(way: str) -> None:
    def f(x):
        x[0] = x[0] * 2.0
        x[1:] += 1.0
        return np.sum(x * x)

    values = np.array([1.0, 2.0, 3.0])
    g = WAYS[way](f)
    for _ in range(2):
        found = g(values)
        gradient = found[1] if isinstance(found, tuple) else found
        np.testing.assert_array_equal(gradient, [8.0, 6.0, 8.0])
        np.testing.assert_array_equal(values, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("way", ["grad", "vjp", "jit_grad"])
def test_derivatives_change_no_capture(way: str) -> None:
    table = np.array([1.0, 2.0])

    def f(x):
        table[1] += x
        view = table[1:]
        view[0] *= x
        return table[1] * x

    g = WAYS[way](f)
    for _ in range(2):
        assert g(3.0) == pytest.approx(2 * 2 * 3 + 3 * 9)  # (2 + x) x^2
        np.testing.assert_array_equal(table, [1.0, 2.0])


def test_primal_writes_as_python_does() -> None:
    table = np.zeros(2)

    def f(x, k):
        x[0] = x[0] * 2.0
        table[k] += x[0]
        return np.sum(x)

    plain, compiled = np.ones(3), np.ones(3)
    f(plain, 1)
    f(plain, 0)
    expected = table.copy()
    table[:] = 0.0
    g = jit(f)
    g(compiled, 1)
    g(compiled, 0)
    np.testing.assert_array_equal(compiled, plain)
    np.testing.assert_array_equal(table, expected)


# -- tracing alone changes nothing ----------------------------------------------------------------


def test_failing_trace_changes_nothing() -> None:
    global TOTAL
    TOTAL = 5.0
    counter = Counter()
    log: list[Any] = [0.5]
    table = np.ones(2)
    known = {"a": 1.0}

    def f(x):
        global TOTAL
        TOTAL = x
        counter(x)
        log.append(x)
        log[0] = x
        table[0] = x
        known["b"] = x
        del known["a"]
        if x > 0:
            counter(x)
        return np.sum(np.histogram2d(x, np.array([x]))[0])

    for g in (jit(f), jit_grad(f)):
        for _ in range(2):
            with pytest.raises(JitadError):
                g(1.0)
    assert TOTAL == 5.0 and log == [0.5] and known == {"a": 1.0}
    assert counter.calls == 0 and counter.last is None and counter.large == []
    np.testing.assert_array_equal(table, 1.0)


def test_compiling_ahead_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    log: list[Any] = []

    def f(x):
        print("called", x)
        log.append(1)
        return x * x

    g = jit_grad(f)
    with pytest.raises(JitadError, match="writes to Python objects, which native code can't"):
        g.compile(1.0)
    assert log == [] and capsys.readouterr().out == ""
    assert g(2.0) == 4.0
    assert log == [1] and capsys.readouterr().out == "called 2.0\n"


def test_a_call_that_raises_at_run_time_commits_nothing() -> None:
    """The writes of a compiled call are made once, when it has succeeded."""
    counter = Counter()

    def f(x):
        y = counter(x)
        if x > 2.0:
            raise ValueError("late")
        return y

    g = jit_grad(f)
    g(1.0)
    with pytest.raises(ValueError, match="late"):
        g(3.0)
    assert counter.calls == 1 and counter.last == 1.0
    g(2.0)
    assert counter.calls == 2


def test_eager_writes_are_plain_after_an_error() -> None:
    log: list[Any] = []

    def f(x):
        log.append(x)
        raise KeyError("out")

    with pytest.raises(KeyError):
        grad(f)(2.0)
    assert log == [2.0] and type(log[0]) is float


def test_eager_writes_of_arrays_are_plain_and_own() -> None:
    log: list[Any] = []

    def f(x):
        y = x * 2.0
        log.append(y)
        log.append((y[0], {"x": x}))
        y[0] = 100.0
        return np.sum(y)

    for g in (f, grad(f), jit(f), jit_grad(f)):
        log.clear()
        g(np.array([1.0, 2.0]))
        assert type(log[0]) is np.ndarray and type(log[1][1]["x"]) is np.ndarray
        np.testing.assert_array_equal(log[0], [100.0, 4.0])
        assert log[1][0] == 2.0
        np.testing.assert_array_equal(log[1][1]["x"], [1.0, 2.0])
