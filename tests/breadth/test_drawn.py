"""Do functions of arrays meet any extents, axes, layout and dtype?  Drawn, against NumPy.

Values and dtypes are NumPy's own; derivatives are compared with differences along a direction, and
forwards with backwards.  Arrays have up to three axes, some of extent zero or one; they may be in C
or Fortran order, reversed, strided, transposed or stretched; axes may be negative, tuples or None.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.signal
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import jitad
from tests.engines import ENGINES
from tests.examples import examples

REDUCTIONS: list[Callable[..., Any]] = [
    np.sum, np.mean, np.prod, np.std, np.var, np.max, np.median, np.linalg.norm, np.ptp,
    np.nansum, np.any, np.argmax, np.count_nonzero,
]  # fmt: skip
ALONG: list[Callable[..., Any]] = [
    np.cumsum, np.cumprod, np.sort, np.diff, np.flip, np.argsort,
    lambda a, axis: np.roll(a, 1, axis), lambda a, axis: np.repeat(a, 2, axis),
    lambda a, axis: np.take(a, [0, -1, 0], axis), lambda a, axis: np.moveaxis(a, axis, 0),
    lambda a, axis: np.concatenate([a, a * a], axis), lambda a, axis: np.stack([a, 2 * a], axis),
    lambda a, axis: np.expand_dims(a, axis), lambda a, axis: np.swapaxes(a, axis, 0),
    lambda a, axis: np.fft.fft(a, axis=axis), lambda a, axis: np.fft.irfft(a, 4, axis=axis),
    lambda a, axis: np.trapezoid(a, axis=axis), lambda a, axis: np.append(a, a, axis),
    lambda a, axis: np.quantile(a, 0.4, axis=axis, method="hazen"),
    lambda a, axis: np.lib.stride_tricks.sliding_window_view(a, 2, axis),
    lambda a, axis: np.maximum.reduceat(a, [0, 0], axis=axis),
    lambda a, axis: scipy.signal.lfilter([1.0, 0.5], [1.0, 0.3], a, axis=axis) + 0.0 * a,
    lambda a, axis: np.linspace(a, a * a, 3, axis=axis),
    lambda a, axis: np.insert(a, [0], 1.0, axis),
]  # fmt: skip
WHOLE: list[Callable[..., Any]] = [
    lambda a: np.exp(a) * a.T.T, lambda a: a.reshape(-1)[::-1], lambda a: np.ravel(a, order="F"),
    lambda a: a[..., None] * a[..., None, :] if a.ndim else a,
    lambda a: a[a.real > 0.0] if a.ndim else a,
    lambda a: np.where(a.real > 0.0, a, 0.5), lambda a: np.atleast_2d(a) @ np.atleast_2d(a).T
    if a.ndim < 3 else a, lambda a: np.einsum("...->", a), lambda a: np.squeeze(a),
    lambda a: a[..., ::2] if a.ndim else a, lambda a: np.pad(a, 1), lambda a: np.tile(a, 2),
    lambda a: a[True], lambda a: np.pad(a, 1, "edge") if a.size else a,
    lambda a: np.atleast_1d(a).T.flat[:1],
    lambda a: _written(a), lambda a: np.abs(a) + a.real * a.imag, lambda a: np.tanh(a),
]  # fmt: skip
COMPLEX_TOO = {np.sum, np.mean, np.prod, np.std, np.var, np.linalg.norm, np.cumsum, np.cumprod,
               np.diff, np.flip, np.any, np.count_nonzero, *ALONG[6:18], *WHOLE}  # fmt: skip


def _written(a: Any) -> Any:
    b = np.copy(a)
    if b.ndim:
        b[::2] *= 2.0
        b[-1:] = b[:1] - 1.0
    return b


@st.composite
def arrays(draw: st.DrawFn, complex_too: bool, least: int = 0) -> np.ndarray:
    shape = draw(st.lists(st.sampled_from([2, 3, 1, 4, 0]), min_size=least, max_size=3))
    kind = draw(st.sampled_from([np.float64, np.float32, *([np.complex128] * complex_too)]))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    layout = draw(st.sampled_from(["C", "F", "reversed", "strided", "transposed", "stretched"]))

    def numbers(*shape: int) -> np.ndarray:
        out = random.normal(size=shape) + 0.3
        return (out + 1j * random.normal(size=shape) if kind is np.complex128 else out).astype(kind)

    match layout:
        case "F":
            return np.asfortranarray(numbers(*shape)) if shape else numbers()
        case "reversed" if shape:
            return numbers(*shape)[::-1]
        case "strided" if shape:
            return np.repeat(numbers(*shape), 2, -1)[..., ::2]
        case "transposed":
            return numbers(*shape[::-1]).T
        case "stretched" if shape:
            return np.broadcast_to(numbers(*shape[1:]), shape)
    return np.asarray(numbers(*shape))


def _check(f: Callable[..., Any], a: np.ndarray, smooth: bool = True) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of empty slices
        try:
            want = f(np.array(a))
        except Exception as error:  # then it is an error here, too
            if not a.ndim:
                return
            with pytest.raises((type(error), jitad.JitadError)):
                jitad.jvp(f, (a,), (np.ones_like(a),))
            return
        assume(np.all(np.isfinite(want)))
        random = np.random.default_rng(1)
        d = random.normal(size=a.shape) + (1j * random.normal(size=a.shape) if a.dtype.kind == "c"
                                           else 0.0)  # fmt: skip
        d = d.astype(a.dtype) if a.ndim else a.dtype.type(d)
        found, tangent = jitad.jvp(f, (a,), (d,))
        on_tape = ENGINES["tape"](jitad.jit(f), a) if a.ndim else found
        tolerance = 2e-5 if a.dtype == np.float32 else 1e-12
        for x in (found, on_tape):
            assert np.asarray(x).dtype == np.asarray(want).dtype or not a.ndim
            np.testing.assert_allclose(x, want, rtol=tolerance, atol=tolerance)
        if np.asarray(want).dtype.kind not in "fc" or not smooth:
            return

        def loss(x: Any) -> Any:
            y = np.reshape(f(x), (-1,))
            return np.sum(np.real(y) * np.cos(np.arange(np.size(y)))) + np.sum(np.imag(y))

        g = jitad.grad(loss)(a)
        assert np.shape(g) == a.shape and np.asarray(g).dtype == a.dtype
        down = np.real(np.sum(np.asarray(g, complex) * d))
        t = np.reshape(np.asarray(tangent), (-1,))
        up = np.sum(t.real * np.cos(np.arange(t.size))) + np.sum(t.imag)
        size = np.sum(np.abs(np.asarray(g)) * np.abs(d)) + 1.0
        assert abs(up - down) <= 10 * tolerance * size
        if a.dtype != np.float32:
            h = 1e-6
            wide = np.array(a)
            slope = (loss(wide + h * d) - loss(wide - h * d)) / (2 * h)
            assert abs(slope - down) <= 1e-6 * (size + abs(slope))


_SETTINGS = settings(max_examples=examples(12), deadline=None, derandomize=True,
                     suppress_health_check=list(HealthCheck))  # fmt: skip


@pytest.mark.parametrize("k", range(len(REDUCTIONS)))
@given(data=st.data())
@_SETTINGS
def test_reductions(k: int, data: st.DataObject) -> None:
    f = REDUCTIONS[k]
    a = data.draw(arrays(f in COMPLEX_TOO, least=f is np.argmax))
    n = a.ndim
    axes: list[Any] = [None, *range(-n, n)]
    if f not in (np.linalg.norm, np.argmax) and n > 1:
        axes += [(0, -1), (1, 0)]
    axis = data.draw(st.sampled_from(axes))
    keep = data.draw(st.booleans())
    _check(lambda x: f(x, axis=axis, keepdims=keep), a, smooth=a.size > 1 or f is not np.std)


@pytest.mark.parametrize("k", range(len(ALONG)))
@given(data=st.data())
@_SETTINGS
def test_along_an_axis(k: int, data: st.DataObject) -> None:
    f = ALONG[k]
    a = data.draw(arrays(f in COMPLEX_TOO, least=1))
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    _check(lambda x: f(x, axis=axis), a)


@pytest.mark.parametrize("k", range(len(WHOLE)))
@given(data=st.data())
@_SETTINGS
def test_whole_arrays(k: int, data: st.DataObject) -> None:
    _check(WHOLE[k], data.draw(arrays(WHOLE[k] in COMPLEX_TOO)))
