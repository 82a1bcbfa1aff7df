"""Do functions that look at what they were given see a number, or an array, of Python's?"""

import collections.abc
import itertools
import numbers

import numpy as np
import pytest

import jitad
from tests.engines import as_emitted

ASKED = {
    "isscalar": np.isscalar,
    "iterable": np.iterable,
    "callable": callable,
    "float or int": lambda v: isinstance(v, (float, int)),
    "Real": lambda v: isinstance(v, numbers.Real),
    "np.floating": lambda v: isinstance(v, np.floating),
    "Sequence": lambda v: isinstance(v, collections.abc.Sequence),
    "Sized": lambda v: isinstance(v, collections.abc.Sized),
    "Iterable": lambda v: isinstance(v, collections.abc.Iterable),
    "has length": lambda v: hasattr(v, "__len__"),
    "has items": lambda v: hasattr(v, "__getitem__"),
    "is iterated": lambda v: hasattr(v, "__iter__"),
    "is converted": lambda v: hasattr(v, "__array__"),
    "has a shape": lambda v: hasattr(v, "shape"),
    "has a dtype": lambda v: hasattr(v, "dtype"),
    "has tolist": lambda v: hasattr(v, "tolist"),
    "has names": lambda v: hasattr(v, "__dict__") or hasattr(v, "__name__"),
    "has is_integer": lambda v: hasattr(v, "is_integer"),
    "has what the engine has": lambda v: hasattr(v, "peek") or hasattr(v, "atom"),
    "axes": lambda v: getattr(v, "ndim", -1) == 0,
    "class": lambda v: v.__class__ is float,
    "type": lambda v: type(v) in (float, np.float64),
    "caught": lambda v: caught(v),
    "subdtype": lambda v: np.issubdtype(type(v), np.floating),
}

GIVEN = {
    "float": (1.5, lambda x: x),
    "element": (np.array([1.5, 2.5]), lambda x: x[0]),
    "single": (np.array([1.5, 2.5], np.float32), lambda x: x[0]),
    "array": (np.array([1.5, 2.5]), lambda x: 2.0 * x),
    "int": (3, lambda x: x),
    "truth": (1.5, lambda x: x > 1.0),
}


def caught(value):
    try:
        return value.shape == ()
    except AttributeError:
        return False


@pytest.mark.parametrize("given", GIVEN)
def test_as_in_python(given):
    x, look = GIVEN[given]

    def answers(x):
        return [1 if asked(look(x)) else 0 for asked in ASKED.values()]

    expected = dict(zip(ASKED, answers(x), strict=True))
    assert dict(zip(ASKED, as_emitted(answers, x), strict=True)) == expected
    if given != "int":
        tangent = 1.0 if isinstance(x, float) else np.ones_like(x)
        seen, _ = jitad.jvp(answers, (x,), (tangent,))
        assert dict(zip(ASKED, seen, strict=True)) == expected


def test_ints_for_what_wants_ints_of_python():
    def answers(x, n):
        last = collections.deque(x, n)
        first = collections.deque(maxlen=n)
        first.extend(x[:1])
        pairs = itertools.permutations(x, n)
        return sum(last) + n.bit_length() * sum(first), sum(a * b**2 for a, b in pairs)

    x = np.array([1.0, 2.0, 4.0])
    assert as_emitted(answers, x, 2) == answers(x, 2) == (8.0, 74.0)
