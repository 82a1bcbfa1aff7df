"""Are values that are None on some paths what they are in Python?"""

from collections import deque

import numpy as np
import pytest
import scipy.special

import jitad
from jitad.errors import JitadError, JitadTypeError
from tests.engines import natively, on_tape
from tests.trace.test_errors import refusal
from tests.truth import differences, fresh

X = np.array([-1.0, 2.0, 0.5, 3.0])


def first_positive(x):
    found = None
    for e in x:
        if found is None and e > 0.0:
            found = e
    return found


def least(x):
    best = None
    for i in range(len(x)):
        d = (x[i] - 0.7) ** 2
        if best is None or d < best:
            best = d
    return best if best is not None else 0.0


def least_with_place(x):
    best = None
    for i in range(len(x)):
        d = (x[i] - 0.7) ** 2
        if best is None or d < best[0]:
            best = (d, x[i])
    return best[0] * best[1]


def or_else(x):
    def pick(z):
        return z * z if z > 1.0 else None

    return (pick(x[1]) or 3.0 * x[0]) + (pick(x[0]) or x[3])


def array_or_none(x):
    a = None
    if np.sum(x) > 1.0:
        a = x * 2.0
    if a is None:
        a = x * 3.0
    return np.sum(a * x)


def previous(x):
    before, total = None, 0.0
    for e in x:
        if before is not None:
            total += (e - before) ** 2
        before = e
    return total


def found_by_recursion(x):
    def find(z):
        if z < 0.1:
            return None
        rest = find(z * 0.5)
        return z if rest is None else rest * z

    return find(x[3]) + x[0]


def found_by_early_return(x):
    def search(v, limit):
        for e in v:
            if e > limit:
                return e * e
        return None

    first = search(x, 1.5)
    if first == None:  # noqa: E711
        return 0.0
    return first + (search(x, 9.0) or x[0])


class Holder:
    value = None


def attribute(x):
    holder = Holder()
    for i in range(len(x)):
        if x[i] > 1.0 and holder.value is None:
            holder.value = x[i] * i
    return holder.value * 2.0


PROGRAMS = (first_positive, least, least_with_place, or_else, array_or_none, previous,
            found_by_recursion, found_by_early_return, attribute)  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    want = f(X)
    direction = np.array([0.3, -0.8, 0.5, 1.1])
    expected, error = differences(f, (X,), (0,), [direction])
    for engine in (on_tape, natively):
        assert np.isclose(engine(f, *fresh((X,))), want, rtol=1e-13)
        slope = engine(jitad.grad(f), *fresh((X,))) @ direction
        assert abs(slope - expected) <= 1e-6 * abs(expected) + 10 * error


def test_none_is_returned():
    compiled = jitad.jit(lambda x: x if x > 1.0 else None)
    assert compiled(0.5) is None and compiled(2.0) == 2.0
    compiled = jitad.jit(lambda x: (x if x > 1.0 else None, [x]))
    assert compiled(0.5) == (None, [0.5])


def test_none_is_no_number():
    def f(x):
        v = x if x > 1.0 else None
        return v * 2.0

    compiled = jitad.jit(f)
    assert compiled(2.0) == 4.0
    with pytest.raises(TypeError, match="is None here"):
        compiled(0.5)
    with pytest.raises(TypeError, match="is None here"):
        jitad.jit_grad(lambda x: x if x > 1.0 else None)(0.5)


@pytest.mark.parametrize("x", [0.5, 2.0])
def test_what_is_asked_without_a_hook_is_refused(x):
    def maybe(x):
        return x if x > 1.0 else None

    def matched(x):
        match maybe(x):
            case None:
                return 1.0
            case _:
                return 2.0

    def matched_inside(x):
        match (maybe(x), 1):
            case (None, _):
                return 1.0
            case _:
                return 2.0

    def found(x):
        return 1.0 if None in [maybe(x)] else 2.0

    def counted(x):
        return x * [maybe(x), None].count(None)

    def any_of(x):
        return 1.0 if any([maybe(x), 0.0]) else 2.0

    def shown(x):
        return x * len(f"{maybe(x)}")

    def compared(x):
        return x if (maybe(x), 1) == (None, 1) else 2.0 * x

    def kind(x):
        return x if isinstance(maybe(x), float) else 2.0 * x

    for f in (matched, matched_inside, found, counted, any_of, shown, compared, kind):
        try:
            got = natively(f, x)
        except (JitadError, TypeError):
            continue
        assert got == f(x), f.__name__


def test_messages():
    def f(x):
        v = x if x > 1.0 else None
        match v:
            case float():
                return v
        return x

    assert "what is None on some paths can't be matched" in refusal(f, 2.0)
    with pytest.raises(JitadTypeError, match="can't be compared here"):
        jitad.jit(lambda x: x * deque([x if x > 1.0 else None]).count(None))(2.0)


# -- options of library functions ----------------------------------------------------------------

A = np.array([[0.5, 1.2, -0.3], [0.7, 0.1, 2.0]])


def chosen_axis(x):
    axis = None
    if x[0, 0] > 0.0:
        axis = 1
    return np.sum(np.max(x, axis=axis) ** 2) + np.sum(x.sum(axis=0 if x[0, 0] > 0 else None) ** 2)


def chosen_weights(x):
    w = None if x[0, 0] > 0.0 else x[0] ** 2
    return np.sum(scipy.special.logsumexp(x, axis=1, b=w)) + np.sum(np.average(x, 1, w))


def chosen_target(x):
    out = None
    if x[0, 0] > 0.0:
        out = np.zeros((2, 3))
    product = np.multiply(x, 2.0, out=out)
    return np.sum(product**2) if out is None else np.sum(out**3)


OPTIONS = {
    "axis": chosen_axis, "weights": chosen_weights, "out": chosen_target,
    "a bound": lambda x: np.sum(np.clip(x, None if x[0, 0] > 0.0 else 0.2, 2.0) ** 2),
    "an order": lambda x: np.linalg.norm(x, ord=1 if x[0, 0] > 0.0 else None),
    "a name or a number": lambda x: np.linalg.norm(x, ord=1 if x[0, 0] > 0.0 else "fro"),
    "axis of a sort": lambda x: np.sum(np.sort(x, axis=None if x[0, 0] > 0.0 else 0)[0] ** 2),
}  # fmt: skip


@pytest.mark.parametrize("f", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("x", [A, -A])
def test_an_option_that_is_none_on_some_paths(f, x):
    value, slope = jitad.jit_value_and_grad(f, fallback=False)(x)
    d = np.cos(np.arange(6.0)).reshape(2, 3)
    assert value == pytest.approx(f(x), rel=1e-13)
    want = (f(x + 1e-6 * d) - f(x - 1e-6 * d)) / 2e-6
    assert np.sum(slope * d) == pytest.approx(want, rel=1e-7)
