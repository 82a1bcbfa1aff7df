"""Is what does not converge, or can't be a state, refused where the user called?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import JitadError, argmin, fixed_point, grad, jit, root
from jitad.errors import JitadConvergenceError, JitadTypeError
from tests.solutions.test_derivatives import engines

DIVERGING: dict[str, Callable[[Any], Any]] = {
    "growing": lambda a: fixed_point(lambda x: 2.0 * x + a, 1.0),
    "to infinity": lambda a: fixed_point(lambda x: x * x + a, 2.0),
    "oscillating": lambda a: fixed_point(lambda x: a - x, 0.3, max_iterations=50),
    "not a number": lambda a: fixed_point(lambda x: np.log(x) - a, 1.0),
    "no root": lambda a: root(lambda x: x * x + a, 1.0),
    "a double root": lambda a: root(lambda x: a * x * x, 0.0),
    "no minimum": lambda a: argmin(lambda x: -a * x * x, 0.5),
    "downhill for ever": lambda a: argmin(lambda x: a * x, 0.5),
    "a flat minimum": lambda a: argmin(lambda x: a * x[0] ** 2, np.ones(2)),
}


@engines
@pytest.mark.parametrize("f", DIVERGING.values(), ids=DIVERGING)
def test_no_solution(engine: Any, f: Any) -> None:
    with pytest.raises(JitadConvergenceError, match="did not converge") as e:
        engine(f)(1.0)
    assert "test_failures.py" in str(e.value)
    assert "max_iterations" in str(e.value)


@engines
def test_a_derivative_that_does_not_converge(engine: Any) -> None:
    """The start is the solution; but the map does not contract there."""

    def f(a: Any) -> Any:
        return fixed_point(lambda x: a * x * x, 1.0)

    assert engine(f)(1.0) == 1.0
    with pytest.raises(JitadConvergenceError, match="the derivative of a solution"):
        engine(grad(f))(1.0)


@engines
@pytest.mark.parametrize("start", [1, {"a": 1.0, "b": 2}, np.arange(3), abs, (), "text"])
@pytest.mark.parametrize("solve", [fixed_point, root, argmin])
def test_a_state_is_made_of_floats(engine: Any, start: Any, solve: Any) -> None:
    with pytest.raises(JitadTypeError, match="the start"):
        engine(lambda a: solve(lambda x: x, start))(1.0)


@engines
def test_a_map_keeps_the_structure(engine: Any) -> None:
    with pytest.raises(JitadError, match="structure"):
        engine(lambda a: fixed_point(lambda x: (x, a), 1.0))(1.0)
    with pytest.raises(JitadError, match="grad: non-scalar output"):
        engine(lambda a: argmin(lambda x: (x, a), 1.0))(1.0)


def test_the_iteration_leaves_no_tag_behind() -> None:
    seen = []

    def f(a: Any) -> Any:
        def step(y: Any) -> Any:
            seen.append(a)
            return 0.5 * (y + a / y)

        return fixed_point(step, 1.0)

    assert grad(f)(4.0) == pytest.approx(0.25)
    assert all(type(a) is float for a in seen)


def test_data_may_change_between_calls() -> None:
    f = jit(lambda a, n: fixed_point(lambda x: np.cos(a * x), 0.5, tol=1e-10, max_iterations=n))
    assert f(1.0, 1000) == pytest.approx(0.7390851332151607, rel=1e-9)
    with pytest.raises(JitadConvergenceError):
        f(1.0, 3)
    assert f(0.5, 1000) == pytest.approx(0.9003672226, rel=1e-9)
