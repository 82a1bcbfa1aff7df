"""What does a dict do with a key that only the kernel knows or that is not there, and a list with
such an index?

The key is compared with those that are there: it is one of them, or none.  No key comes in by it,
unless it is an int of the arguments, which can be relied on.
A list that is written becomes one whose elements lie in arrays (`lists.py`).
"""

from __future__ import annotations

import functools
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from jitad.errors import JitadIndexError, JitadTypeError
from jitad.tape.build import Leaf
from jitad.tape.types import INT
from jitad.trace.around import distinct
from jitad.trace.around.telling import kept_as_it_is
from jitad.trace.calls import call, special
from jitad.trace.containers import in_rows, lists, partial, tabled
from jitad.trace.containers.iterables import pick
from jitad.trace.containers.listed import listed
from jitad.trace.containers.stretch import stretched
from jitad.trace.containers.writing import note
from jitad.trace.context import Again, Trace
from jitad.trace.identity import COPIES
from jitad.trace.joins.selected import either, fork
from jitad.trace.joins.unset import is_among, is_optional
from jitad.trace.joins.which import told_apart
from jitad.trace.ongoing import current
from jitad.values import extents
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.journal import is_held
from jitad.values.journal import made as note_made
from jitad.values.kind import fail, require, type_of
from jitad.values.number import Number, bind

MOST_PLACES = 8  # of which each is asked whether a traced number means it
DICTS = (dict, OrderedDict, defaultdict, Counter)
_PLAIN = (int, str, Leaf, ArrayHandle, type(None), type(...))
ORDERED = (list, tuple, range, str, bytes)
_NEW = "a key that depends on traced values can't be new in a dict"
_REMEDY = ("Give the dict all its keys first (`dict.fromkeys(range(n), 0.0)`), "
           "or count in an array (`np.zeros(n)`).")  # fmt: skip


def plain(key: Any, among: Any = ()) -> Any:
    """The int that a key is, where dicts of this function get keys by ints of its arguments."""
    trace = current()
    if type(key) is tuple and is_traced(key):
        return tuple(map(_plain_part, key))
    hashable(key, among=among)
    if not isinstance(key, Leaf) or trace is None or not trace.insight.keys:
        return key
    value = trace.builder.rely(key.atom)
    return key if value is None else value


def _plain_part(key: Any) -> Any:
    """What is in a tuple: an int where it can be relied on, or a loop had better be written out."""
    if type(key) is tuple:
        return tuple(map(_plain_part, key))
    trace = current()
    if not isinstance(key, Leaf) or trace is None:
        return key
    if trace.counts_out(key) or trace.builder.example(key.atom) is not None:
        return key.known("a key of a dict or an element of a set")
    return key


def is_traced(key: Any) -> bool:
    """Is it a traced number, or a tuple with something in it that only the kernel knows?"""
    if type(key) is tuple:
        return any(is_traced(k) or is_among((k,)) or is_optional(k) for k in key)
    return isinstance(key, Leaf)


def _numbers(key: Any) -> Iterator[Leaf]:
    """The traced numbers in a key."""
    for k in key if type(key) is tuple else (key,):
        if type(k) is tuple:
            yield from _numbers(k)
        elif isinstance(k, Leaf):
            yield k


def as_index(owner: Any, index: Any) -> Any:
    """The index of a sequence or an array, with the ints that objects of the user's give for it."""
    if type(index) in _PLAIN or not isinstance(owner, (*ORDERED, ArrayHandle, Complex)):
        return index
    if type(index) is slice:
        ends = index.start, index.stop, index.step
        new = [as_index(owner, k) for k in ends]
        return index if all(a is b for a, b in zip(ends, new, strict=True)) else slice(*new)
    if type(index) is tuple:
        return tuple(as_index(owner, k) for k in index)
    found = special(index, "__index__")
    return index if found is None else call(found, index)


def hashable(*keys: Any, among: Any = ()) -> None:
    """What becomes a key, or is looked for among keys, must be known to be what it is."""
    for key in keys:
        if type(key) is tuple:
            hashable(*key, among=among)
        if listed(key) is not None:
            raise fail(JitadTypeError, "a frozenset whose elements depend on traced values can't "
                       "be a key", "Use a tuple of its elements, in a known order.")  # fmt: skip
        hashed: Any = type(key).__hash__
        if hashed is not object.__hash__:
            kept_as_it_is(key)
            continue
        if is_held(key):
            raise fail(JitadTypeError, COPIES.format("hash"),
                       "Use something that is in it for a key.")  # fmt: skip
        told_apart(key)
        if (trace := current()) is not None:
            distinct.key(trace.captures, key, among)


def made(thing: Any) -> Any:
    """A list, dict or set that was written down just now."""
    note_made(thing)
    if type(thing) is dict and (trace := current()) is not None:
        trace.step(sys._getframe(1))
        tabled.begun(thing)
    if type(thing) is not list:
        hashable(*thing)
    return thing


def _refuse_new(trace: Trace | None, key: Any) -> None:
    """A key that may be new; where it is an int of the arguments, the trace starts anew."""
    if trace is None or trace.insight.keys:
        return
    if any(trace.builder.example(k.atom) is not None for k in _numbers(key)):
        raise Again(replace(trace.insight, keys=True))


def _search(owner: dict[Any, Any], key: Any) -> tuple[Any, Any, list[Any]]:
    """Whether the key is there, at which place among keys that it may be, and those keys."""
    if partial.is_partial(owner):
        tabled.wanted(owner)
    partial.checked("asked for a key that depends on traced values", owner)
    if type(key) is tuple:
        return _search_tuple(owner, key)
    keys = [k for k in owner if isinstance(k, (int, float, np.number, np.bool_))]
    first = keys[0] if keys else 0
    if keys == list(range(int(first), int(first) + len(keys))) and type_of(key) == INT:
        at = bind("sub", key, int(first))
        return bind("logical_and", bind("ge", at, 0), bind("lt", at, len(keys))), at, keys
    return _found((k, bind("eq", key, k)) for k in keys)


def _search_tuple(owner: dict[Any, Any], key: tuple[Any, ...]) -> tuple[Any, Any, list[Any]]:
    from jitad.trace.hooks import Eq  # type: ignore[attr-defined]  # which asks here first

    alike = [k for k in owner if type(k) is tuple and len(k) == len(key)]
    return _found((k, Eq(key, k)) for k in alike)


def _found(candidates: Iterable[tuple[Any, Any]]) -> tuple[Any, Any, list[Any]]:
    """Of keys, each with whether it is this one, those that may be."""
    found: Any = False
    at: Any = 0
    keys: list[Any] = []
    for there, this in candidates:
        if this is not False:
            at = bind("where", this, len(keys), at) if isinstance(this, Leaf) else len(keys)
            found = either(found, this)
            keys.append(there)
    return found, at, keys


def contains(owner: dict[Any, Any], key: Any) -> Any:
    """key in owner"""
    if not partial.is_partial(owner):
        return _search(owner, key)[0]
    from jitad.trace.flow.choices import both  # which know of this
    from jitad.trace.hooks import Eq  # type: ignore[attr-defined]

    known = [k for k in owner if k is not partial.DISORDER]
    there = [both(partial.contains(owner, k), lambda k=k: Eq(key, k)) for k in known]  # type: ignore[misc]
    return functools.reduce(either, there, False)


def _look_up(owner: dict[Any, Any], key: Any) -> tuple[Any, Any, list[Any]]:
    """As `_search`; a loop in which the key is counted is rather written out."""
    trace = current()
    for k in _numbers(key):
        if trace is not None and trace.counts_out(k):
            hash(k)  # refused
    return _search(owner, key)


def get(owner: dict[Any, Any], key: Any) -> Any:
    """owner[key]"""
    found, at, keys = _look_up(owner, key)
    if hasattr(owner, "__missing__"):
        if not keys:
            tabled.wanted(owner)
        tabled.require_known(found if keys else False, owner, _NEW, _REMEDY)
    elif not keys:
        raise KeyError(key)
    fork(found, lambda: None, lambda: _raise(key))
    return pick([owner[k] for k in keys], at)


def _raise(key: Any) -> None:
    raise KeyError(key)


def get_or(owner: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """owner.get(key, default)"""
    found, at, keys = _look_up(owner, key)
    if not keys:
        return default
    return fork(found, lambda: pick([owner[k] for k in keys], at), lambda: default)


def by_rows(owner: Any, index: Any = None, *_: Any) -> bool:
    """Is this an index that only the kernel knows?  Then the list is one of rows, from here on."""
    if type(owner) is not list or not _unknown(index):
        return False
    lists.become_rows(owner)
    return True


def _unknown(index: Any) -> bool:
    """Is it an index, or a slice with a bound, that nothing but the kernel can tell?"""
    trace = current()
    bounds = (index.start, index.stop) if isinstance(index, slice) else (index,)
    traced = [k for k in bounds if isinstance(k, Leaf)]
    if trace is None or not traced or isinstance(getattr(index, "step", None), Leaf):
        return False
    return not any(trace.counts_out(k) or trace.builder.example(k.atom) is not None for k in traced)


def part(owner: Any, index: slice) -> Any:
    """owner[a:b] between numbers that only the kernel knows: the rows of a copy; else None."""
    if type(owner) not in (list, tuple) or not owner or stretched(owner) is not None:
        return None
    if not _unknown(index):
        return None
    rows = list(owner)
    note_made(rows)
    lists.become_rows(rows)
    out = lists.sliced(rows, index)
    return out if type(owner) is list else tuple(out)


def put(owner: Any, key: Any, value: Any) -> bool:
    """owner[key] = value; False of what is no dict or list."""
    trace = current()
    if in_rows.want_rows(owner, key):
        lists.put(owner, key, value)
        return True
    if type(owner) is list and trace is not None and not trace.counts_out(key):
        few = _count(owner) <= MOST_PLACES
        if _holds_things(owner) and few and not trace.rolling:
            _put_in_one(owner, key, value)
            return True
        lists.become_rows(owner)
        lists.put(owner, key, value)
        return True
    if type(owner) not in DICTS:
        return False
    found, at, keys = _look_up(owner, key)
    if found is not True:
        _refuse_new(trace, key)
    if not keys:
        tabled.wanted(owner)
        raise fail(JitadTypeError, _NEW, _REMEDY)
    tabled.require_known(found, owner, _NEW, _REMEDY)
    note(owner)
    for k, there in enumerate(keys):
        owner[there] = _either_of(bind("eq", at, k), value, owner[there])
    return True


def _either_of(here: Any, value: Any, old: Any) -> Any:
    """What a place holds after one was written; of numbers of one type no branches are made."""
    numbers = isinstance(value, (Leaf, float)) and isinstance(old, (Leaf, float))
    if numbers and isinstance(here, Leaf) and type_of(value) == type_of(old):
        return bind("where", here, value, old)
    return fork(here, _always(value), _always(old))


def _holds_things(owner: list[Any]) -> bool:
    """Is one of the elements a thing that other names may reach, and write to?"""
    return any(not isinstance(v, (Number, int, float, str, tuple, type(None))) for v in owner)


def _count(owner: list[Any]) -> int:
    """How many things the places may hold; each write looks at all of them."""
    return sum(len(things) if (things := getattr(v, "among", None)) else 1 for v in owner)


def _put_in_one(owner: list[Any], key: Leaf, value: Any) -> None:
    """owner[key] = value, where each place goes on to hold either; no element is copied.

    What a loop of the tape makes anew can't be told from what it made before: rows do that.
    """
    n = len(owner)
    at = extents.as_int(key, "the index of a list")
    at = bind("where", bind("lt", at, 0), bind("add", at, n), at)
    inside = bind("logical_and", bind("ge", at, 0), bind("lt", at, n))
    require(inside, JitadIndexError, "list assignment index out of range")
    note(owner)
    for k, there in enumerate(owner):
        owner[k] = fork(bind("eq", at, k), _always(value), _always(there))


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


def is_traced_key(owner: Any, name: str, args: tuple[Any, ...]) -> bool:
    """Is it a method of a dict that writes or takes out what is under a traced key?"""
    ours = type(owner) in DICTS and name in ("__setitem__", "setdefault", "pop") and args
    return bool(ours) and is_traced(plain(args[0]))


def method(owner: Any, name: str, args: tuple[Any, ...]) -> Any:
    """owner.setdefault(*args) and the like"""
    if name == "__setitem__":
        put(owner, *args)
        return None
    tabled.wanted(owner)
    raise fail(JitadTypeError, _NEW, _REMEDY)


def dict_item(owner: Any, key: Any) -> Any:
    """dict.__getitem__(owner, key)."""
    key = plain(key)
    if tabled.is_tabled(owner):
        return tabled.get(owner, key)
    if is_traced(key):
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
