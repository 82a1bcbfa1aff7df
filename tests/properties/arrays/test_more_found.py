"""Array programs that went wrong by an alias, a dtype or a choice, each the smallest of its class.

The truth is NumPy's value, dtype and shape, and differences of it, as in `test_found`.
"""

from __future__ import annotations

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError, JitadTypeError
from tests.engines import as_emitted
from tests.properties.arrays.check import check
from tests.properties.arrays.test_found import program

FOUND = {
    # -- what is written, and to what
    "out by position": """
        z = np.round(c)
        np.square(z, z)
        y = np.add(z, z, z)
        np.cumsum(z, 0, None, z)
        return z, y
    """,
    "an imaginary number added": """
        z, y = c + 1j, 1j - a
        w = z - 0
        z[0], y[0], w[1] = s, s, 2j
        return c, a, z, y, w
    """,
    "real parts are spaced": """
        z = c * 1j + a
        z.real.ravel()[0] = 9.0
        z.imag.reshape(-1)[1] = s
        return z.real, z.imag
    """,
    "parts of spectra are reshaped in equal steps": """
        z = np.fft.ifft(a, n=3).imag
        z.reshape(-1)[-1] = s
        z.ravel()[0] = 9.0
        return z, a
    """,
    "what is repeated along one axis is reshaped by a view": """
        z = a[0, :1] * 2.0
        w = np.broadcast_to(z, (2, 1)).reshape(-1), np.broadcast_to(z, (2, 1, 1)).reshape(1, 2)
        z *= s
        return *w, z
    """,
    "axes of one element dropped on writing": """
        c[:1] = a[:1, :1]
        c[n - 1:] = b[None, :, :1].T[0].T[..., 0][:n + 1]
        return c,
    """,
    "where a number is not zero": """
        return np.argwhere(np.sum(c) > -9.0), np.argwhere(s > 5.0), c
    """,
    "a product of sums is an array without axes": """
        z = np.tensordot(c, c, 1)
        y = z
        z += s
        y.flat[0] *= 2.0
        return y, z
    """,
    "a new axis of a number": """
        z = np.astype(np.asarray(s), np.float32)
        z[..., None] = 0.5
        return z,
    """,
    "one element by an ellipsis": """
        c[..., 1] = np.ones(1) * s
        return c,
    """,
    "numbers written to": """
        z = np.array(s)
        np.square(z, z)
        np.sin(z, out=z)
        return z,
    """,
    "the results of a function lie in order": """
        z, y, x = np.cumsum(a, 1), np.fft.ifft(c, n=3).imag, np.sort(a, 0)
        z.reshape(-1)[0] = s
        y.reshape(-1)[1] = s
        x.ravel()[2] = s
        return z, y, x
    """,
    "copies into an order": """
        z, y, x = np.ascontiguousarray(a.T), np.asfortranarray(a), a.T.copy()
        z.reshape(-1)[0], x.reshape(-1)[1] = s, s
        y[0, 0] = 8.0
        return a, z, y, x
    """,
    # -- dtypes and shapes
    "extremes of nothing": """
        z = np.zeros((0, 3), np.float32)
        return np.max(z, initial=2), np.min(z, axis=0, initial=np.float64(s)), c
    """,
    "sums and products of unsigned integers": """
        z = p.astype(np.uint16) % 7
        return np.cumsum(z), np.prod(z), np.sum(z), np.cumprod(z), c
    """,
    "sums of narrow integers": """
        z = np.full(4, 100, np.int8) + p.astype(np.int8)
        return z.sum() * c, (z.sum() - np.int8(3)) * c, z.astype(np.uint8).sum(), z.mean()
    """,
    "numbers count as vectors": """
        return (np.column_stack([c[:1], s]), np.cumsum(np.sum(c), axis=0), np.nancumsum(np.sum(c)),
                np.count_nonzero(c[1, ...], keepdims=True), np.count_nonzero(a, axis=1))
    """,
    "one dtype of all choices": """
        x = c.astype(np.float32)
        return (np.select([c > 0.5, c < -0.5], [x, 0.25], s), np.where(s > 5, s, 2),
                np.where(s > 0, s, 2), np.select([c > 0], [x], np.float64(s)))
    """,
    "single complex numbers": """
        x = c.astype(np.float32)
        return x - 1j, 1j - x[0], (x + 1j) * 2.0, (x + 1j) * s, x * 1j, np.add(x, 1j)
    """,
    "masked updates of single numbers": """
        x, y = c.astype(np.float32), np.arange(4)
        x[x > 0] *= s * n
        x[x < 0] += n
        y[y > 1] *= n
        return x, y
    """,
    "half a step": "return np.minimum(np.heaviside(s, 0.5), c.astype(np.float32)),",
    "too few observations": "return np.cov(c[1:]), c",
    "no coefficients": "return np.polyval(np.zeros(0), c), np.polyval(c, s)",
    # -- kernels
    "positions handed over whole": """
        z = np.where(p < 1)[0]
        return np.sort(z), np.expand_dims(z, 0), np.searchsorted(z, n), z.reshape(-1, 1), c
    """,
    "truth taken away": """
        b[:, :] -= b > 0.1
        return (b**3 - (b > 0.2)), b.sum(0) - q[1:]
    """,
    "a slice in a loop is as long as it is": """
        for i in range(3):
            if i == n:
                continue
            b = b * 0.5 + b
            b[..., 1:9] -= s
        return b,
    """,
    "a part of a spectrum that is first made in a loop": """
        for i in range(1, 3):
            b[3:1 - n] = c[:3]
            t = np.fft.ifft(b, n=3).imag
            s += np.float64(np.sum(t)) * 0.1
            for j in range(1, 3):
                b = b * 0.5 + c[:3]
        return b, s * c, np.nanmax(t)
    """,
    # -- choices
    "complex on one path": """
        z = c * 1.0
        if s > 0:
            z = z * 0.5 + 1j
        else:
            z[:] = np.sin(z[:]) + 0.25
        z[:2] += 1.0
        return np.sum(np.abs(z[2::-1])), np.sum(np.abs(z) ** 3)
    """,
    "other axes on one path": """
        if s > 0:
            b = b[:2, None] * s
        return np.sum(np.concatenate([b, b * 2.0]) ** 2), np.sum(np.stack([b, b]) * 3.0)
    """,
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_as_numpy(name: str) -> None:
    made = program(FOUND[name])
    outcome = check(made, 1, "more_found_" + name.replace(" ", "_"), ("eager", "emitted", "tape"))
    assert outcome.status == "ok", f"{outcome.group}\n{outcome.detail}"


RAISING = {
    "matrices between vectors": lambda x: np.linalg.multi_dot([x, x, x]),
    "weights of another number": lambda x: np.bincount([0, 1, 1, 1], weights=x),
    "a border of nothing": lambda x: np.pad(x[:0], 1, mode="wrap"),
    "a matrix by a mask": lambda x: np.copyto(x, x) or x.__setitem__(x > 0.0, np.ones((1, 1))),
    "integers to negative powers": lambda x: (x > 0.0).astype(int) ** np.array([1, -2, 0]) * x,
    "a place that is not there": lambda x: np.partition(x, 7),
    "a diagonal of more axes": lambda x: np.diag(x[:, None, None]),
    "a vector for a matrix": lambda x: np.matvec(x, x),
    "a matrix that is a vector": lambda x: np.vecmat(x, x),
    "a number correlated": lambda x: np.correlate(x, np.asarray(0.25)) * x[0],
    "the mean of a number along an axis": lambda x: np.mean(np.sum(x), axis=0),
    "a number added to at a place": lambda x: np.add.at(x[0], (), 1.0),
    "sums of a number so far": lambda x: np.add.accumulate(np.sum(x)),
    "the spread of a number along an axis": lambda x: np.std(x @ x, axis=-1),
    "stacks of other shapes": lambda x: np.stack([x, x[:2]]),
}


@pytest.mark.parametrize("name", RAISING)
def test_what_numpy_refuses(name: str) -> None:
    f, x = RAISING[name], np.ones(3)
    with pytest.raises(Exception) as numpy:
        f(x.copy())
    for engine in (lambda f, x: jitad.jvp(f, (x,), (x,)), as_emitted):
        with pytest.raises(Exception) as found:
            engine(f, x.copy())
        assert isinstance(found.value, (JitadError, type(numpy.value)))
        assert isinstance(found.value, (ValueError, TypeError))


HALF, WIDE = np.float16(1.7), np.ones(3, np.longdouble)


@pytest.mark.parametrize("f", [
    lambda x: x * HALF, lambda x: np.sum(x / np.tanh(True)), lambda x: np.full(3, HALF) * x,
    lambda x: x.astype(np.float16), lambda x: np.zeros(3, np.float16) + x,
    lambda x: x * np.ones(3, np.longdouble), lambda x: x + np.sum(WIDE),
])  # fmt: skip
def test_other_widths_are_refused(f) -> None:
    x = np.ones(3)
    for run in (lambda: jitad.jvp(f, (x,), (x,)), lambda: jitad.jit(f)(x)):
        with pytest.raises(JitadTypeError, match=r"float16|float128|longdouble"):
            run()


def test_a_number_of_16_bits_may_be_returned() -> None:
    x, half = jitad.jit(lambda x: (2.0 * x, np.tanh(True)))(1.5)
    assert x == 3.0 and half == np.tanh(True) and half.dtype == np.float16


def sum_of_turned(a):
    total = a.T * 0.0
    for k in range(int(a[1, 2])):
        total = total + k * a.T
    return total


UNCLEAR = {
    "as the operand lies": lambda a: a.T + 1.0,
    "reduced": lambda a: np.sum(np.stack([a, a]).T, axis=2),
    "picked": lambda a: a[:, [1, 0]],
    "copied": lambda a: np.copy(a.T),
    "like another": lambda a: np.zeros_like(a.T) + a.T,
    "chosen": lambda a: a.T + 1.0 if a[0, 1] > 0.0 else a.T * 2.0,
    "looped": lambda a: np.abs(sum_of_turned(a)),
    "joined": lambda a: np.concatenate([a.T, a.T]),
    "joined of repeated rows": lambda a: np.dstack([np.broadcast_to(a[0], (2, 3))] * 2),
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_a_view_or_a_copy(name: str) -> None:
    """NumPy reshapes these by a copy, since they don't lie in C order; a tape doesn't know."""
    make = UNCLEAR[name]

    def written(a, s):
        z = make(a)
        z.reshape(-1)[0] = s
        return z

    def read(a, s):
        flat = make(a).reshape(-1)
        flat[0] = s
        return flat

    a = np.arange(6.0).reshape(2, 3)
    assert written(a, 9.0).flat[0] != 9.0
    with pytest.raises(JitadError, match="may be a view of what was written meanwhile, or a copy"):
        jitad.jit(written)(a, 9.0)
    np.testing.assert_array_equal(jitad.jit(read)(a, 9.0), read(a, 9.0))


def test_extents_that_are_known_say_what_is_a_view():
    def f(m, s):
        turned = m.reshape(4, 2).T
        again = turned.reshape(4, 2).T
        turned[0, 1] = s
        m[1, 0] = 2.0 * s
        return np.sum(turned * np.arange(8.0).reshape(2, 4)) + np.sum(again * m)

    m = np.arange(8.0).reshape(2, 4)
    assert jitad.jit(f)(m.copy(), 0.7) == f(m.copy(), 0.7)
    assert jitad.jit_grad(f, 1)(m, 0.7) == pytest.approx(
        (f(m.copy(), 0.7 + 1e-4) - f(m.copy(), 0.7 - 1e-4)) / 2e-4)  # fmt: skip


def test_any_place_of_an_empty_array_is_taken() -> None:
    for shape in ((0, 4), (3, 0), (0,)):
        x = np.zeros(shape)
        for axis in range(-1, len(shape)):
            f = lambda x, axis=axis: np.sum(np.partition(x, 1, axis=axis))
            for gradient in (jitad.grad(f)(x), as_emitted(jitad.grad(f), x)):
                assert gradient.shape == shape
    with pytest.raises(JitadError, match="out of bounds"):
        as_emitted(lambda x: np.partition(x, 1, axis=0), np.ones((1, 4)))


# What a kernel learns about extents only when it runs.
LENGTHS = {
    "nothing is no part of a convolution": lambda x, y: np.convolve(x, y, "same"),
    "nor of a correlation": lambda x, y: np.correlate(x, y),
    "no gradient of nothing": lambda x, y: np.gradient(y),
    "the axes of one row's covariance": lambda x, y: np.cov(np.outer(y[:-1], x)),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_that_numpy_goes_by(name: str) -> None:
    f, x = LENGTHS[name], np.array([1.0, 2.0, 5.0])
    kernel = jitad.jit(f)
    np.testing.assert_allclose(kernel(x, x), f(x, x))
    given = x[:2] if "covariance" in name else x[:0]
    with pytest.raises(JitadError):
        kernel(x, given)


def test_einsum_of_arrays_without_derivatives() -> None:
    def f(x):
        z = np.ones((3, 2))
        return x.sum() * np.einsum("ij,kj->ik", z[:, ::-1], z).sum() * np.einsum("ij->j", z)[0]

    assert jitad.grad(f)(np.ones(1))[0] == 54.0


def test_a_small_array_that_a_check_refuses() -> None:
    """It goes through the passes all the same, and is stretched in another trace."""

    def f(a, s):
        for r in a[::-1]:
            r[...] = s
        a[1:] = a[2:]
        r[1:] = r[:-1] * s
        return a

    a = np.ones((3, 1))
    run = lambda a, s: jitad.jvp(f, (a, s), (a, 1.0))[0]
    np.testing.assert_allclose(run(a, 2.0), f(a.copy(), 2.0))
    np.testing.assert_allclose(as_emitted(run, a.copy(), 2.0), f(a.copy(), 2.0))


# NumPy lays these out in another order than C, or in C order where operands are in another.
ORDERS = {
    "columns picked": lambda a: a[:, [1, 0]],
    "picked between": lambda a: np.stack([a, a])[:, [0, 1], 1:],
    "picked at the end": lambda a: np.stack([a, a]).T[..., [0, 1]],
    "columns of a mask": lambda a: a.T[:, np.array([True, False, True])],
    "sorted": lambda a: np.sort(a.T),
    "sorted along the first axis": lambda a: np.sort(a.T, axis=0),
    "taken along an axis": lambda a: np.take_along_axis(a.T, np.argsort(a.T, axis=0), axis=0),
    "a contraction": lambda a: np.einsum("ij,jk->ki", a, a.T),
    "an outer product": lambda a: np.einsum("i,j->ji", a[0], a[:, 0]),
    "a sum of slices": lambda a: np.einsum("ijk->kj", np.stack([a, a])),
    "selected": lambda a: np.select([a.T > 0.2], [a.T], 0.0),
    "chosen": lambda a: np.choose((a.T > 0.2).astype(int), [a.T, a.T * 2]),
    "without a column": lambda a: np.delete(a.T, 0, axis=1),
    "medians": lambda a: np.median(np.stack([a, a]).T, axis=2),
}


@pytest.mark.parametrize("name", ORDERS)
def test_results_lie_as_in_numpy(name: str) -> None:
    """A write to the reshaped result shows in it exactly where NumPy reshapes by a view."""

    def f(a):
        z = ORDERS[name](a)
        z.reshape(-1)[0] = 7.0
        return z

    for order in "CF":
        a = np.array(np.arange(12.0).reshape(3, 4) * 0.1 + 0.05, order=order)
        np.testing.assert_allclose(jitad.jvp(f, (a,), (a,))[0], f(a), rtol=1e-12)
    a = np.ascontiguousarray(a)  # as kernels take their arguments
    try:
        found = jitad.jit(f)(a)
    except JitadError as error:
        assert "may be a view of what was written meanwhile, or a copy" in str(error)
    else:
        np.testing.assert_allclose(found, f(a), rtol=1e-12)
