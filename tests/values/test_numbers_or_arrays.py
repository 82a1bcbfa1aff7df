"""Does a function give a number where NumPy gives one, and an array without axes where it does?

Of an array without axes another name sees what is written; of a number it doesn't.
"""

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import jitad
from tests.engines import ENGINES

FEW = {name: ENGINES[name] for name in ("eager", "tape")}


def vector(s):
    return np.array([s, 2.0, s * s])


def matrix(s):
    return np.array([[s, 1.0, 0.0], [0.5, 2.0, s], [1.0, 0.0, 3.0]])


OF_NUMBERS = {
    "where": lambda s: np.where(s > 0, s, 0.5),
    "where of a known condition": lambda s: np.where(True, s, 0.5),
    "select": lambda s: np.select([s > 0, s < -1], [s, 2 * s], 0.0),
    "piecewise": lambda s: np.piecewise(s, [s > 0], [lambda x: x * 2, lambda x: x]),
    "choose": lambda s: np.choose(0, [s, 2.0]),
    "vectorize": lambda s: np.vectorize(lambda x: x * 2)(s),
    "vectorize to two": lambda s: np.vectorize(lambda x: (x, x * 2))(s)[1],
    "i0": lambda s: np.i0(s),
    "squeeze": lambda s: np.squeeze(s),
    "reshape": lambda s: np.reshape(s, ()),
    "copy": lambda s: np.copy(s),
    "transpose": lambda s: np.transpose(s),
    "tile": lambda s: np.tile(s, ()),
    "full": lambda s: np.full((), s),
    "asarray": lambda s: np.asarray(s),
    "zeros_like": lambda s: np.zeros_like(s),
    "clip": lambda s: np.clip(s, 0, 1),
    "nan_to_num": lambda s: np.nan_to_num(s),
    "maximum": lambda s: np.maximum(s, 0),
    "round": lambda s: np.round(s, 1),
    "interp": lambda s: np.interp(s, [0.0, 2.0], [0.0, 4.0]),
    "polyval": lambda s: np.polyval([1.0, 2.0], s),
    "dot": lambda s: np.dot(s, 2.0),
    "mean": lambda s: np.mean(s),
    "prod": lambda s: np.prod(s),
    "outer": lambda s: np.multiply.outer(s, s),
    "erf": lambda s: scipy.special.erf(s),
}
OF_ARRAYS_WITHOUT_AXES = {
    "+x": lambda s: +np.array(s),
    "-x": lambda s: -np.array(s),
    "x + 0": lambda s: np.array(s) + 0,
    "x.T": lambda s: np.array(s).T,
    "x[()]": lambda s: np.array(s)[()],
    "x[...]": lambda s: np.array(s)[...],
    "x.copy()": lambda s: np.array(s).copy(),
    "x.sum()": lambda s: np.array(s).sum(),
    "x.real": lambda s: np.array(s).real,
    "x.conj()": lambda s: np.array(s).conj(),
    "x.round()": lambda s: np.array(s).round(1),
    "where": lambda s: np.where(np.array(s) > 0, s, 0),
    "heaviside": lambda s: np.heaviside(np.array(s), 0.5) * s,
    "expand_dims": lambda s: np.expand_dims(np.array(s), 0).squeeze(),
}
OF_ARRAYS = {
    "inner": lambda s: np.inner(vector(s), vector(s)),
    "vdot": lambda s: np.vdot(vector(s), vector(s)),
    "tensordot": lambda s: np.tensordot(matrix(s), matrix(s)),
    "einsum": lambda s: np.einsum("i,i->", vector(s), vector(s)),
    "matmul": lambda s: vector(s) @ matrix(s) @ vector(s),
    "multi_dot": lambda s: np.linalg.multi_dot([vector(s), matrix(s), vector(s)]),
    "norm": lambda s: np.linalg.norm(matrix(s), 2),
    "norm of a vector": lambda s: scipy.linalg.norm(vector(s)),
    "nuclear norm": lambda s: np.linalg.norm(matrix(s), "nuc"),
    "slogdet": lambda s: np.linalg.slogdet(matrix(s))[1],
    "det": lambda s: scipy.linalg.det(matrix(s)),
    "cond": lambda s: np.linalg.cond(matrix(s)),
    "trace": lambda s: np.trace(matrix(s)),
    "median": lambda s: np.median(matrix(s)),
    "percentile": lambda s: np.percentile(vector(s), 40),
    "std": lambda s: np.std(vector(s)),
    "cov": lambda s: np.cov(vector(s)),
    "average": lambda s: np.average(vector(s), weights=vector(s)),
    "trapezoid": lambda s: np.trapezoid(vector(s)),
    "sum of two axes": lambda s: np.sum(matrix(s), axis=(0, 1)),
    "reduce": lambda s: np.multiply.reduce(vector(s)),
    "take": lambda s: np.take(vector(s), 1),
    "item": lambda s: vector(s).item(0),
    "x[..., 1]": lambda s: vector(s)[..., 1],
    "x[array]": lambda s: vector(s)[np.array(2)],
    "split": lambda s: np.split(vector(s), 3)[0].squeeze(),
    "squeeze": lambda s: vector(s)[:1].squeeze(),
    "reshape": lambda s: vector(s)[1:2].reshape(()),
    "convolve": lambda s: np.convolve(vector(s), vector(s), "valid").squeeze(),
    "logsumexp": lambda s: scipy.special.logsumexp(vector(s)),
    "max": lambda s: np.max(matrix(s), axis=(0, 1)),
}
CASES = {**OF_NUMBERS, **{f"{k} of no axes": f for k, f in OF_ARRAYS_WITHOUT_AXES.items()},
         **{f"{k} of an array": f for k, f in OF_ARRAYS.items()}}  # fmt: skip


@pytest.mark.parametrize("engine", FEW)
@pytest.mark.parametrize("name", CASES)
def test_another_name_sees_what_is_written_to_an_array(name, engine):
    of = CASES[name]

    def program(s):
        x = of(s)
        other = x
        x += 1.0
        return other * s

    value, slope = FEW[engine](jitad.value_and_grad(program), 1.5)
    np.testing.assert_allclose(value, program(1.5), rtol=1e-13)
    h = 1e-5
    expected = (program(1.5 + h) - program(1.5 - h)) / (2 * h)
    np.testing.assert_allclose(slope, expected, rtol=1e-7, atol=1e-8)


def test_a_fortran_array_of_a_number_has_an_axis():
    for f in (np.asfortranarray, np.ascontiguousarray):
        assert jitad.jit(lambda s, f=f: f(s) * 2.0)(1.5).shape == f(1.5).shape == (1,)


@pytest.mark.parametrize("engine", FEW)
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_running_sums_of_a_number_have_an_axis(axis, engine):
    def f(s):
        sums = np.cumulative_sum(np.array(s), axis=axis, include_initial=True)
        return (sums * s).sum() + np.cumulative_prod(s * s, axis=axis).sum()

    value, slope = FEW[engine](jitad.value_and_grad(f), 1.5)
    assert value == f(1.5) == 2 * 1.5**2
    assert slope == 4 * 1.5


def _masked_moments(x):
    a = np.array(x)
    return np.mean(a, axis=-1, where=a > 0.0) + np.var(a, axis=0, where=a > 0.0)


def test_a_number_has_a_mean_along_an_axis_with_a_mask_only():
    """As in NumPy, whose count of what a mask leaves in is a sum."""
    assert jitad.jit_value_and_grad(_masked_moments)(2.0) == (2.0, 1.0)
    for f in (np.mean, np.var):
        with pytest.raises(jitad.errors.JitadValueError, match="out of bounds"):
            jitad.jit_grad(lambda x, f=f: f(np.array(x), axis=-1))(2.0)
