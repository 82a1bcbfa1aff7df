"""Does a kernel hear of all that has changed around its function, however the function reads it?

Plain Python says what is right, before the change and after it.  What a trace can't follow is
refused: it would be read once, and never again.
"""

import contextvars
import dataclasses
import os
import pathlib
import sys
import time
import types
import weakref
from typing import NamedTuple

import numpy as np
import pytest

import jitad

settings = types.ModuleType("settings_of_a_test")
settings.scale = 2.0


@pytest.fixture(autouse=True)
def _module(monkeypatch):
    monkeypatch.setitem(sys.modules, settings.__name__, settings)
    monkeypatch.setenv("JITAD_TEST_SCALE", "2.0")
    change(2.0)


class Box:
    scale = 2.0

    def __init__(self):
        self.held, self.word = 2.0, "2"

    def __repr__(self):
        return f"Box({self.word})"

    def __contains__(self, x):
        return x < self.held

    def __iter__(self):
        return iter((1.0, self.held))

    @classmethod
    def by_class(cls):
        return cls.scale


class Above(Box):
    def inherited(self):
        return super().by_class()


@dataclasses.dataclass(frozen=True)
class Frozen:
    held: float
    count: int = 2


@dataclasses.dataclass
class Data:
    count: int = 2


class Vague:
    """What `in` makes a bool of."""

    def __contains__(self, x):
        return [1] if x > 1.0 else None


box, above, data = Box(), Above(), Data()
frozen = Frozen(2.0)
weak = weakref.ref(box)
variable = contextvars.ContextVar("variable")


def change(to):
    global frozen
    settings.scale = Box.scale = box.held = to
    os.environ["JITAD_TEST_SCALE"] = str(to)
    box.word, data.count = str(int(to)), int(to)
    frozen = Frozen(to, int(to))


# -- modules and classes --------------------------------------------------------------------------


def imported_inside(x):
    import settings_of_a_test

    return x * settings_of_a_test.scale


def imported_by_another_name(x):
    import settings_of_a_test as s

    return x * s.scale


def imported_from(x):
    from settings_of_a_test import scale

    return x * scale


def imported_from_by_another_name(x):
    from settings_of_a_test import scale as by

    return (lambda y: y * by)(x)


def of_all_modules(x):
    return x * sys.modules["settings_of_a_test"].scale


def class_of_an_object(x):
    return x * type(box).scale


def class_above(x):
    return x * above.inherited()


def reference(x):
    return x * weak().held


# -- what objects say -----------------------------------------------------------------------------


def shown(x):
    return x * (3.0 if str(box) == "Box(2)" else 4.0)


def shown_in_a_text(x):
    return x * (3.0 if f"{box}" == "Box(2)" else 4.0)


def shown_by_percent(x):
    return x * (3.0 if "%s" % (box,) == "Box(2)" else 4.0)  # noqa: UP031


def shown_by_format(x):
    return x * (3.0 if "{}".format(box) == "Box(2)" else 4.0)  # noqa: UP032


def shown_by_a_dataclass(x):
    return x * (3.0 if repr(data) == f"{data}" == "Data(count=2)" else 4.0)


def hashed(x):
    return x * (3.0 if hash(frozen) == hash(Frozen(2.0, 2)) else 4.0)


def contained(x):
    return x * (3.0 if 2.5 in box else 4.0)


def argument_contained(x):
    return x * (3.0 if x in box else 4.0)


def not_contained(x):
    return x * (3.0 if x not in box else 4.0)


def vaguely_contained(x):
    return x * (3.0 if x in Vague() else 4.0)


# -- the environment ------------------------------------------------------------------------------


def environment(x):
    return x * float(os.environ["JITAD_TEST_SCALE"])


def environment_or(x):
    scale = os.environ.get("JITAD_TEST_SCALE", "1.0")
    return x * float(scale) * float(os.getenv("JITAD_TEST_NOTHING", "5.0"))


def asks_the_environment(x):
    if "JITAD_TEST_NOTHING" in os.environ:
        return 0.0 * x
    return x * float(os.getenv("JITAD_TEST_SCALE"))


READING = (
    imported_inside, imported_by_another_name, imported_from, imported_from_by_another_name,
    of_all_modules, class_of_an_object, class_above, reference, shown, shown_in_a_text,
    shown_by_percent, shown_by_format, shown_by_a_dataclass, hashed, contained, argument_contained,
    not_contained, vaguely_contained, environment, environment_or, asks_the_environment,
)  # fmt: skip


@pytest.mark.parametrize("f", READING, ids=lambda f: f.__name__)
def test_what_is_read_is_as_it_is_now(f):
    made, reverse, eager = jitad.jit(f), jitad.jit_value_and_grad(f), jitad.value_and_grad(f)
    for to in (2.0, 3.0, 2.0):
        change(to)
        for x in (0.5, 2.25):
            assert made(x) == reverse(x)[0] == eager(x)[0] == f(x)
            assert reverse(x)[1] == pytest.approx(f(x) / x) == eager(x)[1]


def test_a_variable_that_is_set_later(monkeypatch):
    f = jitad.jit_grad(environment_or)
    assert f(1.0) == 10.0
    monkeypatch.setenv("JITAD_TEST_NOTHING", "7.0")
    assert f(1.0) == 14.0
    monkeypatch.delenv("JITAD_TEST_SCALE")
    assert f(1.0) == 7.0


def test_the_eager_engine_has_the_whole_environment(monkeypatch):
    def f(x):
        os.environ["JITAD_TEST_NOTHING"] = "5.0"
        found = dict(os.environ)
        return x * float(found["JITAD_TEST_NOTHING"]) * (len(os.environ) == len(found))

    monkeypatch.setenv("JITAD_TEST_NOTHING", "")
    assert jitad.grad(f)(2.0) == 5.0
    assert os.environ["JITAD_TEST_NOTHING"] == "5.0"


@pytest.mark.skipif(not os.supports_bytes_environ, reason="there is none of bytes")
def test_the_environment_of_bytes_is_refused():
    with pytest.raises(jitad.JitadError, match=r"Use os\.environ"):
        jitad.jit(lambda x: x * float(os.environb[b"JITAD_TEST_SCALE"]))(1.0)
    assert "_original" not in vars(os.environb)


# -- refused --------------------------------------------------------------------------------------


def a_table(x):
    return x * np.loadtxt("table").sum()


def a_binary_file(x):
    return x * np.fromfile("table").sum()


def a_text_file(x):
    return x * float(pathlib.Path("table").read_text())


def is_there(x):
    return x * os.path.exists("table")


def is_there_by_path(x):
    return x * pathlib.Path("table").exists()


def of_the_context(x):
    return x * variable.get(2.0)


def whole_environment(x):
    return x * len(dict(os.environ))


def writes_the_environment(x):
    os.environ["JITAD_TEST_SCALE"] = "4.0"
    return x


REFUSED = (
    a_table, a_binary_file, a_text_file, is_there, is_there_by_path, of_the_context,
    whole_environment, writes_the_environment,
)  # fmt: skip


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_would_be_read_once_is_refused(f, tmp_path, monkeypatch):
    (tmp_path / "table").write_text("2.0")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(jitad.JitadError, match=r"(?s)(acts on the world|environment).*test_found"):
        jitad.jit(f)(1.0)
    assert os.environ["JITAD_TEST_SCALE"] == "2.0"


def test_paths_are_data():
    def f(x):
        parts = pathlib.PurePath("a", "b") / "c.txt"
        return x * len(parts.parts) * len(os.path.join("a", parts.name))

    assert jitad.jit_grad(f)(1.0) == 3 * len(os.path.join("a", "c.txt"))


WHEN = time.struct_time(range(9))


def test_tuples_that_c_has_made():
    """They are what they are: none like them can be made."""

    def limits(x):
        lowest = -1.0 * sys.float_info.max
        for v in (x, 2.0 * x):
            if v > lowest:
                lowest = v
        return lowest + WHEN.tm_mon + WHEN[2] * len(WHEN) + sys.version_info[0] * x

    def each(x):
        return sum(x**v for v in WHEN)

    for engine in (jitad.jit_value_and_grad, jitad.value_and_grad):
        assert engine(limits)(1.0) == (limits(1.0), 2.0 + sys.version_info[0])
        assert engine(each)(1.0) == (each(1.0), 36.0)


class Fields(NamedTuple):
    n_fields: float
    weights: np.ndarray


FIELDS = Fields(2.0, np.array([1.0, 3.0]))


def test_a_named_tuple_of_the_users_is_none_of_these():
    def f(x):
        return np.sum(x * FIELDS.weights) * FIELDS.n_fields

    np.testing.assert_array_equal(jitad.jit_grad(f)(np.ones(2)), [2.0, 6.0])
