"""Are long lists of arrays lists, at a cost that does not grow with them?"""

import numpy as np
import pytest

import jitad
from jitad import jit, jit_grad
from jitad.tape.ir import walk
from jitad.trace.around.rows import LONG
from tests.trace.running import traced
from tests.truth import differences

W = np.random.default_rng(0).normal(size=5)


def arrays(n=LONG + 20, shape=(5,), dtype=np.float64):
    return [(np.random.default_rng(k).normal(size=shape) * 3.0).astype(dtype) for k in range(n)]


def labelled(n=LONG + 20):
    return [(x, float(k % 2)) for k, x in enumerate(arrays(n))]


def fitted(w, data):
    return sum((w @ x - y) ** 2 for x, y in data)


def beside(w, data):
    total = 0.0
    for k, ((x, y), z) in enumerate(zip(data, arrays(3) * 40)):
        total += np.sin(w * x).sum() * y - z @ w * k
    return total


def remembered(w, data):
    h = np.zeros(5)
    out = []
    for x, y in data[:30]:
        h = np.tanh(w * h + x * y)
        out.append(h)
    return sum(o.sum() for o in out) + np.stack(out).max()


def by_index(w, data):
    x, _ = data[-1]
    best = max(range(len(data)), key=lambda k: data[k][0][2])
    return x @ w + data[best][0].sum() * w[0] + sum(len(x) for x, _ in data) * w[1]


@pytest.mark.parametrize("f", [fitted, beside, remembered, by_index], ids=lambda f: f.__name__)
def test_of_arrays_and_numbers(f):
    data = labelled()
    before = [(x.copy(), y) for x, y in data]
    expected, error = differences(lambda w: f(w, data), (W,), (0,), np.ones(5))
    for value, slope in (
        jitad.jit_value_and_grad(f)(W, data), jitad.jit_value_and_grad(lambda w: f(w, data))(W),
        jitad.value_and_grad(f)(W, data),
    ):  # fmt: skip
        assert value == pytest.approx(f(W, data), rel=1e-12)
        assert abs(slope.sum() - expected) <= 1e-6 * (1 + abs(expected)) + 10 * error
    assert all(np.array_equal(x, u) and y == v for (x, y), (u, v) in zip(data, before, strict=True))


def test_lists_of_all_lengths_and_arrays_of_all_lengths_share_a_kernel():
    compiled = jit_grad(fitted)
    for n in (LONG + 1, 2000):
        for m in (5, 3):
            data = [(x[:m], y) for x, y in labelled(n)]
            slope = compiled(W[:m], data)
            x, y = np.stack([x for x, _ in data]), np.array([y for _, y in data])
            np.testing.assert_allclose(slope, 2.0 * x.T @ (x @ W[:m] - y), rtol=1e-9)
    assert compiled.specialisations == ["first call"]


def test_the_tape_does_not_grow_with_the_list():
    def of(n):
        data = labelled(n)
        return len(list(walk(traced(lambda w: fitted(w, data), W).tape.body)))

    assert of(100) == of(700)


def quadratic(w, xs):
    return sum(float(k % 3) * x.sum() * w[0] for k, x in enumerate(xs))


@pytest.mark.parametrize("xs", [
    arrays(100, (2, 3)), arrays(100, (4,), np.float32), arrays(100, (3,), np.int64),
    arrays(100, (1,)), [a.T for a in arrays(100, (2, 3))], [a[::2] for a in arrays(100)],
    arrays(100, (3,), np.int32), [a > 0.0 for a in arrays(100)],
], ids=[
    "matrices", "float32", "ints", "ones", "transposed", "strided", "int32", "bools",
])  # fmt: skip
def test_other_kinds_of_arrays(xs):
    assert jit(quadratic)(W, xs) == pytest.approx(quadratic(W, xs), rel=1e-6)
    assert jit_grad(quadratic)(W, xs)[0] == pytest.approx(quadratic(W, xs) / W[0], rel=1e-6)


@pytest.mark.parametrize("xs", [
    [a[: 1 + k % 5] for k, a in enumerate(arrays(70))], [*arrays(69), np.arange(5)],
    [*arrays(69), np.float32([1, 2])], [*arrays(69), 2.0 * np.ones(())],
], ids=["ragged", "an int array", "another length", "no axes"])  # fmt: skip
def test_lists_of_unlike_arrays_come_apart(xs):
    assert jit(quadratic)(W, xs) == pytest.approx(quadratic(W, xs), rel=1e-6)


def writes_to_one(w, xs, one):
    xs[3][0] = w[0]
    return sum(x @ w for x in xs)


def writes_to_all(w, xs, one):
    for x in xs:
        x *= w[1]
    return sum(x @ w for x in xs)


def writes_by_another_name(w, xs, one):
    before = sum(x @ w for x in xs)
    one[:] = w
    return before * sum(x @ w for x in xs)


def exchanges(w, xs, one):
    xs[0], xs[1] = xs[1], xs[0]
    xs.append(w * 2.0)
    one[0] = 4.0
    return sum(x @ w for x in xs)


WRITING = [writes_to_one, writes_to_all, writes_by_another_name, exchanges]


@pytest.mark.parametrize("f", WRITING, ids=lambda f: f.__name__)
def test_arrays_that_are_written(f):
    mine, theirs = arrays(66), arrays(66)
    one, other = np.ones(5), np.ones(5)
    for _ in range(2):
        assert jit(f)(W, theirs, other) == pytest.approx(f(W, mine, one), rel=1e-12)
        for a, b in zip([*mine, one], [*theirs, other], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)


@pytest.mark.parametrize("f", WRITING[1:], ids=lambda f: f.__name__)
def test_one_of_them_by_another_name(f):
    xs = arrays(66)
    with pytest.raises(jitad.JitadError, match="shares memory with"):
        jit(f)(W, xs, xs[5])
    for a, b in zip(xs, arrays(66), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("f", WRITING[2:3], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [10, LONG + 10])
def test_one_of_them_is_written_in_a_derivative(f, n):
    """Its writes are not made in the end, but are seen in it: by all names, or it is refused."""
    along = np.linspace(0.5, 1.0, 5)

    def at(t):
        xs = arrays(n)
        return f(W + t * along, xs, xs[5])

    expected = (at(1e-6) - at(-1e-6)) / 2e-6
    for given in (
        lambda xs: jit_grad(f)(W, xs, xs[5]), lambda xs: jit_grad(lambda w: f(w, xs, xs[5]))(W),
        lambda xs: jit(jitad.jacfwd(lambda w: f(w, xs, xs[5])))(W),
        lambda xs: jitad.grad(f)(W, xs, xs[5]),
    ):  # fmt: skip
        try:
            assert given(arrays(n)) @ along == pytest.approx(expected, rel=1e-5)
        except jitad.JitadError as e:
            assert "shares memory with" in str(e)


def test_what_they_hold_may_change_between_calls():
    xs = arrays(80)
    run = jit(lambda w: sum(x @ w for x in xs))
    for change in (
        lambda: xs[3].__setitem__(0, 7.0), lambda: xs.append(np.ones(5)),
        lambda: xs.__setitem__(1, xs[2]), lambda: xs.__setitem__(2, np.ones(5, np.float32)),
        lambda: xs.clear(),
    ):  # fmt: skip
        assert run(W) == pytest.approx(sum(x @ W for x in xs), rel=1e-12)
        change()
    assert run(W) == 0.0


def test_derivatives_by_all():
    def f(xs, scale):
        return sum(scale * (x**3).sum() for x in xs)

    xs = arrays(70, (2, 2))
    slopes = jit_grad(f)(xs, 2.0)
    assert type(slopes) is list and len(slopes) == 70
    for x, slope in zip(xs, slopes, strict=True):
        np.testing.assert_allclose(slope, 6.0 * x**2, rtol=1e-12)
    slopes[0][:] = 0.0
    np.testing.assert_allclose(slopes[1], 6.0 * xs[1] ** 2, rtol=1e-12)
    np.testing.assert_allclose(jit_grad(f)(xs, 2.0)[0], 6.0 * xs[0] ** 2, rtol=1e-12)


def test_hundreds_of_unlike_arrays_are_refused():
    xs = [np.ones(1 + k % 7) for k in range(600)]
    with pytest.raises(jitad.JitadError, match="more than 500 arrays are read one by one"):
        jit(quadratic)(W, xs)
