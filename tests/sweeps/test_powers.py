"""Do the halves and doubles of derivatives cancel, and nothing else?"""

import math

import numpy as np
import pytest

from jitad import derivative, jit, jit_grad, jit_hessian
from jitad.sweeps.powers import cancelled
from jitad.tape.build import Builder
from jitad.tape.ir import Var, lit
from jitad.tape.types import Array, Scalar

F, P = Scalar("f8"), Scalar("f8", True)


@pytest.mark.parametrize("kinds", [(F, F), (P, P), (F, P), (Array("f8", 1), Array("f8", 1))])
def test_a_half_times_a_double(kinds):
    b = Builder()
    x, y = (b.input(t) for t in kinds)
    double = b.emit("add", y, y)
    for p, q in ((b.emit("mul", lit(0.5), x), double), (double, b.emit("mul", x, lit(0.5)))):
        assert {*cancelled(b, p, q)} == {x, y}
    eighth = b.emit("mul", lit(0.5), b.emit("mul", lit(0.25), x))
    assert {*cancelled(b, eighth, b.emit("mul", lit(8.0), y))} == {x, y}


def test_what_does_not_cancel_stays():
    b = Builder()
    x, y = b.input(F), b.input(F)
    half, third = b.emit("mul", lit(0.5), x), b.emit("mul", lit(3.0), y)
    for p, q in ((half, y), (half, third), (x, y), (half, half), (third, b.emit("add", x, y))):
        assert cancelled(b, p, q) == (p, q)


def test_sums_of_doubles():
    b = Builder()
    x, y, z, s = (b.input(F) for _ in range(4))
    doubles = [b.emit("mul", b.emit("add", v, v), s) for v in (y, z)]
    half = b.emit("mul", lit(0.5), x)
    p, q = cancelled(b, half, b.emit("sub", *doubles))
    assert p == x and b.sources[q].op == "sub"
    assert [b.sources[v].ins for v in b.sources[q].ins] == [(y, s), (z, s)]
    mixed = b.emit("add", doubles[0], z)
    assert cancelled(b, half, mixed) == (half, mixed)


def test_what_a_stack_or_an_array_held_stays():
    b = Builder()
    stack, a, x = b.emit("stack", element=F), b.input(Array("f8", 1)), b.input(F)
    stack = b.emit("push", stack, x)
    half = b.emit("mul", lit(0.5), x)
    for y in (b.emit("pop", stack)[1], b.emit("load", a, lit(0))):
        assert cancelled(b, half, y) == (half, y)


def test_a_number_of_another_precision_stays():
    b = Builder()
    x, y = b.input(F), b.input(Scalar("f4"))
    wide = b.emit("cast", y, dtype="f8")
    p, q = b.emit("mul", lit(0.5), x), b.emit("add", wide, wide)
    assert cancelled(b, p, q) == (x, wide)


def test_types_stay_what_they_were():
    b = Builder()
    x, y = b.input(P), b.input(P)
    as_numpys = b.emit("cast", b.emit("add", y, y), dtype="f8")
    p, q = cancelled(b, b.emit("mul", lit(0.5), x), as_numpys)
    assert isinstance(q, Var) and (p.type, q.type) == (P, F)


def test_the_gradient_of_a_norm():
    def norm(x):
        total = 0.0
        for e in x:
            total += e * e
        return np.sqrt(total)

    x = np.array([3.0, -4.0, 12.0])
    np.testing.assert_allclose(jit_grad(norm)(x), x / 13.0, rtol=1e-15)
    wanted = (np.eye(3) - np.outer(x, x) / 169.0) / 13.0
    np.testing.assert_allclose(jit_hessian(norm)(x), wanted, atol=1e-16)


def test_no_half_is_left_in_the_slope_of_a_length():
    slope = jit(lambda x, y: derivative(lambda t: math.sqrt(t * t + y * y))(x))
    assert slope(3.0, 4.0) == pytest.approx(0.6)
    assert "0.5" not in slope.source
