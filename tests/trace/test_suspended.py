"""Does a generator's `finally` run when, and only when, Python would run it?"""

import contextlib
import gc

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError

OUTSIDE = []


def noting(log):
    try:
        yield 1.0
        yield 2.0
    finally:
        log.append(1)


def left_by_a_break(x):
    log = []
    for _ in noting(log):
        break
    return x * len(log)


def left_by_a_traced_break(x):
    log = []
    for v in noting(log):
        if v * x > 1.0:
            break
    return x * len(log)


def nobody_goes_on(x):
    log = []
    x = x * next(noting(log))
    return x * len(log)


def deleted(x):
    log = []
    g = noting(log)
    x = x * next(g)
    before = len(log)
    del g
    return x * len(log) + before


@contextlib.contextmanager
def pushed(stack, v):
    stack.append(v)
    try:
        yield stack
    finally:
        stack.pop()


def entered_in_a_loop(x):
    stack = [x]
    with contextlib.ExitStack() as entered:
        for r in np.ones(3) * x:
            entered.enter_context(pushed(stack, stack[-1] * r))
        top = stack[-1]
    return top * len(stack)


def called_back_in_a_loop(x):
    log = []
    with contextlib.ExitStack() as entered:
        for r in np.ones(3) * x:
            entered.callback(log.append, r)
        before = len(log)
    return x * sum(log) + before


class Noting:
    def __init__(self, log, v):
        self.log, self.v = log, v

    def __enter__(self):
        self.log.append(self.v)
        return 2.0 * self.v

    def __exit__(self, kind, *_):
        self.log.append(len(self.log) * self.v)
        return kind is KeyError


def swallowed_by_one_of_them(x):
    log, given = [], x
    with contextlib.ExitStack() as entered:
        for k in range(3):
            x = x + entered.enter_context(Noting(log, given * k))
        entered.push(lambda *a: log.append(a[0] is None))
        raise KeyError("a")
    return x * sum((k + 1) * float(v) for k, v in enumerate(log))


def handed_on(x):
    log = []
    with contextlib.ExitStack() as entered:
        entered.enter_context(Noting(log, x))
        rest = entered.pop_all()
    before = len(log)
    rest.close()
    return x * before + sum(log)


PROGRAMS = [left_by_a_break, left_by_a_traced_break, nobody_goes_on, deleted, entered_in_a_loop,
            called_back_in_a_loop, swallowed_by_one_of_them, handed_on]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_slopes(f):
    h = 1e-5
    slope = (f(1.5 + h) - f(1.5 - h)) / (2.0 * h)
    for run in (jitad.value_and_grad(f), jitad.jit_value_and_grad(f, fallback=False)):
        value, got = run(1.5)
        assert value == f(1.5)
        assert got == pytest.approx(slope, rel=1e-7)


def test_one_that_is_left_over_writes_what_the_kernel_has_computed():
    def f(x):
        def waiting():
            try:
                yield 2.0 * x
            finally:
                OUTSIDE.append(x)

        g = waiting()
        return next(g)

    OUTSIDE.clear()
    assert jitad.jit(f)(1.5) == 3.0
    gc.collect()
    assert all(type(v) is float for v in OUTSIDE)


def test_what_a_condition_enters_is_refused():
    def f(x):
        log = [1.0]
        with contextlib.ExitStack() as entered:
            if x > 1.0:
                entered.callback(log.append, x)
        return x * len(log)

    with pytest.raises(JitadError, match="that holds functions") as error:
        jitad.jit(f)(0.5)
    assert "if x > 1.0" in str(error.value)
