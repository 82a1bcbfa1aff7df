"""Does what can't be, such as arrays of extents that do not fit, matter only where it is run?

NumPy raises on the path on which it is; a trace looks at all paths.
"""

import numpy as np
import pytest

import jitad
from tests.engines import ENGINES

A = np.arange(1.0, 13.0).reshape(4, 3)


def assigned(z, a):
    z[:] = a[2:2, 2]
    return z


def assigned_by_indices(z, a):
    z[[0, 1, 2]] = np.ones(2)
    return z


def added(z, a):
    return z + a[:, 0][:3]


def added_in_place(z, a):
    z[:2] += np.ones(3)
    return z


def written_over(z, a):
    np.exp(np.ones(3), out=z)
    return z


def sorted_as_a_number(z, a):
    total = np.prod(z)
    total.sort()
    return total


def unpacked(z, a):
    u, v = z
    return u * v


WRONG = {
    "assigned": assigned,
    "assigned by indices": assigned_by_indices,
    "added": added,
    "added in place": added_in_place,
    "out=": written_over,
    "reshape": lambda z, a: z.reshape(3, 2),
    "matmul": lambda z, a: z @ np.ones(3),
    "concatenate": lambda z, a: np.concatenate([z, a]),
    "stack": lambda z, a: np.stack([z, np.ones(3)]),
    "solve": lambda z, a: np.linalg.solve(a, z),
    "min": lambda z, a: z + np.min(z[:0]),
    "where": lambda z, a: np.where(z > 0, z, np.ones(3)),
    "einsum": lambda z, a: np.einsum("i,i", z, np.ones(3)),
    "split": lambda z, a: np.split(z, 3)[0],
    "axis": lambda z, a: z.sum(axis=1),
    "sort": sorted_as_a_number,
    "unpacked": unpacked,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", WRONG)
def test_it_is_raised_where_it_is_run(name, engine):
    wrong = WRONG[name]

    def f(a, s):
        z = a[:, 0] * 2.0
        if a.max() > s:
            z = wrong(z, a)
        return np.sum(z * z)

    value, gradient = ENGINES[engine](jitad.value_and_grad(f), A, 100.0)
    assert value == f(A, 100.0)
    np.testing.assert_array_equal(gradient[:, 0], 8.0 * A[:, 0])
    assert not gradient[:, 1:].any()
    with pytest.raises(ValueError):  # NumPy's errors of axes and of linear algebra are of these
        f(A, 1.0)
    with pytest.raises(ValueError):
        ENGINES[engine](jitad.value_and_grad(f), A, 1.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_iterations_after_the_last(engine):
    """Of a loop that is written out: the third would store no elements."""
    def f(a, s):
        z = np.ones(4)
        for i in range(3):
            z[[1, -1, 0, -2]] = a[i:2:2, i]
            if z.max() > s:
                break
        return np.sum(z * a[:, 2])

    value, gradient = ENGINES[engine](jitad.value_and_grad(f), A, -1.0)
    assert value == f(A, -1.0) == A[:, 2].sum()
    assert gradient[0, 0] == A[:, 2].sum()
    with pytest.raises(ValueError):
        f(A, 100.0)
    with pytest.raises(jitad.JitadError, match="could not broadcast"):
        ENGINES[engine](jitad.value_and_grad(f), A, 100.0)


class _Plain:
    z = 1.0


class _Other(_Plain):
    z = 2.0


def test_what_a_thing_is_cannot_be_written():
    """Nobody undoes it on another path."""

    def of_another_class(x):
        c = _Plain()
        if x > 0.0:
            c.__class__ = _Other
        return c.z * x

    def other_code(x):
        def f(a):
            return a

        if x > 0.0:
            f.__code__ = (lambda a: 2.0 * a).__code__
        return f(x)

    for f in (of_another_class, other_code):
        with pytest.raises(jitad.JitadError, match="is written here, by which a trace knows"):
            jitad.jit(f, fallback=False)(1.0)
    with pytest.warns(jitad.FallbackWarning):
        assert jitad.jit(of_another_class, fallback=True)(1.0) == 2.0


class _Slotted:
    __slots__ = ("a",)


class _Open(_Slotted):
    """Has a slot, and attributes of its own."""


@pytest.mark.parametrize("x", [1.0, -1.0])
def test_places_of_an_object_that_are_not_in_its_dict(x):
    """What a path wrote there is put back, and the caller's object is as it was."""

    def slots(o, x):
        if x > 0.0:
            o.a, o.b = o.a * x + 1.0, o.b + x
        return o.a * 2.0 + o.b

    def taken_away(x):
        o = _Open()
        o.a = x
        if x > 0.0:
            del o.a
        return getattr(o, "a", 3.0 * x)

    def dicts_and_defaults(x):
        def f(a, b=1.0):
            return a * b

        o = _Open()
        o.b = x
        if x > 0.0:
            o.__dict__ = {"b": 5.0 * x}
            f.__defaults__ = (3.0,)
        return f(o.b)

    mine, theirs = _Open(), _Open()
    mine.a, mine.b = theirs.a, theirs.b = 2.0, 3.0
    for _ in range(2):
        assert jitad.jit(slots)(mine, x) == slots(theirs, x)
        assert (mine.a, mine.b) == (theirs.a, theirs.b)
    for f in (taken_away, dicts_and_defaults):
        assert jitad.jit_value_and_grad(f)(x) == (f(x), f(x) / x)
