"""Is an attribute that an object has on some paths only what it is in Python?"""

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest

import jitad
from tests.truth import differences


class Plain:
    pass


class WithSlots:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


class Answering:
    def __getattr__(self, name):
        if name.startswith("x"):
            return 7.0
        raise AttributeError(name)


class Default:
    size = [1.0, 2.0]

    def weight(self):
        return 4.0


class Checked:
    @property
    def scale(self):
        return self._scale if hasattr(self, "_scale") else 1.0

    @scale.setter
    def scale(self, v):
        if v <= 0.0:
            raise ValueError("scale must be positive")
        self._scale = v


class Remembering:
    def __init__(self, v):
        self.v = v

    def heavy(self):
        if not hasattr(self, "_heavy"):
            self._heavy = math.exp(self.v)
        return self._heavy


def given(kind, x, *names):
    p = kind()
    for name in names:
        if x > 1.0:
            setattr(p, name, x * x)
    return p


def asked(x):
    p = given(Plain, x, "s")
    return (x * p.s if hasattr(p, "s") else x) + getattr(p, "s", 2.0) * getattr(p, "t", x)


def missed(x):
    try:
        return given(Plain, x, "s").s * x
    except AttributeError as error:
        return x * len(str(error))


def in_slots(x):
    p = WithSlots(x)
    if x > 1.0:
        p.b = x * x
    try:
        return p.b * getattr(p, "b", 3.0)
    except AttributeError:
        return (2.0 if hasattr(p, "b") else 5.0) * p.a + getattr(p, "b", 3.0)


def answered(x):
    p, q = given(Answering, x, "x0", "y"), given(Answering, x, "y")
    there = 2.0 if hasattr(p, "x0") and not hasattr(q, "z") else 1.0
    return p.x0 * x * there + getattr(q, "y", x) + (x if hasattr(q, "y") else 0.0)


def of_the_class(x):
    p = Default()
    if x > 1.0:
        p.size = [x]
        p.weight = lambda: x
    return sum(p.size) * x + p.weight() + len(getattr(p, "size", "abc"))


def by_a_property(x):
    p = Checked()
    try:
        p.scale = x
    except ValueError:
        pass
    return p.scale * x


def remembered(x):
    m, total = Remembering(x), 0.0
    if x > 1.0:
        total += m.heavy()
    m.v = 2.0 * x
    if x < 2.0:
        total += m.heavy()
    return total + m.heavy()


def deleted(x):
    p = given(Plain, x, "s")
    try:
        del p.s
    except AttributeError:
        return x
    return x if hasattr(p, "s") else 3.0 * x * x


def in_a_loop(x):
    p, v = SimpleNamespace(), x
    for _ in range(5):
        if v > 2.0:
            p.largest = max(getattr(p, "largest", 0.0), v)
        v = 1.7 * v - 1.0
    return getattr(p, "largest", x)


def of_a_function(x):
    def f(v):
        return v * f.factor if hasattr(f, "factor") else v

    if x > 1.0:
        f.factor = x
    return f(x)


def of_a_class(x):
    class Settings:
        pass

    if x > 1.0:
        Settings.k = x
    return getattr(Settings, "k", 3.0) * x


def copied(x):
    q = copy.copy(given(Plain, x, "s"))
    return getattr(q, "s", 1.0) * x + len(vars(q))


PROGRAMS = [asked, missed, in_slots, answered, of_the_class, by_a_property, remembered, deleted,
            in_a_loop, of_a_function, of_a_class, copied]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_is_there_where_it_is_in_python(f):
    compiled = jitad.jit(jitad.value_and_grad(f), fallback=False)
    for x in (1.6, 2.3, 0.4, -1.5):
        slope, _ = differences(f, (x,), (0,), [1.0], 1e-3)
        for run in (compiled, jitad.value_and_grad(f)):
            value, derivative = run(x)
            assert value == pytest.approx(f(x), rel=1e-13)
            assert derivative == pytest.approx(slope, rel=1e-7, abs=1e-9)


def test_the_error_is_pythons_and_tells_where():
    def f(x):
        p = given(Plain, x[0], "s")
        return p.s * x[1]

    compiled = jitad.jit(f, fallback=False)
    assert compiled(np.array([2.0, 3.0])) == 12.0
    with pytest.raises(AttributeError, match="'Plain' object has no attribute 's'") as error:
        compiled(np.array([0.5, 3.0]))
    assert "test_partial_attributes.py" in str(error.value)
    assert "p.s * x[1]" in str(error.value)


def test_an_object_from_outside_gets_it_on_one_path_only():
    def write(x, p):
        if x > 0.0:
            p.s = x
        return x + getattr(p, "s", 5.0)

    compiled = jitad.jit(write, fallback=False)
    for x in (1.0, -1.0):
        got, want = Plain(), Plain()
        assert compiled(x, got) == write(x, want)
        assert vars(got) == vars(want)
