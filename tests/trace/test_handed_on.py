"""Is a container that a branch or loop makes and fills still full after it?

Tracing undoes what a branch wrote, so whatever is handed on must have been taken apart before.
"""

from collections import Counter, OrderedDict, defaultdict, deque

import pytest

import jitad
from jitad.errors import JitadError


class Bag(set):
    pass


class Prices(dict):
    unit = 1.0


class Stack(list):
    pass


class Queue(deque):
    pass


class Votes(Counter):
    pass


class Groups(defaultdict):
    pass


class Ordered(OrderedDict):
    pass


def _key(c, x):
    c["a"] = x
    c["b"] = 2.0


FILLED = {
    set: lambda c, x: (c.add(1), c.add(2)), Bag: lambda c, x: (c.add(1), c.add(2)),
    dict: _key, Prices: _key, OrderedDict: _key, Ordered: _key, Counter: _key, Votes: _key,
    list: lambda c, x: (c.append(1), c.append(2)), Stack: lambda c, x: (c.append(x), c.append(2)),
    deque: lambda c, x: (c.append(1), c.append(2)), Queue: lambda c, x: (c.append(x), c.append(2)),
    bytearray: lambda c, x: (c.append(1), c.append(2)), Groups: _key,
}  # fmt: skip
KINDS = pytest.mark.parametrize("kind", FILLED, ids=lambda k: k.__name__)


@KINDS
def test_made_in_a_branch(kind):
    def f(x):
        made = None
        if x > 0.0:
            made = kind()
            FILLED[kind](made, x)
        return x * len(made) if made is not None else x

    compiled = jitad.jit(f, fallback=False)
    assert [compiled(x) for x in (2.0, -2.0)] == [4.0, -2.0]
    slope = jitad.jit_grad(f, fallback=False)
    assert [slope(x) for x in (2.0, -2.0)] == [2.0, 1.0]


@KINDS
def test_made_in_a_branch_and_held_by_an_object(kind):
    class Holder:
        held = ()

    def f(x):
        h = Holder()
        h.held = kind()
        if x > 0.0:
            h.held = kind()
            FILLED[kind](h.held, x)
        return x * (1 + len(h.held))

    compiled = jitad.jit(f, fallback=False)
    try:
        assert [compiled(x) for x in (2.0, -2.0)] == [6.0, -2.0]
    except JitadError as e:  # of other contents on each path not all kinds know
        assert kind not in (set, dict, list, deque, Counter, OrderedDict), e


@KINDS
def test_returned(kind):
    def f(x):
        made = kind()
        FILLED[kind](made, x)
        return made, x

    got, expected = jitad.jit(f, fallback=False)(2.0), f(2.0)
    assert got == expected and type(got[0]) is kind


def test_made_in_each_iteration():
    def f(x):
        v = x
        while v < 10.0:
            made = set()
            made.add(1)
            made.add(2)
            v *= 2.0
        return v * len(made)

    assert jitad.jit(f, fallback=False)(2.3) == f(2.3)


def test_the_attributes_of_a_class_derived_from_pythons_go_with_it():
    def f(x):
        made = None
        if x > 0.0:
            made = Prices(a=1.0)
            made.unit = 3.0 * x
        return made["a"] * made.unit if made is not None else x * x

    slope = jitad.jit_grad(f, fallback=False)
    assert slope(2.0) == pytest.approx(3.0) and slope(-2.0) == pytest.approx(-4.0)


@pytest.mark.parametrize("kind", [Bag, Prices, Queue, Votes, Groups, Ordered],
                         ids=lambda k: k.__name__)  # fmt: skip
def test_what_is_there_on_some_paths_only_is_refused_in_classes_derived_from_pythons(kind):
    def f(x):
        c = kind()
        if x > 0.0:
            FILLED[kind](c, x)
        return x * len(c)

    with pytest.raises(JitadError, match=f"what is in a {kind.__name__} depends on traced") as e:
        jitad.jit(f, fallback=False)(2.0)
    assert "test_handed_on.py" in str(e.value)


def grown(x):
    out = []
    while x < 10.0:
        out.append(x)
        x = 2.0 * x
    return out


def some(x):
    out = {"base": x}
    if x > 2.0:
        out["more"] = x * x
    return out


def few(x):
    out = {1}
    if x > 2.0:
        out.add(5)
    return out


@pytest.mark.parametrize("make", [grown, some, few], ids=lambda f: f.__name__)
@pytest.mark.parametrize("ask", [len, sum, max, min, any, all], ids=lambda f: f.__name__)
def test_of_contents_that_the_kernel_knows_or_none(make, ask):
    """Functions of Python's must not look into what stands for them."""

    def f(x):
        made = None
        if x > 0.0:
            made = make(x)
        if made is None:
            return x
        return x * ask(made.values() if make is some else made)

    compiled = jitad.jit(f, fallback=False)
    for x in (2.3, 1.1, -2.0):
        assert compiled(x) == pytest.approx(f(x), rel=1e-12)
