"""Do functions with rules of their own have the derivatives that the rules say, and no others?

The rules here are wrong on purpose: ten times the derivative.  So what is found tells whether the
rule was used, and how often; the expected numbers are worked out by hand.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from numba import njit

from jitad import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    derivative,
    grad,
    jit,
    jvp,
    linear,
    value_and_grad,
    vjp,
)
from jitad.errors import JitadError, JitadTypeError, JitadValueError
from tests.engines import ENGINES

X, Y = 2.0, 3.0


@custom_jvp
def product(x: Any, y: Any) -> Any:
    return x * x * y


@product.defjvp
def product_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    return product(x, y), 10 * (2 * x * y * dx + x * x * dy)


@custom_vjp
def pair(x: Any, y: Any) -> Any:
    return {"a": x * x * y, "b": 1.0 * y}


def pair_forward(x: Any, y: Any) -> Any:
    return pair(x, y), (x, y, "kept")


def pair_backward(kept: Any, ct: Any) -> Any:
    x, y, text = kept
    assert text == "kept"
    return 10 * 2 * x * y * ct["a"], 10 * (x * x * ct["a"] + ct["b"])


pair.defvjp(pair_forward, pair_backward)


def by_pair(x: Any, y: Any) -> Any:
    out = pair(x, y)
    return out["a"] + out["b"]


def twice(x: Any, y: Any) -> Any:
    return product(product(x, y), y)


def twice_by_pair(x: Any, y: Any) -> Any:
    return pair(pair(x, y)["a"], y)["a"]


# u = x^2 y = 12 has the slope 20 xy = 120, whose slope is 20 y; so has the outer one by u:
# 20 y (120^2 + 12 * 60)
TWICE = 907200.0

# The rules' text is differentiated as it stands: d/dx of 10 * 2xy is 20 y.
CASES: dict[str, tuple[Any, Any]] = {
    "value": (product, 12.0),
    "grad": (grad(product, (0, 1)), (120.0, 40.0)),
    "derivative": (derivative(product), 120.0),
    "grad of grad": (grad(grad(product)), 60.0),
    "derivative of grad": (derivative(grad(product)), 60.0),
    "grad of derivative": (grad(derivative(product)), 60.0),
    "derivative of derivative": (derivative(derivative(product)), 60.0),
    **{
        f"{name}: the value of a rule, {first.__name__} of {second.__name__}":
            (first(second(f)), TWICE)
        for name, f in (("jvp", twice), ("vjp", twice_by_pair))
        for first in (grad, derivative) for second in (grad, derivative)
    },
    "vjp: value": (lambda x, y: pair(x, y)["a"], 12.0),
    "vjp: grad": (grad(by_pair, (0, 1)), (120.0, 50.0)),
    "vjp: derivative": (derivative(by_pair), 120.0),
    "vjp: grad of grad": (grad(grad(by_pair)), 60.0),
    "vjp: derivative of grad": (derivative(grad(by_pair)), 60.0),
    "vjp: grad of derivative": (grad(derivative(by_pair)), 60.0),
    "vjp: derivative of derivative": (derivative(derivative(by_pair)), 60.0),
    "vjp: both directions": (lambda x, y: jvp(by_pair, (x, y), (1.0, 2.0)), (15.0, 220.0)),
    # an inner derivative that does not see x leaves the rule for the outer one
    "through another derivative": (grad(lambda x, y: derivative(lambda z: z * product(x, y))(1.0)),
                                   120.0),
    "keywords": (grad(lambda x, y: product(y=y, x=x)), 120.0),
    "pullback": (lambda x, y: vjp(pair, x, y)[1]({"a": 0.0, "b": 1.0}), (0.0, 10.0)),
    "generic zero": (lambda x, y: vjp(pair, x, y)[1]({"a": linear.ZERO, "b": 1.0}), (0.0, 10.0)),
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CASES)
def test_scalars(name: str, engine: str) -> None:
    f, want = CASES[name]
    assert ENGINES[engine](f, X, Y) == want


def in_loop(x: float, n: int) -> float:
    s = 0.5
    for _ in range(n):
        s = 0.1 * product(s, x)  # s_bar_before = 10 * 0.2 s x s_bar, x_bar += s^2 s_bar
    return s


def in_loop_by_hand(x: float, n: int) -> float:
    states = [0.5]
    for _ in range(n):
        states.append(0.1 * states[-1] ** 2 * x)
    bar, x_bar = 1.0, 0.0
    for s in reversed(states[:-1]):
        x_bar += s * s * bar
        bar *= 2.0 * s * x
    return x_bar


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loop(engine: str) -> None:
    run = ENGINES[engine]
    assert math.isclose(run(grad(in_loop), 3.0, 4), in_loop_by_hand(3.0, 4), rel_tol=1e-13)
    assert math.isclose(run(derivative(in_loop), 3.0, 4), in_loop_by_hand(3.0, 4), rel_tol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_branch_and_a_loop_of_unknown_length(engine: str) -> None:
    def f(x: float) -> float:
        while x < 100.0:
            x = product(x, 2.0) if x > 1.0 else 3.0 * x
        return x

    # 0.5, 1.5, 4.5, 40.5, 3280.5: slopes 3, then 10 * 4x
    slope = 3.0 * 40.0 * 1.5 * 40.0 * 4.5 * 40.0 * 40.5
    for d in (grad(f), derivative(f)):
        assert math.isclose(ENGINES[engine](d, 0.5), slope, rel_tol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_arrays(engine: str) -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 5.0])
    run = ENGINES[engine]
    by_x, by_y = run(grad(lambda x, y: np.sum(by_pair(x, y) * x), (0, 1)), x, y)
    np.testing.assert_allclose(by_x, x * x * y + y + x * 20 * x * y, rtol=1e-14)
    np.testing.assert_allclose(by_y, x * 10 * (x * x + 1), rtol=1e-14)
    value, tangent = run(lambda x, y: jvp(product, (x, y), (y, x)), x, y)
    np.testing.assert_allclose(value, x * x * y)
    np.testing.assert_allclose(tangent, 10 * (2 * x * y * y + x * x * x), rtol=1e-14)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_kept_may_have_extents_of_its_own(engine: str) -> None:
    @custom_vjp
    def total(x: Any) -> Any:
        return np.sum(x[:-1])

    total.defvjp(lambda x: (total(x), (x[1:] * 2.0, len(x))),
                 lambda kept, ct: (np.ones(kept[1]) * ct * np.sum(kept[0]),))  # fmt: skip
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(ENGINES[engine](grad(lambda x: total(3.0 * x)), x), [90.0] * 3)


@pytest.mark.parametrize("engine", ENGINES)
def test_arguments_that_are_data(engine: str) -> None:
    def power(n: int, x: float, f: Any) -> float:
        return f(x) ** n

    ruled = custom_vjp(power, nondiff_argnums=(0, 2))
    ruled.defvjp(lambda n, x, f: (f(x) ** n, x), lambda n, f, x, ct: (10 * n * f(x) * ct,))
    run = ENGINES[engine]
    assert run(grad(lambda x: ruled(3, x, lambda u: u + 1.0)), 2.0) == 90.0
    forward = custom_jvp(power, nondiff_argnums=(0, -1))
    forward.defjvp(lambda n, f, p, t: (f(p[0]) ** n, 10 * n * f(p[0]) * t[0]))
    assert run(derivative(lambda x: forward(3, x, lambda u: u + 1.0)), 2.0) == 90.0
    assert run(grad(lambda x: forward(3, x, lambda u: u + 1.0)), 2.0) == 90.0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_compiled_body(engine: str) -> None:
    @njit
    def cube(x):  # type: ignore[no-untyped-def]
        return x * x * x

    ruled = custom_jvp(cube)
    ruled.defjvp(lambda p, t: (cube(p[0]), 10 * t[0]))
    assert ruled(2.0) == 8.0
    assert ENGINES[engine](lambda x: value_and_grad(ruled)(x), 2.0) == (8.0, 10.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rule_may_differentiate(engine: str) -> None:
    """The derivative of a root by the implicit function theorem, to second order."""

    @custom_vjp
    def root(a: float) -> float:
        x = 1.0
        for _ in range(30):
            x = x - (x * x * x - a) / (3.0 * x * x)
        return x

    def residual(x: float, a: float) -> float:
        return x * x * x - a

    def forward(a: float) -> Any:
        x = root(a)
        return x, (x, a)

    def backward(kept: Any, ct: float) -> Any:
        x, a = kept
        by_x, by_a = grad(residual, (0, 1))(x, a)
        return (-ct * by_a / by_x,)

    root.defvjp(forward, backward)
    run = ENGINES[engine]
    assert math.isclose(run(grad(root), 8.0), 1.0 / 12.0, rel_tol=1e-14)
    assert math.isclose(run(derivative(root), 8.0), 1.0 / 12.0, rel_tol=1e-14)
    # a**(1/3): the second derivative is -2/9 a**(-5/3), the third 10/27 a**(-8/3)
    assert math.isclose(run(grad(grad(root)), 8.0), -2.0 / 9.0 / 32.0, rel_tol=1e-13)
    assert math.isclose(run(grad(grad(grad(root))), 8.0), 10.0 / 27.0 / 256.0, rel_tol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loop_inside_the_forward_rule(engine: str) -> None:
    """Value and tangent come from one loop; reverse mode runs it again to transpose it."""

    @custom_jvp
    def power(x: float, n: int) -> float:
        return x**n

    @power.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x, n), (t, _) = primals, tangents
        y, dy = 1.0, 0.0
        for _ in range(n):
            y, dy = y * x, dy * x + y * t
        return y, 10.0 * dy

    run = ENGINES[engine]
    assert run(derivative(power), 2.0, 5) == 800.0
    assert run(grad(power), 2.0, 5) == 800.0
    # what an outer derivative sees of the value is the rule's loop, without the factor
    chain = lambda x, n: power(power(x, n), 1)
    for first in (grad, derivative):
        for second in (grad, derivative):
            assert run(first(second(chain)), 2.0, 3) == 100.0 * 12.0


@pytest.mark.parametrize("engine", ENGINES)
def test_in_a_recursion(engine: str) -> None:
    def climb(x: float) -> float:
        return product(x, 1.0) if x > 10.0 else climb(product(x, 1.0) + 1.0)

    run = ENGINES[engine]
    # 1.5, 3.25, 11.5625: slopes 20 x
    slope = 20.0**3 * 1.5 * 3.25 * 11.5625
    assert math.isclose(run(grad(climb), 1.5), slope, rel_tol=1e-13)
    assert math.isclose(run(derivative(climb), 1.5), slope, rel_tol=1e-13)
    second = slope * (1 / 1.5 + 30.0 / 3.25 + 30.0 * 65.0 / 11.5625)
    assert math.isclose(run(grad(grad(climb)), 1.5), second, rel_tol=1e-13)


def halved(x: float) -> float:
    return x * x if x < 1.0 else math.sin(halved(0.5 * x)) + x


def slope_of_halved(x: float) -> float:
    """By hand: the chain rule along the way down and up."""
    if x < 1.0:
        return 2.0 * x
    return 0.5 * math.cos(halved(0.5 * x)) * slope_of_halved(0.5 * x) + 1.0


@pytest.mark.parametrize("engine", ENGINES)
def test_recursion_inside_a_function_with_rules(engine: str) -> None:
    run = ENGINES[engine]
    known = custom_jvp(halved)
    known.defjvp(lambda p, t: (known(p[0]), 10.0 * t[0]))
    assert run(grad(lambda x: known(x) * 2.0), 3.0) == 20.0
    kept = checkpoint(halved)
    once = slope_of_halved(3.0)
    assert math.isclose(run(grad(kept), 3.0), once, rel_tol=1e-13)
    assert math.isclose(run(derivative(kept), 3.0), once, rel_tol=1e-13)
    twice = (slope_of_halved(3.0 + 1e-5) - slope_of_halved(3.0 - 1e-5)) / 2e-5
    assert math.isclose(run(derivative(grad(kept)), 3.0), twice, rel_tol=1e-8)
    assert math.isclose(run(grad(grad(kept)), 3.0), twice, rel_tol=1e-8)


@pytest.mark.parametrize("engine", ENGINES)
def test_recursion_inside_a_rule(engine: str) -> None:
    run = ENGINES[engine]
    f = custom_vjp(lambda x: halved(x))
    f.defvjp(lambda x: (halved(x), x), lambda x, ct: (ct * halved(x + 1.0),))
    assert math.isclose(run(grad(f), 3.0), halved(4.0), rel_tol=1e-13)
    second = run(grad(grad(f)), 3.0)
    assert math.isclose(second, slope_of_halved(4.0), rel_tol=1e-13)

    def twice(x: float) -> float:  # rules inside a recursion, whose rules recurse
        return f(x) if x > 2.0 else twice(x + 0.75) * x

    assert math.isclose(run(grad(twice), 1.5), halved(3.25) * 1.5 + halved(2.25), rel_tol=1e-13)


# -- what is refused ------------------------------------------------------------------------------


def refused(f: Any, *args: Any) -> list[JitadError]:
    """The errors of both engines."""
    out = []
    for g in (f, jit(f)):
        with pytest.raises(JitadError) as caught:
            g(*args)
        out.append(caught.value)
    return out


def test_a_rule_must_be_linear_for_the_other_mode() -> None:
    square = custom_vjp(lambda x: x * x)
    square.defvjp(lambda x: (x * x, x), lambda x, ct: (ct * ct * x,))
    assert grad(square)(3.0) == jit(grad(square))(3.0) == 3.0
    for e in refused(derivative(square), 3.0):
        assert "not linear" in str(e) and "rules for both modes" in str(e)
    other = custom_jvp(lambda x: x * x)
    other.defjvp(lambda p, t: (p[0] * p[0], p[0] * t[0] ** 2))
    for e in refused(grad(other), 3.0):
        assert "not linear" in str(e)


def test_what_is_closed_over_must_not_be_differentiated() -> None:
    def scaled(z: Any) -> Any:
        f = custom_jvp(lambda w: w * z)
        f.defjvp(lambda p, t: (p[0] * z, t[0] * z))
        return f

    assert jit(lambda z: grad(scaled(z))(1.0))(3.0) == 3.0  # constant for that derivative
    # ... whose result is the rule's text, which the derivative outside sees
    assert grad(lambda z: grad(scaled(z))(1.0))(3.0) == 1.0
    assert jit(grad(lambda z: grad(scaled(z))(1.0)))(3.0) == 1.0
    for e in refused(grad(lambda z: scaled(z)(2.0 * z)), 3.0):
        assert "differentiated from around it" in str(e) and __file__ in str(e)


def test_there_must_be_a_rule() -> None:
    for e in refused(grad(custom_jvp(lambda x: x)), 3.0):
        assert "no derivative rule yet" in str(e)


@pytest.mark.parametrize(("forward", "backward", "kind", "text"), [
    (lambda x: (x, x), lambda x, ct: ct, JitadValueError, "gave a float|gave a number"),
    (lambda x: (x, x), lambda x, ct: (ct, ct), JitadValueError, "gave 2 for 1 arguments"),
    (lambda x: (x, x), lambda x, ct: ((ct, ct),), JitadValueError, "expected a number or array"),
    (lambda x: (x, x), lambda x, ct: (np.ones(2) * ct,), JitadValueError, "shape|axes"),
    (lambda x: x, lambda x, ct: (ct,), JitadTypeError, "must return .value, what to keep."),
])  # fmt: skip
def test_a_rule_must_conform(forward: Any, backward: Any, kind: Any, text: str) -> None:
    f = custom_vjp(lambda x: x * x)
    f.defvjp(forward, backward)
    for e in refused(grad(f), 3.0):
        assert isinstance(e, kind)
        assert re.search(text, str(e)), str(e)


def test_recursion_inside_a_rule_that_takes_from_around_it() -> None:
    def scaled(z: float) -> Any:
        def halved(x: float) -> float:
            return x * z if x < 1.0 else halved(0.5 * x)

        return checkpoint(halved)

    assert grad(lambda z: scaled(z)(3.0))(2.0) == 0.75
    with pytest.raises(JitadError, match="takes something from around it"):
        jit(grad(lambda z: scaled(z)(3.0)))(2.0)


def test_a_function_with_rules_writes_to_nothing() -> None:
    @custom_jvp
    def fill(a: Any) -> Any:
        a[0] = 0.0
        return a * 1.0

    fill.defjvp(lambda p, t: (p[0] * 1.0, t[0] * 1.0))
    with pytest.raises(JitadError, match="writes to an array that it was given"):
        jit(grad(lambda x: np.sum(fill(x) * x)))(np.ones(2))
