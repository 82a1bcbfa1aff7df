"""Do structures come apart and together again, and say where they differ?"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitad.errors import JitadValueError
from jitad.structures import (
    LEAF,
    conform,
    flatten,
    is_node,
    map_structure,
    register_structure,
    unflatten,
)


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass(frozen=True, slots=True)
class Frozen:
    weight: Any
    bias: Any


@dataclass
class Counted:
    value: Any
    made: int = 0

    def __post_init__(self) -> None:
        self.made = self.made + 1


trees = st.recursive(
    st.floats(allow_nan=False) | st.none() | st.text(max_size=2),
    lambda t: st.lists(t, max_size=3)
    | st.tuples(t, t)
    | st.dictionaries(st.text(max_size=2), t, max_size=3)
    | st.builds(Point, t, t)
    | st.builds(Frozen, t, t),
    max_leaves=12,
)


@given(trees)
def test_round_trip(tree: Any) -> None:
    leaves, structure = flatten(tree)
    again = unflatten(structure, leaves)
    assert again == tree
    assert type(again) is type(tree)
    assert structure.size == len(leaves) == len(list(structure.paths()))
    assert hash(structure) == hash(flatten(again)[1])


@given(trees)
def test_paths_lead_to_the_leaves(tree: Any) -> None:
    leaves, structure = flatten(tree)
    for leaf, path in zip(leaves, structure.paths(), strict=True):
        assert eval("tree" + path, {"tree": tree}) is leaf


def test_order_and_kinds() -> None:
    leaves, structure = flatten({"b": [1, (2, None)], "a": Point(3, Frozen(4, 5))})
    assert leaves == [1, 2, 3, 4, 5]
    assert list(structure.paths()) == ["['b'][0]", "['b'][1][0]", "['a'].x", "['a'].y.weight",
                                       "['a'].y.bias"]  # fmt: skip
    assert flatten(7.0) == ([7.0], LEAF)
    assert flatten(None)[0] == []
    assert flatten([1])[1] != flatten((1,))[1]
    assert not is_node(3.0) and is_node([]) and is_node(None)


def test_fields_are_restored_without_running_the_constructor() -> None:
    value = Counted(2.0)
    again = map_structure(lambda v: v, value)
    assert again == value and again.made == 1


def test_ordered_dict_keeps_its_class() -> None:
    assert type(map_structure(float, OrderedDict(a=1))) is OrderedDict


class Interval:
    def __init__(self, low: Any, high: Any, unit: str) -> None:
        self.low, self.high, self.unit = low, high, unit


def test_registered_class() -> None:
    register_structure(
        Interval,
        lambda v: ((v.low, v.high), v.unit),
        lambda children, unit: Interval(*children, unit),
    )
    again = map_structure(lambda v: v + 1, [Interval(1, 2, "m")])
    assert (again[0].low, again[0].high, again[0].unit) == (2, 3, "m")
    assert flatten(Interval(1, 2, "m"))[1] != flatten(Interval(1, 2, "s"))[1]


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"a": [1.0, 2.0]}, "expected 2 elements, got 1"),
        ({"a": [1.0], "b": 3.0}, r"expected 2 elements at \['a'\], got 1"),
        ({"a": (1.0, 2.0), "b": 3.0}, r"expected a list at \['a'\], got a tuple"),
        ({"a": [1.0, 2.0], "c": 3.0}, r"expected the keys \['a', 'b'\], got \['a', 'c'\]"),
        ({"a": [1.0, 2.0], "b": [3.0]}, r"expected a number or array at \['b'\], got a list"),
        ({"a": 1.0, "b": 2.0}, r"expected a list at \['a'\], got a float"),
    ],
)
def test_what_differs_is_named(given_: Any, message: str) -> None:
    _, structure = flatten({"a": [0.0, 0.0], "b": 0.0})
    with pytest.raises(JitadValueError, match=message):
        conform(given_, structure, "the sensitivity", "the output")


def test_keys_in_another_order_conform() -> None:
    _, structure = flatten({"a": 0.0, "b": [0.0]})
    assert conform({"b": [2.0], "a": 1.0}, structure, "this", "that") == [1.0, 2.0]
