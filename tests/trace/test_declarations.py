"""A declaration (`x: float`) alone binds nothing, wherever it stands."""

import pytest

from jitad import jit_value_and_grad, value_and_grad

# ruff: noqa: F821, F842, B007, B032


def before_a_condition(x, given=None):
    t: float
    if given is None or x > 5:
        t = x * 2
    else:
        t = given
    return t * x


def in_a_loop(x):
    t: float
    u: float = 3.0
    for i in range(3):
        w: float
        if i > 0:
            t = x * w * u
        w = x * i
    return t * x


def under_a_condition(x):
    t = x
    if x > 0:
        t: float
    return t * x


def alone_in_blocks(x):
    s = 0.0
    for i in range(3):
        v: float
    try:
        r: float
    except ValueError:
        q: float
    else:
        s = x * i
    while s < 10:
        with_value: float = 1.0
        s = s + x + with_value
    return s


class Box:
    pass


def of_other_places(x):
    def inner(y):
        z: float
        z = y * x
        return z

    box = Box()
    box.b: float = x * 2
    d = {}
    d["q"]: float = x * box.b
    d["z"]: float
    return d["q"] + inner(x)


@pytest.mark.parametrize("engine", [value_and_grad, jit_value_and_grad])
@pytest.mark.parametrize("f", [
    before_a_condition, in_a_loop, under_a_condition, alone_in_blocks, of_other_places,
])  # fmt: skip
def test_declarations(f, engine):
    value, found = engine(f)(1.3)
    assert value == pytest.approx(f(1.3), rel=1e-15)
    assert found == pytest.approx((f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rel=1e-7)


def test_a_name_that_nothing_binds():
    def f(x):
        nothing: float
        return nothing * x

    with pytest.raises(NameError):
        value_and_grad(f)(1.3)
