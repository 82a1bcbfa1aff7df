"""Does an `except` of the program stay out of what only jitad refuses?

Python could do it, so what comes after the `except` would be a wrong result.  What Python or NumPy
raise, too, is the program's, and must be caught.
"""

import contextlib
import functools
import math

import numpy as np
import pytest
import scipy.linalg
import scipy.special
from scipy import sparse
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import jitad


@pytest.mark.parametrize("caught", [ValueError, Exception])
def test_broadcasts_that_jitad_refuses_are_not_caught(caught):
    """A program that catches what NumPy raises must not go by what only jitad refuses."""

    def stretched(x):
        a, b = x[x > 0.5], x[x > 0.1]
        try:
            return np.sum(a * b)
        except caught:
            return -np.sum(x)

    g = jitad.jit_value_and_grad(stretched)
    value, gradient = g(np.array([0.6, 0.7, 0.2]))
    assert value == pytest.approx(-1.5)
    assert np.array_equal(gradient, [-1.0, -1.0, -1.0])
    one = np.array([0.2, 0.3, 0.7])  # which NumPy stretches
    try:
        value, gradient = g(one)
    except jitad.JitadError:
        return
    assert value == pytest.approx(0.7 * 1.2)
    assert np.allclose(gradient, [0.7, 0.7, 1.9])


# -- what jitad has not: no engine may go on behind the `except` ----------------------------------

UNSUPPORTED = {
    "a function": lambda x: scipy.linalg.schur(x.reshape(2, 2))[0].sum(),
    "an attribute": lambda x: x.sum() * (2.0 if x.flags.c_contiguous else 3.0),
    "an attribute by its name": lambda x: x.sum() * getattr(x, "nbytes", 1) * x.strides[0],
    "a dtype": lambda x: x.astype(np.float16).sum(),
    "objects": lambda x: np.asarray(x, dtype=object).sum(),
    "bytes": lambda x: x.sum() * len(x.tobytes()),
    "a method of numbers": lambda x: x.sum() * len(x[0].hex()),
}


@contextlib.contextmanager
def quiet():
    try:
        yield
    except Exception:
        pass


class Quiet:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True


def by_except(bad, x):
    try:
        return bad(x)
    except Exception:
        return 5.0 * x.sum()


def by_its_kinds(bad, x):
    try:
        return bad(x)
    except (TypeError, AttributeError, ValueError, OverflowError):
        return 5.0 * x.sum()


def by_a_bare_except(bad, x):
    s = 5.0 * x.sum()
    try:
        s = s + bad(x)
    except:  # noqa: E722
        pass
    return s


def in_a_loop(bad, x):
    s = 5.0 * x.sum()
    for _ in range(2):
        try:
            s = s + bad(x)
            break
        except Exception:
            continue
    return s


def by_finally(bad, x):
    try:
        return bad(x)
    finally:
        return 5.0 * x.sum()  # noqa: B012


def by_suppress(bad, x):
    s = 5.0 * x.sum()
    with contextlib.suppress(TypeError, AttributeError, ValueError, OverflowError):
        s = s + bad(x)
    return s


def by_a_function_that_yields(bad, x):
    s = 5.0 * x.sum()
    with quiet():
        s = s + bad(x)
    return s


def by_a_manager(bad, x):
    s = 5.0 * x.sum()
    with Quiet():
        s = s + bad(x)
    return s


def by_a_stack(bad, x):
    s = 5.0 * x.sum()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(Exception))
        s = s + bad(x)
    return s


def in_a_generator(bad, x):
    def values():
        try:
            yield bad(x)
        except Exception:
            yield 5.0 * x.sum()

    return sum(values())


def in_a_function(bad, x):
    def attempt(f, *args):
        try:
            return f(*args)
        except Exception:
            return None

    found = attempt(bad, x)
    return 5.0 * x.sum() if found is None else found


def by_a_library(bad, x):
    try:
        return functools.reduce(lambda a, b: a + bad(b), [x], 0.0)
    except Exception:
        return 5.0 * x.sum()


WAYS = [by_except, by_its_kinds, by_a_bare_except, in_a_loop, by_finally, by_suppress,
        by_a_function_that_yields, by_a_manager, by_a_stack, in_a_generator, in_a_function,
        by_a_library]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", UNSUPPORTED)
def test_nothing_catches_what_jitad_has_not(way, what):
    f = functools.partial(way, UNSUPPORTED[what])
    x = np.array([0.3, 0.7, 1.9, 1.1])
    for engine in (jitad.grad(f), jitad.jit_grad(f), jitad.jit(f)):
        with pytest.raises(jitad.JitadError):
            engine(x)
    with pytest.warns(jitad.FallbackWarning):  # Python does it
        assert jitad.jit(f, fallback=True)(x) == f(x)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_catches_integers_that_python_alone_has(way):
    f = functools.partial(way, lambda x: x.sum() * int(x[0] * 1e30))
    for engine in (jitad.grad(f), jitad.jit_grad(f), jitad.jit(f)):
        with pytest.raises(jitad.JitadError):
            engine(np.array([0.3, 0.7, 1.9, 1.1]))


@pytest.mark.filterwarnings("ignore::jitad.FallbackWarning")
@pytest.mark.parametrize("one", [lambda v: v.item(), lambda v: 2.0 if bool(v) else 3.0])
def test_nothing_catches_an_array_that_may_be_of_one_element(one):
    """How many elements a mask picks only the kernel knows."""
    def f(x):
        try:
            v = one(x[x > 2.0])
        except (TypeError, ValueError):
            v = 0.5
        return v * x[0]

    compiled = jitad.jit(f, fallback=True)
    for at in ([0.3, 1.0, 2.5], [2.3, 1.0, 2.5], [0.3, 1.0, 2.5]):
        x = np.array(at)
        assert compiled(x) == f(x)
        with contextlib.suppress(jitad.JitadError):
            np.testing.assert_allclose(jitad.jit_grad(f)(x), jitad.grad(f)(x), rtol=1e-13)
        slope = (f(x + 1e-6 * np.eye(3)[0]) - f(x - 1e-6 * np.eye(3)[0])) / 2e-6
        assert jitad.grad(f)(x)[0] == pytest.approx(slope, rel=1e-8)


class Node:
    def __init__(self, value, following=None):
        self.value, self.following = value, following


def test_objects_without_a_truth_of_their_own_are_true():
    last = Node(2.0)
    first = Node(1.0, last)

    def f(x):
        node, total = first, 0.0 if first.following else x
        while node:
            total = total + node.value * x
            node = node.following
        return total if first and last else -total

    g = jitad.jit_value_and_grad(f, fallback=False)
    for value in (2.0, 3.0):
        last.value = value
        assert g(1.5) == (f(1.5), 1.0 + value)
    last.following = Node(4.0)
    assert g(1.5) == (f(1.5), 8.0)


def test_who_asks_for_an_attribute_gets_no_other():
    def f(x):
        return x.sum() if getattr(x, "ctypes", None) is not None else 5.0 * x.sum()

    for engine in (jitad.grad(f), jitad.jit_grad(f)):
        with pytest.raises(AttributeError, match="ctypes"):
            engine(np.ones(3))
    assert np.array_equal(jitad.grad(lambda x: x.sum() * hasattr(x, "ctypes"))(np.ones(2)), [1, 1])


BY_VALUE = {
    "least squares of too few": lambda x: np.linalg.lstsq(
        np.outer(x, np.ones(2)), x, rcond=None)[0].sum(),
    "a complex root": lambda x: np.abs(scipy.linalg.sqrtm(-np.diag(x))).sum(),
    "an infinite logarithm": lambda x: scipy.linalg.logm(np.diag(x * [0.0, 1.0, 1.0, 1.0]))[1, 1],
    "what is masked": lambda x: 0.0 if np.ma.masked_greater(x, 0.5)[0] is np.ma.masked else x[0],
    "none but masked ones": lambda x: 0.0 if np.ma.masked_greater(
        x, 0.0).sum() is np.ma.masked else x[0],
    "a profile of no width": lambda x: scipy.special.voigt_profile(x, 0.0, 1.0).sum(),
    "no rotation": lambda x: Rotation.from_matrix(np.diag(x[:3] ** 20)).as_rotvec().sum(),
}  # fmt: skip


@pytest.mark.parametrize("what", BY_VALUE)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:.*logm")
def test_nothing_catches_what_is_refused_for_its_values(what):
    bad = BY_VALUE[what]
    x = np.array([0.9, 1.1, 1.3, 1.7])
    bad(x)  # raises nothing
    for run in (jitad.grad, jitad.jit_grad, jitad.jit):
        with pytest.raises(jitad.JitadError):
            run(lambda x: by_except(bad, x))(x)


POWERS = {
    "a complex one": (lambda x, n: abs((-x) ** 0.5), jitad.JitadError),
    "a float of integers": (lambda x, n: x * 2**n, jitad.JitadError),
    "none of NumPy's integers": (lambda x, n: x * np.int64(2) ** n, None),
}


@pytest.mark.parametrize("what", POWERS)
def test_powers_that_kernels_have_not(what):
    """Python's are complex or floats, which a kernel can't foresee; NumPy's raise."""
    power, refused = POWERS[what]

    def f(x, n):
        try:
            return power(x, n)
        except (TypeError, ValueError):
            return 7.0 * x

    for k in (2, -2):
        expected = f(1.3, np.int64(k)) if refused is None else f(1.3, k)
        try:
            assert jitad.jit(f)(1.3, k) == pytest.approx(expected, rel=1e-15)
        except jitad.JitadError:
            assert refused is not None and (k < 0 or "complex" in what)
            with pytest.raises(jitad.JitadError):
                jitad.jit_grad(f)(1.3, k)


def test_another_number_of_arguments_spread_out():
    def one(a):
        return a

    def f(x):
        try:
            return one(*[v for v in [x, 2.0 * x] if v > 1.0])
        except TypeError:
            return 7.0 * x

    for x in (0.2, 0.7, 1.3):
        assert jitad.jit(f)(x) == f(x)
        assert jitad.jit_grad(f)(x) == jitad.grad(f)(x) == (2.0 if 0.5 < x < 1.0 else 7.0)


def test_errors_of_jitads_own_are_caught_by_their_names():
    def f(x):
        try:
            return scipy.linalg.schur(x.reshape(2, 2))[0].sum()
        except jitad.JitadError:
            return 5.0 * x.sum()

    assert np.array_equal(jitad.grad(f)(np.ones(4)), [5.0] * 4)


# -- what Python or NumPy raise, too: the program goes on behind the `except` ---------------------

RAISING = {
    "the length of a number": lambda s, a: len(s),
    "the items of a number": lambda s, a: iter(s),
    "a list of a number": lambda s, a: list(s),
    "a number called": lambda s, a: s(),
    "an item of a number": lambda s, a: s[0],
    "an attribute of a number": lambda s, a: s.shape,
    "another attribute of an array": lambda s, a: a.append(1.0),
    "None": lambda s, a: s + None,
    "a text": lambda s, a: s < "a",
    "a range of floats": lambda s, a: range(s),
    "a float for an index": lambda s, a: [1, 2][s],
    "a float for an extent": lambda s, a: np.zeros(s),
    "a float for an exponent of matrices": lambda s, a: np.linalg.matrix_power(np.eye(2), 0.5),
    "a float for a whole number": lambda s, a: math.factorial(s),
    "an array for a number": lambda s, a: float(a),
    "an array for a function of numbers": lambda s, a: math.sin(a),
    "an array for a key": lambda s, a: {}[a],
    "the hash of an array": lambda s, a: hash(a),
    "the truth of an array": lambda s, a: bool(a),
    "an element of many": lambda s, a: a.item(),
    "too many indices": lambda s, a: a[0, 0],
    "out of bounds": lambda s, a: a[7],
    "no key": lambda s, a: {"a": 1}["b"] * s,
    "no square root": lambda s, a: math.sqrt(-s),
    "no quotient": lambda s, a: 1 / (s * 0),
    "past all floats": lambda s, a: math.exp(s * 10000),
    "not a number": lambda s, a: int(s * math.nan),
    "no factors": lambda s, a: np.linalg.cholesky(-np.eye(2) * s),
    "no inverse": lambda s, a: np.linalg.inv(np.eye(2) * 0 * s),
    "other extents": lambda s, a: a + np.ones(3),
    "another shape": lambda s, a: a.reshape(7),
    "too few values": lambda s, a: [p for p, q in [a]],
    "one of two choices": lambda s, a: np.where(a, a),
    "a step of zero": lambda s, a: np.arange(0, s, 0),
    "an argument too many": lambda s, a: (lambda u: u)(s, a),
    "no such name": lambda s, a: undefined,  # noqa: F821
    "none is least": lambda s, a: min([]),
}


@pytest.mark.parametrize("what", RAISING)
def test_what_python_raises_is_caught(what):
    bad = RAISING[what]

    def f(s, a):
        try:
            bad(s, a)
            r = 1.0
        except Exception:
            r = 2.0
        return r * s * s

    a = np.array([0.3, 0.7, 1.9, 1.1])
    assert f(0.7, a) == 2.0 * 0.7 * 0.7
    assert jitad.grad(f)(0.7, a) == pytest.approx(2.8, rel=1e-12)
    assert jitad.jit(f, fallback=True)(0.7, a) == pytest.approx(0.98, rel=1e-12)
    assert jitad.jit_grad(f, fallback=True)(0.7, a) == pytest.approx(2.8, rel=1e-12)


# -- what is read before all -----------------------------------------------------------------------


THINGS = {
    "a sparse matrix": (sparse.csr_matrix([[1.0, 0.0], [2.0, 3.0]]), lambda m, x: m.dot(x[:2])[1]),
    "a spline": (CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0]), lambda s, x: s(x).sum()),
    "a polynomial": (np.polynomial.Polynomial([1.0, 2.0]), lambda p, x: p(x).sum()),
    "an array": (np.array([1.0, 2.0, 3.0]), lambda a, x: a @ x),
    "a list": ([1.0, 2.0], lambda v, x: v[1] * x.sum()),
}


@pytest.mark.parametrize("what", THINGS)
def test_things_from_outside_may_be_met_in_an_attempt_first(what):
    thing, use = THINGS[what]

    def f(x):
        try:
            v = use(thing, x)
        except (TypeError, ValueError, IndexError):
            v = x[0]
        return v * x[1]

    x = np.array([0.3, 0.5, 0.9])
    value, slopes = jitad.jit_value_and_grad(f, fallback=False)(x)
    assert value == pytest.approx(f(x), rel=1e-14)
    np.testing.assert_allclose(slopes, jitad.grad(f)(x), rtol=1e-13)
