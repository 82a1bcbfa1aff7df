"""Can compiled functions be called from `@njit` code, in every place, never stale?"""

from __future__ import annotations

import ctypes
import functools
import math
import types
from typing import Any

import numpy as np
import pytest
from numba import float64, int64, njit
from numba import types as numba_types

from benchmarks.optimisers import gradient_descent, lbfgs
from jitad import JitadError, grad, jit, jit_grad, jit_value_and_grad
from tests.api.messages import check_message, raised

THREE = np.arange(3.0)


def bowl(x):
    return np.sum(x * x)


GRADIENT = jit_grad(bowl)


@njit
def by_global(x):
    return GRADIENT(x)


@njit
def by_argument(g, x):
    return g(x)


def test_as_global_closure_and_argument() -> None:
    inner = jit_grad(lambda x: np.sum(x * x * x))

    @njit
    def by_closure(x):
        return inner(x)

    np.testing.assert_array_equal(by_global(THREE), 2 * THREE)
    np.testing.assert_array_equal(by_closure(THREE), 3 * THREE**2)
    np.testing.assert_array_equal(by_argument(GRADIENT, THREE), 2 * THREE)
    np.testing.assert_array_equal(by_argument(inner, THREE), 3 * THREE**2)
    np.testing.assert_array_equal(by_global(np.arange(7.0)), 2 * np.arange(7.0))


def test_tuples_in_and_out() -> None:
    g = jit_value_and_grad(lambda p, s: p[0] * p[1][0] * s, (0, 1))

    @njit
    def use(a, b):
        value, (by_p, by_s) = g((a, (b,)), 2.0)
        return value, by_p[0], by_p[1][0], by_s

    assert use(3.0, 5.0) == (30.0, 10.0, 6.0, 15.0)


FACTOR: Any = 2.0
WEIGHTS: Any = np.ones(3)
SPACE = types.SimpleNamespace(k=1.0)


def weighted(x):
    return FACTOR * SPACE.k * np.sum(WEIGHTS * x)


WEIGHTED = jit_grad(weighted)


@njit
def use_weighted(x):
    return WEIGHTED(x)


def test_captured_values_are_read_at_every_call() -> None:
    global FACTOR, WEIGHTS
    FACTOR, WEIGHTS, SPACE.k = 2.0, np.ones(3), 1.0

    def check() -> None:
        np.testing.assert_array_equal(use_weighted(THREE), FACTOR * SPACE.k * WEIGHTS)

    check()
    FACTOR = 5.0
    check()
    SPACE.k = 3.0
    check()
    WEIGHTS = np.arange(3.0)
    check()
    WEIGHTS[1] = 9.0
    check()
    WEIGHTS = np.arange(6.0)[::2]  # strided
    check()
    FACTOR = "text"
    e = raised(lambda: use_weighted(THREE))
    check_message(
        e, __file__, "grad(weighted) relies on FACTOR, which has changed since it was compiled",
        "e = raised(lambda: use_weighted(THREE))", "use_weighted",
        "Call it from Python once, then compile the @njit function that calls it anew.",
    )  # fmt: skip
    FACTOR = 1.0
    check()


POWER = 2


def powered(x):
    return x**POWER


def test_a_changed_captured_int_is_an_error_and_never_stale() -> None:
    global POWER
    POWER = 2
    g = jit_grad(powered)

    @njit
    def use(x):
        return g(x)

    assert use(3.0) == 6.0
    POWER = 3
    with pytest.raises(JitadError, match="relies on POWER"):
        use(3.0)
    assert g(3.0) == 27.0

    @njit
    def again(x):
        return g(x)

    assert again(3.0) == 27.0
    POWER = 4  # it is an input by now
    assert g(3.0) == 108.0

    @njit
    def third(x):
        return g(x)

    assert third(3.0) == 108.0


def repeated(x, n):
    parts = (x,) * n
    s = 0.0
    for p in parts:
        s = s + p
    return s


def test_values_that_must_be_known() -> None:
    g = jit_grad(repeated)

    @njit
    def unknown(x, n):
        return g(x, n)

    e = raised(lambda: unknown(2.0, 4), TypeError)
    check_message(
        e, __file__, "an index must be known when the function is compiled; it depends on n",
        "parts = (x,) * n", "(x",
        "From @njit code pass a literal, or call the function from Python (or give compile() the "
        "value) before.",
    )  # fmt: skip

    @njit
    def literal(x):
        return g(x, 3)

    @njit
    def other_literal(x):
        return g(x, 5) + g(x, 3)

    assert literal(2.0) == 3.0
    assert other_literal(2.0) == 8.0

    h = jit_grad(repeated)
    h(2.0, 4)

    @njit
    def existing(x, n):
        return h(x, n)

    assert existing(2.0, 4) == 4.0
    e = raised(lambda: existing(2.0, 5))
    assert str(e).startswith("a compiled function was made for calls in which n is 4\n")
    assert jit_grad(repeated).compile(2.0, 6).specialisations == ["a call from native code"]
    with pytest.raises(JitadError, match="depends on n"):
        jit_grad(repeated).compile(float64, int64)


def test_lengths_that_must_be_known() -> None:
    def squares(a, b, c):
        return a * a + b * b + c * c

    def f(x):
        return squares(*x)

    g = jit_grad(f)

    @njit
    def use(x):
        return g(x)

    with pytest.raises(JitadError, match="must be known when the function is compiled"):
        use(THREE)
    np.testing.assert_array_equal(g(THREE), 2 * THREE)
    np.testing.assert_array_equal(use(THREE), 2 * THREE)
    with pytest.raises(JitadError, match=r"for calls in which an extent of x is 3|extent is 3"):
        use(np.ones(4))


def test_room_for_lists() -> None:
    g = jit_grad(lambda x: sum([v * v for v in x]))

    @njit
    def use(x):
        return g(x)

    np.testing.assert_array_equal(use(THREE), 2 * THREE)
    long = np.arange(5000.0)
    with pytest.raises(JitadError, match="for calls in which list 1, which grows in line"):
        use(long)
    np.testing.assert_array_equal(g(long), 2 * long)
    np.testing.assert_array_equal(use(long), 2 * long)
    assert g.specialisations == ["a call from native code"]



def test_an_extent_of_one() -> None:
    g = jit_grad(lambda x: np.sum(x * x))
    g(np.ones(1))

    @njit
    def use(x):
        return g(x)

    for n in (1, 4):
        try:
            np.testing.assert_array_equal(use(np.ones(n)), 2 * np.ones(n))
        except JitadError as e:
            assert n == 4 and "an extent of x is 1" in str(e)


def test_compile_ahead_of_time() -> None:
    g = jit_value_and_grad(bowl)
    assert g.compile(float64[::1]) is g
    assert len(g.specialisations) == 1
    value, gradient = g(THREE)
    assert value == 5.0 and len(g.specialisations) == 1
    np.testing.assert_array_equal(gradient, 2 * THREE)


def test_address_through_ctypes() -> None:
    g = jit_value_and_grad(lambda x, s: s * np.sum(x * x))
    pointer = ctypes.POINTER(ctypes.c_double)
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int, pointer, ctypes.c_int64, ctypes.c_double, pointer, pointer, ctypes.c_int64
    )
    function = kind(g.address(float64[::1], float64))
    x, out, value = np.arange(3.0), np.zeros(3), ctypes.c_double()

    def call(n: int) -> int:
        at = (a.ctypes.data_as(pointer) for a in (x, out))
        return function(next(at), 3, 2.0, ctypes.byref(value), next(at), n)

    assert call(3) == 0 and value.value == 10.0
    np.testing.assert_array_equal(out, 4 * x)
    assert call(2) == 2


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def test_optimisers_in_native_code() -> None:
    value_and_gradient = jit_value_and_grad(rosenbrock)
    point, value, used = lbfgs(value_and_gradient, np.zeros(4), (), 200, 1e-8, 8)
    assert value < 1e-14 and used < 300
    np.testing.assert_allclose(point, 1.0, atol=1e-6)
    descent = jit_value_and_grad(lambda x, target: np.sum((x - target) ** 2))
    point, value, _ = gradient_descent(descent, np.zeros(3), (THREE,), 200)
    np.testing.assert_allclose(point, THREE, atol=1e-6)


# -- misuse ---------------------------------------------------------------------------------------


def test_writes_to_python_objects_are_refused() -> None:
    log: list[Any] = []

    def f(x):
        log.append(x)
        return x

    g = jit_grad(f)

    @njit
    def use(x):
        return g(x)

    with pytest.raises(JitadError, match="writes to Python objects, which native code can't"):
        use(1.0)
    assert log == []


@njit
def with_keyword(x):
    return GRADIENT(x=x)


@njit
def with_int(n):
    return GRADIENT(n)


@njit
def with_text(x):
    return GRADIENT("text")


def test_misuse_from_native_code() -> None:
    with pytest.raises(JitadError, match="called with keyword arguments from @njit code"):
        with_keyword(THREE)
    with pytest.raises(JitadError, match=r"argument 0 \(x\) has no floats"):
        with_int(1)
    with pytest.raises(JitadError, match=r"called from @njit code with a unicode_type|Literal"):
        with_text(THREE)

    broken = jit_grad(lambda x: np.sum(np.real_if_close(x)))

    @njit
    def use(x):
        return broken(x)

    for _ in range(2):
        with pytest.raises(JitadError, match=r"numpy.real_if_close is not supported"):
            use(THREE)
    assert by_argument(jit_grad(math.sin), 0.0) == 1.0


def test_exceptions_can_be_caught_in_native_code() -> None:
    def f(x):
        if x < 0.0:
            raise ValueError(f"negative {x}")
        return math.sqrt(x)

    g = jit_grad(f)

    @njit
    def use(x):
        try:
            return g(x)
        except Exception:
            return -1.0

    assert (use(4.0), use(-4.0), use(1.0)) == (0.25, -1.0, 0.5)


# -- jit of what is not a plain function ----------------------------------------------------------


class Model:
    def __init__(self, w: float) -> None:
        self.w = w

    @jit
    def predict(self, x):
        return self.w * x

    @functools.partial(jit_grad, argnums=1)
    def slope(self, x):
        return self.w * x * x

    @staticmethod
    @jit_grad
    def fixed(x):
        return x * x

    @classmethod
    def made(cls, x):
        return x * x

    @property
    def double(self):
        return 2 * self.w

    def uses(self, x):
        return self.double * x


def test_methods() -> None:
    assert Model(2.0).predict(3.0) == 6.0 and Model(5.0).predict(3.0) == 15.0
    assert Model(2.0).slope(3.0) == 12.0
    assert Model.fixed(3.0) == 6.0 and jit_grad(Model.made)(3.0) == 6.0
    model = Model(5.0)
    g = jit_grad(model.uses)
    assert g(1.0) == 10.0
    model.w = 1.0
    assert g(1.0) == 2.0


def test_partials_and_lambdas() -> None:
    assert jit_grad(functools.partial(lambda a, x: a * x * x, 3.0))(2.0) == 12.0
    assert jit_grad(functools.partial(lambda x, a: a * x * x, a=3.0))(2.0) == 12.0
    found = [jit_grad(f)(2.0) for f in (lambda x: x * x, lambda x: x * x * x, lambda x: 1 / x)]
    assert found == [4.0, 12.0, -0.25]


def test_compiled_functions_inside_compiled_functions() -> None:
    square = jit(lambda x: x * x)
    cube_slope = jit_grad(lambda y: y * y * y)
    assert jit_grad(lambda x: square(x) * x)(2.0) == 12.0
    assert grad(lambda x: square(x) * x)(2.0) == 12.0
    assert jit_grad(lambda x: cube_slope(x) * x)(2.0) == 36.0
    assert grad(cube_slope)(2.0) == 12.0
    assert square.specialisations == []  # it became part of the others


def test_njit_functions_are_differentiated() -> None:
    @njit
    def inner(x):
        return math.sin(x)

    assert jit_grad(lambda x: inner(x) * x)(1.0) == math.cos(1.0) + math.sin(1.0)


def test_types_of_signatures() -> None:
    pair = numba_types.UniTuple(float64, 2)
    assert jit_grad(lambda p: p[0] * p[1]).compile(pair).specialisations
