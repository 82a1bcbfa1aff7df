"""Do programs run whose nesting is decided by numbers, and is it seen how?

Plain Python with derivatives written by hand is the truth.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from math import cos, sin
from typing import Any

import numpy as np
import pytest

from jitad import (
    FallbackWarning,
    JitadError,
    derivative,
    grad,
    jit,
    jit_grad,
    jit_value_and_grad,
    set_fallback,
)
from jitad.errors import UnknownDepthError

CYCLE = (sin, cos, lambda x: -sin(x), lambda x: -cos(x))  # of derivatives


# -- depths that follow from ints: compiled at once -----------------------------------------------


def by_a_for(n: int, x: float) -> Any:
    f: Any = sin
    for _ in range(n):
        f = derivative(f)
    return f(x)


def by_a_while(n: int, x: float) -> Any:
    f: Any = sin
    while n > 0:
        f, n = grad(f), n - 1
    return f(x)


def differentiated(f: Any, n: int) -> Any:
    return f if n == 0 else differentiated(derivative(f), n - 1)


def by_recursion(n: int, x: float) -> Any:
    return differentiated(sin, n)(x)


def by_a_length(v: Any, x: float) -> Any:
    f: Any = sin
    for _ in v:
        f = derivative(f)
    return f(x)


@pytest.mark.parametrize("f", [by_a_for, by_a_while, by_recursion])
def test_depth_is_an_int(f: Callable[[int, float], Any]) -> None:
    set_fallback(False)
    compiled = jit(f)
    for n in (3, 0, 1, 3, 2):
        assert compiled(n, 0.5) == pytest.approx(CYCLE[n](0.5), rel=1e-14)
    assert len(compiled.specialisations) == 4 and "eager" not in compiled.explain()


def test_depth_is_a_length() -> None:
    set_fallback(False)
    compiled = jit(by_a_length)
    for n in (2, 3, 2):
        assert compiled([1.0] * n, 0.5) == pytest.approx(CYCLE[n](0.5), rel=1e-14)
        assert compiled(np.ones(n), 0.5) == pytest.approx(CYCLE[n](0.5), rel=1e-14)


def calls_itself(n: int, x: float) -> Any:
    def p(y: Any, n: int) -> Any:
        return y if n == 0 else y * derivative(lambda z: p(z, n - 1) * z)(y)

    return p(x, n)


def test_recursion_that_differentiates_itself() -> None:
    set_fallback(False)
    # y, y 2y = 2 y^2, y (2 y^3)' = 6 y^3, y (6 y^4)' = 24 y^4
    compiled = jit(calls_itself)
    for n, factor in ((0, 1.0), (1, 2.0), (2, 6.0), (3, 24.0)):
        assert compiled(n, 1.5) == pytest.approx(factor * 1.5 ** (n + 1), rel=1e-14)


# -- depths that follow from floats ---------------------------------------------------------------


def until_large(x: float) -> Any:
    """How often -cos is differentiated until it exceeds a half, plus what it then is."""
    n: float
    n, f = 0.0, (lambda t: 0.0 - cos(t))
    while not f(x) > 0.5:
        n, f = n + 1.0, derivative(f)
    return n + f(x)


def until_large_by_hand(x: float) -> float:
    n, cycle = 0, (lambda t: -cos(t), sin, cos, lambda t: -sin(t))
    while not cycle[n % 4](x) > 0.5:
        n += 1
    return n + cycle[n % 4](x)


def applied(x: Any, then: Any) -> Any:
    """A function made anew for each call: no native function calls itself like that."""
    return then(x) if x < 1.0 else applied(0.5 * x, lambda y: then(y) + x)


def halves(x: float) -> Any:
    return applied(x, lambda y: 2.0 * y)


def squares(x: float) -> Any:
    return x * x if x > 10.0 else derivative(lambda y: squares(y * y))(x)


def chosen(x: float) -> Any:
    f: Any = sin
    for k in range(6):
        f = derivative(f) if x * k > 2.0 else f
    return f(x)


def in_a_loop(x: float) -> Any:
    s, y = 0.0, x
    if x > 0.0:
        while y < 10.0:
            f: Any = sin
            while not f(y) > 0.2:
                f = derivative(f)
            s, y = s + f(y), y + 3.0
    else:
        s = -x
    return s


def in_a_loop_by_hand(x: float, of: tuple[Any, ...] = CYCLE) -> float:
    s, y = 0.0, x
    if x <= 0.0:
        return -x
    while y < 10.0:
        k = next(k for k in range(4) if CYCLE[k](y) > 0.2)
        s, y = s + of[k](y), y + 3.0
    return s


def chosen_by_hand(x: float) -> float:
    return CYCLE[sum(x * k > 2.0 for k in range(6)) % 4](x)


def halves_by_hand(x: float) -> float:
    s = 0.0
    while x >= 1.0:
        s, x = s + x, 0.5 * x
    return s + 2.0 * x


def squares_by_hand(x: float) -> float:
    power, factor = 1, 1  # squares(x) = factor x^power while x^power is small
    depth, y = 0, x
    while y <= 10.0:
        depth, y = depth + 1, y * y
    power = 2 ** (depth + 1)
    # each level substitutes y^2 and differentiates: x^p -> d/dx x^(2p)
    power = 2
    for _ in range(depth):
        power, factor = 2 * power - 1, factor * 2 * power
    return factor * x**power


FLOATS: list[tuple[Any, Any, tuple[float, ...]]] = [
    (until_large, until_large_by_hand, (0.1, 2.0, 4.0)),
    (halves, halves_by_hand, (1.0, 3.0, 0.25)),
    (squares, squares_by_hand, (4.0, 2.0, 11.0)),
    (chosen, chosen_by_hand, (0.3, 0.45, 1.0)),
    (in_a_loop, in_a_loop_by_hand, (1.0, 2.5, -1.0)),
]


@pytest.mark.parametrize(("f", "truth", "xs"), FLOATS, ids=[f[0].__name__ for f in FLOATS])
def test_depth_is_a_matter_of_floats(f: Any, truth: Any, xs: tuple[float, ...]) -> None:
    compiled = jit(f)
    with pytest.warns(FallbackWarning, match=f"{f.__name__} runs in the eager engine: .*explain"):
        assert compiled(xs[0]) == pytest.approx(truth(xs[0]), rel=1e-13)
    assert compiled.specialisations == []
    for _ in range(3):  # no further warning: warnings are errors here
        for x in xs:
            assert compiled(x) == pytest.approx(truth(x), rel=1e-13)
    runs = compiled.explain()
    assert "the path of an earlier call" in runs and "in the eager engine, because" in runs
    for x in xs:  # by now there is a kernel for each of these
        assert compiled(x) == pytest.approx(truth(x), rel=1e-13)
    assert compiled.explain() == runs


@pytest.mark.parametrize("make", [jit_grad, lambda f: jit(derivative(f))])
def test_differentiated(make: Any) -> None:
    compiled = make(in_a_loop)
    with pytest.warns(FallbackWarning):
        compiled(1.0)
    for x in (1.0, 2.5, -1.0, 1.0):
        want = -1.0 if x < 0.0 else in_a_loop_by_hand(x, (*CYCLE[1:], CYCLE[0]))
        assert compiled(x) == pytest.approx(want, rel=1e-13)


def test_more_paths_than_are_compiled() -> None:
    compiled = jit(halves)
    with pytest.warns(FallbackWarning):
        compiled(1.0)
    for _ in range(2):
        for k in range(12):
            assert compiled(2.0**k) == pytest.approx(halves_by_hand(2.0**k), rel=1e-13)
    assert len(compiled.specialisations) == 8


def printed(x: Any, then: Any) -> Any:
    print("at", x)
    return then(x) if x < 1.0 else printed(0.5 * x, lambda y: then(y))


def prints(x: float) -> Any:
    return printed(x, lambda y: y)


def test_what_is_printed_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = jit(prints)
    with pytest.warns(FallbackWarning):
        compiled(2.0)
    for _ in range(3):
        capsys.readouterr()
        assert compiled(2.0) == 0.5 and compiled(0.5) == 0.5
        assert capsys.readouterr().out == "at 2.0\nat 1.0\nat 0.5\nat 0.5\n"
    assert compiled.specialisations == []


def written(x: Any, then: Any, out: Any) -> Any:
    out.append(x)
    return then(x) if x < 1.0 else written(0.5 * x, lambda y: then(y), out)


def writes(x: float, out: list[float]) -> Any:
    return written(x, lambda y: y, out)


def test_what_is_written_is_written_once() -> None:
    compiled = jit(writes)
    with pytest.warns(FallbackWarning):
        compiled(2.0, [])
    for x in (2.0, 4.0, 2.0, 2.0):
        given: list[float] = []
        want: list[float] = []
        assert compiled(x, given) == writes(x, want)
        assert given == want


def raised(x: Any, then: Any) -> Any:
    if x < 0.0:
        raise ValueError(f"{x} is negative")
    return then(x) if x < 1.0 else raised(x - 2.0, lambda y: then(y))


def raises(x: float) -> Any:
    return raised(x, lambda y: y)


def test_exceptions_are_the_programs() -> None:
    compiled = jit(raises)
    with pytest.warns(FallbackWarning):
        assert compiled(2.5) == 0.5
    for _ in range(3):
        assert compiled(4.5) == 0.5
        with pytest.raises(ValueError, match=r"-0\.5 is negative"):
            compiled(1.5)


# -- forbidden ------------------------------------------------------------------------------------


def test_forbidden_for_one_function() -> None:
    for make in (jit, jit_grad, jit_value_and_grad):
        with pytest.raises(UnknownDepthError, match="applied calls itself with ever other kinds"):
            make(halves, fallback=False)(2.0)
    with pytest.raises(JitadError, match="how functions nest depends on numbers") as error:
        jit(until_large, fallback=False)(2.0)
    for part in ("test_unknown_depth.py", "while not f(x) > 0.5"):
        assert part in str(error.value)
    again = pickle.loads(pickle.dumps(error.value))
    assert str(again) == str(error.value) and again.places == error.value.places


def test_forbidden_everywhere_and_allowed_for_one() -> None:
    assert set_fallback(False) is True
    with pytest.raises(UnknownDepthError):
        jit(halves)(2.0)
    with pytest.warns(FallbackWarning):
        assert jit(halves, fallback=True)(0.25) == 0.5
    assert set_fallback(True) is False


def test_explain_before_any_call() -> None:
    assert jit(halves).explain() == "not called yet"


# -- termination ----------------------------------------------------------------------------------


def endless(x: Any) -> Any:
    return endless(x)


def growing(x: Any) -> Any:
    return growing((x, x))


def growing_depth(x: float) -> Any:
    def loop(f: Any) -> Any:
        return loop(derivative(f))

    return loop(sin)(x)


def growing_function(x: float) -> Any:
    f: Any = sin
    while f(x) < 2.0:
        f = derivative(f)
    return f(x)


@pytest.mark.parametrize("f", [endless, growing, growing_depth])
def test_endless_recursion_is_noticed(f: Any) -> None:
    with pytest.raises(JitadError, match="more than 1000 calls inside each other"):
        jit(f)(1.0)


def test_tracing_an_endless_loop_ends() -> None:
    with pytest.raises(UnknownDepthError):
        jit(growing_function, fallback=False)(1.0)


def test_endless_under_a_condition_is_pythons() -> None:
    def f(x: Any, then: Any) -> Any:
        return 0.0 if x < 0.0 else f(x, lambda y: then(y))

    compiled = jit(lambda x: f(x, lambda y: y))
    with pytest.warns(FallbackWarning), pytest.raises(RecursionError):
        compiled(1.0)
    assert compiled(-1.0) == 0.0


class Holder:
    held: Any = None


holder = Holder()


def with_arrays(x: float, a: Any) -> Any:
    f: Any = sin
    while not f(x) > 0.5:
        f = derivative(f)
    out = np.zeros(2)
    out[0] = f(x)
    holder.held = 2.0 * out
    a[0] = grad(lambda y: y * y * a[1])(x)
    return out, a[1:], {"total": np.sum(out)}


def test_arrays_are_numpys_in_both_engines() -> None:
    compiled = jit(with_arrays)
    for call in range(2):
        a = np.ones(2)
        if call:
            out, rest, totals = compiled(0.1, a)
        else:
            with pytest.warns(FallbackWarning):
                out, rest, totals = compiled(0.1, a)
        assert all(type(v) is np.ndarray for v in (out, rest, holder.held))
        assert type(totals["total"]) is float
        assert a.tolist() == [0.2, 1.0] and rest.tolist() == [1.0]
        assert out.tolist() == [cos(0.1), 0.0] and holder.held.tolist() == [2.0 * cos(0.1), 0.0]
