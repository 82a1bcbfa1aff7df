"""Does an array lie in memory as it did after all of it is written, whatever lay there before?

One element or a row may be stretched, the values may lie backwards or transposed.

Whether `ravel` and the like give views of it depends on that.  Plain NumPy is the truth.
"""

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.engines import as_emitted, eagerly, in_place_of_a_kernel, on_tape
from tests.properties.check import forget, load

VALUES = ("np.cos(c0)", "np.cos(c0)[::-1]", "np.cos(c0.reshape(4, 3)).T", "c0[:, ::-1] * s",
          "b", "b[0]", "b[0, 0]", "b[:1]", "b * s", "np.sum(b)", "b.T", "b[:, :1] * s")  # fmt: skip
WRITES = ("c[:] = {}", "c[...] = {}", "c[:, :] = {}", "c *= 0.0; c += {}", "np.copyto(c, {})",
          "c[::-1] = {}", "c = c * 0.0 + {}", "c.T[...] = {}")  # fmt: skip
VIEWS = ("c.ravel()", "np.ravel(c)", "c.reshape(-1)", "np.ascontiguousarray(c)", "c.T.ravel()")
ARRAYS = ("c = c * 1.0", "c = np.zeros((3, 4))", "pass", "c = np.zeros((4, 3)).T")
N = 9


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_sees_later_writes(array: str, view: str) -> None:
    for k, write in enumerate(WRITES):
        for m, value in enumerate(VALUES):
            name = f"stretched_{ARRAYS.index(array)}_{VIEWS.index(view)}_{k}_{m}"
            f = load("import numpy as np\n\n\ndef program(c, b, s):\n"
                     f"    c0 = c * 1.0\n    {array}\n    {write.format(value)}\n    v = {view}\n"
                     "    c[0, 1] = 5.0\n    c[2] *= s\n    return v, c\n", name)  # fmt: skip
            for b in (np.full((1, 1), 0.7), np.full((1, 4), 0.7)):
                c = np.arange(12.0).reshape(3, 4)
                try:
                    want = f(c.copy(), b, 0.3)
                except ValueError:
                    continue
                ones = np.ones_like(c), np.ones_like(b), 1.0
                for way in (eagerly, in_place_of_a_kernel):
                    got = way(f, c.copy(), b, 0.3)
                    _same(got, want, f"{name} {way.__name__}")
                got, _ = jitad.jvp(f, (c.copy(), b, 0.3), ones)
                _same(got, want, f"{name} forward")
                got, _ = jitad.vjp(f, c.copy(), b, 0.3)
                _same(got, want, f"{name} reverse")
                if (k + m) % N == 0:
                    for way in (on_tape, as_emitted):
                        try:
                            got = way(f, c.copy(), b, 0.3)
                        except JitadError:
                            continue  # which of both it is can't be told
                        _same(got, want, f"{name} {way.__name__}")
            forget(name)


def _same(got, want, text: str) -> None:
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-13, err_msg=text)


def test_functions_that_write_beside_what_brackets_made() -> None:
    """In place of a kernel `np.c_` gives a handle, and NumPy's functions the arrays themselves."""

    def f(x):
        z = np.pad(x, 1)
        np.put(z, [0, 2], np.r_[x, x][::-1])
        np.copyto(x, np.c_[x, x][:, 1])
        np.add.at(x, [0, 0], np.r_[x][:2])
        y = np.broadcast_arrays(x, np.r_[x])[0]
        y[-1] = 3.0
        return z, y

    for x in (np.arange(3.0), np.arange(3.0) + 1j):
        mine, theirs = x.copy(), x.copy()
        _same(in_place_of_a_kernel(f, mine), f(theirs), "brackets")
        np.testing.assert_allclose(mine, theirs)


def test_of_one_axis() -> None:
    def f(c, b):
        v = []
        for values in (b[0, ::-1], b[:, 0][[0, 1, 2, 0]], b.reshape(-1)[::3], b[:1, ::-1][0]):
            c = c * 1.0
            c[:] = values
            v.append(c.ravel())
            c[0] = 5.0
        return v

    c, b = np.arange(4.0), np.cos(np.arange(12.0)).reshape(3, 4)
    want = f(c, b)
    _same(jitad.jvp(f, (c, b), (c, b))[0], want, "forward")
    _same(jitad.vjp(f, c, b)[0], want, "reverse")
    _same(as_emitted(f, c, b), want, "emitted")
