"""What is another kind of thing after the first iterations of a loop than before it.

`out = 0.0`, and in the loop `out = out + array`: a sum of a series.  The first iterations are
written out then and the others are a loop; that it is one is tested by counting equations.
"""

import itertools

import numpy as np
import pytest
from running import traced

from jitad import JitadError, jit, jit_grad, jit_value_and_grad, jvp, value_and_grad
from jitad.tape.ir import walk

Z = np.array([0.3, -0.2, 0.45])
ROWS = np.array([[0.3, 0.2], [-0.5, 0.1], [0.4, 0.9], [0.2, -0.3], [1.1, 0.6], [0.7, 0.8]])


class Sum:
    def __init__(self):
        self.total = 0.0


def powers(z, n):
    out = 0.0
    for k in range(n):
        out = out + z**k
    return np.sum(out * out)


def series(z, n):
    t = out = 1.0
    for k in range(n):
        t = t * z / (k + 1)
        out += t
    return np.sum(out)


def two_before(z, n):
    before, now = 0.0, 1.0
    for _ in range(n):
        before, now = now, 0.5 * before + now * z
    return np.sum(now) * np.sum(before)


def three_before(z, n):
    a, b, c = 0, 1.0, 2.0
    for _ in range(n):
        a, b, c = b, c, 0.5 * a + c * z + b
    return np.sum(a + b + c)


def until_small(z, n):
    t, out = 1.0, 1.0
    for k in range(n):
        t = t * (1.5 + k) / (2.5 + k) * z
        out = out + t
        if np.all(np.abs(t) <= 1e-3 * np.abs(out)):
            break
    else:
        out = out * 2.0
    return np.sum(out)


def returned(z, n):
    out = 0.0
    for k in range(n):
        out = out + z ** (k + 1)
        if np.max(np.abs(z ** (k + 1))) < 1e-3:
            return np.sum(out) * 3.0
    return np.sum(out)


def left_at_once(z, n):
    out = 0.0
    for k in range(n):
        out = out + z * (k + 1)
        if np.max(out) > 0.4:
            break
        out = out * z
    return np.sum(out)


def passed_over(z, n):
    out = 0.0
    for k in range(n):
        out = out + z * k
        if k % 2:
            continue
        out = out * z + 1.0
    return np.sum(out)


def backwards(z, n):
    out = 0.0
    for k in range(2 * n, n, -1):
        out = (out + z) * k**0.5 * 0.3
    return np.sum(out)


def of_rows(z, n):
    out, weight = 0.0, np.ones(len(ROWS))
    for row, w in zip(ROWS * z[0], weight, strict=True):
        out = out * 0.5 + row * w
    return np.sum(out * out) * n


def numbered_rows(z, n):
    out = 0.0
    for k, row in enumerate(ROWS * z[1]):
        out = out * 0.5 + row * (k + 1)
    return np.sum(out * out) * n


def of_as_many_rows(z, n):
    out = 0.0
    for row in np.outer(np.arange(1.0, n + 2.0), z):
        out = out * 0.5 + row
    return np.sum(out * out)


def of_pairs(z, n):
    out = 0.0
    for k, (row, w) in enumerate(zip(np.outer(np.arange(n + 1.0), z), np.arange(n + 1.0) * z[1])):
        out = out * 0.5 + row * (k + w)
    return np.sum(out * out)


def summed(z, n):
    return np.sum(sum(np.array([v, v * z[1]]) for v in np.arange(1.0, n + 2.0) * z[0]))


def summed_of_a_list(z, n):
    kept = [v for v in np.outer(np.arange(n + 2.0), z).ravel() if v > 0.5 - n]
    return np.sum(sum(np.array([v, v * v]) for v in kept))


def far_from_zero(z, n):
    out = 0.0
    for k in range(-2, n - 2):
        out = out + z * k
    for k in range(3 * n, n, -2):
        out = out + z**k
    return np.sum(out)


def into_an_attribute(z, n):
    held = Sum()
    for k in range(n):
        held.total = held.total * z + z**k
    return np.sum(held.total)


def into_a_dict(z, n):
    held = {"total": 0.0}
    for k in range(n):
        held["total"] += z**k
    return np.sum(held["total"])


def into_a_list(z, n):
    held = [0.0, 1.0]
    for k in range(n):
        held[0] = held[0] + held[1] * z**k
        held[1] = held[1] * z
    return np.sum(held[0] * held[1])


def within(z, n):
    total = 0.0
    for i in range(n):
        inner = 0.0
        for k in range(n + 1):
            inner = inner + z**k * (i + 1)
        total = total + inner
    return np.sum(total)


def more_axes(z, n):
    out = np.zeros(3)
    for k in range(n):
        out = 0.3 * out + z[:, None] * z * (k + 1)
    return np.sum(out)


def wider(z, n):
    out = np.zeros(3, np.float32)
    for k in range(n):
        out = out * 0.5 + z * (k + 1)
    return np.sum(out)


def longer(z, n):
    out = np.ones(1)
    for _ in range(n):
        out = out * z
    return np.sum(out)


def complex_soon(z, n):
    out = 1.0
    for _ in range(n):
        out = out * (z + 0.5j)
    return np.sum(np.abs(out) ** 2)


def while_large(z, n):
    out, k = 1.0, 0
    while np.max(np.abs(z**k)) > 0.1**n:
        out = out + z**k / (1.0 + k)
        k += 1
    return np.sum(out)


def while_apart(z, n):
    before, now = 0.0, 1.0
    while abs(np.max(now) - np.max(before)) > 0.1**n:
        before, now = now, np.cos(now * z)
    return np.sum(now) + np.sum(before)


def until_left(z, n):
    out = t = 1.0
    k = 0
    while True:
        k += 1
        t = t * z / k
        out = out + t
        if np.max(np.abs(t)) < 0.1**n:
            break
        if k % 2:
            continue
        out = out * 1.5
    return np.sum(out)


def while_of_a_number(z, n):
    out, t = 0.0, z[0] + n
    while t > 0.1:
        out = out + z * t
        t = 0.5 * t
    return np.sum(out * out)


def while_within(z, n):
    total = 0.0
    for i in range(n):
        inner, t = 0.0, z[0] + i
        while t > 0.2:
            inner = inner + z * t
            t = 0.5 * t
        total = total + inner
    return np.sum(total)


def counted_by_data(z, n):
    out = 0.0
    for k in range(int(z[0] * 11.0 + n)):
        out = out + z**k
    return np.sum(out)


PROGRAMS = [
    while_large, while_apart, until_left, while_of_a_number, while_within, counted_by_data, powers,
    series, two_before, three_before, until_small, returned, left_at_once, passed_over, backwards,
    of_rows, numbered_rows, into_an_attribute, into_a_dict, into_a_list, within, more_axes, wider,
    longer, complex_soon, of_as_many_rows, of_pairs, summed, summed_of_a_list, far_from_zero,
]  # fmt: skip


def differences(f, z, h=1e-3):
    def at(t, k):
        moved = z.copy()
        moved[k] += t
        return f(moved)

    return np.array([
        (8 * (at(h, k) - at(-h, k)) - (at(2 * h, k) - at(-2 * h, k))) / (12 * h)
        for k in range(len(z))
    ])  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("known", [True, False], ids=["known", "given"])
def test_gradients(f, known):
    compiled = jit_value_and_grad(f)
    for n in (9, 12, 7):
        if known:
            g, args = (lambda z, n=n: f(z, n)), (Z,)
            got, eager = jit_value_and_grad(g)(*args), value_and_grad(g)(*args)
        else:
            got, eager = compiled(Z, n), value_and_grad(f)(Z, n)
        true = f(Z, n), differences(lambda z, n=n: f(z, n), Z)
        for value, gradient in (got, eager):
            assert value == pytest.approx(true[0], rel=1e-12)
            np.testing.assert_allclose(gradient, true[1], rtol=2e-7, atol=1e-9)


@pytest.mark.filterwarnings("ignore::jitad.errors.FallbackWarning")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_any_number_of_iterations(f):
    """The kernel for many iterations is not run for none."""
    kernel = jit(f, fallback=True)
    for n in (9, 1, 0, 2, 3, 4, 5, 6, 0, 30):
        assert kernel(Z, n) == pytest.approx(f(Z, n), rel=1e-12)


@pytest.mark.parametrize("f", [powers, two_before, left_at_once, within], ids=lambda f: f.__name__)
def test_second_derivatives(f):
    curvature = jit_grad(lambda z: np.sum(jit_grad(lambda y: f(y, 6))(z) * z))(Z)
    true = differences(lambda z: np.sum(differences(lambda y: f(y, 6), z) * z), Z)
    np.testing.assert_allclose(curvature, true, rtol=1e-5)


def size(f, *args):
    return sum(1 for _ in walk(traced(f, Z, *args).tape.body))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_they_are_loops(f):
    """As many equations for 300 iterations as for 20."""
    if f in (of_rows, numbered_rows):
        return  # these are over as many rows
    few, many = size(f, 20), size(f, 300)
    assert many == few


@pytest.mark.filterwarnings("ignore::jitad.errors.FallbackWarning")
def test_loops_that_are_not_entered():
    """What a trace can't know about numbers, the kernel finds out; then the eager engine runs."""
    z = np.array([-5.02, 0.3])
    for f, n in ((while_of_a_number, 1), (counted_by_data, 1), (while_within, 7)):
        g = jit_value_and_grad(f, fallback=True)
        for at, m in ((Z, 9), (z, n), (Z, 8), (z, n), (z, 60)):
            value, gradient = g(at, m)
            assert value == pytest.approx(f(at, m), rel=1e-12)
            true = differences(lambda z, f=f, m=m: f(z, m), at)
            np.testing.assert_allclose(gradient, true, rtol=1e-6, atol=1e-8)
        with pytest.raises(JitadError, match="ends before its variables"):
            jit_value_and_grad(f)(z, n)


def test_one_kernel_for_all_counts():
    kernel = jit(powers)
    for n in (9, 10, 50, 200):
        kernel(Z, n)
    assert kernel.explain().count("kernel ") == 1


def test_many_such_loops_are_as_many_equations():
    def repeated(z, times):
        total = 0.0
        for _ in itertools.repeat(None, times):
            out = 0.0
            for k in range(50):
                out = out + z**k
            total = total + np.sum(out)
        return total

    sizes = [size(repeated, times) for times in (2, 4, 8)]
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])


def is_the_argument_first(z):
    out = 0.0
    for k in range(9):
        out = z if k == 0 else out + z * 0.5
    return np.sum(out * out)


def is_held_and_written(z):
    out, first = 1.0, None
    for k in range(9):
        new = out * z
        if first is None:
            first = new
        out = new
        if k == 4:
            first[0] = 2.0
    return np.sum(out) + np.sum(first)


def is_written_in_place(z):
    out = 0.0
    for k in range(9):
        if k == 0:
            out = z.copy()
        else:
            out[-1] += out[k % len(z)] * 0.5
            out[::2] *= 0.9
    return np.sum(out)


def is_another_ones(z):
    before = now = 0.0
    for k in range(9):
        before = now
        now = now + z
        now[0] *= 0.5 if k else 1.0
    return np.sum(now * before)


def is_without_elements(z):
    out = 0.0
    for _ in range(9):
        out = out + z[len(z) :]
    return np.sum(out) + z[0] + out.size


def is_nan_and_infinite_elsewhere(z):
    out, w = 0.0, np.array([1.0, np.nan, np.inf])
    for k in range(9):
        out = out + np.where(np.isfinite(w), z * k, w)
    return out[0]


def is_read_from_its_end(z):
    out = 0.0
    for k in range(-4, 5):
        out = out + z[k % len(z) - len(z)] * z
    return np.sum(np.sqrt(out[:-1] * 0 + out[1:] ** 2))


def is_of_infinite_slope(z):
    out = 0.0
    for k in range(9):
        out = out + np.sqrt(np.abs(z - z[1]))[::2] * k
    return out.sum()


def is_in_a_list(z):
    out, held = 0.0, []
    for _ in range(12):
        held.append(out)
        out = out + z
    return np.sum(held[-1]) + np.sum(held[3])


def is_a_cells(z):
    out = 0.0

    def add(v):
        nonlocal out
        out = out + v

    for k in range(12):
        add(z * k)
    return np.sum(out)


OTHERS = [is_the_argument_first, is_held_and_written, is_written_in_place, is_another_ones,
          is_without_elements, is_nan_and_infinite_elsewhere, is_read_from_its_end,
          is_of_infinite_slope, is_in_a_list, is_a_cells]  # fmt: skip


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
def test_aliases_and_singular_elements(f):
    given, t = Z.copy(), np.array([0.3, -0.5, 0.2])
    true = differences(f, Z)
    for engine in (jit_value_and_grad, value_and_grad):
        value, gradient = engine(f)(given)
        assert value == pytest.approx(f(Z.copy()), rel=1e-13)
        np.testing.assert_allclose(gradient, true, rtol=2e-7, atol=1e-9)
    assert jit(lambda z: jvp(f, (z,), (t,))[1])(given) == pytest.approx(true @ t, rel=1e-6)
    np.testing.assert_array_equal(given, Z)
