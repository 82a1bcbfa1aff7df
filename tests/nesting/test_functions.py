"""What are derivatives of, along and with respect to functions?  The same in both engines.

Expected values are closed forms, worked out by hand.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import JitadError, derivative, grad, jit, jit_grad, jvp, vjp
from tests.engines import ENGINES

PI = 3.14159
engines = pytest.mark.parametrize("engine", ENGINES)


def line(slope: Any, offset: Any) -> Callable[[Any], Any]:
    return lambda t: slope * t + offset


# -- results that are functions -------------------------------------------------------------------


def applied_to_itself(x: float) -> Any:
    f_hat = derivative(lambda a: lambda g: lambda y: g(a + y))(x)
    return f_hat(f_hat(math.exp))(1.0)


def pair(z: float) -> Any:
    g_hat, f_hat = derivative(
        lambda x: (lambda y: math.sin(x * y), lambda g: lambda w: g(x + w))
    )(3.0)  # fmt: skip
    return f_hat(g_hat)(z)


def church_pair(z: float) -> Any:
    h = derivative(
        lambda x: lambda both: both(lambda y: math.sin(x * y), lambda g: lambda w: g(x + w))
    )(3.0)
    return h(lambda g_hat, f_hat: f_hat(g_hat)(z))


def church_pair_flipped(z: float) -> Any:
    both = lambda g, f: f(g)(z)
    return derivative(
        lambda x: both(lambda y: math.sin(x * y), lambda g: lambda w: g(x + w))
    )(3.0)  # fmt: skip


def curried(x: float) -> Any:
    return derivative(lambda a: lambda b: lambda c: a * a * b * b * c)(x)(2.0)(5.0)


def used_under_reverse_mode(x: float) -> Any:
    return grad(derivative(lambda a: lambda b: a * a * b * b)(3.0))(x)


def chosen_by_a_branch(x: float) -> Any:
    d = derivative(lambda a: lambda b: a * a * b)
    h = d(x) if x > 1.0 else d(x + 1.0)
    return h(5.0)


def carried_by_a_loop(x: float) -> Any:
    f = line(1.0, 0.0)
    for _ in range(5):
        f = line(f(x), 0.0)  # slopes x, x^2, ...
    return f(2.0)


def shares_its_variable(x: float) -> Any:
    s = 0.0
    for i in range(5):
        k = x * i
        f = lambda t: t * k  # the variable, not its value
        s = s + f(2.0)
        k = k + 1.0
        s = s + f(1.0)
    return s + f(3.0)


def left_by_a_derivative(x: float) -> Any:
    kept: list[Any] = []

    def inner(y: Any) -> Any:
        kept.append(lambda t: t * y * x)
        return y * y

    derivative(inner)(2.0 * x)
    return kept[0](3.0)  # 6 x^2


def of_a_vector(x: float) -> Any:
    h = derivative(lambda a: {"f": lambda v: a * a * v, "g": [a]})(x)
    return h["f"](np.array([1.0, 2.0])), h["g"]


def sine_terms(z: float) -> float:
    """d/da sin(3 (a + z)) at 3, by both of its places: the Church pair's answer."""
    return (3.0 + z) * math.cos(3.0 * (3.0 + z)) + 3.0 * math.cos(3.0 * (3.0 + z))


RESULTS: list[tuple[Callable[[float], Any], float, Any]] = [
    (applied_to_itself, 3.0, math.exp(7.0)),
    # d/du [d/dx sin(x y) at x=3, y=u+PI] at u=3
    (pair, PI, math.cos(3.0 * (3.0 + PI)) - 3.0 * (3.0 + PI) * math.sin(3.0 * (3.0 + PI))),
    (church_pair, PI, sine_terms(PI)),
    (church_pair_flipped, PI, sine_terms(PI)),
    (curried, 3.0, 2 * 3.0 * 4.0 * 5.0),
    (used_under_reverse_mode, 2.0, 24.0),
    (chosen_by_a_branch, 1.5, 15.0),
    (chosen_by_a_branch, 0.5, 15.0),
    (carried_by_a_loop, 1.5, 2.0 * 1.5**5),
    (shares_its_variable, 1.5, 30.0 * 1.5 + 5.0 + 3.0 * (4 * 1.5 + 1.0)),
    (left_by_a_derivative, 1.5, 6.0 * 1.5**2),
    (of_a_vector, 3.0, ([6.0, 12.0], [1.0])),
]


def flat(value: Any) -> list[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, np.ndarray)):
        return [x for v in value for x in flat(v)]
    return [float(value)]


@engines
@pytest.mark.parametrize(("f", "x", "want"), RESULTS, ids=[r[0].__name__ for r in RESULTS])
def test_results(engine: str, f: Callable[[float], Any], x: float, want: Any) -> None:
    assert flat(ENGINES[engine](f, x)) == pytest.approx(flat(want), rel=1e-13)


@pytest.mark.parametrize("operator", [derivative, grad])
@pytest.mark.parametrize(("f", "x", "power"), [
    (carried_by_a_loop, 1.5, 5), (left_by_a_derivative, 1.5, 2), (used_under_reverse_mode, 2.0, 1)
])  # fmt: skip
def test_differentiated_once_more(operator: Any, f: Any, x: float, power: int) -> None:
    want = power * f(x) / x  # all are powers of x
    assert operator(f)(x) == pytest.approx(want, rel=1e-13)
    assert jit(operator(f))(x) == pytest.approx(want, rel=1e-13)


def test_a_kernel_returns_functions() -> None:
    plain = jit(lambda x: line(x, 1.0))(2.0)
    assert plain(3.0) == 7.0 and grad(plain)(3.0) == 2.0 and jit_grad(plain)(3.0) == 2.0
    slope = jit(derivative(lambda a: lambda b: a * a * b * b))(3.0)
    assert slope(2.0) == 24.0 and jit(slope)(2.0) == 24.0
    assert jit_grad(slope)(2.0) == 24.0 and derivative(slope)(2.0) == 24.0
    recursive = jit(lambda x: power_of(x))(2.0)
    assert recursive(5) == 32.0


def power_of(x: Any) -> Callable[[int], Any]:
    def power(n: int) -> Any:
        return 1.0 if n == 0 else x * power(n - 1)

    return power


h: Any = None


def calls_a_global(x: float) -> Any:
    return h(x)


def test_a_function_from_outside_is_never_stale() -> None:
    global h
    compiled = jit_grad(calls_a_global)
    for a in (3.0, 4.0, 5.0):
        h = derivative(lambda a: lambda b: a * a * b * b)(a)
        assert compiled(2.0) == 8.0 * a
    h = derivative(lambda a: lambda b: a * b * b * b)(5.0)
    assert compiled(2.0) == 12.0
    h = derivative(line)(5.0, 1.0)
    assert compiled(2.0) == 1.0


def test_the_place_of_a_parted_function_is_not_written() -> None:
    def counter(k: Any) -> Any:
        def up() -> None:
            nonlocal k
            k = k + 1.0

        return (lambda: k), up

    def f(x: float) -> float:
        (read, _), (other, up) = counter(x), counter(2.0 * x)
        chosen = read if x > 0.0 else other
        up()  # chosen() would have to see this where it is `other`
        return chosen()

    assert f(1.0) == 1.0
    with pytest.raises(JitadError, match="written after a branch or loop chose between functions"):
        jit(f)(1.0)


# -- with respect to functions --------------------------------------------------------------------


def product_of_two(y: float) -> Any:
    return grad(lambda f: f(2.0) * f(3.0))(line(y, 1.0))


def over_an_array(y: float) -> Any:
    w = y * np.array([1.0, 2.0])
    return grad(lambda f: f(0) * f(1))(lambda i: w[i] * w[i])


def nested(y: float) -> Any:
    inner, n = line(y, 2.0), 3
    return grad(lambda f: f(2.0))(lambda t: inner(t) * y * n)


def recursive(y: float) -> Any:
    return grad(lambda f: f(3))(power_of(y))


def partial(y: float) -> Any:
    return grad(lambda f: f(y))(functools.partial(lambda a, b: a * b * b, y))


def of_a_derivative(y: float) -> Any:
    return grad(lambda f: f(y))(derivative(line(y, 2.0)))


def without_numbers(y: float) -> Any:
    return vjp(lambda f: f(y), math.sin)[1](1.0)[0], vjp(lambda f: f(y), lambda t: t)[1](1.0)[0]


def sensitivities(y: float) -> Any:
    value, pullback = vjp(lambda f, x: f(x) * f(3.0), line(y, 1.0), y)
    return value, *pullback(2.0)


def along_a_record(y: float) -> Any:
    tangent = {"slope": 1.0, "offset": 0.5}
    return jvp(lambda f: f(2.0) * f(3.0), (line(y, 1.0),), (tangent,))


def twice(y: float) -> Any:
    return derivative(lambda z: grad(lambda f: f(2.0) * f(3.0))(line(z, 1.0))["slope"])(y)


# With y = 1.5, f = line(y, 1): f(2) = 4, f(3) = 5.5.
RECORDS: list[tuple[Callable[[float], Any], Any]] = [
    (product_of_two, {"slope": 2 * 5.5 + 3 * 4.0, "offset": 5.5 + 4.0}),
    # (w0 w1)^2 with w = (1.5, 3)
    (over_an_array, {"w": [2 * 1.5 * 9.0, 2 * 3.0 * 2.25]}),
    # n y (2 y' + 2): by inner's slope 2 n y, by its offset n y; by y: n * inner(2)
    (nested, {"inner": {"offset": 4.5, "slope": 9.0}, "y": 15.0}),
    (recursive, {"x": 3 * 1.5**2}),
    (partial, {"args": (2.25,)}),
    (of_a_derivative, {"f": {"offset": 0.0, "slope": 1.0}}),
    (without_numbers, ({}, {})),
    # f(y) f(3) = 3.25 * 5.5; by slope 1.5 * 5.5 + 3 * 3.25, by offset 5.5 + 3.25, by x 1.5 * 5.5
    (sensitivities, (17.875, {"offset": 17.5, "slope": 36.0}, 16.5)),
    (along_a_record, (22.0, 2.5 * 5.5 + 4.0 * 3.5)),
    (twice, 12.0),
]


def in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: in_order(value[k]) for k in sorted(value)}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [in_order(v) for v in value]
    return float(value)


@engines
@pytest.mark.parametrize(("f", "want"), RECORDS, ids=[r[0].__name__ for r in RECORDS])
def test_with_respect_to_functions(engine: str, f: Callable[[float], Any], want: Any) -> None:
    got, want = in_order(ENGINES[engine](f, 1.5)), in_order(want)
    assert repr(shape_of(got)) == repr(shape_of(want))
    assert flat(got) == pytest.approx(flat(want), rel=1e-14)


def shape_of(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: shape_of(v) for k, v in value.items()}
    return [shape_of(v) for v in value] if isinstance(value, list) else "number"


captured = line(2.0, 3.0)


def by_a_global(y: float) -> Any:
    return grad(lambda f: f(2.0) * y * f(y))(captured)


def test_what_a_function_closes_over_is_read_anew() -> None:
    global captured
    compiled = jit(by_a_global)
    for slope, offset in ((2.0, 3.0), (5.0, 3.0), (6.0, 1.0)):
        captured = line(slope, offset)
        at_2, at_y = 2 * slope + offset, 1.5 * slope + offset
        want = [1.5 * (1.5 * at_2 + 2.0 * at_y), 1.5 * (at_2 + at_y)]
        got = compiled(1.5)
        assert [got["slope"], got["offset"]] == pytest.approx(want, rel=1e-14)
    assert len(compiled.specialisations) == 1


def test_functions_that_call_each_other() -> None:
    def make(c: float) -> Any:
        def even(n: int) -> Any:
            return c if n == 0 else c * odd(n - 1)

        def odd(n: int) -> Any:
            return c * even(n - 1)

        return even

    with pytest.raises(JitadError, match="is reached in two ways by what is differ"):
        grad(lambda f: f(2))(make(2.0))


# -- along functions ------------------------------------------------------------------------------


def along(y: float) -> Any:
    return jvp(lambda h: h(y) * h(2.0 * y), (math.sin,), (lambda t: math.exp(t) * y,))


def along_a_pair(y: float) -> Any:
    return jvp(lambda h: h[0](y) * h[1], ((math.sin, y),), ((math.exp, 2.0),))


def along_curried(y: float) -> Any:
    return jvp(lambda h: h(y)(2.0), (lambda a: lambda b: a * b,), (lambda a: lambda b: a + b,))


def test_along_functions() -> None:
    y, sin, exp = 0.7, math.sin, math.exp
    wants = {
        along: (sin(y) * sin(2 * y), y * (exp(y) * sin(2 * y) + sin(y) * exp(2 * y))),
        along_a_pair: (sin(y) * y, exp(y) * y + sin(y) * 2.0),
        along_curried: (1.4, 2.7),
    }
    for f, want in wants.items():
        for engine in ENGINES.values():
            assert engine(f, y) == pytest.approx(want, rel=1e-14)


# -- what doesn't depend --------------------------------------------------------------------------


def unrelated(x: float) -> Any:
    t = {"a": [x, 2.0 * x], "n": 3, "v": np.ones(2) * x}
    return (
        grad(lambda q: 3.0)(t),
        vjp(lambda q: (x, q["a"][0]), t)[1]((1.0, 0.0))[0],
        derivative(lambda y: {"c": x, "v": np.ones(2)})(x),
    )


@engines
def test_unrelated_results_give_zeros_of_the_structure(engine: str) -> None:
    first, second, third = ENGINES[engine](unrelated, 2.0)
    for got in (first, second):
        assert got["a"] == [0.0, 0.0] and got["n"] == 0
        assert type(got["n"]) is int and np.array_equal(got["v"], np.zeros(2))
    assert third["c"] == 0.0 and np.array_equal(third["v"], np.zeros(2))


def infinite(x: float) -> Any:
    return grad(lambda a, b: a * a, (0, 1))(x, math.inf)


@engines
def test_unrelated_infinities_stay_out(engine: str) -> None:
    assert ENGINES[engine](infinite, 3.0) == (6.0, 0.0)
