"""What do methods that Python calls by itself write, and what of it is refused?

The truth is the function itself, differenced.
"""

import fractions
import math
from collections import Counter, OrderedDict, defaultdict, deque

import pytest

from jitad import JitadError, jit, jit_grad
from tests.trace.test_protocols import Logged, Steps, Thing, difference

SCALE = 1.0

# -- writes ---------------------------------------------------------------------------------------


def switched(x):
    t = Thing(x)
    if x > 1.0:
        with t:
            x = 2.0 * x
    return t.w * x


def in_a_default_dict(x):
    best = defaultdict(lambda: 10.0)
    for k in range(3):
        if x * k < best[k % 2]:
            best[k % 2] = x * k
    return best[0] + 2.0 * best[1]


def in_an_ordered_dict(x):
    d = OrderedDict(a=x, b=1.0)
    if x > 1.0:
        d["a"] = x * x
        d["b"] += x
    return d["a"] * d["b"]


def in_a_counter(x):
    c = Counter(a=1.0, b=0.0)
    if x > 1.0:
        c["a"] += x
        c["b"] -= x
    return c["a"] * x + c["b"]


def in_a_deque(x):
    d = deque([x, 1.0], maxlen=2)
    if x > 1.0:
        d[1] = x * x
    return d[0] * d[1]


class Stack(list):
    pass


class Table(dict):
    pass


def in_kinds_of_containers(x):
    s, t = Stack([x, 1.0]), Table(a=x)
    if x > 1.0:
        s[1] = x * x
        t["a"] = 3.0 * x
        list.__setitem__(s, 0, 2.0 * x)
    return s[0] * s[1] * t["a"]


def kept_on_one_path(x):
    t = Thing(x)
    y = t.kept if x > 1.0 else x
    t.w = 5.0 * x
    return y + t.kept


def logged_on_one_path(x):
    t = Logged(x)
    if x > 1.0:
        t.x = x * x
    return t.x + t.log["x"]


WRITERS = (switched, in_a_default_dict, in_an_ordered_dict, in_a_counter, in_a_deque,
           in_kinds_of_containers, kept_on_one_path, logged_on_one_path)  # fmt: skip


@pytest.mark.parametrize("f", WRITERS, ids=lambda f: f.__name__)
def test_what_is_written_on_one_path_stays_there(f):
    g = jit_grad(f, fallback=False)
    for x in (0.7, 1.3, 0.4):
        assert g(x) == pytest.approx(difference(f, x), rel=1e-8, abs=1e-8)


def test_what_a_generator_of_the_users_decides_is_refused():
    class Halves(Steps):
        def __next__(self):
            self.w = 0.5 * self.w
            if self.w < 0.01:
                raise StopIteration
            return self.w

    with pytest.raises(JitadError, match="StopIteration under a traced condition"):
        jit_grad(lambda x: sum(Halves(x)), fallback=False)(1.0)


def test_what_library_code_calls_unseen_is_refused():
    class Weight(float):
        def __add__(self, other):
            return float(self) * SCALE

        def as_integer_ratio(self):
            return (SCALE * float(self)).as_integer_ratio()

    f = jit(lambda x: x * float(fractions.Fraction.from_float(Weight(1.0))))
    with pytest.raises(JitadError, match=r"calls .*Weight.*, which a trace would not see"):
        f(2.0)


def test_an_object_of_outside_keeps_what_it_has_cached():
    t = Thing(2.0)
    f = jit(lambda x: x * t.kept)
    assert f(1.0) == pytest.approx(math.exp(0.6))
    t.w = 3.0  # cached, as in Python
    assert f(1.0) == pytest.approx(math.exp(0.6)) and t.kept == pytest.approx(math.exp(0.6))
