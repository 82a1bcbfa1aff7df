"""What does a dict do with a key that only the kernel knows or that is not there, and a list with
such an index?

The key is compared with those that are there: it is one of them, or none.  No key comes in by it,
unless it is an int of the arguments, which can be relied on.
A list that is written becomes one whose elements lie in arrays (`lists.py`).
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from jitad.errors import JitadError, JitadTypeError
from jitad.tape.build import Leaf
from jitad.tape.types import INT
from jitad.trace import lists, partial
from jitad.trace.calls import call, special
from jitad.trace.containers import note
from jitad.trace.context import Again, Trace, current
from jitad.trace.identity import COPIES
from jitad.trace.iterables import pick
from jitad.trace.selected import fork
from jitad.values.journal import is_held
from jitad.values.kind import fail, require, type_of
from jitad.values.number import Number, bind

DICTS = (dict, OrderedDict, defaultdict, Counter)
ORDERED = (list, tuple, range, str, bytes)
_NEW = "a key that depends on traced values can't be new in a dict"
_REMEDY = ("Give the dict all its keys first (`dict.fromkeys(range(n), 0.0)`), "
           "or count in an array (`np.zeros(n)`).")  # fmt: skip


def plain(key: Any) -> Any:
    """The int that a key is, where dicts of this function get keys by ints of its arguments."""
    trace = current()
    hashed: Any = type(key).__hash__
    if hashed is object.__hash__ and is_held(key):
        raise fail(JitadTypeError, COPIES.format("hash"), "Use something that is in it for a key.")
    if not isinstance(key, Leaf) or trace is None or not trace.insight.keys:
        return key
    value = trace.builder.rely(key.atom)
    return key if value is None else value


def _refuse_new(trace: Trace | None, key: Leaf) -> None:
    """A key that may be new; where it is an int of the arguments, the trace starts anew."""
    if trace is not None and trace.builder.example(key.atom) is not None:
        raise Again(replace(trace.insight, keys=True))


def _search(owner: dict[Any, Any], key: Leaf) -> tuple[Any, Any, list[Any]]:
    """Whether the key is there, at which place among keys that are numbers, and those keys."""
    trace = current()
    partial.checked("asked for a key that depends on traced values", owner)
    if trace is not None and trace.counts_out(key):
        hash(key)  # refused, so that the loop is written out
    keys = [k for k in owner if isinstance(k, (int, float, np.number, np.bool_))]
    first = keys[0] if keys else 0
    if keys == list(range(int(first), int(first) + len(keys))) and type_of(key) == INT:
        at = bind("sub", key, int(first))
        return bind("logical_and", bind("ge", at, 0), bind("lt", at, len(keys))), at, keys
    found: Any = False
    at = 0
    for k, there in enumerate(keys):
        this = bind("eq", key, there)
        found, at = bind("logical_or", found, this), bind("where", this, k, at)
    return found, at, keys


def get(owner: dict[Any, Any], key: Leaf) -> Any:
    """owner[key]"""
    found, at, keys = _search(owner, key)
    if hasattr(owner, "__missing__"):
        require(found if keys else False, JitadError, f"{_NEW}: {_REMEDY}")
    elif not keys:
        raise KeyError(key)
    fork(found, lambda: None, lambda: _raise(key))
    return pick([owner[k] for k in keys], at)


def _raise(key: Leaf) -> None:
    raise KeyError(key)


def get_or(owner: dict[Any, Any], key: Leaf, default: Any = None) -> Any:
    """owner.get(key, default)"""
    found, at, keys = _search(owner, key)
    if not keys:
        return default
    return fork(found, lambda: pick([owner[k] for k in keys], at), lambda: default)


def by_rows(owner: Any, index: Any = None, *_: Any) -> bool:
    """Is this an index that only the kernel knows?  Then the list is one of rows, from here on."""
    trace = current()
    if type(owner) is not list or not isinstance(index, Leaf) or trace is None:
        return False
    if trace.counts_out(index):
        return False
    if trace.builder.example(index.atom) is not None:
        return False
    lists.become_rows(owner)
    return True


def put(owner: Any, key: Leaf, value: Any) -> bool:
    """owner[key] = value; False of what is no dict or list."""
    trace = current()
    if type(owner) is list and trace is not None and not trace.counts_out(key):
        lists.become_rows(owner)
        lists.put(owner, key, value)
        return True
    if type(owner) not in DICTS:
        return False
    found, at, keys = _search(owner, key)
    if found is not True:
        _refuse_new(trace, key)
    if not keys:
        raise fail(JitadTypeError, _NEW, _REMEDY)
    require(found, JitadError, f"{_NEW}: {_REMEDY}")
    note(owner)
    for k, there in enumerate(keys):
        owner[there] = fork(bind("eq", at, k), lambda: value, _always(owner[there]))
    return True


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


def dict_item(owner: Any, key: Any) -> Any:
    """dict.__getitem__(owner, key)."""
    key = plain(key)
    if isinstance(key, Leaf):
        return get(owner, key)
    if partial.slot(owner, key):
        return partial.get(owner, key)
    known = isinstance(key, Number) or key in owner
    return dict.__getitem__(owner, key) if known else missing(owner, key)


def missing(owner: Any, key: Any) -> Any:
    """What a kind of dict gives for a key that is not there."""
    found = special(owner, "__missing__")
    if found is not None:
        return call(found, owner, key)
    if isinstance(owner, defaultdict) and owner.default_factory is not None:
        note(owner)
        owner[key] = call(owner.default_factory)
    return dict.__getitem__(owner, key)
