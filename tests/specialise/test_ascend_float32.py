"""Are records of Python floats, read as an array, still Python floats beside float32 numbers?"""

import math

import numpy as np

import jitad

SHAPES = [lambda s: s, lambda s: s * s, *[(lambda s, k=k: math.cos(k * s)) for k in (1, 2)]]


def spread(p, t):
    curve = [sum(p[i % len(p)] * f(s) for i, f in enumerate(SHAPES)) for s in t]
    low, *_, high = sorted(curve)
    return high - low + math.fsum(v * v for v in curve)


def test_gradient_in_float32():
    p, t = np.array([0.5, 0.75, 1.25]), np.array([0.25, -0.5, 0.125, 1.0])
    g = jitad.jit_value_and_grad(spread, (0, 1))
    value, slopes = g(p.astype(np.float32), t.astype(np.float32))
    assert math.isclose(value, spread(p, t), rel_tol=1e-6)
    for k, found in enumerate(slopes):
        assert found.dtype == np.float32
        for i in range(len(found)):
            args = [p.copy(), t.copy()], [p.copy(), t.copy()]
            args[0][k][i] += 1e-5
            args[1][k][i] -= 1e-5
            expected = (spread(*args[0]) - spread(*args[1])) / 2e-5
            assert math.isclose(found[i], expected, rel_tol=1e-4, abs_tol=1e-5)
