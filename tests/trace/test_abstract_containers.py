"""Containers of the user's whose other methods `collections.abc` has; dataclasses taken apart."""

import collections.abc
import dataclasses
from dataclasses import asdict, astuple, dataclass, field, fields, is_dataclass

import numpy as np
import pytest

from jitad import jit, jit_grad, jit_value_and_grad, value_and_grad

X = np.array([1.2, 2.1, 0.7])


class Lower(collections.abc.Mapping):
    def __init__(self, held):
        self.held = held

    def __getitem__(self, key):
        return self.held[key.lower()]

    def __iter__(self):
        return iter(self.held)

    def __len__(self):
        return len(self.held)


class Memo(Lower, collections.abc.MutableMapping):
    def __setitem__(self, key, value):
        self.held[key.lower()] = value

    def __delitem__(self, key):
        del self.held[key.lower()]


class Series(collections.abc.Sequence):
    def __init__(self, held):
        self.held = held

    def __getitem__(self, k):
        return self.held[k]

    def __len__(self):
        return len(self.held)


class Stack(Series, collections.abc.MutableSequence):
    def __setitem__(self, k, value):
        self.held[k] = value

    def __delitem__(self, k):
        del self.held[k]

    def insert(self, k, value):
        self.held.insert(k, value)


class Few(collections.abc.MutableSet):
    def __init__(self, held=()):
        self.held = list(held)

    def __contains__(self, value):
        return value in self.held

    def __iter__(self):
        return iter(self.held)

    def __len__(self):
        return len(self.held)

    def add(self, value):
        if value not in self.held:
            self.held.append(value)

    def discard(self, value):
        if value in self.held:
            self.held.remove(value)


@dataclass
class Pair:
    a: float
    b: float = 2.0
    more: list = field(default_factory=lambda: [1.0, 2.0])
    inner: "Pair | None" = None


RATES, TIMES = Lower({"a": 1.5, "b": 2.5}), Series([1.0, 2.0, 3.0])
GIVEN = Pair(1.5, inner=Pair(0.5))


def keys_of_it(x):
    return x[0] * sum(RATES[k] for k in RATES.keys()) + x[1] * RATES["A"] * len(RATES)


def items_of_it(x):
    return sum(v * x[0] for k, v in RATES.items() if k != "b") + sum(RATES.values()) * x[1]


def asked_of_it(x):
    return RATES.get("q", 3.0) * x[0] + ("a" in RATES) * x[1] + ("Q" in RATES) * x[2]


def unpacked(x):
    def weighted(a, b):
        return a * x[0] + b * x[1]

    return weighted(**RATES) + sum(dict(RATES).values()) * x[2] + len(sorted(RATES))


def made_inside(x):
    m = Lower({"a": x[0], "b": x[1]})
    same = m == Lower({"a": x[0], "b": x[1]})
    return sum(v * v for v in m.values()) + m.get("b", 0.0) + (x[2] if "zz" in m or same else 0.0)


def a_memo(x):
    m = Memo({})
    m.update({"a": x[0]}, b=x[1])
    m.setdefault("C", x[2] * 2)
    taken = m.pop("A") + m.pop("nothing", 1.0)
    m.update(Lower({"d": x[0] * x[1]}))
    return taken * 3 + sum(m.values()) + len(m)


def a_series(x):
    return sum(v * x[0] for v in TIMES) + TIMES.index(2.0) * x[1] + TIMES.count(3.0) * x[2]


def a_series_inside(x):
    s = Series([x[0], x[1], x[2]])
    return sum(k * v for k, v in enumerate(reversed(s))) + s[-1] * len(s[:2])


def a_stack(x):
    s = Stack([])
    s.append(x[0])
    s.extend([x[1], x[2], x[0] * x[1]])
    s.reverse()
    last = s.pop()
    s += [2.0]
    return last * 3 + sum(k * v for k, v in enumerate(s))


def a_set(x):
    s = Few([1, 2, 3])
    s |= Few([5])
    s.discard(2)
    both = s & Few([1, 5, 7])
    return len(both) * x[0] + sum(s) * x[1] + (both <= s) * x[2]


def fields_of_it(x):
    return x[0] * sum(getattr(GIVEN, f.name) for f in fields(GIVEN) if f.type is float)


def taken_apart(x):
    a, b, more, inner = astuple(GIVEN)
    return x[0] * a + x[1] * b * more[1] + inner[0] * x[2] + asdict(GIVEN)["inner"]["b"] * x[0]


def taken_apart_inside(x):
    p = Pair(x[0], x[1], [x[2]], Pair(x[0] * x[1]))
    found = asdict(p, dict_factory=lambda pairs: dict(pairs[:3])) if is_dataclass(p) else {}
    found["more"][0] *= 2.0
    changed = dataclasses.replace(p, a=x[2]).a * len(fields(p))
    return sum(astuple(p)[:2]) + found["more"][0] * found["b"] + p.more[0] + changed


PROGRAMS = [keys_of_it, items_of_it, asked_of_it, unpacked, made_inside, a_memo, a_series,
            a_series_inside, a_stack, a_set, fields_of_it, taken_apart,
            taken_apart_inside]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f):
    true = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    for engine in (jit_value_and_grad, value_and_grad):
        value, gradient = engine(f)(X)
        assert value == pytest.approx(f(X), rel=1e-14)
        np.testing.assert_allclose(gradient, true, rtol=1e-7, atol=1e-8)


def test_changes_are_seen():
    held, given = Lower({"a": 1.0}), Pair(1.0)
    kernel = jit(lambda x: x * sum(held.values()) + sum(astuple(given)[:2]))
    assert kernel(2.0) == 5.0
    held.held["a"] = 3.0
    assert kernel(2.0) == 9.0
    held.held["b"] = 1.0
    given.a = 2.0
    assert kernel(2.0) == 12.0


def test_what_is_written_outside_is_written():
    memo = Memo({})

    def remembered(x):
        memo.update(last=x * 2.0)
        return x * memo.get("last", 0.0)

    assert jit_grad(remembered)(3.0) == 12.0
    assert memo["last"] == 6.0
