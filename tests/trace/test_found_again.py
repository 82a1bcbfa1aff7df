"""What stays Python's where the trace takes something else's place for a moment?

Arguments that may be None, classes made in the function, texts of things that were written, and
objects that are numbers, containers or records: plain Python says what is right, at each call.
"""

import dataclasses
import math
import os
import urllib.parse

import numpy as np
import pytest

import jitad
from jitad.calls.compiled import Compiled


def base_or_none(x):
    base = None
    if x > 2.0:
        base = 3.0
    return math.log(x, base) if base is not None else math.log(x)


def digits_or_none(x):
    digits = None
    if x > 2.0:
        digits = 2
    return round(x, digits) * x


def end_or_none(x):
    end = None if x > 2.0 else 9
    return np.sum(np.arange(5, end)) * x


def class_of_the_call(x):
    class K:
        c = 3.0

    K.c = K.c + 1.0
    return K.c * x


def class_made_by_type(x):
    K = type("K", (), {"c": 1.0})
    K.c += x
    return K.c


def class_with_a_list(x):
    class K:
        items = []

    K.items.append(x)
    K.items.append(2.0 * x)
    return sum(K.items) * type(K()).items[0]


class Meters(float):
    pass


def number_of_its_own(x):
    return x * float(f"{Meters(1.55555):.3f}") * float("{:.2f}".format(Meters(2.5)))  # noqa: UP032


class Record:
    def __init__(self):
        self.a = 2

    def __getitem__(self, key):
        return getattr(self, key)


def shown_by_key(x):
    return x * len("%(a)s and %(a)s" % Record())  # noqa: UP031


def environment_by_keyword(x):
    return x * len(os.environ.get(key="JITAD_TEST_NOTHING", default="abc")) * len(
        os.getenv(key="JITAD_TEST_NOTHING", default="ab")
    )


def texts_only(x):
    return x * len(urllib.parse.quote("a b")) * len(os.path.commonprefix(["abc", "abd"]))  # noqa: RUF071


@dataclasses.dataclass
class Data:
    n: object = 0
    m: int = 1


outside = Data()


def shown_after_a_write(x):
    outside.n = 5
    text = repr(outside)
    outside.n = 0
    return x * len(text)


PROGRAMS = (
    base_or_none, digits_or_none, end_or_none, class_of_the_call, class_made_by_type,
    class_with_a_list, number_of_its_own, shown_by_key, environment_by_keyword, texts_only,
    shown_after_a_write,
)  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(f):
    made, derived = jitad.jit(f), jitad.jit_value_and_grad(f)
    for x in (1.234, 2.567, 1.234, 3.1):
        want = f(x)
        assert made(x) == pytest.approx(want, rel=1e-14)
        value, slope = derived(x)
        assert value == pytest.approx(want, rel=1e-14)
        if f is not digits_or_none:
            step = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
            assert slope == pytest.approx(step, rel=1e-7)


def test_one_kernel_serves_what_is_shown_after_a_write():
    made: Compiled = jitad.jit(shown_after_a_write)
    for k in range(4):
        made(1.0 + k)
    assert len(made.specialisations) == 1
    outside.m = 100
    assert made(1.0) == shown_after_a_write(1.0)


def test_records_that_hold_traced_values_are_shown_later(capsys):
    def told(x):
        outside.n = {"a": (x,)}
        print(f"{outside}")
        outside.n = 0
        return x

    assert jitad.jit_grad(told)(2.0) == 1.0
    assert capsys.readouterr().out == "Data(n={'a': (2.0,)}, m=100)\n"


def test_writes_to_places_of_things_stay_linear():
    def f(x):
        rows = [[x], [2 * x], [3 * x], [4 * x]]
        for k in range(40):
            rows[int(x * k) % 4] = [x * k]
        return sum(v[0] for v in rows)

    assert jitad.jit(f)(1.3) == pytest.approx(f(1.3))
