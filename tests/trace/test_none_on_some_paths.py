"""Arithmetic with None is an error of the path that does it, and of no other."""

import pytest

from jitad import jit_value_and_grad, value_and_grad


def film(re, pr, length=None, bend=None):
    if re > 2000.0:
        return 0.0155 * re**0.83 * pr**0.5
    h = 1.615 * (re * pr / length) ** (1 / 3)
    if bend > h:
        h = h - bend * pr
    return h


def every_operator(x, none=None):
    s = 0.0
    for i in range(4):
        if x * i > 2.0:
            s = s + x * i
        else:
            s = s + (none - x) * i if i and x > 100 else s + x
    if x < -5:
        return none + x
    if x < -4:
        return x**none
    if x < -3:
        x *= none
    if x < -2 and none < x:
        return -none
    if x < -1:
        return -none * x
    return s


def caught(x, none=None):
    try:
        y = none * x if x > 1 else x
    except TypeError:
        y = x * 7
    return y * x


@pytest.mark.parametrize("engine", [value_and_grad, jit_value_and_grad])
@pytest.mark.parametrize(("f", "given"), [
    (film, (3000.0, 0.7)), (film, (300.0, 0.7, 2.0, 1.0)), (film, (300.0, 0.7, 2.0, 100.0)),
    (every_operator, (1.3,)), (caught, (1.3,)), (caught, (0.3,)),
])  # fmt: skip
def test_paths_without_it(f, given, engine):
    x, *rest = given
    value, found = engine(f)(*given)
    h = 1e-6 * x
    assert value == pytest.approx(f(*given), rel=1e-14)
    assert found == pytest.approx((f(x + h, *rest) - f(x - h, *rest)) / (2 * h), rel=1e-6)


@pytest.mark.parametrize("engine", [value_and_grad, jit_value_and_grad])
@pytest.mark.parametrize(("f", "given", "line"), [
    (film, (300.0, 0.7), "pr / length"), (film, (300.0, 0.7, 2.0), "if bend > h"),
    (every_operator, (-6.0,), "none + x"), (every_operator, (-4.5,), "none"),
    (every_operator, (-3.5,), "x *= none"), (every_operator, (-2.5,), "none < x"),
    (every_operator, (-1.5,), "return -none"),
])  # fmt: skip
def test_paths_with_it_raise_what_python_raises(f, given, line, engine):
    with pytest.raises(TypeError) as plain:
        f(*given)
    with pytest.raises(TypeError) as ours:
        engine(f)(*given)
    said = str(ours.value)
    assert said.splitlines()[0].replace("*:", "*=:") == str(plain.value).replace("*:", "*=:")
    assert line in said


def test_a_kernel_knows_both():
    g = jit_value_and_grad(film)
    assert g(3000.0, 0.7)[0] == pytest.approx(film(3000.0, 0.7), rel=1e-14)
    with pytest.raises(TypeError, match="unsupported operand"):
        g(300.0, 0.7)
    assert len(g.specialisations) == 1
