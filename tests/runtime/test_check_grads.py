"""Does check_grads pass what is right, and show where something is wrong?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad.debug.check_grads import check_grads
from jitad.debug.differences import complex_step, ridders, truth
from jitad.primitives import TABLE
from jitad.runtime import jvp, vjp
from jitad.values.number import o


def check(f: Callable[..., Any], *args: Any, **options: Any) -> None:
    check_grads(f, args, **{"jvp": jvp, "vjp": vjp, **options})


def test_right_derivatives_pass() -> None:
    check(lambda x, y: o.sin(x) * y + y**3, 0.3, 0.7, order=3)
    check(lambda d: {"a": d["p"][0] * d["q"], "n": 3, "b": [abs(d["q"])]},
          {"p": (0.4, 2, "name"), "q": -1.3})  # fmt: skip
    check(lambda a, k: np.sin(a) * k * a[0, 1], np.array([[1.0, 2.0], [0.3, 0.4]]), 2)
    check(lambda a: np.sum(a * a) * 0.5, np.linspace(0.1, 1.0, 500), order=1)
    check(lambda a: a * a * a, np.array([0.5, 1.5], np.float32))
    check(lambda x: x * x * x, np.float32(1.5), modes=("forward",))


def swapped(name: str, wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLE[name].__dict__, "partials", wrong)


def test_wrong_rule_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    swapped("sin", lambda o, x, y: (-o.cos(x),), monkeypatch)

    def energy(state: Any) -> Any:
        return state["v"][1] * o.sin(state["v"][2])

    with pytest.raises(AssertionError) as e:
        check(energy, {"m": 2.0, "v": np.array([1.0, 2.0, 3.0])})
    want, got = 2 * math.cos(3.0), -2 * math.cos(3.0)
    lines = str(e.value).splitlines()
    assert lines[0].startswith(
        "check_grads: energy, argument 0 at ['v'][2]: reverse mode is off by 3.96"
    )
    found = [float(x) for line in lines[1:] for x in re.findall(r" (-?\d\.\d{6,})", line)]
    assert found == pytest.approx([got, got, want], rel=1e-9)
    assert "expected" in lines[3] and "error about" in lines[3]


def test_wrong_in_one_mode_only() -> None:
    def half(f: Any, *args: Any) -> Any:
        value, pull = vjp(f, *args)
        return value, lambda s: tuple(0.5 * g for g in pull(s))

    check(o.exp, 1.0, vjp=half, modes=("forward",))
    with pytest.raises(AssertionError, match="reverse mode is off"):
        check(o.exp, 1.0, vjp=half, order=1)


def test_wrong_second_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that is right in value but can't be differentiated itself."""

    def cut(o: Any, x: Any, y: Any) -> Any:
        while hasattr(x, "primal"):
            x = x.primal
        return (np.cos(x),)

    swapped("sin", cut, monkeypatch)
    check(o.sin, 0.4, order=1)
    with pytest.raises(AssertionError, match=r"jvp of sin, argument 0: (forward|reverse) mode"):
        check(o.sin, 0.4, modes=("forward",))
    with pytest.raises(AssertionError, match=r"vjp of sin, argument 0: (forward|reverse) mode"):
        check(o.sin, 0.4, modes=("reverse",))


def test_wrong_value_is_reported() -> None:
    def off(f: Any, primals: Any, tangents: Any) -> Any:
        value, tangent = jvp(f, primals, tangents)
        return value + 1.0, tangent

    with pytest.raises(AssertionError, match="the value that jvp gives is"):
        check(o.exp, 1.0, jvp=off)


def test_kinks_are_noticed() -> None:
    with pytest.raises(AssertionError, match=r"do not converge|is off by"):
        check(lambda x: abs(x - 1.0) + (x if x > 1.0 else 3.0 * x), 1.0)


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match=r'"forward" and "reverse", not "backward"|backward'):
        check(o.exp, 1.0, modes=("backward",))
    with pytest.raises(TypeError, match="has no floats"):
        check(lambda x: 3, 1.0)


def test_differences() -> None:
    value, error = ridders(lambda h: math.exp(1.0 + h), 0.1)
    assert abs(value - math.e) <= 10 * error + 1e-12 and error < 1e-9
    assert complex_step(lambda h: np.exp(1.0 + h)) == pytest.approx(math.e, rel=1e-15)
    assert complex_step(lambda h: math.exp(1.0 + h)) is None
    assert complex_step(lambda h: np.zeros(1).__setitem__(0, np.complex128(h)) or 1j) is None
    # abs of a complex number is real code gone wrong: refuted by differences
    value, _, how = truth(lambda h: abs(-2.0 + h) + 0.0 * h, 0.1)
    assert value == pytest.approx(-1.0) and how == "differences"
    value, _, how = truth(lambda h: np.sin(0.5 + h), 0.1)
    assert value == pytest.approx(math.cos(0.5), rel=1e-15) and how == "complex step"
