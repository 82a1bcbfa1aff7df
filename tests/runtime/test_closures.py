"""Are derivatives by functions and by objects those by what they hold?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit, jvp, linear, vjp
from jitad.errors import JitadError, JitadTypeError
from tests.engines import ENGINES

RUN = pytest.mark.parametrize("engine", ENGINES)


def line(c: Any, k: Any) -> Any:
    return lambda x: c * x + k


@RUN
def test_by_a_function(engine: str) -> None:
    def program(c: float, k: float) -> Any:
        return grad(lambda f: f(2.0) * f(3.0))(line(c, k))

    # (2c + k)(3c + k): by c 12 c + 5 k, by k 5 c + 2 k
    assert ENGINES[engine](program, 5.0, 1.0) == {"c": 65.0, "k": 27.0}


@RUN
def test_by_a_function_from_outside(engine: str) -> None:
    f = line(5.0, np.array([1.0, 2.0]))
    got = ENGINES[engine](lambda x: grad(lambda f: np.sum(f(x) ** 2))(f), 2.0)
    # 2 (2c + k) times x or 1
    assert got["c"] == 2 * 2 * (11.0 + 12.0)
    np.testing.assert_array_equal(got["k"], [22.0, 24.0])


@RUN
def test_functions_inside_functions_and_structures(engine: str) -> None:
    def program(a: float, b: float) -> Any:
        def composed(f: Any, g: Any) -> Any:
            return lambda x: f(g(x)) * b

        return grad(lambda p: p["f"](3.0) + p["w"])({"f": composed(line(a, 0.5), math.sin), "w": b})

    s = math.sin(3.0)
    got = ENGINES[engine](program, 2.0, 7.0)
    assert set(got["f"]) == {"f", "b"} and got["w"] == 1.0  # math.sin closes over nothing
    np.testing.assert_allclose(
        [got["f"]["f"]["c"], got["f"]["f"]["k"], got["f"]["b"]], [7.0 * s, 7.0, 2.0 * s + 0.5]
    )


@RUN
def test_by_what_the_function_itself_closes_over(engine: str) -> None:
    def program(c: float, x: float) -> Any:
        value, pullback = vjp(line(c, 1.0), x, closure=True)
        return value, pullback(10.0), pullback(linear.ZERO)

    value, (inside, by_x), zeros = ENGINES[engine](program, 5.0, 3.0)
    assert value == 16.0 and by_x == 50.0
    assert inside == {"c": 30.0, "k": 10.0}
    assert zeros == ({"c": 0.0, "k": 0.0}, 0.0)


@RUN
def test_a_direction_for_a_function(engine: str) -> None:
    def program(c: float) -> Any:
        return jvp(lambda f: f(3.0), (line(c, 1.0),), ({"c": 1.0, "k": 100.0},))

    assert ENGINES[engine](program, 5.0) == (16.0, 103.0)


class Spring:
    def __init__(self, stiffness: Any, name: str) -> None:
        self.stiffness, self.name = stiffness, name

    def energy(self, x: Any) -> Any:
        return 0.5 * self.stiffness * x * x


@RUN
def test_by_an_object(engine: str) -> None:
    def program(k: float, x: float) -> Any:
        spring = Spring(k, "steel")
        return vjp(lambda x: spring.energy(x), x, closure=True)[1](1.0)

    assert ENGINES[engine](program, 5.0, 3.0) == ({"spring": {"stiffness": 4.5}}, 15.0)


def test_two_objects_that_are_equal_stay_two() -> None:
    def program(a: Spring, b: Spring) -> Any:
        a.stiffness = a.stiffness * 2.0
        return a.stiffness + 3.0 * b.stiffness

    one, two = Spring(1.0, ""), Spring(1.0, "")
    assert vjp(program, one, two)[1](1.0) == ({"stiffness": 2.0}, {"stiffness": 3.0})
    assert one.stiffness == 1.0
    with pytest.raises(JitadTypeError, match="reached in two ways"):
        vjp(lambda p: program(*p), (one, one))


def test_a_function_without_numbers_has_none_to_differentiate_by() -> None:
    assert vjp(lambda f, x: f(x), math.sin, 0.5)[1](1.0)[1] == math.cos(0.5)
    assert vjp(lambda x: x * x, 3.0, closure=True)[1](1.0) == ({}, 6.0)
    with pytest.raises(JitadTypeError, match="no floats to differentiate"):
        grad(lambda f: f(1.0))(line("a", 1))


def test_a_sensitivity_must_conform() -> None:
    with pytest.raises(JitadError, match="expected the keys"):
        jvp(lambda f: f(3.0), (line(1.0, 1.0),), ({"c": 1.0, "q": 100.0},))
    assert jit(lambda x: x)(1.0) == 1.0
