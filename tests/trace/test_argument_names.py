"""May a user's keywords have any names, those of the engine's own parameters too?"""

import dataclasses
import functools
import types

import pytest

import jitad
from tests.properties.check import load

NAMES = ("f", "self", "cls", "args", "kwargs", "trace", "owner", "original", "out", "value", "name")


class Called:
    def __init__(this, /, **given):
        this.given = given

    def method(self, /, **given):
        return sum(given.values())

    def __call__(this, /, **given):
        return sum(given.values())


def keywords(**given):
    return sum(given.values())


CALLS = {
    "dict": lambda given: sum(dict(**given).values()),
    "update": lambda given: [d := {}, d.update(**given), sum(d.values())][-1],
    "namespace": lambda given: sum(vars(types.SimpleNamespace(**given)).values()),
    "class": lambda given: sum(Called(**given).given.values()),
    "method": lambda given: Called().method(**given),
    "called object": lambda given: Called()(**given),
    "function": lambda given: keywords(**given),
    "partial": lambda given: functools.partial(keywords, **given)(),
    "dataclass": lambda given: sum(
        vars(dataclasses.make_dataclass("D", [*given])(**given)).values()
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_names(call):
    def f(x):
        names = [n for n in NAMES if n != "self" or call is not CALLS["dataclass"]]
        return call({n: x * k for k, n in enumerate(names)})

    assert jitad.grad(f)(0.5) == f(1.0)
    assert jitad.jit_grad(f)(0.5) == f(1.0)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "out"])
def test_names_of_parameters(name):
    f = load(f"def program(x, {name}):\n    return x * x * {name}", f"parameter_{name}")
    for grad in (jitad.grad, jitad.jit_grad):
        assert grad(f)(3.0, **{name: 2.0}) == 12.0
