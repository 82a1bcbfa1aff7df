"""Is what a compiled function reads besides its arguments read anew at every call?

Each scenario runs a function, changes something that it reads, runs it again, and gives all the
results; compiled ones are those of plain Python.
"""

from __future__ import annotations

import functools
import json
import logging
import math
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
SCENARIOS: list[Callable[[Wrap], list[Any]]] = []


def scenario(f: Callable[[Wrap], list[Any]]) -> Callable[[Wrap], list[Any]]:
    SCENARIOS.append(f)
    return f


class Model:
    scale = 2.0

    def __init__(self, w: Any, n: int = 2) -> None:
        self.w, self.n, self.calls = w, n, 0

    def loss(self, x: Any) -> Any:
        self.calls += 1
        t = 0.0
        for _ in range(self.n):
            t = t + np.sum(self.w * x) * self.scale
        return t

    @classmethod
    def scaled(cls, x: Any) -> Any:
        return x * cls.scale


@scenario
def a_bound_method(wrap: Wrap) -> list[Any]:
    m = Model(np.ones(2))
    g = wrap(m.loss)
    out = [g(2.0), m.calls]
    m.w = np.full(3, 5.0)
    out += [g(2.0), m.calls]
    m.n, m.w[0] = 3, 9.0
    return [*out, g(2.0), m.calls]


@scenario
def a_bound_method_in_a_variable(wrap: Wrap) -> list[Any]:
    m = Model(np.ones(2))
    h: Any = m.loss
    g = wrap(lambda x: h(x) * 2)
    out = [g(2.0)]
    m.w = np.full(3, 5.0)
    out += [g(2.0)]
    h = Model(np.ones(4), 1).loss
    out += [g(2.0)]
    h = math.sin
    out += [g(2.0)]
    h = Model.scaled
    out += [g(2.0)]
    return out


@scenario
def one_object_under_two_names(wrap: Wrap) -> list[Any]:
    a, b = Model(np.ones(2)), Model(np.full(2, 3.0))
    both = [a, a]
    g = wrap(lambda x: both[0].loss(x) + 10 * both[1].loss(x))
    out = [g(1.0), a.calls]
    both[1] = b
    out += [g(1.0), a.calls, b.calls]
    both[0] = b
    return [*out, g(1.0), a.calls, b.calls]


@scenario
def one_function_under_two_names(wrap: Wrap) -> list[Any]:
    def make(k: float) -> Callable[[Any], Any]:
        return lambda x: k * x

    p = q = make(2.0)
    g = wrap(lambda x: p(x) + 10 * q(x))
    out = [g(1.0)]
    q = make(3.0)
    return [*out, g(1.0)]


@scenario
def numbers_of_other_types(wrap: Wrap) -> list[Any]:
    k: Any = 2.5
    a: Any = np.array([1.5, 2.5])

    def f(x: Any) -> Any:
        return x * (k * k // 3 + 2**k) + np.sum(a // 2) + np.sum(np.zeros_like(a) + k / 2)

    g = wrap(f)
    out = [g(1.0)]
    for k in (3, np.float32(1.7), True, 7.5, np.int32(5)):  # noqa: B007
        out += [g(1.0)]
    for a in (np.array([3, 5]), np.ones(3, np.float32)):  # noqa: B007
        out += [g(1.0)]
    return out


@scenario
def classes_and_their_attributes(wrap: Wrap) -> list[Any]:
    class Config:
        k = 2.0
        w = np.ones(2)

    g = wrap(lambda x: x * Config.k + np.sum(Config.w))
    out = [g(1.0)]
    Config.k, Config.w[0] = 5.0, 3.0
    out += [g(1.0)]
    Config.w = np.ones(7)
    return [*out, g(1.0)]


@scenario
def containers_of_other_kinds(wrap: Wrap) -> list[Any]:
    s, q, d = {1.0, 2.0}, deque([1.0, 2.0]), OrderedDict(a=1.0)
    g = wrap(lambda x: x * sum(sorted(s)) + q[0] + d["a"])
    out = [g(1.0)]
    s.add(5.0)
    out += [g(1.0)]
    q[0] = 7.0
    out += [g(1.0)]
    d["a"] = 9.0
    return [*out, g(1.0)]


@scenario
def fewer_arguments(wrap: Wrap) -> list[Any]:
    def f(x: Any, y: Any = 2.0, *more: Any) -> Any:
        return x * y + sum(more)

    g = wrap(f)
    return [g(1.0, 3.0, 4.0), g(1.0), g(1.0, 5.0), g(1.0, 3.0, 4.0, 5.0), g(2.0)]


@scenario
def partials(wrap: Wrap) -> list[Any]:
    a = np.ones(2)
    p = functools.partial(lambda a, b, x, c: np.sum(a * x) * b + c, a, 2.0, c=3.0)
    g = wrap(p)
    out = [g(1.0)]
    a[0], p.keywords["c"] = 7.0, 9.0
    return [*out, g(1.0)]


@scenario
def attributes_by_name(wrap: Wrap) -> list[Any]:
    m = Model(1.0)
    g = wrap(lambda x: getattr(m, "w") * x + getattr(m, "more", 0.5) + hasattr(m, "flag"))  # noqa: B009
    out = [g(2.0)]
    m.w = 5.0
    out += [g(2.0)]
    m.more = 3.0
    out += [g(2.0)]
    m.flag = None
    h = wrap(lambda x: vars(m)["w"] * x + m.__dict__["more"])
    out += [g(2.0), h(2.0)]
    m.w = 7.0
    return [*out, h(2.0)]


@scenario
def writes_by_name(wrap: Wrap) -> list[Any]:
    m = Model(1.0)

    def f(x: Any) -> Any:
        setattr(m, "w", m.w + x)  # noqa: B010
        if x > 2.0:
            object.__setattr__(m, "n", m.w * 2.0)
        return m.w

    g = wrap(f)
    return [g(2.0), m.w, m.n, g(3.0), m.w, m.n]


@pytest.mark.parametrize("run", SCENARIOS, ids=lambda f: f.__name__)
def test_compiled_as_in_python(run: Callable[[Wrap], list[Any]]) -> None:
    want, got = run(lambda f: f), run(jitad.jit)
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_kinds_of_array_with_their_own_arithmetic_are_refused() -> None:
    a = np.arange(4.0).view(np.recarray)
    with pytest.raises(jitad.JitadError, match="recarray"):
        jitad.jit(lambda x: x * a.sum())(1.0)


def test_what_a_trace_would_not_see_is_refused() -> None:
    m = Model(1.0)
    queue = deque([1.0])

    def copied(x: Any) -> Any:
        return json.dumps(m, default=vars) and x

    def queued(x: Any) -> Any:
        if x > 0.0:
            queue.append(x)
        return x

    def logged(x: Any) -> Any:
        logging.disable()
        return x

    for f, text in ((copied, "reads a Model"), (queued, "deque"), (logged, "acts on the world")):
        with pytest.raises(jitad.JitadError, match=text):
            jitad.jit(f)(1.0)
    assert list(queue) == [1.0]


def test_arrays_that_overlap_what_is_written_are_refused() -> None:
    def f(a: Any, b: Any) -> Any:
        for i in range(len(a)):
            a[i] = b[i] * 2.0 + 1.0
        return np.sum(a) + np.sum(b)

    g = jitad.jit(f)
    x = np.arange(6.0)
    for a, b in ((x, x), (x[1:], x[:-1]), (x[::-1], x)):
        with pytest.raises(jitad.JitadError, match="shares memory"):
            g(a, b)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    y = x.copy()
    assert g(x[::2], x[1::2]) == f(y[::2], y[1::2])
    np.testing.assert_array_equal(x, y)
    for derivative in (jitad.jit_grad(f, (0, 1)), jitad.grad(f, (0, 1))):
        with pytest.raises(jitad.JitadError, match="shares memory"):
            derivative(x, x)
        np.testing.assert_allclose(derivative(x, x.copy()), [np.zeros(6), np.full(6, 3.0)])


class Grid:
    """A field, and a view of its inside, as many programs keep them."""

    def __init__(self, base: Any, inside: Any) -> None:
        self.all, self.inside = base, inside

    def energy(self, x: Any) -> Any:
        self.all[1:-1] = x * x
        return np.sum(self.inside * x) + self.all[0]

    def energy_by_the_view(self, x: Any) -> Any:
        self.inside[:] = x * x
        return np.sum(self.all[1:-1] * x)


@pytest.mark.parametrize("method", ["energy", "energy_by_the_view"])
@pytest.mark.parametrize("make", [jitad.grad, jitad.jit_grad, jitad.jit_jacobian])
def test_captured_arrays_that_overlap_what_a_derivative_writes_are_refused(make, method) -> None:
    a, x = np.arange(5.0), np.array([1.0, 2.0, 3.0])
    grid = Grid(a, a[1:-1].copy())
    g = make(getattr(grid, method))
    want = grid.inside.copy() if method == "energy" else a[1:-1].copy()
    np.testing.assert_allclose(g(x), want)  # they are apart
    grid.inside = a[1:-1]
    for _ in range(2):
        with pytest.raises(jitad.JitadError, match="shares memory"):
            g(x)
    grid.inside = a[::2]  # elements between those of the other, but not only
    with pytest.raises(jitad.JitadError, match="shares memory"):
        g(np.ones(3))
    b = np.zeros(10)
    grid.all, grid.inside = b[::2], b[1:7:2]
    np.testing.assert_allclose(g(x), np.zeros(3))
    assert a.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0] and not b.any()
