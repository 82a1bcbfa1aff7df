"""Are writes noted that Python's library makes for the user, by what it is given to call?

Both branches of a condition run while it is traced: a write that nobody noted stays in the other.
The truth is the function itself, where the condition holds and where it doesn't.
"""

import copy
import functools
import itertools
import operator
import types

import numpy as np
import pytest

import jitad
from tests import truth
from tests.trace.running import check


class Sum:
    def __init__(self):
        self.t = 1.0

    def __call__(self, v):
        self.t += v
        return self.t

    def add(self, v):
        self.t += v
        return self.t

    @property
    def next(self):
        self.t += 1.0
        return self.t


TO_A_LIST = [
    lambda q, v: operator.setitem(q, 0, v),
    lambda q, v: operator.delitem(q, 0),
    lambda q, v: operator.iconcat(q, [v]),
    lambda q, v: q.__iadd__([v]),
    lambda q, v: q.__imul__(2),
    lambda q, v: q.__delitem__(0),
    lambda q, v: list(map(q.append, [v, 2.0])),
    lambda q, v: list(map(list.append, [q], [v])),
    lambda q, v: any(map(functools.partial(q.insert, 0), [v])),
    lambda q, v: list(itertools.starmap(q.insert, [(0, v)])),
    lambda q, v: list(map(operator.methodcaller("append", v), [q])),
    lambda q, v: list(filter(q.remove, [2.0])),
]
TO_AN_OBJECT = [
    lambda s, v: list(map(s, [v])),
    lambda s, v: list(map(s.add, [v])),
    lambda s, v: list(map(functools.partial(s.add), [v])),
    lambda s, v: sorted([2.0, 1.0], key=s.add),
    lambda s, v: list(map(operator.attrgetter("next"), [s])),
    lambda s, v: list(map(s.__setattr__, ["t"], [v])),
    lambda s, v: list(map(setattr, [s], ["t"], [v])),
]
TO_A_DICT = [
    lambda d, v: d.__ior__({"a": v}),
    lambda d, v: operator.setitem(d, "a", v),
    lambda d, v: list(map(d.__setitem__, ["a"], [v])),
    lambda d, v: list(map(d.update, [{"a": v}])),
]
INPUTS = np.array([0.9, -0.4]), np.array([0.2, -0.4])


@pytest.mark.parametrize("write", TO_A_LIST)
def test_lists(write):
    def f(x):
        q = [1.0, 2.0]
        if x[0] > 0.5:
            write(q, x[1])
        return q[0] * x[0] + q[-1] * 10.0 + len(q)

    check(f, INPUTS[0], others=[(INPUTS[1],)])


@pytest.mark.parametrize("write", TO_AN_OBJECT)
def test_objects(write):
    def f(x):
        s = Sum()
        if x[0] > 0.5:
            write(s, x[1])
        return s.t * x[0]

    check(f, INPUTS[0], others=[(INPUTS[1],)])


@pytest.mark.parametrize("write", TO_A_DICT)
def test_dicts(write):
    def f(x):
        d = {"a": 1.0}
        if x[0] > 0.5:
            write(d, x[1])
        return d["a"] * x[0]

    check(f, INPUTS[0], others=[(INPUTS[1],)])


class Module:
    """Puts down what it is given, as frameworks do, by way of what Python sets attributes with."""

    def __setattr__(self, name, value):
        self.__dict__.setdefault("names", []).append(name)
        super().__setattr__(name, value)


class Layer(Module):
    def __init__(self, w):
        self.w, self.act = w, np.tanh

    def __call__(self, x):
        return self.act(self.w * x)

    def twice(self, x):
        return self(self(x))


KEPT = [
    lambda layer: layer,
    lambda layer: vars(layer)["act"],
    lambda layer: list((layer,))[0],
    lambda layer: dict(f=layer)["f"],
    lambda layer: [*map(operator.itemgetter(0), [(layer, 1)])][0],
    lambda layer: functools.partial(layer),
    lambda layer: layer.twice,
    lambda layer: types.SimpleNamespace(f=layer).f,
    lambda layer: next(iter(copy.copy([layer]))),
]


@pytest.mark.parametrize("kept", KEPT, ids=range(len(KEPT)))
def test_objects_that_are_called_stay_what_they_are(kept):
    def f(w, x):
        layer = Layer(w)
        f = kept(layer)
        return f(x) * len(layer.names)

    want, _ = truth.ridders(lambda t: f(0.7 + t, 0.4), 1e-2)
    assert np.allclose(jitad.grad(f)(0.7, 0.4), want, rtol=1e-7)
    assert np.allclose(jitad.jit_grad(f)(0.7, 0.4), want, rtol=1e-7)
