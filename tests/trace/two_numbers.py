"""Has a function of two numbers the right value and derivatives, in all ways of running it?

Plain Python and extrapolated differences are the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import jitad
from tests.engines import on_one_tape
from tests.truth import differences

Point = tuple[float, float]
ALONG = [0.6, -1.1]


def programs(names: dict[str, Any]) -> list[Callable[..., Any]]:
    """The functions that a module of tests has defined so far."""
    return [f for f in names.values() if callable(f) and not isinstance(f, type)
            and getattr(f, "__module__", "") == names["__name__"]]  # fmt: skip


def check(f: Callable[..., Any], points: Iterable[Point], step: float) -> None:
    """The value on the tape, the derivative in both modes, eagerly and on the tape."""
    gradient = jitad.grad(f, argnums=(0, 1))
    value, again = on_one_tape(f), on_one_tape(gradient)
    along = on_one_tape(lambda x, y: jitad.jvp(f, (x, y), tuple(ALONG))[1])
    for point in points:
        want, error = differences(f, point, (0, 1), ALONG, step)
        near = 1e-6 * max(abs(want), 1.0) + 10.0 * error
        assert math.isclose(value(*point), f(*point), rel_tol=1e-13)
        for found in (gradient, again):
            assert abs(np.dot(found(*point), ALONG) - want) <= near
        assert abs(along(*point) - want) <= near


def check_natively(f: Callable[..., Any], points: Iterable[Point]) -> None:
    """The kernels of the value and of a second derivative."""

    def twice(x: Any, y: Any) -> Any:
        return jitad.grad(lambda s: jitad.grad(f)(s, y) * s)(x)

    value, second = jitad.jit(f), jitad.jit(twice)
    for point in points:
        assert math.isclose(value(*point), f(*point), rel_tol=1e-12)
        assert math.isclose(second(*point), twice(*point), rel_tol=1e-9, abs_tol=1e-9)
