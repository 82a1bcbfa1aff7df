"""Do corners of NumPy's functions give its values, shapes and dtypes: no axes, no elements?

NumPy itself is the truth, found by random programs; what it refuses is refused.
"""

import numpy as np
import pytest
import scipy.linalg

import jitad
from tests.engines import ENGINES

A = np.array([[1.0, -2.0, 0.0], [3.0, 4.0, 0.5]])
NONE = np.zeros((0, 3))


def seen_through_windows(a):
    z = np.round(a[0], 1)
    windows = np.lib.stride_tricks.sliding_window_view(z, 2)
    z[1] = a[1, 1]
    return windows


def scaled_once(a):
    z = np.sign(a)
    z[[0, 1]] *= 0.25
    return z


def transposed_in_place(a):
    b = a[:, :2] * 1.0
    b[:] = b.T
    return b


def empty_rows(a):
    return np.array([v * 2.0 for v in a])


def wider_on_a_condition(a):
    b = a[0]
    if a[0, 0] > 0.0:
        b = b * 0.5 + a
    return b


def _written_elsewhere(a, named):
    """By another name, which NumPy has for the same array."""
    b = a * 1.0
    named(b)[0, 1] = 7.0
    return b


def _without_nan(a):
    b = np.where(a > 0.0, a, np.nan)
    np.nan_to_num(b[0], copy=False, nan=3.0)
    return b


# which of them give the array itself, or a view of it, and which a copy
MADE = {
    "astype": lambda a: a.astype(a.dtype),
    "astype, as it is": lambda a: a.astype(a.dtype, copy=False),
    "np.astype, as it is": lambda a: np.astype(a, a.dtype, copy=False),
    "transposed as it is": lambda a: a.astype(a.dtype, copy=False).T[:2, :2].T,
    "array, if needed": lambda a: np.array(a, copy=None),
    "array in C order": lambda a: np.array(a, copy=None, order="C"),
    "array in Fortran order": lambda a: np.array(a, copy=None, order="F"),
    "asarray in Fortran order": lambda a: np.asarray(a, order="F"),
    "asarray": lambda a: np.asarray(a),
    "nan_to_num": lambda a: np.nan_to_num(a, copy=False),
    "ravel": lambda a: a.ravel(),
    "copied first": lambda a: np.copy(a).reshape(-1),
    "complex, as it is": lambda a: (a + 1j).astype(complex, copy=False).real,
}


@pytest.mark.parametrize("name", MADE)
def test_what_shares_memory(name):
    """Of arguments that lie in steps or backwards, too: a copy of one has no gaps."""

    def f(a):
        a = a.copy()
        b = MADE[name](a)
        b[1] = 2.0
        return a, b * 1.0

    for a in (A, np.repeat(A, 2, 1)[:, ::2], A[::-1, ::-1], A.astype(np.float32)):
        want = f(a)
        for engine in ("eager", "tape"):
            if engine == "tape" and not a.flags.c_contiguous and name == "asarray in Fortran order":
                continue
            got = ENGINES[engine](lambda x: jitad.jvp(f, (x,), (x,))[0], a)
            for x, y in zip(got, want, strict=True):
                _agree(x, y)


SAME = {
    "any of no axes": lambda a: np.any(a, axis=()),
    "all of no axes": lambda a: np.all(a, axis=(), keepdims=True),
    "sum of bools": lambda a: np.sum(a > 0, axis=()),
    "mean of bools": lambda a: np.mean(a > 0, axis=()),
    "prod of no axes": lambda a: np.prod(a, axis=()),
    "initial": lambda a: np.sum(a, axis=-1, initial=np.float64(0.5)),
    "initial of ints": lambda a: np.sum(a > 0, initial=1.5),
    "least and initial": lambda a: np.min(a, axis=0, initial=np.float64(2.0)),
    "outer": lambda a: np.add.outer(a, 0.5),
    "outer, from the right": lambda a: np.add.outer(0.5, a),
    "flattened with a number": lambda a: np.concatenate([a[0], 0.5], axis=None),
    "flattened with an int": lambda a: np.concatenate([a > 0, 2], axis=None),
    "pieces of their own elements": lambda a: np.piecewise(
        a, [a > 0.4, a < -1.0], [lambda v: v * v.mean(), lambda v: v * len(v), lambda v: -v]),
    "pieces of none": lambda a: np.piecewise(a, [a > 40.0], [lambda v: v * v.sum(), np.sin]),
    "not copied, with an axis": lambda a: _written_elsewhere(
        a, lambda b: np.array(b, copy=None, ndmin=3)[0]),
    "conjugate of itself": lambda a: _written_elsewhere(a, lambda b: b.conj()),
    "nan in a view": lambda a: _without_nan(a),
    "pieces of rows": lambda a: np.piecewise(a, [np.array([True, False])], [np.sin, 0.5]),
    "i less bools": lambda a: 1j - (a > 0),
    "running truth": lambda a: np.logical_and.accumulate(a, axis=1),
    "stretches of truth": lambda a: np.logical_or.reduceat(a, [0, 2, 1], axis=1),
    "largest of none": lambda a: np.nanmax(a[:0], axis=0, initial=0.5),
    "least of nan": lambda a: np.nanmin(np.where(a > 0, np.nan, a), axis=1, initial=0.5),
    "too few for a variance": lambda a: np.isnan(
        np.nanvar(np.where(a > 0, np.nan, a), axis=1, ddof=2)),
    **{f.__name__: f for f in (seen_through_windows, scaled_once, transposed_in_place, empty_rows,
                               wider_on_a_condition)},
}  # fmt: skip


def _agree(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    assert np.allclose(got, want)


@pytest.mark.filterwarnings("ignore:Degrees of freedom", "ignore:All-NaN")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SAME)
def test_values(name, engine):
    f = SAME[name]
    for a in (A, A.astype(np.float32)):
        want = f(a.copy())
        _agree(ENGINES[engine](lambda x, f=f: jitad.jvp(f, (x,), (x,))[0], a.copy()), want)
        if np.asarray(want).dtype.kind == "f":
            t = ENGINES[engine](lambda x, f=f: jitad.jvp(f, (x,), (x,))[1], a.copy())
            assert np.shape(t) == np.shape(want)


def test_a_list_of_no_rows():
    """It has no further axes in NumPy; a kernel for these extents knows that there are none."""
    _agree(jitad.vjp(empty_rows, NONE)[0], empty_rows(NONE))
    compiled = jitad.jit(empty_rows)
    _agree(compiled(A), empty_rows(A))
    _agree(compiled(NONE), empty_rows(NONE))


REFUSED = {
    "several axes to sort along": (TypeError, lambda a: np.sort(a, axis=(0, 1))),
    "several axes of places": (TypeError, lambda a: a * np.argmax(a, axis=(0, 1))),
    "several axes to sum along": (TypeError, lambda a: np.cumsum(a, axis=(1,))),
    "element from an array": (ValueError, lambda a: _written(a)),
    "weights without axes": (ValueError, lambda a: np.bincount(np.array([1]), weights=a[0, 0])),
    "powers of a matrix": (ValueError, lambda a: np.vander(a, 3)),
    "the largest complex border": (TypeError, lambda a: np.pad(a + 1j * a, 1, mode="maximum")),
}


def _written(a):
    z = a[0] * 1.0
    z[0] = a[0, :1]
    return z


@pytest.mark.parametrize("engine", ["eager", "tape"])
def test_what_is_refused(engine):
    for error, f in REFUSED.values():
        with pytest.raises(error) as caught:
            ENGINES[engine](lambda x, f=f: jitad.jvp(f, (x,), (x,))[0], A.copy())
        assert isinstance(caught.value, jitad.JitadError)


def test_a_sensitivity_of_what_a_condition_chose():
    with pytest.raises(TypeError, match="chose what kind of thing is differentiated"):
        jitad.jit(lambda a: jitad.vjp(wider_on_a_condition, a)[1](np.ones((2, 3))))(A)


@pytest.mark.parametrize("shape, axis", [((0, 3), 0), ((3, 0), 0), ((7, 1), 0), ((2, 5, 2), -2),
                                         ((0,), None), ((4, 2), None)])  # fmt: skip
def test_unique_of_empty_and_repeated_rows(shape: tuple[int, ...], axis: int | None) -> None:
    a = np.random.default_rng(5).integers(0, 2, shape).astype(float)
    found = jitad.jit(lambda a: tuple(np.unique(a, True, True, True, axis)))(a)
    for x, want in zip(found, np.unique(a, True, True, True, axis), strict=True):
        np.testing.assert_array_equal(x, want, strict=True)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_cross_products_of_vectors_of_two(sizes):
    """How many axes there are is a matter of the extents, which a kernel has to look at."""
    random = np.random.default_rng(1)
    a, b = (random.normal(size=(4, n)) for n in sizes)
    want = np.cross(a, b)
    _agree(jitad.jit(lambda a, b: np.cross(a, b))(a, b), want)
    for operator in (jitad.grad, jitad.jit_grad):
        slope = operator(lambda a, b: np.sum(np.cross(a, b) ** 2))(a, b)
        change = np.cross(np.ones(a.shape), b)
        assert np.sum(slope) == pytest.approx(2.0 * np.sum(want * change))
        with pytest.raises(ValueError, match="dimension must be 2 or 3"):
            operator(lambda a: np.sum(np.cross(a, a)))(np.ones((2, 4)))


@pytest.mark.parametrize("operator", [jitad.grad, jitad.jit_grad])
def test_einsum_of_data_alone(operator):
    """What is not differentiated goes to NumPy; `out=` of einsum is none of its operands."""
    s = np.array([[1.0, 2.0], [3.0, 5.0]])

    def f(x):
        four = np.einsum("pq,rs->prqs", s, s)
        twice = np.einsum("ij,jk,ki", s, s, s.T) + np.einsum(s, [0, 1], [1, 0])[0, 1]
        return (np.einsum("prqs,rs->pq", four, s)[0, 1] + twice) * x

    expected = s[0, 1] * np.sum(s * s) + np.trace(s @ s @ s.T) + s[1, 0]
    assert operator(f)(2.0) == pytest.approx(expected)


@pytest.mark.parametrize("f", [np.nanmax, np.nanmin, np.nanargmax, np.nanargmin])
@pytest.mark.parametrize("axis", [None, 0])
def test_what_is_never_nan_keeps_its_dtype(f, axis):
    """As floats, neighbours beyond 2**53 are one number."""
    a = np.array([[2**53, -(2**53)], [2**53 + 1, -(2**53) - 1]])
    got, want = jitad.jit(lambda a: f(a, axis=axis))(a), f(a, axis=axis)
    np.testing.assert_array_equal(got, want)
    assert np.asarray(got).dtype == want.dtype


@pytest.mark.parametrize("engine", ["eager", "tape"])
@pytest.mark.parametrize("name", ["sum", "mean", "std", "var", "prod", "max", "min", "any", "all"])
def test_a_mask_does_not_stretch_what_is_reduced(name, engine):
    """NumPy refuses masks with more elements than the array along some axis."""
    first = {"initial": 0.0} if name in ("max", "min") else {}

    def reduced(a, mask):
        return getattr(np, name)(a * 1.0, where=mask, **first)

    for shape in [(3, 4), (4,), (3, 1)]:
        mask = np.ones(shape, bool)
        for a in [np.full(s, 1.5) for s in [(1,), (4,), (1, 4), (3, 1)]]:
            try:
                want = reduced(a, mask)
            except ValueError:
                with pytest.raises(ValueError):
                    ENGINES[engine](lambda a: jitad.jvp(lambda x: reduced(x, mask), (a,), (a,)), a)
            else:
                assert ENGINES[engine](reduced, a, mask) == want


@pytest.mark.parametrize("how", [True, False, 1, 0])
def test_whether_axes_are_kept_may_be_an_argument(how):
    def f(x, keep):
        z = x + 1j * x
        return (np.sum(x, 0, None, None, keep), x.max(axis=1, keepdims=keep),
                np.var(x, keepdims=keep), np.nanmin(x, 1, keepdims=keep), np.argmin(x, 0, None,
                keepdims=keep), np.linalg.norm(x, axis=0, keepdims=keep), np.mean(z, 1,
                keepdims=keep), np.prod(z, 0, keepdims=keep), np.median(x, 1, keepdims=keep))

    x = np.array([[1.0, 3.0, 2.0], [4.0, 0.5, 7.0]])
    compiled = jitad.jit(f)
    for keep in (how, not how):
        for found, wanted in zip(compiled(x, keep), f(x, keep), strict=True):
            assert np.shape(found) == np.shape(wanted)
            np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize(("f", "options"), [
    (lambda x, n: np.reshape(x, n), (-1, 6)),
    (lambda x, shape: x.reshape(shape), ((3, 2), (-1, 2), (1, -1), (2, 3))),
    (lambda x, n: np.tensordot(x, x, n), (2, np.int64(2))),
    (lambda x, low: scipy.linalg.solve_triangular(x[:, :2], x[:, 2], lower=low), (True, False)),
    (lambda x, unit: scipy.linalg.solve_triangular(x[:, :2], x[:, 2], unit_diagonal=unit), (0, 1)),
])  # fmt: skip
def test_options_may_be_arguments(f, options):
    x = np.array([[1.0, 3.0, 2.0], [4.0, 0.5, 7.0]])
    compiled = jitad.jit(f)
    for option in (*options, *options):
        found, wanted = compiled(x, option), f(x, option)
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(found, wanted)


def stacked_into(a):
    first, second = np.zeros(2), np.zeros((4, 3))
    np.stack([a[0, 0], a[1, 1]], out=first)
    np.concatenate([a, 2.0 * a], out=second)
    return first, second


def unsafely_written(a):
    whole = np.zeros((2, 3), int)
    np.multiply(a, 10.0, out=whole, casting="unsafe")
    return whole, np.concatenate([a, a], dtype=np.float32, casting="unsafe")


CASTS = [
    stacked_into, unsafely_written,
    lambda a: np.stack([a[0, 0], a[1, 1]], dtype=np.float32),
    lambda a: np.concatenate([a[0], a[1]], out=np.zeros(6, int)),
    lambda a: np.concatenate([a[0], a[1]], out=np.zeros(5)),
    lambda a: np.stack([a, a], dtype=np.float32, casting="safe"),
]  # fmt: skip


@pytest.mark.parametrize("f", CASTS, ids=range(len(CASTS)))
@pytest.mark.parametrize("engine", ["eager", "tape"])
def test_dtypes_and_targets_of_joined_arrays(f, engine):
    def run():
        if engine == "tape":
            return ENGINES["tape"](f, A)
        return jitad.jvp(f, (A,), (np.ones_like(A),))[0]

    try:
        wanted = f(A)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            run()
        return
    found = run()
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for x, y in pairs:
        assert np.shape(x) == np.shape(y) and np.asarray(x).dtype == y.dtype
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("z", [1.0, 1.0 + 2.0j])
def test_arguments_by_numpys_names(z) -> None:
    """A replacement need not call them so; they are found by their places."""

    def f(x):
        a = z * x
        return (np.asanyarray(a=a) * np.array(object=a) + np.flip(m=np.asarray(a=a, dtype=None))
                + np.real(val=a) - np.imag(val=a) + np.flipud(m=a) * np.iscomplexobj(x=a)
                + np.fliplr(m=np.broadcast_to(array=a, shape=(3, 3)))[1] + np.tile(A=a, reps=1)
                + np.column_stack(tup=(a, a))[:, 0] + np.append(arr=a, values=2.0)[:3]
                + np.ascontiguousarray(a=a) + np.isscalar(element=a)
                + np.asfortranarray(a=a) + np.trace(np.outer(a=a, b=a), offset=0))  # fmt: skip

    x = np.arange(1.0, 4.0)
    np.testing.assert_allclose(jitad.jit(f)(x), f(x), rtol=1e-14)
    value, tangent = jitad.jvp(f, (x,), (np.ones(3),))
    np.testing.assert_allclose(value, f(x), rtol=1e-14)
    np.testing.assert_allclose(tangent, (f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rtol=1e-7)
    with pytest.raises(jitad.errors.JitadTypeError, match="m2= of flip is not supported"):
        jitad.jit(lambda a: np.flip(a, m2=1))(x)


@pytest.mark.parametrize("values", [np.ones(0), np.ones(2)])
@pytest.mark.parametrize("places", [[], [0], [1, -1]])
@pytest.mark.parametrize("shape", [(0,), (2, 0), (3,), (1,)])
def test_put_where_there_is_nothing(shape, places, values):
    """NumPy refuses places of an array without elements, also where there is nothing to put."""
    def f(a, p, v):
        z = a * 2.0
        np.put(z, p, v)
        return z

    args = np.ones(shape), np.array(places, int), values
    try:
        want = f(*args)
    except IndexError:
        want = None
    compiled = jitad.jit(f)
    compiled(np.ones(5), np.array([1]), np.ones(2))  # made for others
    for engine in (compiled, lambda *a: jitad.jvp(lambda v: f(a[0], a[1], v), (a[2],), (a[2],))[0]):
        if want is None:
            with pytest.raises(IndexError):
                engine(*args)
        else:
            np.testing.assert_array_equal(engine(*args), want)
