"""Is an array as long as it was, where one path writes to all of it what is as long there alone?

That the value fits is checked on its path.  On the others its extents may be any.  Plain NumPy is
the truth for values, the eager engine for gradients.
"""

from __future__ import annotations

import numpy as np
import pytest

from jitad import jit, jit_grad
from jitad.operators.api import grad
from tests.engines import as_emitted
from tests.properties.check import forget, load

# What is as long as b where s is above 0.5: of other extents, by another name, on another path.
VALUES = ("a", "a * 2.0", "w", "np.ones(n) * s", "a[:n]", "np.concatenate([w[:1], w[1:]])")
WAYS = {
    "then": "if s > 0.5:\n        b[:] = {v}",
    "else": "if s <= 0.5:\n        s = s * 2.0\n    else:\n        b[:] = {v}",
    "both": "if s > 0.5:\n        b[:] = {v}\n    else:\n        b[:] = c * 3.0",
    "inner": "if n > 0:\n        if s > 0.5:\n            b[:] = {v}\n        b[0] += 1.0",
    "out": "if s > 0.5:\n        np.multiply({v}, 2.0, out=b)",
    "added": "if s > 0.5:\n        b += {v}",
    "loop": "for k in range(2):\n        if s > 0.5 + k:\n            b[:] = {v}",
    "until": "while s > 0.5:\n        b[:] = {v}\n        s = s - 0.5",
    "tried": "try:\n        if s > 0.5:\n            b[:] = {v}\n"
             "    except ValueError:\n        b[0] = 1.0",
}  # fmt: skip
READS = ("b[1:].sum()", "b[::-1][0] * 2.0", "b[-1] + len(b)", "b[[-1, 0]].sum()", "(b * c).sum()",
         "np.cumsum(b)[-1]", "np.append(b, 1.0).sum()", "b.reshape(-1, 1)[1:].sum()")  # fmt: skip


def _source(way: str, value: str, read: str) -> str:
    return (f"import numpy as np\n\n\ndef program(x, a, c, s, n):\n    w = a\n"
            f"    if s > 0.5 and n == 3:\n        w = np.append(a[:2], x[2])\n    else:\n"
            f"        w = np.append(c, a)\n    b = x * 1.0\n    {WAYS[way].format(v=value)}\n"
            f"    return {read}, b\n")  # fmt: skip


C, X = np.array([0.3, 0.6, -0.2]), np.array([1.0, -2.0, 0.5])
CALLS = ((0.9, 3), (0.2, 3), (0.2, 2), (0.2, 5))  # s, and the length of a


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("read", READS)
def test_reads_after_a_write_on_one_path(way: str, read: str) -> None:
    for k, value in enumerate(VALUES):
        source = _source(way, value, read)
        f = load(source, name := f"as_long_{way}_{k}")
        try:
            for s, m in CALLS:
                given = X, np.linspace(0.1, 0.7, m), C, s, 3
                for found, want in zip(as_emitted(f, *given), f(*given), strict=True):
                    np.testing.assert_allclose(found, want, rtol=1e-13, err_msg=source)
        finally:
            forget(name)


@pytest.mark.parametrize("way", WAYS)
def test_native_kernels_and_gradients(way: str) -> None:
    f = load(_source(way, "a * 2.0", "b[1:].sum()"), name := f"as_long_by_{way}")

    def total(x, a, c, s):
        number, b = f(x, a, c, s, 3)
        return number * 2.0 + (b * b).sum()

    compiled, by_both = jit(f), jit_grad(total, argnums=(0, 1))
    try:
        for s, m in CALLS:
            given = X, np.linspace(0.1, 0.7, m), C, s
            for x, y in zip(compiled(*given, 3), f(*given, 3), strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-13)
            for x, y in zip(by_both(*given), grad(total, argnums=(0, 1))(*given), strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13)
    finally:
        forget(name)


def test_an_array_of_other_axes_on_another_path() -> None:
    def f(a, b, c, k):
        b = b.copy()
        if k == 0:
            a = a * 0.5 + c.T
        b[:] = a
        return b[1:].sum(), b[[-1, -2]]

    b, c = np.array([[0.4], [-0.2], [0.3]]), np.arange(4.0).reshape(2, 2)
    for found, want in zip(jit(f)(np.array([0.7]), b, c, 1), f(np.array([0.7]), b, c, 1)):
        np.testing.assert_array_equal(found, want)
