"""Do the methods of every ufunc of two operands give NumPy's values, shapes and dtypes?

Along no axis, one, several and all; from a number, by a mask, of nothing; in both precisions.
"""

import functools
import math

import numpy as np
import pytest

import jitad
from jitad import JitadError, check_grads
from tests.engines import ENGINES, as_emitted

A = np.array([[0.4, 1.3, 0.8, 1.1], [1.2, 0.5, 0.9, 0.7], [1.5, 0.6, 1.4, 0.3]])
MASK = np.arange(12).reshape(3, 4) % 3 > 0
# not np.power and np.arctan2: on processors with AVX-512, NumPy 2.4 folds them in a wrong way
UFUNCS = [getattr(np, name) for name in """add subtract multiply divide maximum minimum fmax fmin
          hypot logaddexp logaddexp2 float_power copysign fmod remainder""".split()]
AXES = (0, -1, None, (0, 1), (1,), ())
OPTIONS = ({}, {"keepdims": True}, {"initial": 0.7}, {"initial": 0.7, "where": MASK},
           {"where": MASK})  # fmt: skip
by_ufunc = pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)


def same(got, want):
    # numbers come back as Python's where NumPy's are float64
    assert np.asarray(got).dtype == np.asarray(want).dtype
    assert np.shape(got) == np.shape(want)
    rtol = 1e-6 if np.asarray(want).dtype == np.float32 else 1e-13
    np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-7 if rtol > 1e-10 else 0.0)


@by_ufunc
@pytest.mark.parametrize("a", [A, np.float32(A)], ids=["double", "single"])
def test_reduce(ufunc, a):
    for axis in AXES:
        for given in OPTIONS:
            def reduced(a, mask, axis=axis, given=given):
                how = given | {"where": mask} if "where" in given else given
                return ufunc.reduce(a, axis=axis, **how)

            try:
                want = reduced(a, MASK)
            except ValueError as error:  # no identity, not to be reordered
                with pytest.raises(JitadError) as caught:
                    as_emitted(reduced, a, MASK)
                assert str(error)[-20:] in str(caught.value)
            else:
                same(as_emitted(reduced, a, MASK), want)


@by_ufunc
@pytest.mark.parametrize("a", [A, np.float32(A)], ids=["double", "single"])
def test_step_by_step(ufunc, a):
    def steps(a):
        b = a * 1
        ufunc.at(b, (slice(None), [1, 0, 1]), a[0, 0])
        return (ufunc.accumulate(a, axis=1), ufunc.accumulate(a), ufunc.reduceat(a, [0, 2, 1], 1),
                ufunc.reduceat(a, [2, 0]), ufunc.outer(a[0], a[:, 1]), b)  # fmt: skip

    for got, want in zip(as_emitted(steps, a), steps(a), strict=True):
        same(got, want)


@by_ufunc
@pytest.mark.parametrize("shape", [(0, 4), (3, 0)], ids=str)
@pytest.mark.parametrize("engine", ENGINES)
def test_reduce_of_nothing_is_the_identity_or_an_error(ufunc, shape, engine):
    """A kernel read what lies behind the array."""

    def rows(a):
        return ufunc.reduce(a, axis=0)

    def columns(a):
        return ufunc.reduce(a * 1.0, axis=1, keepdims=True)

    for reduced in (rows, columns):
        try:
            want = reduced(np.zeros(shape))
        except ValueError:
            with pytest.raises((JitadError, ValueError), match="no identity"):
                ENGINES[engine](reduced, np.zeros(shape))
        else:
            same(ENGINES[engine](reduced, np.zeros(shape)), want)


def test_derivatives():
    def total(a):
        weights = np.arange(1.0, 5.0)
        return (np.hypot.reduce(a, axis=None) + np.logaddexp2.reduce(a, axis=(0, 1), initial=0.3)
                + weights @ np.fmax.reduce(a, axis=0, initial=0.65, where=MASK)
                + weights @ np.divide.reduce(a, axis=0, initial=2.0)
                + np.sum(np.float_power.accumulate(a, axis=1) * MASK)
                + np.sum(np.hypot.reduceat(a, [0, 2], axis=1)))  # fmt: skip

    check_grads(total, (A,), order=2)
    check_grads(jitad.jit(total), (A,), order=1)


def test_powers_of_powers():
    def folded(a):
        return np.power.reduce(a, axis=1), np.power.accumulate(a[0]), np.arctan2.reduce(a[0])

    powers, steps, angle = as_emitted(folded, A)
    np.testing.assert_allclose(powers, A[:, 0] ** np.prod(A[:, 1:], axis=1), rtol=1e-13)
    np.testing.assert_allclose(steps, A[0, 0] ** np.append(1.0, np.cumprod(A[0, 1:])), rtol=1e-13)
    want = functools.reduce(math.atan2, A[0].tolist())
    assert math.isclose(angle, want, rel_tol=1e-13)


def test_methods_of_ufuncs_of_one_operand():
    def f(a):
        b = a * 1.0
        np.degrees.at(b, [1, 0, 1])
        np.positive.at(b, [2])
        return b

    same(as_emitted(f, A), f(A))

OUTS = {
    "exp": lambda x, out: np.exp(x[:1], out=out),
    "of a number": lambda x, out: np.sin(x[0], out=out),
    "of a row": lambda x, out: np.multiply(x, 2.0, out=out),
    "of what is known": lambda x, out: np.cos(np.array([0.5]), out=out),
    "clip": lambda x, out: np.clip(x, -0.5, 0.5, out=out),
    "where": lambda x, out: np.square(x, out=out, where=np.array([[True], [False]])),
    "of a column": lambda x, out: np.add(x[:2, None], x[1], out=out[:, :1]),
    "of no rows": lambda x, out: np.exp(x[None], out=out[:0]),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("name", OUTS)
def test_operands_are_broadcast_to_what_is_written(name, kind, engine):
    """Of ufuncs alone; other functions want the shape of their result."""
    if kind is complex and name in ("clip", "of what is known"):
        pytest.skip("real")
    x = np.array([0.3, -0.7, 0.6])

    def f(x):
        out = np.full((2, 3), 0.25, dtype=kind)
        OUTS[name](x if kind is float else x * (1 + 0.5j), out)
        return np.sum(np.abs(out) ** 2) + x[0]

    value, gradient = ENGINES[engine](jitad.value_and_grad(f), x)
    np.testing.assert_allclose(value, f(x), rtol=1e-13)
    h = 1e-6
    want = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(gradient, want, rtol=1e-7, atol=1e-8)


def test_results_of_other_functions_are_not_broadcast():
    def f(x):
        out = np.zeros(3)
        np.sum(x[None], axis=1, out=out)
        return out.sum()

    with pytest.raises(JitadError, match="non-broadcastable output operand"):
        jitad.jit(f)(np.ones(2))
