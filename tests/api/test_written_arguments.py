"""Does what a function writes to the lists, dicts and objects that it is given stay there?

In Python it does; in derivatives it does for arguments that are not differentiated, in both
engines, but that no array of the caller's is written to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from jitad import derivative, grad, jit, jit_grad


@dataclass
class Record:
    n: int
    t: float
    w: Any


def appends(x, h):
    h.append(float(x) * 2.0)
    return x**2 * len(h) * h[0]


def appends_and_reads(x, h):
    h.append(x * 2.0)
    return h[-1] ** 2 + h[0]


def counts(x, d):
    d["n"] = d.get("n", 0) + 1
    d["last"] = x
    return x * d["n"] * d["last"]


def sets_attributes(x, p):
    p.n += 1
    p.t = x * 2.0
    p.w = p.w * x
    return p.t * p.n + np.sum(p.w)


def adds(x, s):
    s.add(3)
    return x * x * len(s)


def in_a_tuple(x, t):
    t[0].append(x)
    t[1]["k"] = x * 3.0
    return t[0][-1] * t[1]["k"]


def deep_inside(x, o):
    o["a"]["b"][1] = x * x
    o["a"]["b"][0] += 1.0
    return o["a"]["b"][1] * x


def in_a_loop(x, h):
    for k in range(3):
        h[k % 2] = h[k % 2] * x + k
    return h[0] * h[1]


CASES = [
    (appends, lambda: [1.5]), (appends_and_reads, lambda: [1.5]), (counts, dict),
    (sets_attributes, lambda: Record(1, 0.5, np.ones(2))), (adds, lambda: {1, 2}),
    (in_a_tuple, lambda: ([1.0], {})), (deep_inside, lambda: {"a": {"b": [1.0, 2.0]}}),
    (in_a_loop, lambda: [0.5, 2.5]),
]  # fmt: skip


def flat(thing):
    if isinstance(thing, Record):
        return [thing.n, thing.t, *np.ravel(thing.w)]
    if isinstance(thing, dict):
        return [v for k in thing for v in flat(thing[k])]
    if isinstance(thing, (list, tuple, set)):
        return [v for part in thing for v in flat(part)]
    return [thing]


def by_keyword(f):
    return lambda x, a: grad(lambda x, a: f(x, a))(x, a=a)


def nested(f):
    return lambda x, a: grad(lambda x, a: 1.0 * f(x, a))(x, a)


OPERATORS = {"grad": grad, "derivative": derivative, "by keyword": by_keyword, "nested": nested,
             "jit_grad": jit_grad, "compiled": lambda f: jit(grad(f))}  # fmt: skip


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("f, make", CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_writes_stay(f, make, operator):
    values = [f(x, make()) for x in (2.0 + 1e-6, 2.0 - 1e-6)]
    want, then = (values[0] - values[1]) / 2e-6, make()
    f(2.0, then)
    given = make()
    assert OPERATORS[operator](f)(2.0, given) == pytest.approx(want, rel=1e-6)
    assert flat(given) == pytest.approx(flat(then), rel=1e-12)
    assert all(type(v) in (int, float, np.float64) for v in flat(given))


def test_no_array_is_written():
    def writes(x, p):
        p.w[0] = x
        return p.w[0] * p.w[1]

    for operator in (grad, jit_grad):
        p = Record(1, 0.5, np.array([1.0, 3.0]))
        assert operator(writes)(2.0, p) == 3.0
        assert p.w.tolist() == [1.0, 3.0]
