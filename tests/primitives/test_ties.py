"""Does a maximum find the element that it is, wherever the elements are computed again?

The reverse rules of `amax` and `amin` look for what is equal to the extreme.  Elements
of a few operations are computed anew in several loops, and each must get the same last bit: not
one from a vector form and one from a scalar function, not one rounded once and one rounded twice.
The truth is NumPy's `argmax`; arrays are of many lengths, so that elements lie in whole vectors
in one loop and behind the last of them in another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit_grad, jvp
from jitad.primitives import TABLE
from tests.engines import as_emitted

ELEMENTS: dict[str, Callable[[Any, Any], Any]] = {
    "hypot": np.hypot,
    "square": lambda x, y: np.square(x),
    "x * x": lambda x, y: x * x,
    "x ** 2": lambda x, y: x**2,
    "x ** 3": lambda x, y: x**3,
    "x * y": lambda x, y: x * y,
    "-(x * y)": lambda x, y: -(x * y),
    "through max": lambda x, y: np.maximum(x * y, 0.1),
    "through where": lambda x, y: np.where(x > 0.0, x * y, y),
    "a square less": lambda x, y: 3.0 * x - np.square(y),
    "x / y": lambda x, y: x / y,
    "x / 3": lambda x, y: x / 3.0,
    "reciprocal": lambda x, y: np.reciprocal(x),
    "mod": lambda x, y: np.mod(x, 0.7) * y,
    "fmod": lambda x, y: np.fmod(x, 0.7) * y,
    "sqrt": lambda x, y: np.sqrt(np.abs(x)) * y,
    "exp": lambda x, y: np.exp(x) * y,
    "sin": lambda x, y: np.sin(x),
    "pow": lambda x, y: np.abs(x) ** y,
    "expit": lambda x, y: 1.0 / (1.0 + np.exp(-x)),
}


LENGTHS = range(2, 60)


@pytest.mark.parametrize("name", ELEMENTS)
def test_the_extreme_is_found(name: str) -> None:
    elements = ELEMENTS[name]

    def f(x: Any, y: Any, z: Any, w: Any) -> Any:
        """z is what is added: its adjoint shows where the extremes are."""
        return np.max(elements(x, y) + z) + np.sum(elements(x, y) * w)

    g = jit_grad(f, argnums=(2, 3))  # the elements themselves are wanted in the same loop
    rng = np.random.default_rng(7)
    for n in LENGTHS:
        x, y, z, w = rng.normal(size=(4, n))
        want = np.zeros(n)
        want[np.argmax(elements(x, y) + z)] = 1.0
        np.testing.assert_array_equal(g(x, y, z, w)[0], want, err_msg=f"{n} elements")


@pytest.mark.parametrize("name", ["hypot", "square", "x * y"])
def test_of_earlier_iterations(name: str) -> None:
    elements = ELEMENTS[name]

    def f(x: Any, y: Any, z: Any) -> Any:
        total = 1.0
        for k in range(2):
            total = 0.5 * total + np.min(elements(x, y) * 2.0 + z * (k + 1.0))
        return total

    g = jit_grad(f, argnums=2)
    rng = np.random.default_rng(7)
    for n in LENGTHS:
        x, y, z = rng.normal(size=(3, n))
        e = 2.0 * elements(x, y)
        want = np.zeros(n)
        want[np.argmin(e + z)] += 0.5
        want[np.argmin(e + 2.0 * z)] += 2.0
        np.testing.assert_array_equal(g(x, y, z), want, err_msg=f"{n} elements")


def test_ties_are_shared() -> None:
    g = jit_grad(lambda x: np.max(np.square(x) + x * 0.25))
    np.testing.assert_array_equal(g(np.array([1.0, 3.0, 0.5, 3.0])), [0.0, 3.125, 0.0, 3.125])


def test_functions_of_libraries_are_not_computed_again() -> None:
    """They have vector forms with other last bits: only exact arithmetic may be repeated."""
    exact = set(
        "stop frozen add sub mul div unit rescale quotient floordiv mod fmod neg abs sign copysign "
        "maximum minimum fmax fmin where square reciprocal floor ceil trunc rint lt le gt ge eq "
        "ne logical_and logical_or logical_not isnan isinf isfinite bitand bitor bitxor lshift "
        "rshift invert cast product_fits inside touched unsigned".split()
    )
    cheap = {name for name, row in TABLE.items() if row.elementwise and not row.dear}
    assert cheap == exact


@pytest.mark.parametrize("f", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_a_float_beside_float32(f: Any) -> None:
    """It is compared as what it became: its derivative was lost, and a tie wasn't one."""
    b = np.array([0.1, -0.5, 0.7], np.float32)
    wins = f(np.float32(0.1), b) == np.float32(0.1)
    want = np.where(wins, 1.0, 0.0)
    want[0] = 0.5
    for engine in (lambda h, *args: h(*args), as_emitted):
        tangents = engine(lambda s, b: jvp(lambda s: f(s, b), (s,), (1.0,))[1], 0.1, b)
        np.testing.assert_array_equal(tangents, want.astype(np.float32), strict=True)
        slope = engine(grad(lambda s, b: np.sum(f(s * s, b))), np.sqrt(0.3), b)
        count = np.sum(f(0.3, b) == np.float32(0.3))
        np.testing.assert_allclose(slope, 2 * np.sqrt(0.3) * count, 1e-6)
