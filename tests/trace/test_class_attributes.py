"""Are attributes of classes read anew at each call, and written, however they are come by?

Through an object, a subclass, `super()`, `type(x)`, `cls`; of classes that stand in the module and
of such that a function has made.  The truth is plain Python, before and after a class has changed.
"""

from __future__ import annotations

from typing import Any

import pytest

import jitad

X = 0.3


class Base:
    rate = 0.4
    table = {"a": 0.2}

    @classmethod
    def scaled(cls, x):
        return cls.rate * x

    @classmethod
    def halved(cls, x):
        cls.rate *= 0.5
        return cls.rate * x


class Model(Base):
    def above(self, x):
        return super().rate * x

    def of_type(self, x):
        return type(self).rate * x

    @property
    def twice(self):
        return 2.0 * self.rate


def _made():
    class Inside:
        rate = 0.4

        def value(self):
            return self.rate

    return Inside()


model, inside = Model(), _made()
CLASSES: tuple[Any, ...] = (Base, Model, type(inside))

READING = {
    "an object": lambda x: model.rate * x,
    "super": lambda x: model.above(x),
    "type": lambda x: type(model).rate * x,
    "type in a method": lambda x: model.of_type(x),
    "a property": lambda x: model.twice * x,
    "a class method": lambda x: model.scaled(x) + Model.scaled(x),
    "a new object": lambda x: type(model)().rate * x + Model().above(x),
    "a class": lambda x: Model.rate * x + Base.rate,
    "a table": lambda x: model.table["a"] * x,
    "a class made inside": lambda x: type(inside).rate * x + inside.value(),
    "bases": lambda x: sum(c.rate for c in type(model).__mro__[:2]) * x,
}


def through_type(x):
    type(model).rate = 0.5
    return model.rate * x + Model.rate


def in_the_base(x):
    Base.rate = 0.5 * x
    return model.rate * x + Model.rate + model.above(x)


def by_setattr(x):
    before = model.rate
    Base.rate = 0.75
    return model.rate * x + before


def by_a_class_method(x):
    return model.halved(x) + Base.rate


def under_a_condition(x):
    if x > 0.2:
        Base.rate = 0.5 * x
    return model.rate * x


def in_a_loop(x):
    for _ in range(3):
        Base.rate = model.rate * x + 0.1
    return Model.rate * x


def of_a_class_made_inside(x):
    type(inside).rate = 0.5 * x
    return inside.rate * x + inside.value()


def written_and_deleted(x):
    Model.rate = 0.5
    first = model.rate
    del Model.rate
    return model.rate * x + Model.rate + first


def of_the_object_alone(x):
    model.rate = 0.5 * x
    return model.rate * x + Model.rate


def taken_from_the_object(x):
    model.rate = 0.5 * x
    del model.rate
    return model.rate * x


WRITING = [through_type, in_the_base, by_setattr, by_a_class_method, under_a_condition, in_a_loop,
           of_a_class_made_inside, written_and_deleted, of_the_object_alone,
           taken_from_the_object]  # fmt: skip


def begin(rate: float = 0.4, own: float | None = None) -> None:
    Base.rate = type(inside).rate = rate
    Base.table = {"a": rate / 2}
    model.__dict__.clear()
    if "rate" in vars(Model):
        del Model.rate
    if own is not None:
        Model.rate = own


def state() -> list[float]:
    return [*(vars(c).get("rate", -1.0) for c in CLASSES), model.__dict__.get("rate", -1.0)]


@pytest.fixture(autouse=True)
def _as_it_was():
    yield
    begin()


@pytest.mark.parametrize("f", READING.values(), ids=READING)
def test_read_anew(f):
    begin()
    compiled, slope = jitad.jit(f), jitad.jit_grad(f)
    for given in ((0.4, None), (0.7, None), (0.7, 0.9), (0.4, None)):
        begin(*given)
        h = 1e-6
        assert compiled(X) == pytest.approx(f(X), rel=1e-14)
        assert slope(X) == pytest.approx((f(X + h) - f(X - h)) / (2 * h), rel=1e-8)


@pytest.mark.parametrize("own", [None, 0.9])
@pytest.mark.parametrize("f", WRITING, ids=lambda f: f.__name__)
def test_written(f, own):
    ways = {"jit": jitad.jit(f), "eager": jitad.value_and_grad(f),
            "gradient": jitad.jit_value_and_grad(f)}  # fmt: skip
    for name, way in ways.items():
        if name != "jit" and f in (written_and_deleted, taken_from_the_object):
            continue  # deleted in a derivative: LIMITATIONS
        for rate in (0.4, 0.7):
            begin(rate, own)
            want = f(X)
            after = state()
            begin(rate, own)
            got = way(X)
            assert (got if name == "jit" else got[0]) == pytest.approx(want, rel=1e-14), name
            assert state() == pytest.approx(after, rel=1e-14), name
