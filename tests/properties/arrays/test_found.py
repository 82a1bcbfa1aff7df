"""Array programs that were found to go wrong, each the smallest of its class.

The truth is NumPy's value, dtype and shape, and differences of it, as for random programs.
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

import jitad
from jitad.errors import JitadTypeError
from tests.properties.arrays.check import check
from tests.properties.arrays.generate import Generated

_random = np.random.default_rng(8)


def drawn(*shape: int) -> np.ndarray:
    return _random.uniform(-1, 1, shape)


A, B, C = drawn(3, 4), drawn(3, 3), drawn(4)
ARGS: dict[str, Any] = {
    "a": A, "b": B, "c": C, "p": np.array([-2, 1, 0, 1]), "q": np.array([True, False, True, True]),
    "s": 0.37, "n": 2,
}  # fmt: skip

FOUND = {
    # A kernel gave the whole buffer that the positions were collected in.
    "positions returned": "return np.nonzero(p > 0)[0], np.where(c > 5)[0], np.argwhere(a > 0)",
    "a view of one argument": """
        z = np.einsum('ij->ji', a)
        z[0] = s
        return a, z
    """,
    "views of what is written later": """
        d, e, f = np.diagonal(b), np.broadcast_to(c, (2, 4)), np.diag(b, 1)
        b[0] = 7.0 * s
        c[:2] *= s
        return d, e, f
    """,
    "a view of another shape of a column": """
        v = a[:, :1]
        v.reshape(-1)[::2] = s
        return a, v
    """,
    "what does not move": """
        if np.sum(c) > -9.0:
            a[:2] -= 1.0
        return np.flip(p), a
    """,
    "putting nothing": """
        np.put(c, [1, -1], np.zeros(0))
        np.putmask(a, a > 0, np.zeros(0))
        np.fill_diagonal(b, np.zeros(0))
        return a, b, c
    """,
    "a mask of another shape": """
        np.putmask(a.T, a > 0, s)
        return a,
    """,
    "one element has no spread": "return np.std(c[:1]), np.std(a[:1], axis=0), np.std(a, axis=1)",
    "numbers have one axis, called 0": """
        x = np.sum(c)
        return np.sum(x, axis=0), np.max(x, axis=-1), np.prod(x, axis=0), np.argmax(x)
    """,
    "methods of numbers": """
        x, y = c[1], np.sum(a)
        return (x.sum(), y.mean(), x.round(1), y.clip(0, 1), x.astype(np.float32), x.T, x.copy(),
                x.reshape(1), y.max(), x.ravel(), y.std(), x.conj(), x.repeat(2), y.cumsum())
    """,
    "what was written where": """
        z = np.arange(4.0)
        np.negative(z, out=z, where=z > 1.5)
        return z * s,
    """,
    "not of a truth value": "return np.where(~(s < 0.5), c, 1.0), ~q, ~(c < s)",
    "the sign of a truth value": "return np.copysign(q, c), np.copysign(c, q)",
    "narrow integers": """
        x, y = p.astype(np.int16), p.astype(np.uint16)
        return np.sin(x), np.sqrt(y % 3), np.square(q * c), x**2, -x
    """,
    "Python's numbers are weak": """
        x = c.astype(np.float32)
        return np.r_[x, s], np.r_[x, 1, 2.0], np.result_type(x, s).type(s) * x, x * s, x + n
    """,
    "triangles of a vector": "return np.tril(c), np.triu(c, 1)",
    "a histogram of nothing": "return np.histogram(np.zeros(0), bins=3)",
    "nested lists of arrays": "return np.block([[q, p]]), np.block([[c], [c * s]])",
    "arrays of a list": """
        z = [p * 1.0, np.sum(p * p) ** (p * p)]
        z[0][1:] = s
        z[1] -= z[1][-1:] * n
        return z[0], z[1]
    """,
    "products with a mask": "return c @ q, q @ c, q[1:] @ a, b @ (c[:3] > 0)",
    "a reciprocal twice": "return a / (2.0 + 1 / (1.5 + a[::-1] ** 2) * 1 / (1.5 + a[::-1] ** 2)),",
    "axes of a number": """
        z = np.array(s)
        y = z if s > 0 else np.array(2.0)
        return (np.argsort(z, axis=-1), np.argpartition(y, 0, axis=0), np.take(z, 0, axis=-1),
                np.repeat(y, 2, axis=0), np.cumsum(z, axis=0))
    """,
    "a cast that another path makes": """
        for i in range(3):
            z = np.argsort(c)
            if s < 0:
                break
            z = np.cumsum(c)
        z += 0.5
        return c, np.sum(b) * s
    """,
    "complex operands that show others": """
        z = np.full(0, 1.0j)
        return np.broadcast_arrays(z, 0.5)[0], np.broadcast_arrays(np.ones(2) * 1j, 2.0)[0]
    """,
    # What a condition gives gets more results while its branches are reversed.
    "what is recorded under a condition": """
        if n > 1:
            s += np.sum(np.cumprod(c, axis=-1))
        return s * s,
    """,
    "squares of bools": "return q ** 2, (c > 0) ** 2, q ** 3, np.power(q, 2)",
    "one number keeps its dtype": """
        z = np.astype(np.asarray(s), np.float32)
        z[...] = 0.25
        y = np.array(n)
        y[()] = 2.7
        return z, y
    """,
    "elements by a flat view of one number": """
        z = np.array(s)
        z.reshape(-1)[0] *= 2.0
        np.place(z, z > 0, [0.5 * s])
        return z,
    """,
}  # fmt: skip


def program(body: str) -> Generated:
    text = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    source = f"import numpy as np\n\n\ndef program({', '.join(ARGS)}):\n{text}\n"
    return Generated(source, ARGS, frozenset())


@pytest.mark.parametrize("name", FOUND)
def test_as_numpy(name: str) -> None:
    made = program(FOUND[name])
    outcome = check(made, 1, "found_" + name.replace(" ", "_"), ("eager", "emitted", "tape"))
    assert outcome.status == "ok", f"{outcome.group}\n{outcome.detail}"


def test_positions_in_a_kernel() -> None:
    found = jitad.jit(lambda x: np.nonzero(x > 0.0)[0])
    for x in ([1.0, -2.0, 3.0], [-1.0, -2.0], [2.0, 1.0], [-1.0, -2.0, -3.0, -1.0]):
        assert found(np.array(x)).tolist() == np.nonzero(np.array(x) > 0.0)[0].tolist()


def test_bools_to_the_power_of_an_argument() -> None:
    """NumPy's power to 2 is a square, which is of int8."""

    def f(q: Any, k: Any) -> Any:
        return q**k

    of, q = jitad.jit(f), np.array([True, False])
    for k in (2, 3, 0, 2, True, np.int64(2)):
        got, want = of(q, k), f(q, k)
        assert got.dtype == want.dtype
        assert got.tolist() == want.tolist()


@pytest.mark.parametrize("f", [
    lambda x: np.sum(x, initial=1j), lambda x: np.prod(x, initial=1j, axis=0),
    lambda x: np.add.reduce(x, 0, None, None, False, 1j),
    lambda x: np.sort(np.array(x[0]), axis=0), lambda x: np.partition(np.array(x[0]), 0),
    lambda x: np.argsort(np.array(x[0]), axis=1), lambda x: np.unique(np.array(x[0]), axis=0),
])  # fmt: skip
def test_what_numpy_refuses(f: Any) -> None:
    for run in (f, jitad.jit(f), lambda x: jitad.jvp(f, (x,), (x,))):
        with pytest.raises((TypeError, ValueError)):
            run(np.ones(3))


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8])
def test_half_precision_is_refused(kind: type) -> None:
    with pytest.raises(JitadTypeError, match="gives float16 in NumPy, which is not supported"):
        jitad.jit(lambda x: np.sin((x > 0.0).astype(kind)))(np.ones(2))
