"""Is a write seen that a derivative makes to what a function has by two names?

A derivative takes each argument by itself.  So it refuses to write to one that is another one, too,
or shares memory with it; where nothing is written, arguments may be the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from jitad import FallbackWarning, JitadError, grad, jacfwd, jit, jit_grad, jvp, vjp

X = np.array([1.5, 2.0, 0.5])
GIVEN = X


@dataclass
class Box:
    a: Any


def of_constants(x, a, b):
    a[0] = x[0] ** 2
    return b[0] * x[0]


def of_what_is_differentiated(x, a, b):
    x[0] = x[1] ** 2
    return a[0] * x[0] + b[1]


def to_another(x, a, b):
    a[0] = a[1] ** 2
    return a[0] * x[0] + b[1]


def by_a_view(x, a, b):
    part = a[:2]
    part *= 2.0
    return np.sum(b * x)


def in_a_loop(x, a, b):
    for k in range(1, len(a)):
        a[k] += a[k - 1] * x[k]
    return np.sum(b * x)


def of_an_object(x, a, b):
    a.a = x[0] ** 2
    return b.a * x[0]


def in_an_object(x, a, b):
    a.a[0] = 3.0 * x[1]
    return x[0] * x[1] + b


def of_what_is_outside(x, a, b):
    x[0] = 3.0 * x[1]
    return GIVEN[0] * x[1]


def of_a_list(x, a, b):
    a.append(x[0])
    return b[-1] * x[0]


def of_a_dict(x, a, b):
    a["k"] = x[0] ** 2
    return b["k"] * x[0]


def own():
    return X.copy()


SAME = {
    "constants": (of_constants, lambda: (own(), *(own(),) * 2)),
    "differentiated": (of_what_is_differentiated, lambda: (*(own(),) * 2, own())),
    "another": (to_another, lambda: (*(own(),) * 2, own())),
    "a view of it": (of_constants, lambda: (own(), (a := own()), a[:2])),
    "overlapping views": (of_constants, lambda: (own(), (a := own())[:2], a[1::-1])),
    "written by a view": (by_a_view, lambda: (own(), *(own(),) * 2)),
    "in a loop": (in_a_loop, lambda: (own(), *(own(),) * 2)),
    "in a tuple": (lambda x, a, b: of_constants(x, a[0], b), lambda: (own(), ((a := own()),), a)),
    "an object": (of_an_object, lambda: (own(), *(Box(2.0),) * 2)),
    "in an object": (in_an_object, lambda: ((a := own()), Box(a), 0.0)),
    "in a list": (lambda x, a, b: of_constants(x, a[1], b),
                  lambda: (own(), [0.5, (a := own())], a)),
    "a list": (of_a_list, lambda: (own(), *([1.0, 2.0],) * 2)),
    "a dict": (of_a_dict, lambda: (own(), *({"k": 1.0},) * 2)),
    "outside": (of_what_is_outside, lambda: (GIVEN, 1.0, 2.0)),
}  # fmt: skip
CONTAINERS = ("an object", "a list", "a dict")


def copied(thing):
    """Each alone, so that what was one is two."""
    if isinstance(thing, Box):
        return Box(copied(thing.a))
    if isinstance(thing, (list, tuple)):
        return type(thing)(map(copied, thing))
    return thing.copy() if hasattr(thing, "copy") else thing


def by_keyword(f):
    return lambda x, a, b: jit_grad(f)(x, a=a, b=b)


OPERATORS = {
    "grad": grad, "jit_grad": jit_grad, "jacfwd": jacfwd, "by keyword": by_keyword,
    "compiled jacfwd": lambda f: jit(jacfwd(f)),
    "nested": lambda f: jit(lambda x, a, b: 1.0 * grad(f)(x, a, b)),
}  # fmt: skip


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", SAME)
def test_a_write_is_refused(name, operator):
    f, given = SAME[name]
    args = given()
    derivative = OPERATORS[operator](f)
    if operator == "nested" and name not in ("outside", "differentiated", "another"):
        return  # where a trace knows that arguments are one, it does what Python does
    if operator == "grad" and name in CONTAINERS:
        return  # of lists, dicts and objects the eager engine has the caller's
    for _ in range(2):
        with pytest.raises(JitadError, match=r"shares memory|one and the same|that is written"):
            derivative(*args)
    np.testing.assert_array_equal(args[0], X)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", [n for n in SAME if n != "outside"])
def test_of_copies_it_is_none(name, operator):
    """After a call that was refused, too."""
    f, given = SAME[name]
    derivative = OPERATORS[operator](f)
    x, a, b = given()
    copies = copied(x), copied(a), copied(b)
    h, want = 1e-6, []
    for e in np.eye(3):
        values = []
        for s in (h, -h):
            x, a, b = given()
            values.append(f(x.copy() + s * e, copied(a), copied(b)))
        want.append((values[0] - values[1]) / (2.0 * h))
    np.testing.assert_allclose(derivative(*copies), want, rtol=1e-6, atol=1e-8)


def test_by_jvp_and_vjp():
    with pytest.raises(JitadError, match="shares memory"):
        jvp(lambda x, a: of_constants(x, a, x), (X, X), (X, X))
    with pytest.raises(JitadError, match="shares memory"):
        vjp(lambda x, a: of_constants(x, a, x), X, X)


def test_what_is_only_read_may_be_the_same():
    def product(x, a):
        y = a * 1.0
        y[0] = 2.0
        return np.sum(x * y)

    want = [2.0, *X[1:]]
    for operator in (grad, jit_grad):
        np.testing.assert_array_equal(operator(product)(X, X), want)
        np.testing.assert_array_equal(operator(product)(X, X[::-1][::-1]), want)
    assert jvp(product, (X, X), (X, X))[1] == pytest.approx(2.0 * np.sum(X[1:] ** 2) + 2.0 * X[0])


def test_neighbours_share_nothing():
    """Parts of one array that do not overlap."""
    whole = np.concatenate((X, X, X))
    derivative = jit_grad(to_another)
    for a, b, c in ((whole[:3], whole[3:6], whole[6:]), (whole[::3], whole[1::3], whole[2::3])):
        want = grad(to_another)(a.copy(), b.copy(), c.copy())
        np.testing.assert_array_equal(derivative(a, b, c), want)
        np.testing.assert_array_equal(grad(to_another)(a, b, c), want)


@pytest.mark.parametrize("name", CONTAINERS)
def test_the_eager_engine_has_the_callers_containers(name):
    f, given = SAME[name]
    h = 1e-6
    want = []
    for e in np.eye(3):
        values = [f(X + s * e, *given()[1:]) for s in (h, -h)]
        want.append((values[0] - values[1]) / (2.0 * h))
    np.testing.assert_allclose(grad(f)(*given()), want, rtol=1e-6, atol=1e-8)


class Net:
    """Which no dataclass is: a derivative by it opens it."""

    def __init__(self, w, again):
        self.w, self.again, self.all = w, again, [w]


def writes_to_itself(net):
    net.w[0] = net.w[1] ** 2
    return net.again[0] * net.all[0][0] * net.w[2]


def closing_over(a, b):
    def f(x):
        a[0] = x * a[1]
        return b[0] * x

    return f


@pytest.mark.parametrize("operator", [grad, jit_grad])
def test_derivatives_by_objects_and_functions(operator):
    w = own()
    for thing, f in ((Net(w, w), writes_to_itself), (Net(w, w[::-1]), writes_to_itself),
                     (closing_over(w, w), lambda f: f(2.0))):  # fmt: skip
        with pytest.raises(JitadError, match="shares memory"):
            operator(f)(thing)
    net = Net(own(), own())
    net.all = [own()]
    found = operator(writes_to_itself)(net)
    found = found if isinstance(found, dict) else vars(found)
    np.testing.assert_allclose(found["again"], [X[0] * X[2], 0.0, 0.0])
    found = operator(lambda f: f(2.0))(closing_over(own(), own()))
    np.testing.assert_allclose(found["b"], [2.0, 0.0, 0.0])
    net = Net(w, w)
    np.testing.assert_allclose(operator(lambda net: np.sum(net.w * net.again))(net)["w"], X)


def reads_the_first(p, q):
    q["w"] = q["w"] * 2.0
    return np.sum(p["w"] ** 2)


def reads_the_second(p, q):
    p["w"] = p["w"] ** 2
    return np.sum(q["w"] * p["w"])


@pytest.mark.parametrize("operator", [grad, jit_grad, lambda f: jit(lambda p: grad(f)(p, p))])
@pytest.mark.parametrize("f", [reads_the_first, reads_the_second], ids=lambda f: f.__name__)
def test_one_of_two_is_differentiated(f, operator):
    p = {"w": own()}
    derivative = operator(f)
    args = (p, p) if operator in (grad, jit_grad) else (p,)
    with pytest.raises(JitadError, match=r"shares memory|one and the same|that is written"):
        derivative(*args)
    if len(args) == 2:
        p = {"w": own()}
        want = {"w": 2.0 * X if f is reads_the_first else 2.0 * X**2}
        np.testing.assert_allclose(derivative(p, {"w": own()})["w"], want["w"])


@pytest.mark.parametrize("operator", [jit, lambda f: f])
def test_intermediate_arrays(operator):
    def second(x):
        y = x * 2.0
        return np.sum(grad(lambda y, a: to_another(y, a, 1.0 * y))(y, y))

    def first(x):
        y = x * 2.0
        return np.sum(grad(lambda y, a: of_what_is_differentiated(y, a, 1.0 * y))(y, y))

    for f in (first, second):
        with pytest.raises(JitadError, match="that is written"):
            operator(f)(own())


HELD = [X, 2.0]


def with_a_list(x, a):
    held = list(HELD)  # all of it is read by a trace
    a[0] = x[0] ** 2
    return a[0] * x[1] * held[1]


def with_its_array(x, a):
    a[0] = x[0] ** 2
    return a[0] * x[1] * HELD[0][0]


def test_the_eager_engine_knows_what_is_read():
    """It stands in where a kernel can't tell."""
    with pytest.warns(FallbackWarning, match="shares memory"):
        got = jit_grad(with_a_list, fallback=True)(own(), X)
    np.testing.assert_allclose(got, [4.0 * X[0] * X[1], 2.0 * X[0] ** 2, 0.0])
    for derivative in (grad(with_its_array), jit_grad(with_its_array, fallback=True)):
        with pytest.raises(JitadError, match="shares memory"):
            derivative(own(), X)
