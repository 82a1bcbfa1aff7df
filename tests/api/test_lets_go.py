"""Is memory that was handed to a compiled function free when the caller lets go of it?"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_grad, jit_hessian, jit_value_and_grad


def arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from arrays(part)
    elif isinstance(value, dict):
        yield from arrays(list(value.values()))


def written(x):
    x[0] = 2.0
    return np.sum(x)


def looped(x):
    for _ in range(3):
        x = 0.5 * x
    return np.sum(x)


def vector() -> np.ndarray:
    return np.arange(1.0, 5.0)


CASES: list[tuple[Callable[..., Any], Callable[..., Any], Callable[[], tuple[Any, ...]]]] = [
    (jit_grad, lambda x: np.sum(x * x), lambda: (vector(),)),
    (jit_value_and_grad, lambda x, y: np.sum(x * y), lambda: (vector(), vector())),
    (jit_grad, lambda p: np.sum(p[0] * p[1]), lambda: ((vector(), vector()),)),
    (jit_grad, lambda p: np.sum(p["a"] * p["b"]), lambda: ({"a": vector(), "b": vector()},)),
    (jit_grad, lambda p: sum(np.sum(q * q) for q in p), lambda: ([vector(), vector()],)),
    (jit, lambda z: np.sum(np.abs(z)), lambda: (vector() * 1j,)),
    (jit_grad, lambda x, k: np.sum(x[k]), lambda: (vector(), np.arange(3))),
    (jit_grad, lambda x, k: np.sum(np.split(x, k)[0]), lambda: (vector(), np.array([2, 3]))),
    (jit, lambda x: x.reshape(2, 2), lambda: (vector(),)),
    (jit_grad, lambda x: np.sum(x * x), lambda: (np.asfortranarray(np.ones((3, 4))),)),
    (jit_hessian, lambda x: np.sum(x**3), lambda: (vector(),)),
    (jit, written, lambda: (vector(),)),
    (jit_grad, looped, lambda: (vector(),)),
]


@pytest.mark.parametrize("calls", [1, 3])
@pytest.mark.parametrize("wrap, f, made", CASES)
def test_arguments_of_calls(wrap, f, made, calls):
    g, seen = wrap(f), []
    for _ in range(calls):
        given = made()
        g(*given)
        seen += map(weakref.ref, arrays(given))
        del given
    gc.collect()
    assert seen and not any(ref() is not None for ref in seen)


def test_arguments_and_results_of_bound_calls():
    g, x, out = jit_grad(lambda x: np.sum(x * x)), vector(), np.zeros(4)
    call = g.bound(x, out=out)
    call()
    seen = weakref.ref(x), weakref.ref(out)
    del x, out
    assert all(ref() is not None for ref in seen)  # it needs them
    call()
    del call
    gc.collect()
    assert all(ref() is None for ref in seen)
