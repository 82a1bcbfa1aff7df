"""What does `out=` get of an array that has one column on one path?  Ufuncs alone stretch it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitad

GIVEN: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda c, z: np.sum(c, axis=-2, out=z),
    "mean": lambda c, z: np.mean(c, axis=0, out=z),
    "max": lambda c, z: np.max(c, axis=0, out=z),
    "std": lambda c, z: np.std(c, axis=0, out=z),
    "median": lambda c, z: np.median(c, axis=0, out=z),
    "cumsum": lambda c, z: np.cumsum(c[0], out=z),
    "reduce": lambda c, z: np.add.reduce(c, axis=0, out=z),
    "dot": lambda c, z: np.dot(c[0], np.ones(c.shape[::-1]) @ c, out=z),
    "concatenate": lambda c, z: np.concatenate([c[0]], out=z),
    "add": lambda c, z: np.add(c[0], c[0], out=z),
    "clip": lambda c, z: np.clip(c[0], 0.0, 2.0, out=z),
}


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("caught", [False, True])
def test_what_is_stretched_into_out(name: str, caught: bool) -> None:
    into = GIVEN[name]

    def f(b, c, s):
        if s <= 0.0:
            c = c * 0.5 + b.sum(0)
        z = np.zeros(4)
        if not caught:
            into(c, z)
            return z @ np.arange(1.0, 5.0) + s
        try:
            into(c, z)
        except ValueError:
            return 7.0 * s
        return z @ np.arange(1.0, 5.0) + s

    compiled, slope = jitad.jit(f), jitad.jit_grad(f, (0, 1))
    b = np.linspace(0.2, 1.1, 8).reshape(2, 4)
    for c in (np.array([[0.7]]), np.array([[0.7], [0.3]]), np.ones((2, 4)) * 0.3):
        for s in (-0.6, 0.6):
            try:
                value = f(b, c, s)
            except ValueError:
                value = None
            for run in (compiled, slope):
                try:
                    found = run(b, c, s)
                except jitad.JitadError:  # of an extent of one, a kernel may not know
                    assert value is None or (caught and c.shape[1] == 1)
                    continue
                assert value is not None
                if run is compiled:
                    assert found == pytest.approx(value, rel=1e-12)
                else:
                    expected = jitad.grad(f, (0, 1))(b, c, s)
                    for x, y in zip(found, expected, strict=True):
                        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-14)
