"""Does a function whose result depends on nothing still act when it is differentiated, and once?

What is raised, asserted and printed in it, under each operator, also where nothing asks for the
derivative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from jitad import derivative, grad, jacfwd, jet, jit, jvp, vjp

X = np.array([2.3, -0.4, 0.7])


def raises_at_once(x: Any) -> Any:
    for _ in range(len(x)):
        raise ValueError("always")
    return 0.0


def raises_in_arithmetic(x: Any) -> Any:
    total = 0.0
    for v in x:
        total += v * math.log(-1.0)
    return total


def raises_if_large(x: Any) -> Any:
    if np.sum(x) > 2.0:
        raise ValueError("large")
    return 3.0


def raises_in_a_list(x: Any) -> Any:
    found = [math.sqrt(v) for v in x]
    return float(len(found))


FUNCTIONS = {f.__name__: f for f in (raises_at_once, raises_in_arithmetic, raises_if_large,
                                     raises_in_a_list)}  # fmt: skip


def not_asked_for(f: Any, x: Any) -> Any:
    grad(lambda x: f(x) + 0.0 * x[0])(x)
    return x


OPERATORS = {
    "jvp": lambda f, x: jvp(f, (x,), (x,)),
    "jvp of jvp": lambda f, x: jvp(lambda x: jvp(f, (x,), (x,)), (x,), (x,)),
    "derivative": lambda f, x: derivative(lambda s: f(s * x))(1.0),
    "jacfwd": lambda f, x: jacfwd(f)(x),
    "jet": lambda f, x: jet(f, (x,), [(x,)]),
    "vjp": lambda f, x: vjp(f, x)[0],
    "grad": lambda f, x: grad(lambda x: f(x) * 1.0)(x),
    "jvp of grad": lambda f, x: jvp(grad(lambda x: f(x) * 1.0), (x,), (x,)),
    "not asked for": not_asked_for,
    "in a loop": lambda f, x: [jvp(f, (x + k,), (x,)) for k in range(2)],
}
engines = pytest.mark.parametrize("engine", [lambda f: f, jit], ids=["eager", "compiled"])


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
@engines
def test_what_it_raises(engine: Any, f: Any, operator: Any) -> None:
    with pytest.raises(ValueError):
        f(X)
    with pytest.raises(ValueError):
        engine(lambda x: operator(f, x))(X)


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_what_it_prints(operator: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("at", x[0])
        return 3.0

    operator(f, X)
    expected = capsys.readouterr().out
    if operator is OPERATORS["jacfwd"]:  # all columns go through one run of a kernel
        expected = "at 2.3\n"
    assert expected.startswith("at 2.3\n")
    jit(lambda x: operator(f, x))(X)
    assert capsys.readouterr().out == expected
