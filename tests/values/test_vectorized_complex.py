"""Does `np.vectorize` run functions of complex elements, as NumPy does, and differentiate them?

Truth: NumPy's own, and central differences by the real and the imaginary part of each element.
"""

import numpy as np
import pytest

import jitad
from tests.engines import as_emitted, eagerly, in_place_of_a_kernel, on_tape

Z = np.arange(1.0, 7.0).reshape(2, 3) * (0.3 + 0.5j)
made_outside = np.vectorize(lambda v: v * v)

FUNCTIONS = {
    "of one": lambda x: np.vectorize(lambda v: v * 2)(x),
    "real results": lambda x: np.vectorize(lambda v, w: np.abs(v) ** 2 + w)(x, 1.0),
    "of floats": lambda x: np.vectorize(lambda v: v * 1j + 1)(np.abs(x)),
    "two results": lambda x: np.vectorize(lambda v: (v.real, np.exp(v)))(x)[1],
    "rows": lambda x: np.vectorize(lambda v: np.sum(v * v), signature="(n)->()")(x),
    "a condition": lambda x: np.vectorize(lambda v: v if abs(v) > 1 else v * v)(x),
    "one number": lambda x: np.vectorize(lambda v: v * 2)(x[0, 0]),
    "broadcast": lambda x: np.vectorize(lambda v, w: v * w)(x, x[:1]),
    "made outside": lambda x: made_outside(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name: str) -> None:
    f = FUNCTIONS[name]
    want = f(Z)
    for way in (eagerly, in_place_of_a_kernel, on_tape, as_emitted):
        got = way(f, Z.copy())
        assert np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=1e-13)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name: str) -> None:
    def f(x):
        return np.sum(np.abs(FUNCTIONS[name](x)) ** 2)

    want = np.zeros_like(Z)
    for k in np.ndindex(Z.shape):
        for by, part in ((1e-6, 1), (1e-6j, -1j)):  # as in JAX: d/dx - i d/dy
            step = np.zeros_like(Z)
            step[k] = by
            want[k] += (f(Z + step) - f(Z - step)) / 2e-6 * part
    for way in (eagerly, as_emitted):
        np.testing.assert_allclose(way(jitad.grad(f), Z.copy()), want, rtol=1e-6, atol=1e-6)
