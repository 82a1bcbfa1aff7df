"""Do derivatives inside derivatives keep apart, in both modes, to any depth?

Expected values are closed forms or mpmath's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import mpmath
import numpy as np
import pytest

from jitad.errors import JitadError
from jitad.runtime import derivative, grad, jvp, value_and_grad, vjp
from jitad.runtime.forward import Bundle
from jitad.runtime.reverse import Cell
from jitad.runtime.tags import LIVE, Application
from jitad.values.number import Number, o

MODES = {"F": derivative, "R": grad}


@pytest.fixture(autouse=True)
def _no_tag_survives() -> Iterator[None]:
    yield
    assert not LIVE


def composite(x: Any) -> Any:
    return o.exp(o.sin(x)) / (1.0 + x * x) + o.log(x) * x**3


def mp_composite(x: Any) -> Any:
    return mpmath.exp(mpmath.sin(x)) / (1 + x * x) + mpmath.log(x) * x**3


@pytest.mark.parametrize(
    "modes", ["".join(m) for n in (1, 2, 3) for m in itertools.product("FR", repeat=n)]
)
def test_all_orders_of_modes(modes: str) -> None:
    f: Callable[[Any], Any] = composite
    for m in modes:
        f = MODES[m](f)
    with mpmath.workdps(40):
        want = mpmath.diff(mp_composite, mpmath.mpf(1.3), len(modes))
    assert f(1.3) == pytest.approx(float(want), rel=1e-12)


@pytest.mark.parametrize("outer", "FR")
@pytest.mark.parametrize("inner", "FR")
def test_perturbations_are_not_confused(outer: str, inner: str) -> None:
    d, e = MODES[outer], MODES[inner]
    assert d(lambda x: x * e(lambda y: x + y)(1.0))(1.0) == 1.0
    assert d(lambda x: x * e(lambda y: x * y)(3.0))(7.0) == 14.0
    # the outer variable inside, at two depths, and as the inner point
    got = d(lambda x: e(lambda y: x * y * e(lambda z: x * y * z * z)(y))(x))(1.1)
    # inner: x y * 2 x y^2 = 2 x^2 y^3; by y at x: 6 x^4; by x: 24 x^3
    assert got == pytest.approx(24.0 * 1.1**3, rel=1e-14)


def test_invariant_of_tags() -> None:
    """Primal, tangent and operands of a number carry strictly older tags (or its own: cells)."""
    seen: list[Number] = []

    def look(v: Any, limit: int) -> None:
        if isinstance(v, Number):
            assert v.tag < limit
            seen.append(v)
            look(v.primal, v.tag)  # type: ignore[attr-defined]
            if isinstance(v, Bundle):
                look(v.tangent, v.tag)
            if isinstance(v, Cell):
                for a in v.args:
                    look(a, v.tag + 1)

    def f(x: Any) -> Any:
        y = o.sin(x) * x
        look(y, 10**9)
        return y

    derivative(grad(derivative(f)))(0.4)
    assert len({v.tag for v in seen}) == 3


def test_escaped_number_reads_as_its_primal() -> None:
    kept: list[Any] = []

    def f(t: Any) -> Any:
        kept.append(t * t)
        return t

    for operator in (derivative, grad):
        kept.clear()
        operator(f)(3.0)
        assert operator(lambda t: t * kept[0])(1.0) == 9.0
        assert kept[0] + 1.0 == 10.0 and not isinstance(kept[0] + 1.0, Number)


@pytest.mark.parametrize("outer", "FR")
@pytest.mark.parametrize("inner", "FR")
def test_escaped_number_keeps_the_outer_derivative(outer: str, inner: str) -> None:
    def f(x: Any) -> Any:
        kept: list[Any] = []
        MODES[inner](lambda t: kept.append(t * x) or t)(2.0)
        return kept[0] * x  # 2 x^2

    assert MODES[outer](f)(5.0) == 20.0


def test_function_results_by_post_composition() -> None:
    h = derivative(lambda a: {"f": lambda b: a * a * b, "g": (lambda b: a + b, 2.0 * a)})(3.0)
    assert h["f"](5.0) == 30.0
    assert h["g"][0](5.0) == 1.0 and h["g"][1] == 2.0
    assert grad(h["f"])(5.0) == 6.0
    value, tangent = jvp(lambda a, b: lambda c: a * b * c, (2.0, 3.0), (1.0, 10.0))
    assert value(1.0) == 6.0 and tangent(1.0) == 23.0


def test_one_object_entered_again_while_it_runs() -> None:
    depth = [0]

    def f(x: Any) -> Any:
        depth[0] += 1
        return x * x if depth[0] > 3 else x * d(x)

    for d in (derivative(f), grad(f)):
        depth[0] = 0
        # innermost 2x, then (x 2x)' = 4x, then (x 4x)' = 8x, then 16x
        assert d(1.5) == 24.0


def test_pullback_after_the_outer_derivative_returned() -> None:
    pulls: list[Any] = []

    def f(x: Any) -> Any:
        value, pull = vjp(lambda y: x * y * y, 3.0)
        pulls.append(pull)
        return value

    assert derivative(f)(2.0) == 9.0
    assert pulls[0](1.0) == (12.0,)


@pytest.mark.parametrize("outer", "FR")
def test_sensitivity_with_a_newer_tag(outer: str) -> None:
    _, pull = vjp(lambda y: o.sin(y) * y, 0.5)
    slope = math.cos(0.5) * 0.5 + math.sin(0.5)
    assert MODES[outer](lambda s: pull(s * s)[0])(3.0) == pytest.approx(6.0 * slope, rel=1e-14)


def test_an_exception_ends_the_application() -> None:
    def f(x: Any) -> Any:
        raise KeyError("user's own")

    for operator in (derivative, grad, value_and_grad):
        with pytest.raises(KeyError):
            operator(f)(1.0)


def test_inner_derivative_left_open_is_an_error() -> None:
    open_: list[Any] = []

    def f(x: Any) -> Any:
        run = Application()
        run.__enter__()
        open_.append(run)
        return Bundle(run.tag, x, 1.0)

    with np.errstate():  # as which the open one leaves it, when the outer one has returned
        with pytest.raises(JitadError, match="has not returned yet"):
            derivative(f)(1.0)
        open_[0].__exit__(None, None, None)


def test_functions_in_results_are_prepared() -> None:
    def prepare(f: Any) -> Any:
        return {math.sin: o.sin}.get(f, f)

    assert derivative(lambda x: math.sin, prepare=prepare)(1.0)(2.0) == 0.0
    assert grad(math.sin, prepare=prepare)(0.0) == 1.0
    assert vjp(math.sin, 0.0, prepare=prepare)[1](2.0) == (2.0,)
    pair = derivative(lambda x: (lambda g: g(x), math.sin), prepare=prepare)(0.5)
    assert pair[0](lambda t: t * t) == 1.0
    assert grad(lambda y: pair[1](y))(0.5) == 0.0
