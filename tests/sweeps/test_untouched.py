"""Have elements that nothing is read of no part in a gradient, though their derivative is infinite?

Of distances a program reads those of pairs, and not the zeros on the diagonal, where the root has
an infinite derivative.  Truth: the loss does not depend on what is not read, so its derivative by
that is zero; all others are differences of plain NumPy, and tangents, which multiply by no zeros.
"""

from __future__ import annotations

import numpy as np
import pytest

import jitad
from tests.engines import ENGINES

POINTS = np.array([[0.3, -0.2], [1.1, 0.4], [-0.7, 0.9], [0.2, 1.6]])
ROOTS = np.array([0.0, 1.0, 4.0, 9.0])


def squares(p):
    return np.sum((p[:, None, :] - p[None, :, :]) ** 2, axis=-1)


def distances(p):
    return np.sqrt(squares(p))


def pairs(p):
    return np.sum(1.0 / distances(p)[np.triu_indices(len(p), 1)])


def mean_of_the_lower(p):
    return np.mean(distances(p)[np.tril_indices(len(p), -1)])


def not_the_diagonal(p):
    return np.sum(np.exp(-distances(p)[~np.eye(len(p), dtype=bool)]))


def filled_diagonal(p):
    d = distances(p)
    np.fill_diagonal(d, np.inf)
    return np.sum(1.0 / d)


def overwritten_by_indices(p):
    d = distances(p)
    d[np.diag_indices(len(p))] = 1.0
    return np.sum(np.log(d))


def inverses_overwritten(p):
    inverse = squares(p) ** -1.5
    inverse[np.arange(len(p)), np.arange(len(p))] = 0.0
    return np.sum(inverse @ p) + np.sum(inverse)


def overwritten_in_a_loop(p):
    d = distances(p)
    for i in range(len(p)):
        d[i, i] = 1.0
    return np.sum(1.0 / d)


def element_by_element(p):
    d, energy = distances(p), 0.0
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            energy += 1.0 / d[i, j]
    return energy


def element_by_element_under_a_condition(p):
    d, energy = distances(p), 0.0
    for i in range(len(p)):
        for j in range(len(p)):
            if i != j:
                energy += 1.0 / d[i, j] ** 2
    return energy


def rows_right_of_the_diagonal(p):
    d, energy = distances(p), 0.0
    for i in range(len(p)):
        energy += np.sum(d[i, i + 1 :] ** 1.5)
    return energy


def rows_without_themselves(p):
    d, energy = distances(p), 0.0
    for i in range(len(p)):
        energy += np.sum(1.0 / np.delete(d[i], i))
    return energy


def nearest(p):
    return np.sum(np.sort(distances(p), axis=1)[:, 1])


def nearest_by_index(p):
    d = distances(p)
    return np.sum(d[np.arange(len(p)), np.argsort(d, axis=1)[:, 1]])


def second_of_a_partition(p):
    return np.sum(np.partition(distances(p), 1, axis=1)[:, 1])


def smallest_above_zero(p):
    d = distances(p)
    return np.min(d[d > 0])


def off_diagonal(p):
    return np.sum(np.diagonal(distances(p), 1) ** 2)


def turned_and_flat(p):
    return np.sum(distances(p).T.ravel()[1:4])


def chained(p):
    close = 1.0 / (0.5 * distances(p)) - 2.0
    return np.sum(close[0, 1:] * close[1:, 0])


def by_norms(p):
    d = np.linalg.norm(p[:, None, :] - p[None, :, :], axis=-1)
    return np.sum(d[np.triu_indices(len(p), 1)] ** 3)


OF_POINTS = [pairs, mean_of_the_lower, not_the_diagonal, filled_diagonal, overwritten_by_indices,
             inverses_overwritten, overwritten_in_a_loop, element_by_element,
             element_by_element_under_a_condition, rows_right_of_the_diagonal,
             rows_without_themselves, nearest, nearest_by_index, second_of_a_partition,
             smallest_above_zero, off_diagonal, turned_and_flat, chained, by_norms]  # fmt: skip


def slope(f, x, step=1e-6):
    out = np.zeros(x.size)
    for k in range(x.size):
        away = np.zeros(x.size)
        away[k] = step
        ends = [f(x + s * away.reshape(x.shape)) for s in (1.0, -1.0)]
        out[k] = (ends[0] - ends[1]) / (2.0 * step)
    return out.reshape(x.shape)


def tangents(f, x, jvp):
    return np.array([jvp(f, (x,), (e.reshape(x.shape),))[1] for e in np.eye(x.size)])


@pytest.mark.parametrize("f", OF_POINTS, ids=lambda f: f.__name__)
def test_of_points(f):
    with np.errstate(all="ignore"):
        want = slope(f, POINTS)
        forward = tangents(f, POINTS, jitad.jvp).reshape(want.shape)
    np.testing.assert_allclose(forward, want, rtol=1e-6, atol=1e-7)
    for name, run in ENGINES.items():
        gradient = jitad.grad(f) if name == "eager" else jitad.jit_grad(f)
        with np.errstate(all="ignore"):
            found = run(gradient, POINTS)
        np.testing.assert_allclose(found, forward, rtol=1e-9, atol=1e-12, err_msg=name)


# -- of roots at zero: each element's share, and none of the first's ------------------------------

OF_ROOTS = {
    "a slice": (lambda x: np.sum(np.sqrt(x)[1:]), (1, 1, 1)),
    "an element": (lambda x: np.sqrt(x)[1], (1, 0, 0)),
    "the last": (lambda x: np.sqrt(x)[-1], (0, 0, 1)),
    "a slice of a slice": (lambda x: np.sum(np.sqrt(x)[::-1][:3][1:]), (1, 1, 0)),
    "indices": (lambda x: np.sum(np.sqrt(x)[[1, 3, 3]]), (1, 0, 2)),
    "take": (lambda x: np.sum(np.take(np.sqrt(x), [1, 2])), (1, 1, 0)),
    "a mask": (lambda x: np.sum(np.sqrt(x)[np.array([False, True, True, True])]), (1, 1, 1)),
    "a mask of values": (lambda x: np.sum(np.sqrt(x)[x > 0.0]), (1, 1, 1)),
    "compress": (lambda x: np.sum(np.compress([False, True, True, False], np.sqrt(x))), (1, 1, 0)),
    "extract": (lambda x: np.sum(np.extract(x > 0.0, np.sqrt(x))), (1, 1, 1)),
    "delete": (lambda x: np.sum(np.delete(np.sqrt(x), 0)), (1, 1, 1)),
    "nonzero": (lambda x: np.sum(np.sqrt(x)[np.nonzero(x)]), (1, 1, 1)),
    "halves": (lambda x: np.sum(np.split(np.sqrt(x), 2)[1]), (0, 1, 1)),
    "a matrix": (lambda x: np.sum(np.sqrt(x).reshape(2, 2)[1]), (0, 1, 1)),
    "rolled": (lambda x: np.sum(np.roll(np.sqrt(x), 1)[2:]), (1, 1, 0)),
    "joined": (lambda x: np.sum(np.concatenate([np.sqrt(x), x])[1:4]), (1, 1, 1)),
    "differences": (lambda x: np.sum(np.diff(np.sqrt(x))[1:]), (-1, 0, 1)),
    "sorted": (lambda x: np.sort(np.sqrt(x))[-1], (0, 0, 1)),
    "the largest": (lambda x: np.max(np.sqrt(x)), (0, 0, 1)),
    "the largest of rows": (lambda x: np.sum(np.max(np.sqrt(x).reshape(2, 2), axis=1)), (1, 0, 1)),
    "packed": (lambda x: np.array([np.sqrt(x[k]) for k in range(4)])[1:].sum(), (1, 1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ROOTS)
def test_of_roots(name):
    f, shares = OF_ROOTS[name]
    want = np.array([0.0, *(s * d for s, d in zip(shares, (0.5, 0.25, 1.0 / 6.0), strict=True))])
    for engine, run in ENGINES.items():
        if (name, engine) == ("packed", "eager"):
            continue  # NumPy's list of numbers is read element by element there
        gradient = jitad.grad(f) if engine == "eager" else jitad.jit_grad(f)
        with np.errstate(all="ignore"):
            found = run(gradient, ROOTS)
        np.testing.assert_allclose(found, want, rtol=1e-13, err_msg=engine)
        assert not np.signbit(found[0]), "-0.0 is the engine's own"


@pytest.mark.parametrize("engine", ENGINES)
def test_few_points_and_nan_in_what_is_not_read(engine):
    for f in (pairs, filled_diagonal):
        for n in (0, 1):
            gradient = jitad.grad(f) if engine == "eager" else jitad.jit_grad(f)
            with np.errstate(all="ignore"):
                found = ENGINES[engine](gradient, POINTS[:n])
            np.testing.assert_array_equal(found, np.zeros((n, 2)))
    last = (jitad.grad if engine == "eager" else jitad.jit_grad)(lambda x: np.sqrt(x)[-1])
    with np.errstate(all="ignore"):
        found = ENGINES[engine](last, np.array([0.0, np.nan, -1.0, np.inf, 4.0]))
    np.testing.assert_array_equal(found, [0.0, 0.0, 0.0, 0.0, 0.25])


ABOVE_ZERO = {
    "clipped below": lambda x: np.sum(np.sqrt(np.clip(x, 0.5, None))[1:]),
    "the larger": lambda x: np.sum(np.sqrt(np.maximum(x, 1.0))[1:]),
    "a power": lambda x: np.sum(((np.abs(x) + 1.0) ** 1.5)[1:]),
    "a half power": lambda x: np.sum(((np.abs(x) + 1.0) ** 0.5)[1:]),
}  # fmt: skip


@pytest.mark.parametrize("name", ABOVE_ZERO)
@pytest.mark.parametrize("engine", ENGINES)
def test_infinity_in_what_is_not_read_of_roots_above_zero(name, engine):
    """That there is no root of zero says nothing of infinity, where powers have infinite slopes."""
    gradient = (jitad.grad if engine == "eager" else jitad.jit_grad)(ABOVE_ZERO[name])
    with np.errstate(all="ignore"):
        found = [ENGINES[engine](gradient, np.array([x, 4.0, 9.0])) for x in (np.inf, 1.0)]
    np.testing.assert_array_equal(*found)
    assert found[0][0] == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dtypes_and_orders(dtype, order):
    d2 = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 9.0], [4.0, 9.0, 0.0]], dtype=dtype, order=order)
    gradient = jitad.jit_grad(lambda d2: np.sum(np.sqrt(d2)[np.triu_indices(3, 1)]))(d2)
    assert gradient.dtype == dtype
    np.testing.assert_allclose(gradient, [[0, 0.5, 0.25], [0, 0, 1 / 6], [0, 0, 0]], rtol=1e-6)


def cubes(x):
    return np.sum(np.sqrt(x)[1:] ** 3)


def whole_and_parts(x):
    s = np.sqrt(x)
    t = 1.0 / s
    t[0] = 2.0
    return np.sum(t * x) + np.sum(t[1:] ** 3) + np.sum(s[1:] * t[:3]) + t[2] * s[3]


SECOND = {
    "eager": jitad.hessian,
    "compiled": jitad.jit_hessian,
    "reverse over reverse": lambda f: jitad.jacrev(jitad.jacrev(f)),
    "forward over reverse": lambda f: jitad.jacfwd(jitad.jacrev(f)),
    "compiled, reverse over reverse": lambda f: jitad.jit(jitad.jacrev(jitad.jacrev(f))),
    "compiled, reverse over forward": lambda f: jitad.jit(jitad.jacrev(jitad.jacfwd(f))),
}


@pytest.mark.parametrize("name", SECOND)
def test_second_order(name):
    with np.errstate(all="ignore"):
        found = SECOND[name](cubes)(ROOTS)
    np.testing.assert_allclose(found, np.diag([0.0, 0.75, 0.375, 0.25]), rtol=1e-13)


@pytest.mark.parametrize("name", SECOND)
def test_second_order_of_whole_and_parts(name):
    """What is added as a whole and in parts, where no derivative is infinite; by complex steps."""
    x = np.array([0.5, 1.0, 4.0, 9.0])
    gradient, want = jitad.grad(whole_and_parts), np.zeros((4, 4))
    for k in range(4):
        away = np.zeros(4)
        away[k] = 1e-6
        want[k] = (gradient(x + away) - gradient(x - away)) / 2e-6
        ahead = np.imag(_complex(x + 1e-30j * np.eye(4)[k])) / 1e-30
        assert gradient(x)[k] == pytest.approx(ahead, rel=1e-12)
    np.testing.assert_allclose(SECOND[name](whole_and_parts)(x), want, rtol=1e-7, atol=1e-8)


def _complex(x):
    s = np.sqrt(x)
    t = np.concatenate([[2.0], 1.0 / s[1:]])
    return np.sum(t * x) + np.sum(t[1:] ** 3) + np.sum(s[1:] * t[:3]) + t[2] * s[3]


# -- a number that happens to be zero is no such zero ---------------------------------------------

ZEROS = {
    "a square": lambda x: np.sqrt(x)[0] ** 2 + x[1],
    "less a square": lambda x: x[1] - np.sqrt(x)[0] ** 2,
    "squares": lambda x: np.sum(np.sqrt(x)[:2] ** 2),
    "less squares": lambda x: np.sum(-(np.sqrt(x)[:2] ** 2)),
    "a difference": lambda x: np.sqrt(x)[0] - np.sqrt(x)[0] * (1.0 + x[0]),
    "a product": lambda x: np.sum((-np.sqrt(x)[:1]) * x[:1]),
    "after a store": lambda x: _stored(np.sqrt(x)),
}  # fmt: skip


def _stored(s):
    s[1] = 1.0
    return np.sum(-(s * s))


def _down(s, k):
    return 0.0 if k < 0 else _down(s, k - 1) - s[k] ** 2


def by_recursion(x, n):
    s = np.sqrt(x)
    return s[1] + _down(s, n)


@pytest.mark.parametrize("name", ZEROS)
def test_a_zero_that_was_added_stays_one(name):
    """What is x near zero has the derivative one: it may be nan by the rules, but not zero."""
    f = ZEROS[name]
    for engine, run in ENGINES.items():
        gradient = jitad.grad(f) if engine == "eager" else jitad.jit_grad(f)
        with np.errstate(all="ignore"):
            assert not np.isfinite(run(gradient, ROOTS)[0]), engine


@pytest.mark.parametrize("engine", ENGINES)
def test_a_zero_that_a_function_added(engine):
    """How deep it goes is known when it runs: what it adds it adds to the caller's adjoint."""
    gradient = jitad.grad(by_recursion) if engine == "eager" else jitad.jit_grad(by_recursion)
    with np.errstate(all="ignore"):
        assert np.isnan(ENGINES[engine](gradient, ROOTS, 2)[0])


def test_signs_of_zeros_in_the_sum():
    """-0.0 added to an element counts as something that was added."""
    def f(x, c):
        s = np.sqrt(x)
        total = 0.0
        for i in range(2):
            total += s[i] * c[i]
        return total

    for engine, run in ENGINES.items():
        gradient = jitad.grad(f) if engine == "eager" else jitad.jit_grad(f)
        with np.errstate(all="ignore"):
            found = run(gradient, ROOTS, np.array([-0.0, 2.0]))
        assert np.isnan(found[0]) and list(found[1:]) == [1.0, 0.0, 0.0], engine


def test_it_costs_what_is_read():
    """Reading an element of a root in a loop costs no pass over the array in its reverse."""
    def f(x):
        s, total = np.sqrt(x), 0.0
        for i in range(1, len(x)):
            total += s[i] * s[i - 1]
        return total

    g = jitad.jit_grad(f)
    g(np.ones(3))
    loops = [line for line in g.source.splitlines() if line.lstrip().startswith("for ")]
    assert max(len(line) - len(line.lstrip()) for line in loops) == 4, g.source


def test_only_where_parts_are_read():
    """Whole arrays pay for nothing."""
    for f in (lambda x: np.sum(np.sqrt(x) / x), lambda x: np.dot(np.log(x), x) + np.max(x)):
        g = jitad.jit_grad(f)
        g(np.ones(3))
        assert "touched(" not in g.source and "unsigned(" not in g.source
