"""Is what NumPy lets pass, or refuses, of arrays without elements let pass, or refused?

The truth is NumPy's result, shape and kind of error.
`b` is (3, 3), `e` (0, 3), `z` (2, 0), `a` (4,).
"""

from __future__ import annotations

import linecache
import warnings
from typing import Any

import numpy as np
import pytest

import jitad
from tests.engines import as_emitted, kernel_of, on_tape
from tests.properties.check import forget, load

STATEMENTS = [
    # values without elements may have leading axes of any extent, where indices are arrays
    "b[[], :0] = np.zeros((3, 1, 0))",
    "b[np.arange(3) > 5, :2] = np.zeros((7, 5, 0, 2))",
    "b[[0, 1], :0] = np.zeros((3, 1, 0))",
    "a[[]] = np.zeros((3, 0))",
    "b[[], :0] = np.zeros((3, 1, 2))",
    "b[[0, 1], :0] = np.zeros((3, 0))",
    "b[[]] = np.zeros((2, 0))",
    "a[np.arange(4) > 5 + n] = z + 0.5",
    "b[np.arange(3) > n, 1] = z[None]",
    "b[np.arange(3) > n, 1] = b[None, :2]",
    "b[:0, :0] = np.zeros((3, 1, 0))",
    "b[np.arange(3) > 5, n % 3] = e @ e.T",
    "b[np.arange(3) > n, 0] = z.T @ z[:0].T",
    "b[np.arange(3) > n, 0] = (e @ e.T)[None, None]",
    # indices that take nothing are not looked at, but of an axis without elements
    "r = z[[], [7]]",
    "r = e[:, [5]]",
    "r = np.take(e, [5], axis=1)",
    "r = np.take(e, [5], axis=0)",
    "r = np.take(z, [5], axis=0)",
    "r = np.take(z, [5], axis=1)",
    "r = np.take(a, [])",
    "r = np.take(np.zeros((0, 0)), [-1], axis=-1)",
    "r = np.take(z[:0] + n, [-1, 5], axis=-1)",
    "r = np.take(z[:n - 2] + n, [[0, 3]], axis=-1)",
    "r = np.take(z[:n - 1] + n, [0], axis=-1)",
    "r = np.take(z[:n - 2] + 1j * n, 4, axis=-1)",
    "r = np.take(e[:, :n - 2], n, axis=1)",
    "r = np.take(np.zeros((2, 0, 0)), [0], axis=1)",
    "r = np.take(np.zeros((2, 0, 3)), [0], axis=1)",
    "r = np.compress([0, 0, 0, 1], e, axis=1)",
    "r = np.compress([0, 0, 1], z, axis=0)",
    "r = np.compress([0, 0, 1], z, axis=1)",
    # nor are powers of no elements
    "r = (e > 0) ** -3",
    "r = (b[:n - 2] > 0) ** -1",
    "r = (b[:n] > 0) ** -1",
    "r = (a[:n - 2] > 0) ** (n - 3)",
    "r = 2 ** np.arange(n - 4, n - 4 - n)",
    # no values
    "np.put(a, [7], a[:0])",
    "np.put(a, [7], a[n:1])",
    "np.put(a, [7], a[1:n])",
    "np.put(a, [], [1.0])",
    "np.place(a, a > 9.0, [])",
    "np.place(a, a > 1.0, [])",
    # what can't be written
    "np.broadcast_to(np.zeros(0), (2, 0))[...] = 1.0",
    "np.diagonal(np.zeros((2, 0)))[3:1:-2] = np.zeros(0)",
    "np.diagonal(z)[...] = 1.0",
    "np.round(np.array([True]), 1)",
]
ARGS = (np.arange(9.0).reshape(3, 3), np.zeros((0, 3)), np.zeros((2, 0)), np.arange(4.0), 2)


def _outcome(run: Any) -> Any:
    try:
        return [np.asarray(r) for r in run()]
    except Exception as error:
        kinds = (TypeError, ValueError, IndexError)
        return next((k.__name__ for k in kinds if isinstance(error, k)), repr(error))


@pytest.mark.parametrize("statement", STATEMENTS)
def test_as_numpy(statement: str) -> None:
    result = "r" if statement.startswith("r = ") else "b"
    name = f"no_elements_{STATEMENTS.index(statement)}"
    f = load(f"import numpy as np\n\n\ndef program(b, e, z, a, n):\n    {statement}\n"
             f"    return 2.0 * {result}, a\n", name)  # fmt: skip
    try:
        args = [np.copy(x) for x in ARGS[:-1]]
        want = _outcome(lambda: f(*args, 2))
        tangents = tuple(np.ones_like(x) for x in args)

        def forward(b: Any, e: Any, z: Any, a: Any) -> Any:
            return jitad.jvp(lambda *x: f(*x, 2), (b, e, z, a), tangents)[0]

        args = [np.copy(x) for x in ARGS[:-1]]
        again = [np.copy(x) for x in ARGS[:-1]]
        found = {"eager": _outcome(lambda: forward(*args)),
                 "emitted": _outcome(lambda: as_emitted(f, *again, 2))}  # fmt: skip
        for way, got in found.items():
            if isinstance(want, str):
                assert got == want, way
            else:
                for x, y in zip(got, want, strict=True):
                    np.testing.assert_array_equal(x, y, err_msg=way, strict=True)
    finally:
        forget(name)
        linecache.checkcache()


def test_an_array_of_an_empty_list_is_of_float64() -> None:
    """Of how many elements there are only the kernel knows: a trace for these extents does."""

    def ints(a, s):
        return np.array([v * 2 for v in np.digitize(a, [0.0])]) / s

    def bools(a, s):
        return np.array([v > s for v in a])

    def ints_written(a, s):
        found = np.array([int(v) for v in a])
        return np.concatenate([found, found]) * 3

    for f in (ints, bools, ints_written):
        compiled = jitad.jit(f, fallback=False)
        for n in (2, 0, 3, 0):
            a = np.arange(n) - 0.5
            np.testing.assert_array_equal(compiled(a, 0.7), f(a, 0.7), strict=True)
            np.testing.assert_array_equal(as_emitted(f, a, 0.7), f(a, 0.7), strict=True)


def test_slopes_of_constants_are_found_in_silence() -> None:
    """A rule that divides by a known zero while a kernel is made: no warning of the user's."""

    def f(a):
        return np.sum(a[:0] / np.float64(0.0)) + np.sum(a / (np.float64(2.0) * len(a)))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel_of(lambda a: jitad.jvp(f, (a,), (a,)), np.ones(2))
        np.testing.assert_allclose(jitad.jit_grad(f)(np.ones(2)), 0.25, rtol=1e-15)


def test_a_slice_of_what_a_branch_made_may_be_of_none() -> None:
    """That it had an element was relied on, as if it were an argument: an internal error."""

    def f(a, b):
        if np.any(a > 0.5):
            a = a * 0.5 + b
        else:
            a[:-1] = a[1:]
        a -= 1.5
        return a, (2.0 * a)[:1, ::2]

    for n in (0, 1, 3):
        a = np.ones((n, 3)) * 0.4
        for x, y in zip(as_emitted(f, a.copy(), a), f(a.copy(), a), strict=True):
            np.testing.assert_array_equal(x, y, strict=True)


def test_what_a_loop_over_nothing_would_make() -> None:
    """Memory for it stands in front of the loop, and there its extent is negative."""

    def f(a, b, s):
        for r, w in zip(a, b):
            b[1:] = b[:-1] * s
            r[:1] = np.cos(r[:1]) + w
        return a, b

    def sensitivities(*x):
        values, pullback = jitad.vjp(f, *x)
        return values, pullback(values)

    x = (np.ones((1, 1)), np.zeros(0), 0.7)
    for engine in (as_emitted, on_tape):
        values, slopes = engine(sensitivities, *x)
        assert values[0] == slopes[0] == 1.0 and values[1].shape == slopes[1].shape == (0,)


def test_the_sensitivity_of_a_result_whose_axes_depend_on_an_extent() -> None:
    """That `squeeze` finds an extent of 1 is known to the kernel alone: traced for it then."""

    def f(b, n):
        _, pullback = jitad.vjp(lambda c: np.squeeze(c[::n]) ** 2, b)
        return pullback(np.float64(3.0) if len(b[::n]) == 1 else np.ones(len(b[::n])))[0]

    compiled = jitad.jit(f)
    b = np.arange(1.0, 5.0)
    for n in (4, 2, 7, 1):
        want = np.zeros(4)
        want[::n] = 2.0 * b[::n] * (3.0 if n >= 4 else 1.0)
        np.testing.assert_array_equal(compiled(b, n), want, strict=True)
        np.testing.assert_array_equal(as_emitted(f, b, n), want, strict=True)
