"""Is what a function writes into still that array, so that later writes are seen under all names?

The truth is plain NumPy's.  What is written into is a view of an array that was made here, of an
argument, or of what a condition or a loop chose between arrays.
"""

import linecache

import numpy as np
import pytest

import jitad
from tests.engines import as_emitted, eagerly, on_tape
from tests.properties.check import forget, load

ARRAYS = {
    "made here": "b = b * 0.5",
    "argument": "b = b",
    "chosen": "b = b if s > 0.1 else a * 1.0",
    "chosen of two made": "c, d = b * 2.0, a + b\n    b = c if s < 0.1 else d",
    "in a loop": "for i in range(3):\n        if np.sum(b) > 9.0:\n            break\n"
                 "        b = b * 0.5 + a",
    "on a path": "if s > 0.1:\n        b = b + a",
}  # fmt: skip
VIEWS = ("b[:]", "b[::-1, :2]", "b.T", "b[:, :1]", "b[1:, 1:].T", "b.reshape(-1)", "b[1]",
         "b[:, None]", "np.atleast_2d(b)", "np.squeeze(a=b[None])",
         "np.swapaxes(b, axis1=0, axis2=1)")  # fmt: skip
WRITES = (
    "x *= s",
    "x = np.multiply(x, s, out=x)",
    "x = np.multiply(2.0, s, out=x)",
    "x = np.add(x, 1.0, x)",
    "x = np.minimum(x, 0.3, where=x > 0.1, out=x)",
    "x = np.clip(x, -0.2, 0.3, out=x)",
    "x = np.round(x, 1, out=x)",
    "x = np.cumsum(x, axis=0, out=x)",
    "x = np.take(x, [0], axis=0, out=x[:1])",
    "x = np.asarray(x)",
    "x = np.asanyarray(a=x)",
    "x = np.require(x)",
    "x = x.__imul__(s)",
)


def _source(array: str, view: str, write: str) -> str:
    return (f"import numpy as np\n\n\ndef program(a, b, s):\n    {ARRAYS[array]}\n    x = {view}\n"
            f"    {write}\n    x[...] = x + 0.25\n    x[:1] = s\n    return b, x\n")  # fmt: skip


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("write", WRITES)
def test_later_writes_are_seen(array: str, write: str) -> None:
    for k, view in enumerate(VIEWS):
        name = f"written_{list(ARRAYS).index(array)}_{WRITES.index(write)}_{k}"
        f = load(_source(array, view, write), name)
        try:
            a = np.arange(9.0).reshape(3, 3) / 10.0
            for s in (0.5, -0.5):
                want = f(a.copy(), a.copy() - 0.3, s)
                for way in (eagerly, on_tape, as_emitted):
                    got = way(lambda *args: f(*args), a.copy(), a - 0.3, s)
                    for x, y in zip(got, want, strict=True):
                        np.testing.assert_allclose(x, y, atol=1e-14, err_msg=f"{way} {view} {s}")

                def total(a, b, s):
                    b, _ = f(a, b, s)
                    return np.sum(np.sin(b) * np.arange(9.0).reshape(3, 3))

                got = jitad.grad(lambda t: total(a, a - 0.3, t))(s)
                plain = (total(a, a - 0.3, s + 1e-6) - total(a, a - 0.3, s - 1e-6)) / 2e-6
                assert abs(got - plain) < 1e-6, (view, s)
        finally:
            forget(name)
            linecache.checkcache()
