"""Are functions, sets and objects from outside that are returned or stored those of this call?

Each call gets other ones; the truth is the function itself, run in the same world.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jitad import jit


class Place:
    p: Any
    q: Any


class Scaled:
    def __init__(self, k: float) -> None:
        self.k = k

    def by(self, t: float) -> float:
        return t * self.k


there = Place()


def closure(k: int) -> Callable[[float], float]:
    return lambda t: t * k


THINGS: dict[str, Callable[[int], Any]] = {
    "a function": closure,
    "a default": lambda k: lambda t, k=k: t * k,
    "a method": lambda k: Scaled(k).by,
    "a partial": lambda k: functools.partial(max, 2.0 * k),
    "a set": lambda k: {k},
    "an object": Scaled,
    "a list": lambda k: [k, "a"],
    "a dict": lambda k: {"k": k, "s": "a"},
    "an array": lambda k: np.full(2, float(k)),
    "complex": lambda k: np.full(2, 1j * k),
    "functions inside": lambda k: [closure(k), {"t": Scaled(k).by}],
    "a text": lambda k: "s" * k,
    "a namespace": lambda k: types.SimpleNamespace(k=k),
}


def returned(x: float, v: Any) -> Any:
    return 2.0 * x, v


def returned_inside(x: float, v: Any) -> Any:
    return {"x": [x, [v]]}


def chosen(x: float, v: Any) -> Any:
    w = v if x > 0.0 else None
    return 2.0 * x, w


def stored(x: float, v: Any) -> Any:
    there.p = v
    return 2.0 * x


def stored_inside(x: float, v: Any) -> Any:
    there.p = [v, x]
    return x


def swapped(x: float, v: Any) -> Any:
    there.p, there.q = v, there.p
    return x


def stored_in_another(x: float, v: Any) -> Any:
    there.p = Place()
    there.p.p = v
    return x


def shown(v: Any) -> Any:
    if isinstance(v, Place):
        return {n: shown(w) for n, w in vars(v).items()}
    if isinstance(v, (list, tuple)):
        return type(v), [shown(t) for t in v]
    if isinstance(v, dict):
        return {k: shown(t) for k, t in v.items()}
    if isinstance(v, np.ndarray):
        return v.tolist()
    if isinstance(v, (Scaled, types.SimpleNamespace)):
        return type(v), v.k
    return v(3.0) if callable(v) else v


@pytest.mark.parametrize("what", THINGS)
@pytest.mark.parametrize("f", [
    returned, returned_inside, chosen, stored, stored_inside, swapped, stored_in_another,
])  # fmt: skip
def test_things_of_this_call(f: Callable[[float, Any], Any], what: str) -> None:
    compiled, make = jit(f), THINGS[what]
    for k in (1, 2, 3, 5):
        seen = []
        for engine in (f, compiled):
            there.p, there.q = 0.5, None
            result = engine(1.5, make(k))
            seen.append((shown(result), shown(there)))
        assert seen[0] == seen[1]


def test_names_of_one_set_stay_names_of_one() -> None:
    def f(x: float) -> float:
        there.p |= {7.0}
        return x + len(there.p) + (1.0 if 7.0 in there.q else 2.0)

    compiled = jit(f)
    for apart in (False, True, False, True, False):
        there.p = there.q = given = {1.0}
        if apart:
            there.q = {1.0}
        assert compiled(1.0) == (5.0 if apart else 4.0)
        assert there.p is given
        assert (there.q is given) == (not apart)
