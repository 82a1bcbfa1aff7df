"""Is what a name outside stands for afterwards the very thing that it is in plain Python?

A kernel that gave a name a copy would go unnoticed until something is written by another name.  So
after each call it is asked which names are of one thing, and which of those that there were before.
A derivative does so as well, and writes to no array.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jitad

S: Any = SimpleNamespace()
LIST: list[Any] = []
TABLE: dict[str, Any] = {}
GRID = np.zeros(3)


class Part:
    def __init__(self, u: Any, held: Any = None) -> None:
        self.u, self.held = u, held


def begin() -> list[Any]:
    """What there is before: all of it has two names, of which this is one."""
    global GRID
    GRID, S.grid = np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])
    S.left, S.right = Part(0.2), Part(-0.4)
    LIST[:] = [np.array([0.5, 0.25]), Part(0.3)]
    TABLE.clear()
    TABLE["k"] = [1.0, 2.0]
    return [GRID, S.grid, S.left, S.right, *LIST, TABLE["k"]]


def names(result: Any) -> dict[str, Any]:
    out = {"result": result, "grid": GRID} | {f"TABLE {k}": v for k, v in TABLE.items()}
    out |= {f"S.{k}": v for k, v in vars(S).items()} | {f"LIST {k}": v for k, v in enumerate(LIST)}
    return out | {f"{k}'s": v.held for k, v in out.items() if isinstance(v, Part)}


def identities(before: list[Any], result: Any) -> dict[str, int]:
    """For each name, the first thing or name that is one with it."""
    things = [*before]
    out = {}
    for name, thing in names(result).items():
        if not isinstance(thing, (float, int, type(None), np.generic)):
            out[name] = next((k for k, x in enumerate(things) if x is thing), len(things))
            things.append(thing)
    return out


def content(thing: Any) -> Any:
    if isinstance(thing, Part):
        return [content(thing.u), content(thing.held)]
    if isinstance(thing, (list, tuple, dict)):
        return [content(x) for x in (thing.values() if isinstance(thing, dict) else thing)]
    return np.asarray(thing, float).tolist() if thing is not None else None


def state(before: list[Any], result: Any) -> Any:
    numbers = {name: content(x) for name, x in names(result).items() if name != "result"}
    return numbers, [content(x) for x in before]


# -- one of the things that there were, or a new one -----------------------------------------------


def a_global(x):
    global GRID
    if x > 1.0:
        GRID = np.ones(3) * x
    return np.sum(GRID) * x


def a_global_that_is_written(x):
    global GRID
    if x > 1.0:
        GRID = np.ones(3) * x
    GRID *= 0.5
    return np.sum(GRID) * x


def an_attribute(x):
    if x > 1.0:
        S.grid = np.ones(3) * x
    return np.sum(S.grid) * x


def an_attribute_that_is_written(x):
    S.grid[0] = 7.0
    if x > 1.0:
        S.grid = np.ones(3) * x
    S.grid[1] = x
    return np.sum(S.grid) * x


def an_element(x):
    if x > 1.0:
        LIST[0] = np.ones(2) * x
    LIST[0][0] *= 0.5
    return np.sum(LIST[0]) * x


def an_object(x):
    if x > 1.0:
        S.left = Part(x)
    S.left.u *= 2.0
    return S.left.u * x


def a_list_in_a_dict(x):
    if x > 1.0:
        TABLE["k"] = [x, x]
    return sum(TABLE["k"]) * x


def what_a_condition_chose(x):
    chosen = S.grid if x < 1.0 else np.ones(3) * x
    S.other = chosen
    return np.sum(chosen) * x


def exchanged_under_a_condition(x):
    if x > 1.0:
        S.left, S.right = S.right, S.left
    return S.left.u * x


def in_a_loop(x):
    for i in range(3):
        if x > 1.0 + i:
            S.grid = np.ones(3) * x * i
        S.grid[0] += 0.1
    return np.sum(S.grid) * x


def an_object_in_a_loop(x):
    for i in range(30):
        if x > 1.25 + i:
            S.left = Part(x * i)
        S.left.u += 0.1
    return S.left.u * x


def if_it_raises(x):
    try:
        if x < 1.0:
            raise ValueError
        S.right = Part(x)
    except ValueError:
        pass
    return S.right.u * x


# -- one new thing under several names -------------------------------------------------------------


def an_object_twice(x):
    S.left = Part(x)
    S.right = S.left
    return S.left.u * x


def an_array_everywhere(x):
    made = np.ones(3) * x
    S.grid = S.other = made
    LIST[0] = made
    TABLE["a"] = made
    S.left = Part(x, made)
    return np.sum(made) * x


def a_list_everywhere(x):
    made = [x, 2.0 * x]
    S.other = made
    LIST[0] = made
    S.left = Part(x, made)
    return sum(made) * x


def a_new_thing_that_holds_an_old_one(x):
    S.left = Part(x, TABLE["k"])
    S.other = S.left.held
    return S.left.u * sum(S.other)


def in_a_derivative(x):
    S.left = Part(x * 0.5)

    def inside(p):
        S.right = S.left
        S.other = S.left
        return p * S.left.u

    return jitad.grad(inside)(x) * x


def arguments_of_a_derivative(x):
    held = np.ones(3)

    def inside(p, b):
        S.other = [p, b]
        S.left = Part(p["v"], b)
        b[0] = 5.0  # a derivative's own
        return np.sum(p["v"] * held) * p["w"]

    slope = jitad.grad(inside)({"v": held * x, "w": x}, held * 2.0)
    return np.sum(slope["v"]) * x + slope["w"]


def in_a_derivative_under_a_condition(x):
    S.left = Part(np.where(x > 0.2, x, 0.5)[()])
    out = x
    if x > 1.0:
        def inside(p):
            S.right = S.left
            return p * p

        out = jitad.grad(inside)(x)
    return out * S.left.u


FUNCTIONS = [
    a_global, a_global_that_is_written, an_attribute, an_attribute_that_is_written, an_element,
    an_object, a_list_in_a_dict, what_a_condition_chose, exchanged_under_a_condition, in_a_loop,
    an_object_in_a_loop, if_it_raises, an_object_twice, an_array_everywhere, a_list_everywhere,
    a_new_thing_that_holds_an_old_one, in_a_derivative, arguments_of_a_derivative,
    in_a_derivative_under_a_condition,
]  # fmt: skip


@pytest.mark.parametrize("x", [0.5, 1.5])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_names_are_of_the_same_things(f, x):
    before = begin()
    value = f(x)
    want = identities(before, value)
    numbers = state(before, value)
    before = begin()
    compiled = jitad.jit(f)
    for _ in range(2):  # the second call is another way in
        before = begin()
        result = compiled(x)
        assert result == pytest.approx(value, rel=1e-14)
        assert identities(before, result) == want
        assert state(before, result) == numbers


@pytest.mark.parametrize("x", [0.5, 1.5])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_names_after_derivatives(f, x):
    before = begin()
    value = f(x)
    want = identities(before, value)
    h = 1e-6
    slope = ((begin() and f(x + h)) - (begin() and f(x - h))) / (2 * h)
    found = []
    for operator in (jitad.value_and_grad(f), jitad.jit_value_and_grad(f)):
        before = begin()
        arrays = [(a, a.copy()) for a in before if isinstance(a, np.ndarray)]
        got = operator(x)
        assert got == pytest.approx((value, slope), rel=1e-7)
        assert identities(before, got[0]) == want
        for array, old in arrays:
            np.testing.assert_array_equal(array, old)
        found.append(state(before, got[0]))
    assert found[0] == found[1]


def test_a_result_is_what_was_written():
    def f(x):
        S.left = Part(x, TABLE["k"])
        S.other = [x, 2.0 * x]
        return S.left, S.other

    begin()
    part, numbers = jitad.jit(f)(0.5)
    assert part is S.left
    assert numbers is S.other
    assert part.held is TABLE["k"]


def test_a_recursion_that_exchanges_things_is_refused():
    """What a recursive function writes is told by copies."""

    def f(x, n):
        def again(p, k):
            S.left, S.right = S.right, S.left
            return p if k < 1 or p > 9.0 else again(0.5 * p, k - 1)

        return again(x, n) * S.left.u

    begin()
    with pytest.raises(jitad.JitadError, match="stand for another thing"):
        jitad.jit(f)(0.5, 3)
    before = begin()
    value = f(0.5, 3)
    want = identities(before, value)
    before = begin()
    with pytest.warns(jitad.errors.FallbackWarning):
        assert jitad.jit(f, fallback=True)(0.5, 3) == value
    assert identities(before, value) == want


def test_what_holds_itself_is_refused():
    def f(x):
        S.left = Part(x)
        S.left.held = S.left
        return x

    begin()
    with pytest.raises(jitad.JitadError, match="that holds itself"):
        jitad.jit(f)(0.5)
    with pytest.warns(jitad.errors.FallbackWarning):
        jitad.jit(f, fallback=True)(0.5)
    assert S.left.held is S.left
