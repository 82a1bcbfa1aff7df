"""Is a loop over known things rolled where it would be long, written out, unless it must not be?"""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest

from jitad import jit, jit_value_and_grad, value_and_grad
from jitad.errors import JitadError, JitadZeroDivisionError
from jitad.tape.ir import walk
from tests.engines import on_tape
from tests.trace.running import traced
from tests.truth import differences


def much(v, w):
    for _ in range(4):
        v = math.sin(v) * w + math.exp(-v * v) / (1.0 + w * w) + math.atan(v + w)
        v = math.tanh(v) + v**3 / (1.0 + v * v) - w * math.cos(v)
    return 0.1 * v


class Term(NamedTuple):
    scale: float
    power: int


def combined(x):
    total = 0.0
    for i, j in itertools.product(range(3), repeat=2):
        if i == j == 0:
            continue
        total += much(x * i, j + 1) / (i + j)
    return total


def numbers(x):
    return sum(much(x, w) for w in [0.1 * k for k in range(9)])


def named(x):
    total = 0.0
    for t in [Term(0.1 * k, k) for k in range(9)]:
        total += much(x, t.scale) ** t.power
    return total


def computed(x):
    total = 0.0
    for w in [x / (k + 1) for k in range(9)]:
        total += much(x, w)
    return total


def left_early(x):
    total, w = 0.0, 1.0
    for w in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        total += much(x, w)
        if total > 0.25:
            break
    return total + x * w


def short_range(x):
    for k in range(3):
        x = much(x, k + 1) + much(x, 0.2) + much(x, 0.3)
    return x


def written_meanwhile(x):
    weights, total = [0.1 * x * k for k in range(9)], 0.0
    for w in weights:
        total += much(x, w)
        weights[5] = total
    return total


def extents(x):
    total = 0.0
    for n in (1, 2, 3, 4, 5):
        total += much(x, 0.3) * sum(np.ones(n) * x)
    return total


def nodes_and_weights(x):
    """Of a quadrature: known arrays beside each other."""
    nodes, weights = np.polynomial.legendre.leggauss(7)
    total = 0.0
    for t, w in zip(nodes, weights, strict=True):
        total += w * much(x * t, 1.0 + w)
    for k, (t, w) in enumerate(zip(nodes[::-1], weights)):
        total += 0.1 * k * much(x + t, w)
        if k == 5:
            break
    return total


ROLLED = [
    nodes_and_weights, combined, numbers, named, computed, left_early, short_range,
    written_meanwhile, extents,
]  # fmt: skip


def chosen_by_a_name(x):
    for name in ("a", "b", "c", "d", "e"):
        x = much(x, 0.3) + {"a": 1.0, "b": 0.2}.get(name, 0.0)
    return x


def advanced_meanwhile(x):
    pairs, total = itertools.product(range(3), range(2)), 0.0
    for i, j in pairs:
        total += much(x * i, j)
        total += x * next(pairs, (5, 0))[0]
    return total


def advanced_after(x):
    pairs, total = itertools.product(range(3), range(3)), 0.0
    for i, j in pairs:
        total += much(x * i, j + 1)
        if i:
            break
    return total + x * next(pairs)[1]


def known_after(x):
    n = 1
    for k in (1, 2, 3, 4, 5):
        x = much(x, 0.3)
        n += k
    return x * {n: 2.0}[16]


def grown_meanwhile(x):
    weights, total = [0.1, 0.2, 0.3, 0.4, 0.5], 0.0
    for w in weights:
        total += much(x, w)
        if len(weights) < 7:
            weights.append(0.05 * len(weights))
    return total


def combined_of_mixed_kinds(x):
    total = 0.0
    for u, v in itertools.product((0, x, 1, 2.0), (x, 2)):
        total += much(u, v)
    for u, v in itertools.combinations_with_replacement([1, x, 0.5], 2):
        total += much(u, v)
    return total


WRITTEN_OUT = [chosen_by_a_name, advanced_meanwhile, advanced_after, grown_meanwhile,
               combined_of_mixed_kinds]  # fmt: skip


def grid_of_weights(x):
    weights = [0.5 * i - j for i in range(9) for j in range(9) if i != j]
    by_place = {}
    for k, w in enumerate(weights):
        by_place[k] = w * w
    return x * by_place[3] + x * max(weights)


KEYS = [known_after, grid_of_weights]  # dicts take keys that only the kernel knows


def loops(f):
    return [e for e in walk(traced(f, 0.7).tape.body) if e.op in ("for", "while")]


@pytest.mark.parametrize("f", ROLLED + WRITTEN_OUT + KEYS, ids=lambda f: f.__name__)
def test_derivatives(f):
    value, slope = on_tape(value_and_grad(f), 0.7)
    assert value == pytest.approx(f(0.7), rel=1e-12)
    expected, _ = differences(f, (0.7,), (0,), [1.0])
    assert slope == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("f", ROLLED + KEYS, ids=lambda f: f.__name__)
def test_rolled(f):
    assert loops(f)


@pytest.mark.parametrize("f", WRITTEN_OUT, ids=lambda f: f.__name__)
def test_written_out(f):
    assert not loops(f)


def test_a_table_holds_the_numbers_of_python():
    """Their division by zero raises, where NumPy's gives inf."""

    def by_hand(x):
        total = 0.0
        for w in (3, 2, 1, 0, 1):
            total += much(x, 1.0) + much(x, 0.5) + x / w
        return total

    def beside_an_array(x):
        return sum(v + 1.0 / w for v, w in zip(x, [2.0, 1.0, 0.0]))

    with pytest.raises(JitadZeroDivisionError):
        jit(by_hand)(0.7)
    g = jit(beside_an_array)
    assert g(np.ones(2)) == 3.5
    with pytest.raises(ZeroDivisionError):
        g(np.ones(3))


def steepest(x):
    """What goes from one iteration to the next is None at first, an array later."""
    p = before = None
    for _ in range(40):
        r = np.cos(x) - x
        if np.abs(r).max() < 1e-3:
            break
        p = r if before is None else r + 0.1 * (x - before) * p
        x, before = x + 0.5 * p, x
    return x.sum()


def test_an_array_or_none_is_carried_by_a_loop():
    x = np.array([0.3, 1.2, 2.0])
    assert [e.op for e in walk(traced(steepest, x).tape.body)].count("while") == 1
    value, slope = on_tape(value_and_grad(steepest), x)
    assert value == pytest.approx(steepest(x), rel=1e-12)
    for k in range(3):
        expected, _ = differences(steepest, (x,), (0,), [np.eye(3)[k]], step=1e-3)
        assert slope[k] == pytest.approx(expected, rel=1e-6, abs=1e-8)


def triangle(x):
    n = 0
    for k in range(12):
        n += k
    return x * {66: 2.0}[n]


def first_large(x):
    for k in range(100):
        if k * k > 50:
            break
    return x * [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0][k]


@pytest.mark.parametrize("f", [triangle, first_large], ids=lambda f: f.__name__)
def test_a_loop_that_knows_all_it_needs_is_run_while_tracing(f):
    ops = {e.op for e in walk(traced(f, 0.7).tape.body)}
    assert ops <= {"mul", "add"}
    assert on_tape(f, 0.7) == f(0.7)


def test_what_never_ends_beside_an_array():
    def f(x):
        total = 0.0
        for axis, v in zip(itertools.cycle((1.0, 2.0, 0.5)), x):
            total += axis * v * v
        return total + sum(k * v for k, v in zip(itertools.count(1), x))

    x = np.array([0.3, -0.7, 1.1, 0.9])
    for run in (value_and_grad(f), jit_value_and_grad(f)):
        assert run(x)[0] == pytest.approx(f(x), rel=1e-14)


def test_a_zip_goes_on_where_it_was_left():
    def f(x):
        pairs = zip(np.linspace(0.1, 1.0, 6), np.arange(6.0))
        first = next(pairs)
        total = sum(u * v * x[0] for u, v in pairs) + first[0] * x[1]
        return total + x[2] * sum(u for u, _ in pairs)

    x = np.array([0.3, -0.7, 1.1])
    for run in (value_and_grad(f), jit_value_and_grad(f)):
        assert run(x)[0] == pytest.approx(f(x), rel=1e-14)


def pairs():
    return zip(np.linspace(0.1, 1.0, 6), np.arange(6.0), strict=True)


def taken_in_the_loop(x):
    it, total = pairs(), 0.0
    for u, v in it:
        total += u * v * x[0] + next(it, (0.0, 0.0))[1] * x[1]
    return total


def gone_over_in_the_loop(x):
    it, total = pairs(), 0.0
    for u, v in it:
        for s, t in it:
            total += u * t * x[0] + s * v * x[1]
    return total


def left_before_its_end(x):
    it, total = pairs(), 0.0
    for u, v in it:
        total += u * v * x[0]
        if v == 2.0:
            break
    return total + sum(u * x[1] for u, _ in it)


def two_at_once(x):
    it = pairs()
    return sum(u * t * x[0] + v * s * x[1] for (u, v), (s, t) in zip(it, it, strict=False))


def numbered_two_at_once(x):
    it = enumerate(x)
    return sum(i * v + j * w * v for (i, v), (j, w) in zip(it, it, strict=False))


@pytest.mark.parametrize("f", [
    taken_in_the_loop, gone_over_in_the_loop, left_before_its_end, two_at_once,
    numbered_two_at_once,
    lambda x: [len([*e]) + sum(k * v for k, v in e) for e in [enumerate(x)]][0],
    lambda x: [sum(r) + sum(r) for r in [reversed(x)]][0],
    lambda x: [sum(map(math.prod, z)) + sum(map(math.prod, z)) for z in [zip(x, x)]][0],
    lambda x: [x[0] * len([*z]) + x[1] * len([*z]) for z in [pairs()]][0],
])  # fmt: skip
@pytest.mark.parametrize("of", [jit_value_and_grad, value_and_grad])
def test_an_iterator_gives_each_item_once(f, of):
    """What it can't go on with it says."""
    x = np.array([0.3, -0.7, 1.1, 0.2])
    try:
        value, gradient = of(f)(x)
    except JitadError as e:
        assert "gone over twice" in str(e)
    else:
        assert value == pytest.approx(f(x))
        for k in range(4):
            expected, _ = differences(f, (x,), (0,), [np.eye(4)[k]])
            assert gradient[k] == pytest.approx(expected, rel=1e-6, abs=1e-9)
