"""Are the gradients of the stencils in `benchmarks.stencils` right, by hand and by jitad?

The truth is the derivative along random directions, by complex step.
"""

import numpy as np
import pytest

from benchmarks.stencils import STENCILS
from jitad import jit_value_and_grad

H = 1e-30


@pytest.mark.parametrize("name", STENCILS)
@pytest.mark.parametrize(("n", "steps"), [(3, 2), (12, 4), (9, 0)])
def test_gradients(name, n, steps):
    stencil = STENCILS[name]
    args = stencil.inputs(n, steps)
    before = [np.copy(a) for a in args]
    found = {
        "jitad": jit_value_and_grad(stencil.objective, argnums=stencil.argnums)(*args),
        "hand": stencil.gradient(*args),
    }
    rng = np.random.default_rng(n)
    directions = [rng.normal(size=np.shape(args[k])) for k in stencil.argnums]
    moved = list(args)
    for k, d in zip(stencil.argnums, directions, strict=True):
        moved[k] = args[k] + H * 1j * d
    want = np.imag(along(stencil.objective, moved)) / H
    for value, slopes in found.values():
        assert value == pytest.approx(float(stencil.objective(*args)), rel=1e-12)
        total = sum(np.sum(s * d) for s, d in zip(slopes, directions, strict=True))
        assert total == pytest.approx(want, rel=1e-10, abs=1e-13)
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)


def along(objective, args):
    """The program on complex numbers: every array is one, and conditions look at real parts."""
    first = np.asarray(args[0], dtype=complex).view(ByRealPart)
    return objective(first, *args[1:])


class ByRealPart(np.ndarray):
    def __gt__(self, other):
        return np.real(np.asarray(self)) > other
