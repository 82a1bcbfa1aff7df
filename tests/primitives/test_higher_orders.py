"""Do second and third derivatives hold where a factor of them overflows, cancels, or has an edge?

Against mpmath, in forward mode, in reverse mode over itself, and as the code that is emitted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special as sp
from mpmath import mp

import jitad
from tests.engines import as_emitted, on_tape

Function = Callable[[Any], Any]


def _tiny(x: Any) -> Any:
    return x * 1e-200


def _root_of_nine_more(x: Any) -> Any:
    return mpmath.sqrt(x * x + 9)


PROGRAMS: dict[str, tuple[Function, Function, tuple[float, ...]]] = {
    "log(erfc)": (lambda x: np.log(sp.erfc(x)), lambda x: mpmath.log(mpmath.erfc(x)),
                  (2.0, 5.0)),
    "log of tiny": (lambda x: np.log(_tiny(x)), mpmath.log, (1e-20, 0.3, 1e9)),
    "log of huge": (lambda x: np.log(x * 1e200), mpmath.log, (1e-20, 0.3, 1e9)),
    "log2 of tiny": (lambda x: np.log2(_tiny(x)), lambda x: mpmath.log(x, 2), (0.3, 1e9)),
    "log of a power": (lambda x: np.log(x**40), lambda x: 40 * mpmath.log(x), (1e-6, 3.0, 1e6)),
    "tiny over tiny": (lambda x: _tiny(x) / (1e-200 + _tiny(x)), lambda x: x / (1 + x), (0.3, 7.0)),
    "reciprocal": (lambda x: 1e-200 * np.reciprocal(_tiny(x)), lambda x: 1 / x, (0.3, 1e9)),
    "root of tiny": (lambda x: 1e100 * np.sqrt(_tiny(x)), mpmath.sqrt, (0.3, 1e9)),
    "arctan far out": (np.arctan, mpmath.atan, (1e30, 1e50)),
    "x log x": (lambda x: sp.xlogy(x, x), lambda x: x * mpmath.log(x), (1e-90, 1e90)),
    "hypot": (lambda x: np.hypot(x, 3.0), _root_of_nine_more, (1e-9, 1e4, 1e6, -1e9)),
    "hypot, other": (lambda x: np.hypot(3.0, x), _root_of_nine_more, (1e-9, 1e6)),
    "hypot of tiny": (lambda x: 1e200 * np.hypot(_tiny(x), 3e-200), _root_of_nine_more, (0.3, 1e4)),
    "arctan2": (lambda x: np.arctan2(x, 3.0), lambda x: mpmath.atan(x / 3), (1e-9, 1e6)),
    "arctan2, other": (lambda x: np.arctan2(3.0, x), lambda x: mpmath.atan2(3, x), (1e-9, 1e6)),
    "arctan2 of tiny": (lambda x: np.arctan2(_tiny(x), 3e-200), lambda x: mpmath.atan(x / 3),
                        (0.3, 1e4)),
    "arccosh": (np.arccosh, mpmath.acosh, (1.0 + 1e-9, 3.0, 1e60)),
    "power of tiny": (lambda x: _tiny(x) ** 0.3, lambda x: _tiny(x) ** mpmath.mpf(0.3),
                      (1e-40, 0.3, 1e9)),
    "power of tiny, exponent traced": (
        lambda x: _tiny(x) ** (0.3 + 0.0 * x), lambda x: _tiny(x) ** mpmath.mpf(0.3), (0.3, 1e9)),
    "cubic root of tiny": (lambda x: np.cbrt(_tiny(x)), lambda x: mpmath.cbrt(_tiny(x)),
                           (1e-40, 0.3, 1e9)),
    "inverse power": (lambda x: 1e-240 * _tiny(x) ** -1.2, lambda x: x ** mpmath.mpf(-1.2),
                      (0.3, 1e9)),
    "inverse square": (lambda x: 1e-240 * (1e-120 * x) ** -2, lambda x: x**-2, (0.3, 1e9)),
    "x**x": (lambda x: x**x, lambda x: x**x, (0.5, 1.0, 2.0, 3.0)),
}  # fmt: skip


def _truth(f: Function, x: float, order: int) -> float:
    with mp.workdps(200):
        step = mpmath.mpf(10) ** -22 * abs(mpmath.mpf(x))
        if abs(x - 1.0) < 1e-6:
            step *= mpmath.mpf(10) ** -10
        return float(mpmath.diff(f, mpmath.mpf(x), order, h=step))


def _summed(f: Function) -> Function:
    return lambda x: np.sum(f(x))


def _by_reverse(f: Function, order: int) -> Function:
    for _ in range(order):
        f = jitad.grad(_summed(f))
    return f


def _by_forward(f: Function, order: int) -> Function:
    for _ in range(order):
        f = (lambda f: lambda x: jitad.jvp(f, (x,), (1.0 + 0.0 * x,))[1])(f)
    return f


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("way", [_by_forward, _by_reverse])
def test_to_third_order(name: str, way: Any) -> None:
    f, truth, points = PROGRAMS[name]
    x = np.array([*points, points[0]])
    for order, bound in ((1, 1e-12), (2, 1e-11), (3, 1e-9)):
        want = [_truth(truth, t, order) for t in x]
        with np.errstate(all="ignore"):
            eager, emitted = way(f, order)(x), as_emitted(way(f, order), x)
        np.testing.assert_allclose(eager, want, bound, 1e-290)
        np.testing.assert_allclose(emitted, want, bound, 1e-290)


def test_compiled() -> None:
    """What kernels have of their own for it."""
    x = np.array([1e-9, 1e4, 1e6, -1e9])
    bend = jitad.jit_grad(_summed(_by_reverse(lambda t: np.hypot(t, 3.0), 1)))(x)
    np.testing.assert_allclose(bend, [_truth(_root_of_nine_more, t, 2) for t in x], 1e-12)
    assert jitad.jit(lambda x: _by_reverse(lambda t: np.log(sp.erfc(t)), 2)(x))(5.0) < 0.0


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 0.5])
def test_a_power_varies_with_base_and_exponent(exponent: float) -> None:
    """Where the exponent is zero the derivative by the base is, but not that one's by it."""
    log = np.log(3.0)
    mixed = 3.0 ** (exponent - 1.0) * (1.0 + exponent * log)
    bend = 3.0 ** (exponent - 2.0) * exponent * (exponent - 1.0)
    want = (bend, mixed), (mixed, 3.0**exponent * log * log)
    for f in (lambda a, b: a**b, np.power, lambda a, b: np.sum(np.full(3, a) ** b) / 3.0):
        for g in (jitad.hessian(f, (0, 1)), jitad.jacrev(jitad.grad(f, (0, 1)), (0, 1))):
            np.testing.assert_allclose(g(3.0, exponent), want, 1e-13, 1e-15)
            np.testing.assert_allclose(as_emitted(g, 3.0, exponent), want, 1e-13, 1e-15)


def test_two_zeros_have_no_direction() -> None:
    """By convention; a tangent of zero gave nan in the eager engine."""
    for f in (np.hypot, np.arctan2):
        for at in ((0.0, 0.0), (-0.0, 0.0), (np.float32(0.0), np.float32(0.0))):
            for t in (0.0, 1.0):

                def slope(x: Any, y: Any, f: Any = f, t: float = t) -> Any:
                    return jitad.jvp(f, (x, y), (0.0 * x + t, 0.0 * y))[1]

                assert slope(*at) == 0.0
                assert as_emitted(slope, *at) == 0.0
            assert jitad.grad(f, (0, 1))(*at) == (0.0, 0.0)
            assert as_emitted(jitad.grad(f, (0, 1)), *at) == (0.0, 0.0)


@pytest.mark.parametrize("f", [
    lambda a: np.arctan2(a, 2.5), lambda a: np.arctan2(2.5, a), lambda a: np.hypot(a, 2.5),
    lambda a: a / 2.5, lambda a: 2.5 / a,
])  # fmt: skip
def test_a_float_of_pythons_leaves_float32_as_it_is(f) -> None:
    def adjoint(a):
        _, pullback = jitad.vjp(f, a)
        return pullback(np.ones_like(a))[0]

    a = np.linspace(0.5, 2.0, 3, dtype=np.float32)
    for engine in (on_tape, as_emitted, lambda f, a: f(a)):
        assert engine(adjoint, a).dtype == np.float32
