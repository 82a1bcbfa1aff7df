"""Has an array that a loop makes the dtype that its last iteration gives it?

What the loop carries may become wider in a pass (a Python float becomes one of NumPy's, which is
of float64 beside float32); so does then what is made of it in the body.
"""

import itertools

import numpy as np
import pytest

import jitad
from tests.engines import as_emitted, on_tape
from tests.properties.check import load

MADE = {
    "product": "r * s",
    "clipped, rounded": "r.clip(s, 1).round(1)",
    "picked": "r.clip(s, 1).round(1).cumsum().take(p)",
    "sorted": "np.sort(np.cumsum(r + s))[p]",
    "of unknown length": "(r * s)[r > -9]",
    "in a tuple": "(r * s, r.clip(s, 1).round(1).cumsum().take(p))[1]",
}
WIDER = {
    "by a number": "s = s + np.float64(0.1)",
    "by a sum": "s = s + np.float64(np.sum(r)) * 0.1",
    "by what was made": "s = s + np.float64(np.average(z)) * 0.1",
    "in a later iteration": "s = t; t = np.float64(0.25) * s",
    "the array": "r = r * np.float64(0.5)",
}
LOOPS = {"for": "for i in range(3):", "while": "i = 0\n    while i < 3:\n        i += 1"}


def _program(made: str, wider: str, loop: str):
    return f"""import numpy as np


def program(b, s, p):
    t = s
    for r in b:
        r[...] = s
    {LOOPS[loop]}
        z = {MADE[made]}
        {WIDER[wider]}
    return z, s, r
"""


@pytest.mark.parametrize(("made", "wider", "loop"), [*itertools.product(MADE, WIDER, LOOPS)])
def test_what_a_loop_makes_is_as_wide_as_its_last_iteration_makes_it(made, wider, loop):
    name = f"wider_{len(made)}_{len(wider)}_{loop}"
    f = load(_program(made, wider, loop), name)
    for s in (0.37, np.float32(0.37)):
        args = np.ones((2, 4), np.float32), s, np.array([2])
        want = f(*(np.copy(a) if isinstance(a, np.ndarray) else a for a in args))
        for engine in (on_tape, as_emitted):
            got = engine(f, *(np.copy(a) if isinstance(a, np.ndarray) else a for a in args))
            for x, y in zip(got, want, strict=True):
                assert np.asarray(x).dtype == np.asarray(y).dtype, (engine.__name__, s)
                np.testing.assert_allclose(x, y, rtol=1e-6)


def test_the_gradient_of_what_gets_wider():
    def f(s, b):
        for _ in range(3):
            z = b.clip(s, 1).cumsum().take([1]) * s
            s = s + np.float64(0.1)
        return z.sum()

    b = np.ones(4, np.float32)
    assert jitad.jit_grad(f)(0.37, b) == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("dtypes", [(float, float), (float, complex), (complex, complex)])
def test_more_axes_after_an_iteration(dtypes: tuple[type, type]) -> None:
    def f(a, e, s):
        while s < 2.0:
            a = a * 0.5 + e
            s = s + 1.0
        return a

    a, e = np.ones(1, dtypes[0]), np.ones((1, 4), dtypes[1])
    np.testing.assert_array_equal(jitad.jit(f)(a, e, 0.5), f(a, e, 0.5))

    def ever_more(a, e, s):
        while s < 2.0:
            a = a[None] * e.sum()
            s = s + 0.25
        return a

    with pytest.raises(jitad.JitadError, match="a is an array of 4 or of 5 axes before and after"):
        jitad.jit(ever_more)(a, e, 0.5)
