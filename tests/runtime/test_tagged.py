"""Does a tagged number behave as a float, and refuse what would drop its derivative?"""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import jitad
from jitad.errors import JitadTypeError
from jitad.runtime import derivative, grad
from jitad.values.number import o

BOTH = pytest.mark.parametrize("operator", [derivative, grad])


def inside(operator: Any, look: Callable[[Any], Any], x: float = 2.5) -> Any:
    """What `look` sees of a tagged number, under two tags."""
    seen: list[Any] = []

    def f(t: Any) -> Any:
        seen.append(look(t))
        return t

    operator(lambda u: operator(f)(u))(x)
    return seen[0]


@BOTH
def test_reads_as_a_float(operator: Any) -> None:
    def look(t: Any) -> Any:
        return [
            t > 2, t >= 2.5, t < 2, t <= 2, t == 2.5, t != 2.5, 1 < t, 3 > t,
            bool(t), bool(t - 2.5), not t, t == "text", t is None,
            f"{t:.2f}", str(t), round(t), math.floor(t), math.ceil(t), math.trunc(t),
            t.is_integer(),
            t in [1.0, 2.5],
        ]  # fmt: skip

    assert inside(operator, look) == look(2.5)


@BOTH
def test_comparison_gives_a_plain_bool(operator: Any) -> None:
    assert type(inside(operator, lambda t: t > 2)) is bool


@BOTH
def test_texts_show_plain_numbers(operator: Any) -> None:
    @dataclass
    class Pair:
        first: float
        second: list[Any]

    def look(t: Any) -> list[str]:
        things = (t, [t, 2.0 * t], {"a": (t,)}, Pair(t, [t]))
        return [*map(str, things), *map(repr, things), f"{t:.2f} {t!r} {things!s} {[t]}"]

    assert inside(operator, look) == look(2.5)


def test_texts_of_users_code_show_plain_numbers() -> None:
    seen: list[str] = []

    def f(t: Any) -> Any:
        a = np.array([t, 2.0 * t])
        seen.append("%s %.3f %r %s" % (t, t, [t], a) + "%(a)g" % {"a": t} + f"{[a]} {a}")  # noqa: UP031
        return t * t

    f(2.5)
    jitad.grad(jitad.derivative(f))(2.5)
    assert len(set(seen)) == 1


def test_a_look_inside_tells_the_tag() -> None:
    def look(t: Any) -> str:
        made: str = t.inside()
        return made

    assert "Bundle(tag=" in inside(derivative, look) and "2.5" in inside(derivative, look)
    assert "Cell(tag=" in inside(grad, look) and "an input" in inside(grad, look)


@BOTH
@pytest.mark.parametrize(
    ("act", "message"),
    [
        (float, "drop the derivative"),
        (int, "no derivative"),
        (complex, "drop the derivative"),
        (math.sin, "drop the derivative"),
        (hash, "hashed"),
        (lambda t: {t: 1}, "hashed"),
        (lambda t: [1, 2, 3][t], "index"),
        (np.asarray, "NumPy array"),
        (lambda t: np.zeros(2).__setitem__(0, t), "drop the derivative|NumPy array"),
        (pickle.dumps, "pickled"),
        (lambda t: np.add.reduce(t), "np.add.reduce has no derivative rule"),
    ],
)
def test_refusals(operator: Any, act: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(JitadTypeError, match=message) as e:
        inside(operator, act)
    if "rule" not in message:
        assert "test_tagged.py" in str(e.value)  # the user's file and line


@BOTH
def test_copies_are_the_number_itself(operator: Any) -> None:
    assert operator(lambda t: copy.copy(t) * copy.deepcopy([t])[0])(3.0) == 6.0


@BOTH
def test_operators_match_python(operator: Any) -> None:
    """Every binary operator with a tagged operand on the left, the right, and on both sides."""
    import operator as py

    x, c, h = 1.7, 2.3, 1e-6
    for act in (py.add, py.sub, py.mul, py.truediv, py.pow, py.mod, divmod):
        for pair in (lambda t: (t, c), lambda t: (c, t), lambda t: (t, t + 1.0)):

            def g(t: Any, act: Any = act, pair: Any = pair) -> Any:
                out = act(*pair(t))
                return out[0] + out[1] if isinstance(out, tuple) else out

            assert inside(operator, lambda t, g=g: g(t).base, x) == pytest.approx(g(x), rel=1e-15)
            want = (g(x + h) - g(x - h)) / (2 * h)
            assert operator(g)(x) == pytest.approx(want, rel=1e-7)
    assert operator(lambda t: -abs(-t) + +t * 3.0)(x) == 2.0


@BOTH
def test_numpy_functions_and_numbers(operator: Any) -> None:
    f = lambda t: np.sin(t) * np.float64(3.0) + np.exp(t) / np.float64(2.0)
    assert operator(f)(0.3) == pytest.approx(3.0 * math.cos(0.3) + math.exp(0.3) / 2, rel=1e-15)
    assert operator(lambda t: np.float64(3.0) ** t)(2.0) == pytest.approx(9 * math.log(3))
    assert operator(lambda t: np.power(t, 3.0) * (np.float64(1.0) < t))(2.0) == 12.0


@BOTH
def test_rules_are_ieee(operator: Any) -> None:
    assert operator(o.sqrt)(0.0) == math.inf
    assert operator(lambda t: o.div(1.0, t))(0.0) == -math.inf
    assert operator(o.log)(0.0) == math.inf
    assert math.isnan(operator(lambda t: t**0.5)(-8.0))
    assert operator(lambda t: t**2)(0.0) == 0.0
    assert operator(lambda t: o.where(t > 0, o.sqrt(t), 1.0))(0.0) == 0.0


@BOTH
def test_zeros_are_symbolic(operator: Any) -> None:
    assert operator(lambda t: 3.0)(math.inf) == 0.0
    assert operator(lambda t: o.where(t > 0.0, t, t * math.inf))(1.0) == 1.0
    assert operator(lambda t: o.floor(t) * math.inf)(1.5) == 0.0
    assert operator(lambda t: o.cast(t, dtype="i8") * math.inf)(1.5) == 0.0


@BOTH
def test_results_are_python_floats(operator: Any) -> None:
    for f in (lambda t: t * t, o.sin, lambda t: 2.0, lambda t: t * np.float64(2.0)):
        assert type(operator(f)(2.0)) is float
    assert type(inside(operator, lambda t: (o.sin(t) / 3).base)) is float
