"""Is what is reshaped and written right, in whatever order arguments and globals lie in memory?

NumPy gives a view or a copy by that order.  It is the truth for values, and for what becomes of the
arguments; the eager engine for gradients.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import jitad
from jitad.errors import FallbackWarning, JitadTypeError
from tests.properties.check import forget, load

BASE = np.arange(1.0, 7.0).reshape(2, 3)
TABLE = np.asfortranarray(BASE)
ORDERS = {
    "C": lambda: BASE.copy(), "F": lambda: np.asfortranarray(BASE),
    "gaps": lambda: np.repeat(BASE, 2, axis=1)[:, ::2],
    "backwards": lambda: BASE[::-1].copy()[::-1],
}  # fmt: skip
RESHAPED = ("b.reshape(b.size)", "b.reshape(-1)", "b.ravel()", "b.T.reshape(-1)",
            "b.reshape(3, 2)", "np.ascontiguousarray(b)", "np.ravel(b[:1])", "b[:, 1].ravel()",
            "b.T.ravel()", "np.asfortranarray(b)", "b.reshape(2, 3, 1)",
            "b[1:].reshape(-1)")  # fmt: skip
WRITES = ("v[...] = 7.0", "v *= 2.0", "b[0] = 3.0", "b *= 2.0", "np.sin(v, out=v)", "pass")


def _runs(compiled: Any, args: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        return compiled(*args)


@pytest.mark.parametrize("reshaped", RESHAPED)
@pytest.mark.parametrize("write", WRITES)
def test_arguments(reshaped: str, write: str) -> None:
    source = (f"import numpy as np\n\n\ndef program(b):\n    v = {reshaped}\n    {write}\n"
              f"    return np.sum(b * np.arange(3.0)), np.sum(v)\n")  # fmt: skip
    f = load(source, "in_order")

    def total(b: Any) -> Any:
        x, y = f(b)
        return x * x + y

    try:
        compiled = jitad.jit(f, fallback=True)
        slope = jitad.jit_grad(total, fallback=True)
        for k, (first, second) in enumerate(itertools.permutations(ORDERS, 2)):
            if k % 3 == 0:
                compiled = jitad.jit(f, fallback=True)
            for order in (first, second):
                mine, theirs = ORDERS[order](), ORDERS[order]()
                want = f(theirs)
                np.testing.assert_allclose(_runs(compiled, (mine,)), want, err_msg=source)
                np.testing.assert_allclose(mine, theirs, rtol=1e-14, err_msg=f"{order} {source}")
                given = ORDERS[order]()
                np.testing.assert_allclose(_runs(slope, (given,)), jitad.grad(total)(given))
    finally:
        forget("in_order")


def reads(b):
    return np.sum(b.ravel()[1:] * b.reshape(-1)[:-1]) + np.sum(b.T.reshape(-1)[:2])


def writes_elements(b):
    b[0] = b[1] * 2.0
    return np.sum(b * b)


@pytest.mark.parametrize("f", [reads, writes_elements])
@pytest.mark.parametrize("order", ORDERS)
def test_what_is_only_read_or_only_written_is_compiled(f: Any, order: str) -> None:
    mine, theirs = ORDERS[order](), ORDERS[order]()
    np.testing.assert_allclose(jitad.jit(f, fallback=False)(mine), f(theirs))
    np.testing.assert_array_equal(mine, theirs)


def of_a_global(x):
    v = TABLE.ravel()
    v[0] = x
    return np.sum(TABLE)


def test_globals() -> None:
    want = of_a_global(5.0)
    assert TABLE[0, 0] == 1.0
    with pytest.raises(JitadTypeError, match="not in C order is reshaped"):
        jitad.jit(of_a_global, fallback=False)(5.0)
    assert _runs(jitad.jit(of_a_global, fallback=True), (5.0,)) == want
    assert TABLE[0, 0] == 1.0


class Held:
    """Its attribute has the name that arrays have for where they come from."""

    def __init__(self) -> None:
        self._given, self.total = {"a": 1.0}, 0.0


def chosen(x, y, s):
    w = x if s > 0.0 else y
    v = w.T.reshape(-1)
    v[0] = 7.0
    return np.sum(x) + np.sum(y) + np.sum(w)


def copied_on_a_path(x, y, s):
    v = x.ravel() if s > 0.0 else y.T.reshape(-1)
    v[0] = s
    return np.sum(x) + 2.0 * np.sum(y)


def carried(x, y, s):
    for _ in range(2):
        v = x.T.ravel()
        v[1] = s
        x = x * 1.0 + y
    return np.sum(x) + np.sum(v)


@pytest.mark.parametrize("f", [chosen, copied_on_a_path, carried])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("s", [0.5, -0.5])
def test_what_paths_chose(f: Any, order: str, s: float) -> None:
    compiled, slope = jitad.jit(f, fallback=True), jitad.jit_grad(f, (0, 1), fallback=True)
    for kind in (order, "C", order):
        mine, theirs = ((ORDERS[kind](), 2.0 * ORDERS[kind]()) for _ in range(2))
        assert np.isclose(_runs(compiled, (*mine, s)), f(*theirs, s))
        for x, y in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(x, y)
        for x, y in zip(_runs(slope, (*mine, s)), jitad.grad(f, (0, 1))(*mine, s), strict=True):
            np.testing.assert_allclose(x, y)


def test_objects_may_have_an_attribute_of_that_name() -> None:
    def f(held, x):
        held.total = held.total + x
        return held.total * held._given["a"]

    held = Held()
    assert jitad.jit(f, fallback=False)(held, 2.0) == 2.0
    assert held.total == 2.0
    assert held._given == {"a": 1.0}
