"""Is what Python refuses of plain numbers refused of traced and differentiated ones, too?

Bits of floats, calls of numbers, texts plus numbers and the like: compiled and eagerly, to
functions and their gradients, with messages that speak of Python's and NumPy's kinds only.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad
from tests.api.messages import PACKAGE

Function = Callable[..., Any]


def written_to(x: Any, n: int) -> Any:
    x |= n
    return x


def unpacked(x: Any, n: int) -> Any:
    a, b = x
    return a * b


def called(x: Any, n: int) -> Any:
    return x(n)


def none_called(x: Any, n: int) -> Any:
    nothing: Any = None
    return nothing(x)


def walked(x: Any, n: int) -> Any:
    total = 0.0
    for part in x:
        total += part
    return total


PROGRAMS: dict[str, Function] = {
    "float & int": lambda x, n: x & n,
    "int ^ float": lambda x, n: n ^ x,
    "bool | float": lambda x, n: (x > 0) | x,
    "float |= int": written_to,
    "~float": lambda x, n: ~x,
    "float << int": lambda x, n: x << n,
    "int >> float": lambda x, n: n >> x,
    "a dynamic int & a float": lambda x, n: x * (n & 1.5),
    "operator.xor": lambda x, n: operator.xor(x, n),
    "NumPy's float & int": lambda x, n: np.sum(np.ones(2) * x) & n,
    "bits of an array": lambda x, n: np.sum(np.ones(2) * x & 1),
    "-NumPy's bool": lambda x, n: -np.bool_(x > 0) * x,
    "NumPy's bools' difference": lambda x, n: (np.bool_(x > 0) - np.bool_(x > 1)) * x,
    "a call of a number": called,
    "a call of None": none_called,
    "text + number": lambda x, n: "a" + x,
    "number + None": lambda x, n: x + None,
    "number < text": lambda x, n: x if x < "a" else n,
    "number @ number": lambda x, n: x @ x,
    "list * float": lambda x, n: sum([1.0] * x),
    "list * float of a dynamic length": lambda x, n: sum([1.0 for _ in range(n)] * x),
    "an element of a number": lambda x, n: x[0],
    "a number unpacked": unpacked,
    "a loop over a number": walked,
    "a number in a number": lambda x, n: x * (x in x),
    "sum of a text": lambda x, n: sum([x, "a"]),
}
WAYS: dict[str, Callable[[Function], Function]] = {
    "jit": jitad.jit, "jit_grad": jitad.jit_grad, "grad": jitad.grad,
    "jvp": lambda f: lambda x, n: jitad.jvp(f, (x, n), (1.0, 0)),
}  # fmt: skip
INNER = ("Leaf", "Cell", "Bundle", "ArrayHandle", "Stretch", "TypingError", PACKAGE)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_type_errors(name: str, way: str) -> None:
    with pytest.raises(TypeError):
        PROGRAMS[name](0.7, 3)
    with pytest.raises(TypeError) as error:
        WAYS[way](PROGRAMS[name])(0.7, 3)
    assert not [word for word in INNER if word in str(error.value)]
