"""Are objects, tuples and containers of traced numbers compared as Python compares them?"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import pytest

from jitad import value_and_grad
from tests.engines import on_tape
from tests.truth import differences


@dataclass(order=True)
class Offer:
    price: float
    seller: str = field(compare=False, default="")


@dataclass(order=True)
class Timed(Offer):
    """It inherits comparisons, but has those of its own fields."""

    at: int = 0


@dataclass(frozen=True)
class Point:
    x: float
    y: float


class Pair(NamedTuple):
    a: float
    b: int


def auction(x, y):
    offers = [Offer(x, "a"), Offer(y, "b"), Offer(x * y, "c")]
    best = min(offers)
    offers.append(replace(best, price=2.0 * best.price))
    low, *_, high = sorted(offers)
    return low.price * 3.0 + high.price**2 + (x if best.seller == "a" else y)


def removed(values, v):
    same = values
    values.remove(v)
    return same[0] * same[1] + len(same)


def largest_first(x, y):
    left, total, k = [x, y, x * y, 2.0], 0.0, 1
    while left:
        top = max(left)
        left.remove(top)
        total, k = total + k * top, k + 1
    try:
        left.remove(x)
    except ValueError:
        total += y
    return total


PROGRAMS = {
    "auction": auction,
    "less": lambda x, y: x if Offer(x) < Offer(y) else y,
    "not less": lambda x, y: x if Timed(x, "", 2) >= Timed(x, "", 1) else y,
    "min": lambda x, y: min(Offer(x, "a"), Offer(y, "b")).price,
    "sorted": lambda x, y: sorted([Offer(x), Offer(y), Offer(x * y)], reverse=True)[1].price,
    "equal": lambda x, y: x if Point(x, y) == Point(y, x) else 2.0 * y,
    "unequal": lambda x, y: x * (Point(x, y) != Point(x, 1.3)) + y,
    "other class": lambda x, y: x * (Point(x, y) == (x, y)) + y,
    "tuples": lambda x, y: max(Pair(x, 1), Pair(y, 2)).a,
    "dicts": lambda x, y: x * ({"a": x, "b": y} == {"b": y, "a": x}) + y * ({"a": x} != {"a": y}),
    "index": lambda x, y: [x, y, 1.0].index(1.0) * x + (x, 1.0).index(1.0) * y,
    "count": lambda x, y: [x, y, 1.3].count(1.3) * x,
    "tuples in a list": lambda x, y: x if (y, (2, x)) in [(x, 1), (y, (2, x))] else y,
    "place of a tuple": lambda x, y: [(x, 1), (y, (2, x))].index((y, (2, x))) * x + y,
    "removed": lambda x, y: removed([x, y, x * y, 2.0], y) * x,
    "largest first": largest_first,
    "names": lambda x, y: x if sorted("ab", key={"a": x, "b": y}.get) == ["a", "b"] else y,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("at", [(0.7, 1.3), (1.9, 0.6)])
def test_like_python(name, at):
    f = PROGRAMS[name]
    for run in (on_tape, lambda g, *a: g(*a)):
        value, slopes = run(value_and_grad(f, (0, 1)), *at)
        assert value == f(*at)
        for k, slope in enumerate(slopes):
            if name == "count":  # it jumps at 1.3
                break
            if name == "unequal" and k == 1 and at[1] == 1.3:
                break
            expected, _ = differences(f, at, (k,), [1.0], step=1e-3)
            assert slope == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_method_of_lists_that_finds_nothing_raises():
    for run in (on_tape, lambda g, *a: g(*a)):
        with pytest.raises(ValueError, match="is not in list"):
            run(lambda x: [x, 2.0].index(3.0) * x, 1.0)
