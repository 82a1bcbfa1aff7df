"""Is anything ever stale, and is anything compiled that need not be?"""

# ruff: noqa: B007  (loops assign what the functions under test capture)

from __future__ import annotations

import math
import types
import warnings
from typing import Any

import numpy as np
import pytest

from jitad import FallbackWarning, JitadError, batch, grad, jit, jit_grad
from tests.api.counting import count

THREE = np.ones(3)


def scaled(factor):
    def f(x):
        return np.sum(factor * x * x)

    return f


@pytest.mark.parametrize(
    ("one", "other"),
    [(1.5, 2.5), (np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])), (np.float64(3), 4.5)],
)
def test_functions_that_differ_in_a_captured_value_share_a_kernel(one: Any, other: Any) -> None:
    g, h = jit_grad(scaled(one)), jit_grad(scaled(other))
    g(THREE)
    assert count(lambda: h(THREE)) == 0
    assert g.source == h.source
    for _ in range(2):
        np.testing.assert_array_equal(g(THREE), 2 * one * THREE)
        np.testing.assert_array_equal(h(THREE), 2 * other * THREE)


def test_a_new_length_does_not_recompile() -> None:
    g = jit_grad(lambda x: np.sum(np.sin(x[1:]) * x[:-1]))
    g(np.ones(5))
    for n in (7, 2000, 11):
        assert count(lambda n=n: g(np.ones(n))) == 0
    assert len(g.specialisations) == 1
    x = np.linspace(0, 1, 9)
    np.testing.assert_allclose(g(x), grad(lambda x: np.sum(np.sin(x[1:]) * x[:-1]))(x), rtol=1e-14)


FACTOR: Any = 2.0
POWER: Any = 3
INNER: Any = lambda t: t * t
SPACE = types.SimpleNamespace(a=2.0, n=2, w=np.ones(3))


def reads_globals(x):
    return FACTOR * INNER(x) * POWER * SPACE.a * SPACE.n


def test_changed_globals_and_attributes_are_seen() -> None:
    global FACTOR, POWER, INNER
    FACTOR, POWER, INNER, SPACE.a, SPACE.n = 2.0, 3, lambda t: t * t, 2.0, 2
    g = jit_grad(reads_globals)

    def check() -> None:
        assert g(1.5) == pytest.approx(grad(reads_globals)(1.5), rel=1e-14)

    check()
    FACTOR = 5.0
    check()
    SPACE.a = 0.5
    check()
    assert len(g.specialisations) == 1  # floats are inputs
    POWER = 4
    check()
    known = len(g.specialisations)
    for POWER in (5, 6, 7):  # the second value of an int makes it an input
        assert count(check) == 0
    assert len(g.specialisations) == known
    SPACE.n = 7
    check()
    INNER = lambda t: t * t * t
    check()
    INNER = math.sin
    check()
    for FACTOR in (3, True, np.float32(2.5), np.float64(2.5), 2.5):  # other types
        check()


def test_changed_cells_are_seen() -> None:
    c: Any = 1.0

    def f(x):
        return np.sum(c * x)

    g = jit(f)
    for c in (
        1.0, 3.0, 4, np.float32(0.1), np.arange(3.0), np.ones((2, 1)), np.ones(3, np.float32),
        np.array([1, 2, 3]), True, 2.0,
    ):  # fmt: skip
        for _ in range(2):
            assert g(1.5) == pytest.approx(f(1.5), rel=1e-14)
    c = np.ones(3)
    g(1.0)
    c[1] = 9.0  # in place
    assert g(1.0) == 11.0


def test_changed_type_of_a_capture_changes_the_meaning() -> None:
    """7 // 2 and 7.0 / 2: what a captured value is decides what operators mean."""
    c: Any = 7.0

    def f(x):
        return x * (c // 2) + (c / 2)

    g = jit(f)
    results = []
    for c in (7.0, 7, 8.0, 9, np.float64(7)):
        results.append((g(1.0), f(1.0)))
    assert all(a == b for a, b in results)
    c = 0.0

    def divides(x):
        return x / c

    h = jit(divides)
    with pytest.raises(ZeroDivisionError):
        h(1.0)
    c = np.float64(0.0)
    assert h(1.0) == math.inf


def test_replaced_code_is_seen() -> None:
    def inner(x):
        return x * x

    def f(x):
        return inner(x)

    g = jit_grad(f)
    assert g(2.0) == 4.0
    inner.__code__ = (lambda x: x * x * x).__code__
    assert g(2.0) == 12.0
    before = g.specialisations
    assert g(2.0) == 12.0 and g.specialisations == before

    def other(x):
        return 5.0 * x

    f.__code__ = other.__code__ if not f.__closure__ else f.__code__
    inner = other
    assert g(2.0) == 5.0


def test_defaults_are_read_at_the_call() -> None:
    def f(x, k=2.0, *, scale=1.0):
        return x * k * scale

    g = jit_grad(f)
    assert (g(1.0), g(1.0, 5.0), g(1.0, k=7.0), g(1.0, scale=3.0)) == (2.0, 5.0, 7.0, 6.0)
    f.__defaults__ = (9.0,)
    f.__kwdefaults__ = {"scale": 2.0}
    assert g(1.0) == 18.0


class Model:
    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, x):
        return np.sum(self.w * x)

    def loss(self, x):
        return self(x) * 2.0


def test_attributes_of_objects() -> None:
    model = Model(np.ones(3))
    g, h = jit_grad(model), jit_grad(model.loss)
    for w in (np.ones(3), np.arange(3.0), np.full(3, 4.0)):
        model.w = w
        np.testing.assert_array_equal(g(THREE), w)
        np.testing.assert_array_equal(h(THREE), 2 * w)
    model.w[0] = 8.0
    np.testing.assert_array_equal(g(THREE), [8.0, 4.0, 4.0])
    model.w = 2.0
    np.testing.assert_array_equal(g(THREE), [2.0, 2.0, 2.0])


def test_containers() -> None:
    params: dict[str, Any] = {"w": np.ones(3), "b": 1.0}
    layers = [np.ones(3), np.ones(3)]

    def f(x):
        s = params["b"] + np.sum(params["w"] * x)
        for w in layers:
            s = s + np.sum(w * x)
        return s

    g = jit(f)

    def check() -> None:
        assert g(THREE) == f(THREE)

    check()
    params["b"] = 3.0
    check()
    params["w"] = np.zeros(3)
    check()
    params["c"] = 1
    check()
    layers[0] = np.full(3, 5.0)
    check()
    layers.append(np.ones(3))
    check()
    layers.clear()
    check()
    del params["b"]
    with pytest.raises(KeyError):
        g(THREE)
    params["b"] = 1
    check()


def test_things_of_other_kinds_in_one_place() -> None:
    """Each is told from those before, whatever a guard asks of them."""
    held: dict[str, Any] = {"w": [1.0, 2.0, 3.0]}

    def f(x):
        return np.sum(np.asarray(held["w"]) * x)

    g = jit(f)
    kinds = ([4.0, 5.0, 6.0], 2.0, (1.0, 2.0, 0.5), np.float32(2.5), 3, np.ones(3), [2.0, 1.0, 4.0])
    for held["w"] in kinds:
        assert g(THREE) == f(THREE)


def test_flags_and_texts() -> None:
    flag: Any = True
    mode = "square"

    def f(x):
        if mode == "square":
            return x * x if flag else -x
        return x * x * x

    g = jit_grad(f)
    for flag in (True, False, True, 0, None, [1]):
        for mode in ("square", "cube"):
            assert g(3.0) == grad(f)(3.0)


def test_names_that_come_and_go() -> None:
    space = types.SimpleNamespace()

    def f(x):
        if hasattr(space, "extra"):
            return x * space.extra
        return x * getattr(space, "other", 10.0)

    g = jit_grad(f)
    assert g(3.0) == 10.0
    space.extra = 5.0
    assert g(3.0) == 5.0
    space.extra = 6.0
    assert g(3.0) == 6.0
    del space.extra
    assert g(3.0) == 10.0
    space.other = 2.0
    assert g(3.0) == 2.0


def test_a_replaced_module() -> None:
    module: Any = math

    def f(x):
        return module.sin(x)

    g = jit(f)
    assert g(1.0) == math.sin(1.0)
    module = types.SimpleNamespace(sin=math.cos)
    assert g(1.0) == math.cos(1.0)


def test_a_builtin_that_gets_another_meaning() -> None:
    """As after `from numpy import *` in a notebook."""

    def f(x):
        return sum(e * x for e in (1.0, 2.0)) + abs(x) * len([x])

    def product(terms):
        out = weight
        for t in terms:
            out *= t
        return out

    names: dict[str, Any] = {"__name__": __name__, "__builtins__": __builtins__}
    weight = 1.0
    lives = types.FunctionType(f.__code__, names, "f", None, f.__closure__)
    g, h = jit_grad(lives), jit(lives)
    assert (g(-2.0), h(-2.0)) == (2.0, -4.0)
    names["abs"] = lambda x: 10.0 * x
    assert (g(-2.0), h(-2.0)) == (13.0, -26.0)
    names["sum"] = product  # a generator expression in it is no loop of its own any more
    assert (g(-2.0), h(-2.0)) == (2 * 2 * -2.0 + 10.0, 8.0 - 20.0)
    weight = 3.0
    assert g(-2.0) == 3 * 2 * 2 * -2.0 + 10.0
    del names["abs"], names["sum"]
    assert (g(-2.0), h(-2.0)) == (2.0, -4.0)


def test_a_replaced_descriptor() -> None:
    class Doubled:
        def __get__(self, owner, kind=None):
            return 2.0 * owner.size

    class Model:
        size = 3.0
        factor: Any = Doubled()

    model = Model()
    g = jit_grad(lambda x: model.factor * x)
    assert g(1.0) == 6.0
    Model.factor = 5.0
    assert g(1.0) == 5.0


def test_attributes_of_a_list_of_ones_own_class() -> None:
    class Weights(list):
        def total(self):
            return sum(self) * self.scale

    weights = Weights([1.0, 2.0])
    weights.scale = 2.0
    g = jit_grad(lambda x: weights.total() * x)
    assert g(1.0) == 6.0
    weights.scale = 3.0
    assert g(1.0) == 9.0
    weights.append(1.0)
    assert g(1.0) == 12.0


def test_two_names_of_one_array() -> None:
    a = b = np.ones(3)

    def f(x):
        a[0] = x
        return np.sum(b)

    g = jit(f)
    assert g(5.0) == 7.0
    b = np.zeros(3)
    assert g(6.0) == 0.0
    b = a
    assert g(7.0) == 9.0


def test_functions_as_arguments() -> None:
    def f(x, h):
        return h(x)

    k = 1.0

    def scaled(t):
        return k * t

    g = jit_grad(f)
    assert g(2.0, lambda t: t * t) == 4.0
    assert g(2.0, lambda t: t * t * t) == 12.0
    assert g(2.0, math.sin) == math.cos(2.0)
    assert g(2.0, scaled) == 1.0
    k = 5.0
    assert g(2.0, scaled) == 5.0


def test_ints_that_must_be_known() -> None:
    def f(x, n):
        parts = list((0.0,) * n)
        for i in range(n):
            parts[i] = x * i
        return sum(parts)

    g = jit_grad(f)
    for n in (3, 6, 3, 10, 6):
        assert g(2.0, n) == n * (n - 1) / 2
    assert len(g.specialisations) == 3


def test_what_changes_at_every_call_is_reported() -> None:
    def f(x, label):
        return x * len(label)

    g = jit_grad(f)
    with pytest.raises(JitadError, match="was specialised 64 times"):
        for k in range(100):
            assert g(1.0, "a" * k) == k


def test_specialisations_say_why() -> None:
    g = jit_grad(scaled(2.0))
    g(THREE)
    g(2.0)
    g(np.ones(1))
    assert g.specialisations == [
        "first call", "other types", "other values of what the trace relied on"
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["argument", "container", "branch"])
def test_operators_that_differ_in_what_they_are_by(how: str) -> None:
    """x²y by x, and by y, at (3, 6): what an operator is by is relied on as its function is."""

    def f(x: float, y: float) -> float:
        return x * x * y

    chosen = {"slope": grad(f, 0)}

    def by_branch(x: float, c: float) -> float:
        slope = grad(f, 0) if c > 0.0 else grad(f, 1)
        return slope(x, 2.0 * x)

    match how:
        case "argument":
            g = jit(lambda x, slope: slope(x, 2.0 * x))
            assert g(3.0, grad(f, 0)) == 36.0
            assert g(3.0, grad(f, 1)) == 9.0
        case "container":
            g = jit(lambda x: chosen["slope"](x, 2.0 * x))
            assert g(3.0) == 36.0
            chosen["slope"] = grad(f, 1)
            assert g(3.0) == 9.0
        case _:
            g = jit(by_branch, fallback=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FallbackWarning)
                assert (g(3.0, 1.0), g(3.0, -1.0), g(3.0, 1.0)) == (36.0, 9.0, 36.0)


def test_batches_along_different_axes() -> None:
    x = np.arange(6.0).reshape(2, 3)
    g = jit(lambda x, h: h(x))
    np.testing.assert_array_equal(g(x, batch(np.sum, 0)), [3.0, 12.0])
    np.testing.assert_array_equal(g(x, batch(np.sum, 1)), [3.0, 5.0, 7.0])
