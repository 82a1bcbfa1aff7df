"""Is what is reshaped and written right, in whatever order arguments and globals lie in memory?

NumPy gives a view or a copy by that order.  It is the truth for values, and for what becomes of the
arguments; the eager engine for gradients.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numba
import numpy as np
import pytest

import jitad
from jitad.errors import FallbackWarning, JitadError, JitadTypeError
from tests.engines import emitted_once
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
    with pytest.raises(JitadError, match="this may be a view of what was written"):
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


# -- complex arrays, what is made of arrays, what derivatives and native code pass on -------------

COMPLEX = ("b.ravel()", "b.T.reshape(-1)", "np.ascontiguousarray(b)", "b.real.reshape(-1)",
           "b.imag.ravel()", "b.reshape(3, 2)", "b.conj().ravel()")  # fmt: skip
COMPLEX_WRITES = ("v *= 2.0", "b[0] = 3.0", "b.real[0] = 4.0", "b.imag *= 3.0")
MADE = ("b * 2.0", "np.sin(b)", "np.copy(b)", "np.zeros_like(b)", "b.astype(float)", "np.array(b)",
        "np.stack([b, b])[1]", "np.where(b > 2.0, b, 0.0)", "np.cumsum(b, axis=1)", "b.copy()",
        "np.concatenate([b, b])", "-b", "b + b.T[0, 0]", "np.sort(b, axis=0)",
        "b[:, :2] * 1.0", "np.clip(b, 1.0, 3.0)", "b @ np.ones((3, 3))")  # fmt: skip


def _agree(f: Any, make: Any) -> None:
    """A kernel made for one order, called with the others, by the eager engine's derivative."""
    once = [emitted_once(jitad.value_and_grad(f)) for _ in ORDERS]
    for (first, compiled), order in itertools.product(
        zip(ORDERS, once, strict=True), (*ORDERS, "C")
    ):
        want = jitad.value_and_grad(f)(make(order))
        found = []
        for given in (first, order):
            try:
                found = compiled(make(given))
            except JitadError as e:
                assert "this may be a view of what was written" in str(e)
                found = want  # runs eagerly
        np.testing.assert_allclose(found[0], want[0], err_msg=f"{first} {order}")
        np.testing.assert_allclose(found[1], want[1], err_msg=f"{first} {order}")


@pytest.mark.parametrize("reshaped", COMPLEX)
@pytest.mark.parametrize("write", COMPLEX_WRITES)
def test_complex_arguments(reshaped: str, write: str) -> None:
    source = (f"import numpy as np\n\n\ndef program(b):\n    v = {reshaped}\n    {write}\n"
              f"    w = np.arange(6.0).reshape(v.shape)\n"
              f"    return np.sum(b * np.arange(3.0)), np.sum(v * w)\n")  # fmt: skip
    f = load(source, "complex_in_order")

    def make(order: str) -> Any:
        a = ORDERS[order]()
        whole = np.zeros_like(a if a.base is None else a.base, complex)  # lies as the real one
        z = whole if a.base is None else {"gaps": whole[:, ::2], "backwards": whole[::-1]}[order]
        z[...] = a * (1.0 + 2.0j)
        return z

    def total(b: Any) -> Any:
        x, y = f(b)
        return (x * x * y).real

    try:
        z = make("C")
        for order in ORDERS:
            want = f(make(order))
            mine = make(order)
            got = _runs(jitad.jit(f, fallback=True), (mine,)) if order == "F" else want
            np.testing.assert_allclose(got, want)
            slope, h = jitad.grad(total)(make(order)), 1e-6
            for k in ((0, 0), (1, 1)):
                for step in (h, 1j * h):
                    ahead, back = make(order), make(order)
                    ahead[k] += step
                    back[k] -= step
                    by = (total(ahead) - total(back)) / (2.0 * h)
                    found = slope[k].real if step == h else -slope[k].imag
                    np.testing.assert_allclose(found, by, rtol=1e-6, err_msg=f"{order} {source}")
        np.testing.assert_array_equal(z, make("C"))
        _agree(total, make)
    finally:
        forget("complex_in_order")


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("write", ["v *= 2.0", "y[0] = 3.0 * b[0, 0]"])
def test_what_is_made_of_arguments(made: str, write: str) -> None:
    source = (f"import numpy as np\n\n\ndef program(b):\n    y = {made}\n    v = y.ravel()\n"
              f"    {write}\n    w = np.arange(y.shape[1])\n"
              f"    return np.sum(y * y * w) + np.sum(v * b[1, 1])\n")  # fmt: skip
    f = load(source, "made_in_order")
    try:
        want = {order: f(ORDERS[order]()) for order in ORDERS}
        for order in ORDERS:
            np.testing.assert_allclose(jitad.value_and_grad(f)(ORDERS[order]())[0], want[order])
        _agree(f, lambda order: ORDERS[order]())
    finally:
        forget("made_in_order")


def written(b):
    v = b.ravel()
    v[1] = 7.0 * b[0, 0]
    return np.sum(b * b[0, 0]) * np.sum(v)


def slope_of_turned(x):
    g = jitad.grad(written)(x.T)
    return np.sum(g * g)


def slope_of_itself(x):
    return np.sum(jitad.grad(written)(x) ** 2)


def pushed(x):
    return jitad.jvp(written, (x[::-1],), (x,))[1]


def twice(x):
    return np.sum(jitad.jvp(jitad.grad(written), (x.T,), (x.T,))[1])


def batched(x):
    return np.sum(jitad.batch(written)(np.stack([x, 2.0 * x])))


@pytest.mark.parametrize("f", [slope_of_turned, slope_of_itself, pushed, twice, batched])
def test_what_derivatives_pass_on(f: Any) -> None:
    _agree(f, lambda order: ORDERS[order]())


@pytest.mark.parametrize("order", ORDERS)
def test_calls_from_native_code(order: str) -> None:
    slope = jitad.jit_grad(lambda p: written(p[0]) * p[1])

    @numba.njit
    def native(b):
        return slope((b, 2.0))

    b = ORDERS[order]()
    if order == "C":
        np.testing.assert_allclose(native(b)[0], jitad.grad(lambda b: 2.0 * written(b))(b))
    else:
        with pytest.raises((JitadTypeError, numba.TypingError), match="lies in C order"):
            native(b)


def writes_by_another_way(b):
    v = b.T.reshape(-1)
    v *= 2.0
    return np.sum(b * np.arange(2.0)) * np.sum(v * v)


def test_what_a_checkpoint_writes_to() -> None:
    def f(x):
        return jitad.checkpoint(writes_by_another_way)(x.T) + np.sum(x)

    for run in (jitad.grad, lambda f: jitad.jit_grad(f, fallback=False)):
        with pytest.raises(JitadError, match=r"writes to an array|this may be a view"):
            run(f)(BASE)


def doubled(x):
    v = x.ravel()
    v *= 2.0
    return np.sum(v * v)


def made_then_read(x):
    y = x * 2.0
    y[0] = 1.0
    return np.sum(y.reshape(-1)[::2])


@pytest.mark.parametrize("f", [doubled, made_then_read])
@pytest.mark.parametrize("order", ORDERS)
def test_what_is_not_used_afterwards_is_compiled(f: Any, order: str) -> None:
    compiled = jitad.jit_value_and_grad(f, fallback=False)
    for kind in ("C", order, "C", *ORDERS):
        value, slope = compiled(ORDERS[kind]())
        want = jitad.value_and_grad(f)(ORDERS[kind]())
        np.testing.assert_allclose(value, want[0])
        np.testing.assert_allclose(slope, want[1])
    assert len(compiled.specialisations) <= 3
