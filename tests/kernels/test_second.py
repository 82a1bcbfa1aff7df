"""Are products of a Hessian with a vector right on every kernel, and what do they cost?

Forward over reverse and reverse over reverse, against differences of the gradients by hand.  Most
run on the interpreted plain tape, which also counts; a few are compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from jitad import grad, jit, jvp
from jitad.calls.arguments import abstract
from jitad.specialise.pipeline import specialise
from jitad.structures import flatten, unflatten
from jitad.trace.trace import trace
from kernels import KERNELS, NAMES
from tests.kernels.plainly import by_hand
from tests.sweeps.counting import counted

RTOL = 1e-9
MOST = {"forward": 10, "reverse": 12}  # times the operations of the primal

Arrays = tuple[Any, ...]


def positions(name: str) -> tuple[int, ...]:
    nums = KERNELS[name].argnums
    return nums if isinstance(nums, tuple) else (nums,)


def replaced(name: str, args: Arrays, chosen: Arrays) -> list[Any]:
    full = list(args)
    for k, a in zip(positions(name), chosen, strict=True):
        full[k] = a
    return full


@cache
def point(name: str) -> tuple[Arrays, Arrays]:
    """Arguments, and a direction for those that are differentiated."""
    args = KERNELS[name].inputs("small")
    rng = np.random.default_rng(0)
    if name == "ba":
        # One camera is not turned: there the objective takes a branch that agrees with the other
        # up to first derivatives only.
        args[0][:, :3] += 0.1
    return args, tuple(rng.normal(size=np.shape(args[k]))[()] for k in positions(name))


def forward(name: str) -> Callable[..., Any]:
    def product(args: Arrays, direction: Arrays) -> Any:
        def gradient(*chosen: Any) -> Any:
            return grad(KERNELS[name].objective, positions(name))(*replaced(name, args, chosen))

        return jvp(gradient, tuple(args[k] for k in positions(name)), direction)[1]

    return product


def reverse(name: str) -> Callable[..., Any]:
    def product(args: Arrays, direction: Arrays) -> Any:
        def along(*chosen: Any) -> Any:
            gs = grad(KERNELS[name].objective, positions(name))(*replaced(name, args, chosen))
            total = 0.0
            for g, d in zip(gs, direction, strict=True):
                total += np.sum(g * d)
            return total

        every = tuple(range(len(direction)))
        return grad(along, every)(*(args[k] for k in positions(name)))

    return product


PRODUCTS = {"forward": forward, "reverse": reverse}


@cache
def differences(name: str) -> list[Any]:
    """Of sixth order, of the gradient by hand."""
    args, direction = point(name)

    def gradient(t: float) -> list[Any]:
        moved = [args[k] + t * d for k, d in zip(positions(name), direction, strict=True)]
        found = by_hand(name)(*replaced(name, args, tuple(moved)))[1]
        return list(found) if isinstance(found, tuple) else [found]

    h = 2e-5
    weights = {1: 45.0, 2: -9.0, 3: 1.0}
    parts = [
        [w * (a - b) / (60.0 * h) for a, b in zip(gradient(k * h), gradient(-k * h), strict=True)]
        for k, w in weights.items()
    ]
    return [sum(column) for column in zip(*parts, strict=True)]


def work(f: Callable[..., Any], *args: Any) -> tuple[list[Any], int]:
    """The results of the plain tape, and its operations."""
    leaves, structure = flatten((args, {}))
    given, named = unflatten(structure, map(abstract, leaves))
    traced = trace(f, given, named, set())
    flat, done = counted(specialise(traced.tape).body, traced.arguments(f, args, {}))
    return flatten(traced.output.rebuild(flat))[0], done.total()


def assert_equal(found: list[Any], expected: list[Any]) -> None:
    scale = max(float(np.max(np.abs(e))) for e in expected)
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(f, e, rtol=0.0, atol=RTOL * scale)


@pytest.mark.parametrize("name", NAMES)
def test_hessian_vector_products(name: str) -> None:
    args, direction = point(name)
    _, primal = work(KERNELS[name].objective, *args)
    results = {}
    for mode, product in PRODUCTS.items():
        results[mode], operations = work(product(name), args, direction)
        assert_equal(results[mode], differences(name))
        assert operations <= MOST[mode] * primal
    assert_equal(results["forward"], results["reverse"])


@pytest.mark.parametrize("mode", PRODUCTS)
@pytest.mark.parametrize("name", ["rosenbrock", "newton_sqrt", "lorenz", "burgers"])
def test_compiled(name: str, mode: str) -> None:
    args, direction = point(name)
    found = jit(PRODUCTS[mode](name))(args, direction)
    assert_equal(list(found), differences(name))
