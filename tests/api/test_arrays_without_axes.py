"""Is an array without axes, as an argument, a number beside which all others are what they were?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jitad
from tests.engines import as_emitted, on_tape


@dataclass
class Held:
    v: Any
    rest: list[Any] = field(default_factory=list)


def complex_array() -> Any:
    return np.array([1.0 + 2.0j, 3.0 - 1.0j])


def to_elements(p, s):
    p[0] = s * 2.0
    return s * s


def by_products(p, s):
    p *= s
    return s * s


def to_a_part(p, s):
    p.real[1] = s
    return s * s


def to_a_key(p, s):
    p["k"] = s + p["k"]
    return s * s


def to_a_field(p, s):
    p.v = s * p.v
    return s * s


def appended(p, s):
    p.append(s * 3.0)
    return s * s


def deep(p, s):
    p["deep"][1].v = s * 2.0
    p["deep"][1].rest.append(s)
    p["arrays"][0][1] = s
    p["arrays"][1] *= s
    return s * s


def nested() -> Any:
    return {"deep": (1.0, Held(2.0)), "arrays": [np.ones(3), complex_array()], "s": 1.0}


WRITES: list[tuple[Callable[..., Any], Callable[[], Any]]] = [
    (to_elements, lambda: [1.0, 2.0]), (to_elements, lambda: np.ones(3)),
    (to_elements, complex_array), (by_products, complex_array),
    (by_products, lambda: np.ones((2, 3)).T), (to_a_part, complex_array),
    (to_a_key, lambda: {"k": 1.0, "other": 2.0}), (to_a_field, lambda: Held(3.0)),
    (to_a_field, lambda: SimpleNamespace(v=1.0)), (appended, lambda: [1.0]), (deep, nested),
]  # fmt: skip


def content(p: Any) -> Any:
    if isinstance(p, (Held, SimpleNamespace)):
        return content(vars(p))
    if isinstance(p, dict):
        return {k: content(v) for k, v in p.items()}
    if isinstance(p, (list, tuple)):
        return [content(v) for v in p]
    return p.tolist() if isinstance(p, (np.ndarray, np.generic)) else p


@pytest.mark.parametrize("way", ["native", "by name", "tape", "emitted"])
@pytest.mark.parametrize(("f", "make"), WRITES)
def test_what_is_written_is_the_callers(
    f: Callable[..., Any], make: Callable[[], Any], way: str
) -> None:
    s = np.array(1.5)
    expected = make()
    f(expected, 1.5)
    compiled = jitad.jit(f)
    for _ in range(3):
        p = make()
        if way == "native":
            out = compiled(p, s)
        elif way == "by name":
            out = compiled(p, s=s)
        else:
            out = (on_tape if way == "tape" else as_emitted)(f, p, s)
        assert content(p) == content(expected)
        assert out == 2.25
    assert len(compiled.specialisations) <= 1


def test_one_in_a_container_that_is_written() -> None:
    def f(p, x):
        p["sum"] = p["by"] * x
        p["list"].append(p["by"])
        return p["by"] * x

    g = jitad.jit(f)
    for _ in range(2):
        p = {"by": np.array(3.0), "sum": 0.0, "list": [1.0]}
        assert g(p, 2.0) == 6.0
        assert p["sum"] == 6.0 and p["list"] == [1.0, 3.0] and p["by"] == 3.0
    assert g.specialisations == ["first call"]


@pytest.mark.parametrize("value", [3, True, 2.5, np.float32(0.5), np.int32(7)])
def test_it_is_served_by_the_kernel_of_numbers(value: Any) -> None:
    g = jitad.jit(lambda x, n: x * n + len(range(int(n))))
    a = np.array(value)
    first = g(2.0, a[()])
    assert g(2.0, a) == first == g(2.0, a) and len(g.specialisations) == 1


def test_a_gradient_writes_to_nothing() -> None:
    p, s = complex_array(), np.array(1.5)
    slope = jitad.jit_grad(by_products, 1)(p, s)
    assert slope == 3.0 and np.array_equal(p, complex_array()) and s == 1.5


def test_a_view_of_what_is_written() -> None:
    """It is a number, read before anything is written."""
    a = np.array([1.0, 2.0, 3.0])
    assert jitad.jit(by_products)(a, a[1:2].reshape(())) == 4.0
    assert a.tolist() == [2.0, 4.0, 6.0]
