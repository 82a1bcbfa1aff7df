"""What is left of a program once it is specialised?  No more than its first-order twin.

Counted on the plain tape, equation by equation; extents and checks, which guard it, are free.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import grad, value_and_grad
from jitad.calls.arguments import abstract
from jitad.specialise.pipeline import specialise
from jitad.structures import flatten, unflatten
from jitad.tape.dead import remove_dead
from jitad.tape.ir import Tape, walk
from jitad.tape.show import show
from jitad.trace.trace import trace


def residual(f: Callable[..., Any], *args: Any) -> Tape:
    leaves, structure = flatten((args, {}))
    tape = specialise(trace(f, *unflatten(structure, map(abstract, leaves))).tape)
    for block in (tape.body, *(b for e in walk(tape.body) for b in e.blocks)):
        block.equations = [e for e in block.equations if e.op != "check"]
    remove_dead(tape.body)
    return tape


def operations(f: Callable[..., Any], *args: Any) -> Counter[str]:
    return Counter(e.op for e in walk(residual(f, *args).body) if e.op != "dim")


def text(f: Callable[..., Any], *args: Any) -> str:
    """The tape without names and the lines that equations come from."""
    tape = residual(f, *args)
    for e in walk(tape.body):
        for v in e.outs:
            v.name = ""
    _, *lines = show(tape).split("\n")
    return "\n".join(line.partition("  #")[0] for line in lines)


def test_identity_is_its_value_and_one() -> None:
    assert operations(value_and_grad(lambda x: x), 2.0) == {}
    assert text(value_and_grad(lambda x: x), 2.0) == "  -> x, 1.0"


def test_the_gradient_of_a_sum_is_ones() -> None:
    assert operations(grad(np.sum), np.ones(3)) == {"broadcast": 1}


@pytest.mark.parametrize("f", [np.sin, lambda x: (lambda g: g(x))(np.sin)])
def test_sin_is_one_cos(f: Any) -> None:
    assert operations(grad(f), 2.0) == {"cos": 1}


def test_a_square() -> None:
    assert sum(operations(value_and_grad(lambda d: d * d), 2.0).values()) <= 4
    assert sum(operations(grad(lambda d: np.sum(d * d)), np.ones(3)).values()) <= 4


class Cell:
    def __init__(self, value: Any) -> None:
        self.value = value


def first_order(x: float) -> Any:
    y = np.sin(x) * x
    return np.exp(y) + y


def closures(x: float) -> Any:
    def compose(f: Any, g: Any) -> Any:
        return lambda t: f(g(t))

    wave = lambda t: np.sin(t) * t
    return compose(lambda y: np.exp(y) + y, wave)(x)


def cells(x: float) -> Any:
    a, b = Cell(x), Cell(None)
    b.value = np.sin(a.value) * a.value
    a.value = np.cos(x)  # dead: nobody reads it
    a.value = b.value
    return np.exp(a.value) + b.value


def structures(x: float) -> Any:
    table = {"f": [np.sin, np.exp], "x": (x, 3.0 * x)}
    dead = [g(table["x"][1]) for g in table["f"]]  # nobody reads it
    y = table["f"][0](table["x"][0]) * table["x"][0]
    dead.append(y)
    return table["f"][1](y) + dead[-1]


def loops(x: float) -> Any:
    """Static loops are written out; static conditions decided."""
    y = x
    for g in (np.sin, np.exp):
        if g is np.sin:
            y = g(y) * y
        else:
            y = g(y) + y
    return y


def recursion(x: float) -> Any:
    def down(n: int, t: Any) -> Any:
        if n == 0:
            return np.sin(x) * x
        inner = down(n - 1, t)
        return np.exp(inner) + inner if n == 3 else inner

    return down(3, x)


def partial_and_reduce(x: float) -> Any:
    def step(k: int, y: Any, g: Any) -> Any:
        return g(y) * y if g is np.sin else k * (g(y) + y)

    return functools.reduce(functools.partial(step, 1), (np.sin, np.exp), x)


@pytest.mark.parametrize(
    "twin", [closures, cells, structures, loops, recursion, partial_and_reduce],
    ids=lambda f: f.__name__,
)  # fmt: skip
@pytest.mark.parametrize("of", [lambda f: f, grad, value_and_grad, lambda f: grad(grad(f))],
                         ids=["value", "grad", "both", "second"])  # fmt: skip
def test_a_program_equals_its_first_order_twin(twin: Any, of: Any) -> None:
    assert text(of(twin), 0.7) == text(of(first_order), 0.7)


def test_dead_writes_and_closures_are_gone() -> None:
    def f(x: float) -> Any:
        log = []
        box = Cell(x)
        for k in range(3):
            log.append(np.exp(box.value * k))
            box.value = math.sin(box.value)
            box.value = x
        unused = lambda: np.sum(np.array(log))  # noqa: F841
        return 2.0 * box.value

    assert operations(f, 1.0) == {"mul": 1}
    assert operations(grad(f), 1.0) == {}


def test_a_dead_write_to_an_array_is_gone() -> None:
    def f(x: Any) -> Any:
        scratch = np.zeros(3)
        scratch[0] = x[0] * 5.0
        scratch[0] = x[1]
        return scratch[0]

    assert operations(f, np.ones(3)) == {"load": 1}


def test_the_forward_part_is_not_computed_twice() -> None:
    """One product forwards and two backwards."""
    f = lambda w, x: np.sum((w @ x) ** 2)
    assert operations(value_and_grad(f, (0, 1)), np.ones((2, 3)), np.ones(3))["matmul"] <= 3
