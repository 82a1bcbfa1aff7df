"""Numbers at the edge of what a function takes: counted from the end, negative, zero, infinite."""

import cmath
import math

import numpy as np
import pytest
import scipy.fft
import scipy.ndimage
import scipy.special

import jitad

A = np.arange(5.0)


@pytest.mark.parametrize("n", range(-7, 8))
def test_insert_counts_from_the_end(n):
    for f in (lambda a, n: np.insert(a, n, 7.0), lambda a, n: np.insert(a, n, [7.0, 8.0])):
        try:
            want = f(A, n)
        except IndexError:
            with pytest.raises(IndexError):
                jitad.jit(f)(A, n)
            with pytest.raises(IndexError):
                jitad.grad(lambda a, f=f: f(a, n).sum())(A)
        else:
            np.testing.assert_array_equal(jitad.jit(f)(A, n), want)


def test_degrees_of_freedom_are_no_fewer_than_none():
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        for f in (lambda a, n: np.var(a, ddof=n), lambda a, n: np.std(1j * a, ddof=n)):
            for n in (0, 4, 5, 9, 6.5):
                np.testing.assert_allclose(jitad.jit(f)(A, n), f(A, n))


@pytest.mark.parametrize("f, n", [
    (lambda n: np.partition(A, n), 5), (lambda n: np.argpartition(A, n), -6),
    (lambda n: np.bincount([0, 1], minlength=n), -1), (lambda n: np.pad(A, n), -1),
    (lambda n: np.pad(A, (1, n), mode="edge"), -2), (lambda n: np.vander(A, n), -1),
    (lambda n: scipy.fft.dct(A, n=n), -1), (lambda n: scipy.fft.dst(A, n=n), -2),
])  # fmt: skip
def test_refused_by_numpy(f, n):
    with pytest.raises(ValueError):
        f(n)
    with pytest.raises(ValueError):
        jitad.jit(f)(n)
    with pytest.raises(ValueError):
        jitad.grad(lambda x: np.sum(f(n) * x))(1.0)


def test_powers_of_ints_one_after_the_other():
    compiled = jitad.jit(np.power.reduce)
    assert compiled(np.array([2, 3, 2])) == 64
    with pytest.raises(ValueError):
        compiled(np.array([2, -3]))


@pytest.mark.parametrize("x", [-0.0, -2.0, 2.5, -2.5, np.inf, -np.inf, np.nan])
def test_parts_of_a_number(x):
    for got, want in zip(jitad.jit(lambda x: np.modf(x))(x), np.modf(x), strict=True):
        np.testing.assert_array_equal((got, np.signbit(got)), (want, np.signbit(want)))


def test_slope_of_what_is_left_of_zero():
    for how in (jitad.grad, jitad.jit_grad):
        assert [how(math.remainder)(x, 2.0) for x in (0.0, -0.0, 0.3, 4.0)] == [1.0] * 4


@pytest.mark.parametrize("x, n", [(1e-300, 1100), (1e300, -1100), (5e-324, 1074), (0.0, 5000),
                                  (np.inf, -5000), (1.5, 3), (np.float32(1.5), 100)])  # fmt: skip
def test_powers_of_two_beyond_the_floats(x, n):
    assert jitad.jit(lambda x, n: np.ldexp(x, n))(x, n) == np.ldexp(x, n)


def test_invert_of_a_bool_is_one():
    for x in (True, False):
        got = jitad.jit(lambda x: np.invert(x))(x)
        assert type(got) is bool and got is not x


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_an_image_of_one_row_is_its_own_mirror(order):
    def moved(a):
        return np.sum(scipy.ndimage.shift(a, (0.3, -1.2), order=order, mode="mirror") * A)

    a = np.sin(np.arange(5.0))[None, :]
    want = [moved(row[None, :]) for row in np.eye(5)]  # it is linear
    assert np.isclose(jitad.jit(moved)(a), moved(a))
    for how in (jitad.grad, jitad.jit_grad):
        np.testing.assert_allclose(how(moved)(a)[0], want, atol=1e-12)


@pytest.mark.parametrize("n", [-2, -1, 0, 4, -0.5, 2.5])
def test_factorials_of_negative_numbers(n):
    got = jitad.jit(lambda n: scipy.special.factorial(n))(n)
    assert np.isclose(got, scipy.special.factorial(n))


ZEROS = np.array([-0.0, 0.0, -0.0, 0.0, 1.0, -np.inf, np.nan])


@pytest.mark.parametrize("f", [
    lambda x: np.maximum(x, 0.0), lambda x: np.maximum(0.0, x), lambda x: np.minimum(x, 0.0),
    lambda x: np.minimum(-0.0, x), lambda x: np.fmax(x, x[::-1]), lambda x: np.fmin(x, x[::-1]),
    lambda x: np.clip(x, -1.0, 0.0), lambda x: np.clip(x, 0.0, 1.0),
    lambda x: np.clip(x, -0.0, 1.0),
    lambda x: x**0.5, lambda x: np.power(x, 0.5), lambda x: x[5] ** 0.5, lambda x: x[0] ** 0.5,
])  # fmt: skip
def test_signs_of_zeros_and_roots_of_infinities(f):
    with np.errstate(all="ignore"):
        want = f(ZEROS)
        for got in (jitad.jit(f)(ZEROS), jitad.jvp(f, (ZEROS,), (ZEROS,))[0]):
            known = ~np.isnan(want)
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(want)[known])


ONE = {
    "complex": lambda x: np.std(x[:1] + 1j * x[:1] ** 2),
    "complex, along an axis": lambda x: np.sum(np.std((x + 1j * x)[None], axis=0)),
    "masked": lambda x: np.ma.array(x, mask=[False, True, True]).std(),
    "masked, along an axis": lambda x: np.ma.array(
        [x, x], mask=[[True] * 3, [False] * 3]).std(0).sum(),
    "a pixel": lambda x: scipy.ndimage.standard_deviation(x, np.arange(1, 4), [1, 2, 3]).sum(),
    "without nan": lambda x: np.sum(np.nanstd(x[None], axis=0)),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_the_deviation_of_one_element_does_not_vary(name):
    for gradient in (jitad.grad(ONE[name]), jitad.jit_grad(ONE[name], fallback=False)):
        np.testing.assert_array_equal(gradient(np.array([0.5, 1.5, -2.0])), np.zeros(3))


@pytest.mark.parametrize("kind", [np.complex128, np.complex64])
def test_a_complex_determinant_of_zero_has_no_phase(kind):
    for a in (np.zeros((3, 3)), [[1j, 1], [1j, 1]]):
        expected = np.linalg.slogdet(np.array(a, kind))
        for f in (jitad.jit(lambda a: np.linalg.slogdet(a), fallback=False),
                  lambda a: jitad.vjp(np.linalg.slogdet, a)[0]):  # fmt: skip
            assert tuple(f(np.array(a, kind))) == tuple(expected) == (0.0, -np.inf)


@pytest.mark.parametrize("f", [np.arctanh, cmath.atanh])
def test_arctanh_of_infinite_numbers(f):
    compiled = jitad.jit(lambda z: f(z), fallback=False)
    for x in (0.0, -0.0, 1.0, math.inf, -math.inf):
        for y in (0.0, -2.0, math.inf, -math.inf):
            if math.isinf(x) or math.isinf(y):
                z = complex(x, y)
                for found in (compiled(z), jitad.jvp(f, (z,), (1j,))[0]):
                    assert str(complex(found)) == str(cmath.atanh(z))


def ranges(a, b, c):
    return np.arange(a), np.arange(a, b), np.arange(a, b, c), np.arange(b, dtype=np.float32)


def test_a_range_of_floats_has_floats():
    compiled = jitad.jit(ranges, fallback=False)
    for ends in ((3.0, 5, 1), (3, 5.0, 1), (3, 5, 1.0), (0, 2.5, 0.5), (2, 7, 2), (4.0, 1.0, -1.5),
                 (np.float32(2.0), 4, 1), (True, 3, 1)):  # fmt: skip
        for found in (compiled(*ends), jitad.vjp(ranges, *ends)[0]):
            for got, expected in zip(found, ranges(*ends), strict=True):
                assert got.dtype == expected.dtype
                np.testing.assert_array_equal(got, expected)


def test_a_range_in_another_type_is_filled_by_its_first_two():
    for kind in (int, np.int32, np.float32):
        f = jitad.jit(lambda a, b, c, kind=kind: np.arange(a, b, c, dtype=kind), fallback=False)
        for ends in ((0.0, 3.0, 0.5), (0.7, 4.0, 1.3), (-1.5, 2.0, 1.0)):
            np.testing.assert_array_equal(f(*ends), np.arange(*ends, dtype=kind))
