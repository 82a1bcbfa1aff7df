"""What do builtins and texts say of what is None on some paths, and of exceptions that are caught?

Plain Python says what is right; a text of Python's own counts letter by letter.
"""

import math

import numpy as np
import pytest

import jitad
from jitad.errors import JitadError
from tests.trace import two_numbers


class Bad(Exception):
    def __init__(self, value, place):
        super().__init__(value)
        self.value, self.place = value, place


def one_of_two_kinds(x, y):
    error = None
    try:
        if x > 2.0:
            raise Bad(x * y, 3)
        if x > 1.0:
            raise ValueError
    except (ValueError, Bad) as e:
        error = e
    if isinstance(error, Bad):
        return error.value * error.place
    return x if error is None else y * x


def the_last_of_a_loop(x, y):
    s, error = x, None
    for k in range(20):
        try:
            s = s * 1.1 + math.sqrt(s - y)
            if s > 20.0:
                raise Bad(s, k)
        except (ValueError, Bad) as e:
            error, s = e, 0.5 * x
    return error.value * error.place + s if isinstance(error, Bad) else s


def asked_in_every_way(x, y):
    thing = Bad(x * y, 2) if x > 1.0 else None
    many = [x, y] if y > 1.0 else None
    s = 2.0 * x if isinstance(thing, (Bad, type(None))) else x
    s += y if type(thing) is Bad else 3.0 * y
    s += x * y if hasattr(thing, "value") else y
    s += getattr(thing, "place", 5.0) * x
    s += 0.3 * x if callable(thing) else 0.7 * x
    s += 0.1 * x if thing in (None, 1) else 0.2 * y
    s += 0.1 * y if thing.__class__ == Bad else x * x
    s += sum(many) if isinstance(many, list) else y * y
    return s + {None: x, "a": y}.get(None if thing is None else "a")


def perhaps_a_function(x, y):
    f = None
    if x > 1.0:
        f = lambda v: v * y
    try:
        return f(x)
    except TypeError:
        return -x


def attribute_of_none(x, y):
    thing = Bad(x * y, 2) if x > 1.0 else None
    try:
        return thing.value
    except AttributeError:
        return x


def one_cause(x, y):
    try:
        try:
            z = math.sqrt(x - y)
        except ValueError as e:
            raise Bad(y, 2) from e
    except Bad as e:
        z = e.value * e.place * x
    return z


def texts_of_python(x, y):
    s, none = 0.0, max(-x * x, 0.0)
    try:
        s += math.sqrt(-x * x)
    except ValueError as e:
        s += x * (str(e) == "math domain error") + y * len(e.args)
    try:
        s += x / none
    except ZeroDivisionError as e:
        s += x * (str(e) == "float division by zero")
    try:
        s += none**-1.0
    except ZeroDivisionError as e:
        s += y * len(str(e))
    try:
        s += math.exp(1e3 * x * x + 1e3)
    except OverflowError as e:
        s += x * ("range" in e.args[0])
    grown = []
    while len(grown) * x * x < -1.0:
        grown.append(x)
    try:
        s += grown.pop()
    except IndexError as e:
        s += y * len(str(e)) * x
    return s


PROGRAMS = [
    one_of_two_kinds, the_last_of_a_loop, asked_in_every_way, perhaps_a_function,
    attribute_of_none, one_cause,
]  # fmt: skip
POINTS = [(2.3, 0.4), (1.2, 1.7), (0.7, 0.2)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f):
    two_numbers.check(f, POINTS, 1e-3)


@pytest.mark.parametrize("x", [0.6, -1.3])
def test_the_text_of_an_exception_is_pythons(x):
    want = texts_of_python(x, 0.7)
    assert math.isclose(jitad.jit(texts_of_python)(x, 0.7), want, rel_tol=1e-13)
    value, _ = jitad.value_and_grad(texts_of_python)(x, 0.7)
    assert math.isclose(value, want, rel_tol=1e-13)


def test_what_nobody_names_keeps_its_place():
    def root(x):
        try:
            return math.sqrt(x)
        except ValueError:
            raise

    with pytest.raises(ValueError, match=r"return math\.sqrt"):
        jitad.jit(root)(-1.0)


@pytest.mark.parametrize(
    "show",
    [
        lambda x: len(str([x])), lambda x: len(repr((x,))), lambda x: len("%s" % [x]),
        lambda x: len("{}".format({"a": x})), lambda x: len(str(ValueError(x))),
        lambda x: len(repr(ValueError(x))), lambda x: len(", ".join(map(str, [x, x]))),
    ],
)  # fmt: skip
def test_letters_of_traced_numbers_are_not_counted(show):
    with pytest.raises(JitadError, match=r"known only when|not known while"):
        jitad.jit(show)(0.5)


def test_a_text_is_shown_as_python_shows_it():
    def shown(x, y):
        return str([x, y]), repr((x, {"y": y})), str(ValueError(x))

    assert jitad.jit(shown)(0.5, 2.0) == shown(0.5, 2.0)
    assert np.array_equal(jitad.jit(lambda x: str(x))(0.25), "0.25")
