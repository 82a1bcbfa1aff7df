"""Are long lists of floats lists, at a cost that does not grow with them?"""

import math

import numpy as np
import pytest

import jitad
from jitad import jit, jit_grad
from jitad.trace.around.rows import LONG
from tests.truth import differences


def numbers(n: int) -> list[float]:
    return np.random.default_rng(n).uniform(-1.0, 1.0, n).tolist()


def chained(xs):
    total = 0.0
    for i in range(1, len(xs)):
        total += (xs[i] - xs[i - 1] ** 2) ** 2
    return total + max(xs) * sum(xs[:3]) + sum(math.sin(v) for v in xs) + xs[-1] * len(xs)


def structured(p):
    level = 0.0
    for w, v in zip(p["w"], p["v"]):
        level += w * v
    return level * p["scale"] + sorted(p["v"])[2]


def changed(xs):
    ys = list(xs)
    xs[0] = 2.0 * xs[1]
    xs.append(3.0 * xs[2])
    xs += [xs[3], 1.0]
    last = xs.pop()
    return sum(x * x for x in xs) + last * ys[0] + sum([y * y for y in ys if y > 0.0])


@pytest.mark.parametrize("n", [LONG + 1, 800, 10_000])
def test_gradients(n: int) -> None:
    f = jit_grad(chained)
    xs = numbers(n)
    slopes = f(xs)
    assert type(slopes) is list and len(slopes) == n and type(slopes[0]) is float
    for k in (0, 1, n // 2, n - 1):
        step = [0.0] * n
        step[k] = 1.0
        slope, error = differences(chained, (xs,), (0,), step, 1e-3)
        assert slopes[k] == pytest.approx(slope, rel=1e-6, abs=10 * error + 1e-9)


def test_all_lengths_share_a_kernel() -> None:
    f = jit_grad(chained)
    for n in (LONG + 1, 1000, 20_000, LONG + 1):
        assert len(f(numbers(n))) == n
    assert f.specialisations == ["first call"]
    assert len(f(numbers(5))) == 5
    assert f.specialisations == ["first call", "other types"]


def test_lists_in_structures() -> None:
    p = {"w": numbers(100), "v": numbers(200)[:100], "scale": 2.0}
    f = jit(jitad.value_and_grad(structured))
    value, slopes = f(p)
    assert value == pytest.approx(structured(p))
    want = jitad.grad(structured)(p)
    assert slopes["w"] == pytest.approx(want["w"]) and slopes["v"] == pytest.approx(want["v"])
    assert slopes["scale"] == pytest.approx(want["scale"])


def test_what_is_written() -> None:
    xs = numbers(100)
    ys = list(xs)
    assert jit(changed)(xs) == pytest.approx(changed(ys))
    assert xs == pytest.approx(ys) and len(xs) == 102
    before = list(xs)
    assert jit_grad(changed)(xs) == pytest.approx(jitad.grad(changed)(list(xs)))
    assert xs == before


def test_lists_that_are_captured() -> None:
    weights = numbers(500)

    def weighed(a):
        return sum(a * w * w for w in weights) + weights[7] * a * a

    f = jit_grad(weighed)
    for _ in range(2):
        assert f(3.0) == pytest.approx(sum(w * w for w in weights) + 6.0 * weights[7])
        weights.append(0.5)
        weights[0] = 4.0
    assert f.specialisations == ["first call"]
    weights[3] = 1  # an int
    assert f(3.0) == pytest.approx(sum(w * w for w in weights) + 6.0 * weights[7])


def test_a_list_of_floats_no_more() -> None:
    f = jit_grad(lambda xs: xs[0] * xs[1])
    xs = numbers(100)
    assert f(xs)[:3] == [xs[1], xs[0], 0.0]
    xs[50] = 2
    assert f(xs)[:3] == [xs[1], xs[0], 0.0]
    assert f.specialisations == ["first call", "other types"]


def test_what_needs_the_length_has_it() -> None:
    f = jit_grad(lambda xs: sum(tuple(xs)) * xs[0])
    xs = numbers(70)
    assert f(xs)[1] == pytest.approx(xs[0])
    assert len(f(numbers(80))) == 80


def test_directions_are_lists() -> None:
    xs, ts = numbers(100), numbers(101)[:100]
    run = jit(lambda p, t: jitad.jvp(chained, (p,), (t,)))
    assert run(xs, ts)[1] == pytest.approx(jitad.jvp(chained, (xs,), (ts,))[1])
    with pytest.raises(jitad.JitadError):
        run(xs, numbers(90))
