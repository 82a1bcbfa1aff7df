"""Does a later process find the kernel of a function of dataclasses, and is it never out of date?

As in `test_recalled`, whose processes these are.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from jitad import jit, jit_grad, jit_value_and_grad
from tests.api.test_recalled import Process, X, process

__all__ = ["process"]  # the fixture

OF_CLASSES = """
import numpy as np
from dataclasses import dataclass
from typing import NamedTuple

@dataclass
class Box:
    w: object
    by: float
    # more

class Pair(NamedTuple):
    left: object
    right: float

@dataclass(frozen=True, slots=True)
class Both:
    box: Box
    pair: Pair

def value(both):
    box, pair = both.box, both.pair
    size = np.sum(box.w ** 2) * box.by if box else np.sum(box.w)
    return size + pair.left * pair.right * (3.0 if isinstance(pair, tuple) else 7.0)

def made(both):
    return {"twice": [both.pair, both.box.w * 2.0], "one": (both.box, 1, both)}
"""

OF_CLASS_CHANGES: dict[str, tuple[str, str]] = {
    "nothing": ("", ""),
    "a truth of its own": ("# more", "def __bool__(self): return bool(self.by < 1.0)"),
    "a length": ("# more", "def __len__(self): return 0"),
    "an equality of its own": ("# more", "def __eq__(self, other): return False"),
    "a method that nobody calls": ("# more", "def other(self): return 0"),
    "no tuple any more": ("class Pair(NamedTuple)", "@dataclass\nclass Pair"),
    "other fields": ("by: float", "by: float\n    also: float = 0.0"),
    "fields in another order": ("left: object\n    right: float", "right: float\n    left: object"),
    "slots": ("@dataclass\n", "@dataclass(slots=True)\n"),
    "a base": ("class Box:", "class Base:\n    def __bool__(self): return False\n"
                             "@dataclass\nclass Box(Base):"),
    "a property": ("# more", "also = property(lambda self: 0.0)"),
}  # fmt: skip


@pytest.mark.parametrize("what", OF_CLASS_CHANGES)
def test_classes_of_arguments(process: Process, what: str) -> None:
    before, after = OF_CLASS_CHANGES[what]

    def run(text: str) -> tuple[int, Any, Any, ModuleType]:
        m = process.module(text)
        both = m.Both(m.Box(w=X, by=2.0), m.Pair(left=3.0, right=4.0))
        process.traces = 0
        value, slope = jit_value_and_grad(m.value)(both)
        made = jit(m.made)(both)
        return process.traces, (value, slope), (made, m.made(both), m.value(both)), m

    run(OF_CLASSES)
    for text, same in ((OF_CLASSES, True), (OF_CLASSES.replace(before, after, 1), not before),
                       (OF_CLASSES, True)):  # fmt: skip
        traces, (value, slope), (made, plain, true), m = run(text)
        assert (traces == 0) == same
        assert value == true
        kinds = (type(slope), type(slope.box), type(slope.pair))
        assert kinds == (m.Both, m.Box, m.Pair)
        assert (slope.pair.left, slope.pair.right) == (
            (12.0, 9.0) if issubclass(m.Pair, tuple) else (28.0, 21.0))  # fmt: skip
        assert repr(made) == repr(plain)
        assert type(made["one"][2]) is m.Both and type(made["twice"][0]) is m.Pair


def test_an_equality_of_the_class(process: Process) -> None:
    """One that the class is given by `dataclass`, and then its own."""
    text = """
from dataclasses import dataclass
@dataclass
class Tag:
    level: float
    # more
def value(tag, other):
    return tag.level * (2.0 if tag == other else 3.0)
    """
    own = text.replace("# more", "def __eq__(self, other): return False")
    for again, slope in ((text, 2.0), (text, 2.0), (own, 3.0), (text, 2.0), (own, 3.0)):
        m = process.module(again)
        assert jit_grad(m.value)(m.Tag(1.0), m.Tag(1.0)).level == slope


METHODS = {
    "a method": "return np.sum(box.scaled())",
    "a property": "return np.sum(box.area)",
    "an operator": "return np.sum(box + 1.0)",
    "a call": "return np.sum(box(2.0))",
    "an item": "return np.sum(box[0])",
    "a truth": "return np.sum(box.w * 2.0) if box else np.sum(box.w)",
    "a loop": "return np.sum(sum(box))",
    "a constant": "return np.sum(box.w * box.CONSTANT)",
}  # fmt: skip


@pytest.mark.parametrize("what", METHODS)
def test_methods_of_arguments(process: Process, what: str) -> None:
    """Whatever of them is run, or read, is not taken to be what it was."""
    text = """
import numpy as np
from dataclasses import dataclass

@dataclass
class Box:
    w: object
    CONSTANT = 2.0
    def scaled(self): return 2.0 * self.w
    area = property(lambda self: 2.0 * self.w)
    def __add__(self, other): return 2.0 * self.w
    def __call__(self, x): return x * self.w
    def __getitem__(self, k): return 2.0 * self.w
    def __bool__(self): return True
    def __iter__(self): return iter([2.0 * self.w])

def value(box):
    """
    text += METHODS[what] + "\n"
    others = text.replace("2.0 * self", "5.0 * self").replace("x * self", "2.5 * x * self")
    others = others.replace("return True", "return False").replace("T = 2.0", "T = 5.0")
    for again in (text, text, others, text):
        m = process.module(again)
        slope = jit_grad(m.value)(m.Box(X)).w
        true = {"a truth": 1.0}.get(what, 5.0) if again is others else 2.0
        np.testing.assert_array_equal(slope, np.full(3, true))
