"""Do views of an array without axes see what is written to it, and does it see what they are?

The engine keeps its one element as a number.  Plain NumPy is the truth, for values.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.engines import as_emitted
from tests.properties.check import forget, load

MADE = ("np.asarray(1.0)", "np.array(x)", "np.array(1.0)", "np.zeros(())", "np.full((), x)")
VIEWS = (
    "np.broadcast_to(z, (2,))", "np.broadcast_to(z, ())", "z.reshape(1)", "np.reshape(z, (1, 1))",
    "np.ravel(z)", "z.ravel()", "z.flatten()", "np.atleast_1d(z)", "np.atleast_3d(z)",
    "np.expand_dims(z, 0)", "np.squeeze(z)", "z.squeeze()", "np.transpose(z)", "z.T",
    "np.asarray(z)", "np.array(z)", "z[...]", "z[None]", "np.broadcast_arrays(z, np.ones(2))[0]",
    "np.broadcast_arrays(z, 1.0)[0]", "np.ascontiguousarray(z)", "np.asfortranarray(z)", "z.view()",
    "np.real(z)", "z.real", "np.copy(z)", "np.nan_to_num(z, copy=False)", "np.array(z, ndmin=1)",
    "np.array(z, ndmin=2, copy=None)", "np.astype(z, float, copy=False)",
    "np.einsum('...->...', z)",
    "np.positive(z)", "np.moveaxis(z, (), ())", "np.require(z)", "np.stack([z])", "np.flip(z)",
    "np.permute_dims(z)", "np.asarray(z, dtype=float)", "np.matrix_transpose(z[None, None])",
)  # fmt: skip
WRITES = (
    "z[...] = x", "z[()] = x", "z += x", "np.exp(z, out=z)", "np.add(z, x, out=z[...])",
    "z.fill(x)", "np.copyto(z, x)", "y[...] = 5.0", "z.put(0, x)", "np.putmask(z, True, x)",
    "z.flat[0] = x", "y += 1.0", "z.T[...] = x", "np.nan_to_num(z, copy=False, nan=x)",
)  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_writes(view: str) -> None:
    compared = 0
    for k, made in enumerate(MADE):
        for j, write in enumerate(WRITES):
            source = (f"import numpy as np\n\n\ndef program(x):\n    z = {made}\n    y = {view}\n"
                      f"    {write}\n    return z, y\n")  # fmt: skip
            f = load(source, name := f"without_axes_{k}_{j}")
            try:
                want = f(0.5)
            except (TypeError, ValueError, AttributeError, Warning):  # a number in NumPy
                forget(name)
                continue
            try:
                given = jitad.jvp(f, (0.5,), (1.0,))[0] if (k + j) % 2 else as_emitted(f, 0.5)
            except JitadError:
                continue
            finally:
                forget(name)
            compared += 1
            for x, y in zip(given, want, strict=True):
                np.testing.assert_array_equal(x, y, err_msg=source)
                assert np.shape(x) == np.shape(y), source
    assert compared > 20


def test_masks_of_no_elements_fit_any_array() -> None:
    def read(a, q):
        return a[q], a[q, ...].shape

    def written(a, q):
        a = a * 1.0
        a[q] = 3.0
        a[q] += a[q]
        return a

    for a in (np.arange(4.0), np.arange(6.0).reshape(2, 3)):
        for q in (np.zeros(0, bool), np.zeros((0, 3), bool), np.zeros((2, 0), bool)):
            if q.ndim <= a.ndim:
                for f in (read, written):
                    compiled = jitad.jit(f)
                    for run in (compiled, f, lambda *x, f=f: as_emitted(f, *x)):
                        for x, y in zip(run(a, q), f(a, q), strict=True):
                            np.testing.assert_array_equal(x, y)
        with pytest.raises(JitadError, match="boolean index did not match"):
            jitad.jit(read)(a, np.ones(5, bool))


def test_place_takes_a_mask_of_as_many_elements() -> None:
    def f(a, q):
        a = a * 1.0
        np.place(a, q, [1.0, 2.0])
        return a

    compiled = jitad.jit(f)
    for a, q in ((np.zeros((2, 2)), np.ones(4, bool)), (np.zeros(3), np.arange(3) != 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(compiled(a, q), f(a, q))
    for a, q in ((np.zeros(3), np.ones(4, bool)), (np.zeros((2, 2)), np.ones(2, bool))):
        with pytest.raises(ValueError, match="mask and data must be the same size"):
            f(a, q)
        for run in (compiled, lambda *x: jitad.jvp(lambda b: f(b, x[1]), x[:1], x[:1])):
            with pytest.raises(JitadError, match="mask and data must be the same size"):
                run(a, q)


# -- axes that an array without axes has not got --------------------------------------------------

NAMED = (
    "np.flip(z, axis=0)", "np.flip(z, -1)", "np.flip(z, ())", "np.flipud(z)", "np.fliplr(z)",
    "np.median(z, axis=0)", "np.quantile(z, 0.5, axis=0)", "np.percentile(z, 50.0, axis=-1)",
    "np.nanmedian(z, axis=0)", "np.stack([z, z], axis=1)", "np.stack([z, z], axis=-1)",
    "np.sum(z, axis=0)", "np.sum(z, axis=(0,))", "np.max(z, axis=(-1,))", "np.max(z, axis=-1)",
    "np.mean(z, axis=0)", "np.sort(z, axis=0)", "np.roll(z, 1, axis=0)", "np.expand_dims(z, 1)",
    "np.prod(z, axis=0)", "np.cumsum(z, axis=0)", "np.squeeze(z, axis=0)", "np.sum(z, axis=1)",
)  # fmt: skip


@pytest.mark.parametrize("text", NAMED)
def test_axes_of_numbers(text):
    """Some of NumPy's functions take a number for an array of one element, and others do not."""
    name = f"axes of {text}"
    f = load(f"import numpy as np\n\n\ndef program(x):\n    z = np.array(x)\n"
             f"    return np.sum({text})\n", name)  # fmt: skip
    try:
        want = f(1.3)
    except Exception as error:
        want = error
    for run in (jitad.value_and_grad(f), jitad.jit_value_and_grad(f)):
        if isinstance(want, Exception):
            with pytest.raises(ValueError):
                run(1.3)
        else:
            found = run(1.3)
            assert found[0] == pytest.approx(want) and found[1] == pytest.approx(want / 1.3)
    forget(name)
