"""Every kernel's gradient, on all paths of the engine, equals the one written by hand."""

from typing import Any

import numpy as np
import pytest

import jitad
from kernels import ALL, KERNELS
from tests.engines import on_tape
from tests.kernels.plainly import by_hand
from tests.kernels.test_truth import assert_same

RTOL = 1e-9


@pytest.mark.parametrize("name", ALL)
def test_compiled(name: str) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs("small")
    before = [np.copy(a) for a in args]
    g = jitad.jit_value_and_grad(kernel.objective, kernel.argnums)
    for _ in range(2):  # through the first call's path, and through the entry
        assert_same(g(*args), by_hand(name)(*args), RTOL)
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)
    assert g.specialisations == ["first call"]


@pytest.mark.parametrize("name", ALL)
def test_interpreted(name: str) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs("small")
    found = on_tape(jitad.value_and_grad(kernel.objective, kernel.argnums), *args)
    assert_same(found, by_hand(name)(*args), RTOL)


@pytest.mark.parametrize("name", ALL)
def test_eager(name: str) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs("small")
    assert_same(jitad.value_and_grad(kernel.objective, kernel.argnums)(*args),
                by_hand(name)(*args), RTOL)  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_forward_equals_reverse(name: str) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs("small")
    nums = kernel.argnums if isinstance(kernel.argnums, tuple) else (kernel.argnums,)
    rng = np.random.default_rng(1)
    directions = tuple(rng.normal(size=np.shape(args[k])) for k in nums)

    def along(*chosen: Any) -> Any:
        full = list(args)
        for k, a in zip(nums, chosen, strict=True):
            full[k] = a
        return kernel.objective(*full)

    tangent = jitad.jvp(along, tuple(args[k] for k in nums), directions)[1]
    forward = jitad.jit(lambda ps, ds: jitad.jvp(along, ps, ds)[1])
    _, grads = by_hand(name)(*args)
    grads = grads if isinstance(grads, tuple) else (grads,)
    expected = sum(np.sum(g * d) for g, d in zip(grads, directions, strict=True))
    scale = sum(np.sum(np.abs(g * d)) for g, d in zip(grads, directions, strict=True))
    assert abs(tangent - expected) <= RTOL * scale
    got = forward(tuple(args[k] for k in nums), directions)
    assert abs(got - expected) <= RTOL * scale
