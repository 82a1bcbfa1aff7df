"""What can a dict do that has a key on some paths only?

Such a key holds a `Perhaps`, whose flag says whether it is there.  It is looked up, written,
removed and counted under that flag; what iterates over the dict is a generator that yields under
conditions.  Where a key comes in again before others, the order of the keys depends on the path,
too: then the dict also has the key `DISORDER`, and only what asks for no order may iterate.
"""

from __future__ import annotations

import copy
import functools
import gc
import math
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.plain import as_written
from jitad.tape.build import Leaf
from jitad.trace.around.libraries import is_library
from jitad.trace.containers import tabled
from jitad.trace.containers.tabled import KINDS
from jitad.trace.containers.writing import MUTABLE, note
from jitad.trace.joins.selected import either, fork
from jitad.trace.joins.unset import Perhaps
from jitad.values import extents
from jitad.values.journal import made
from jitad.values.kind import fail, require
from jitad.values.number import bind
from jitad.values.stale import check_thing


class _Disorder:
    def __repr__(self) -> str:
        return "<the order of the keys>"


DISORDER = _Disorder()


def is_slot(value: Any) -> bool:
    """Is it what a key holds that is there on some paths only?"""
    return type(value) is Perhaps and not value.none


def slot(owner: Any, key: Any) -> bool:
    """Is it a dict that has this key on some paths only?"""
    if type(owner) not in KINDS or tabled.is_tabled(owner):
        return False
    try:
        return is_slot(owner.get(key))
    except TypeError:  # no hash
        return False


def is_partial(thing: Any) -> bool:
    return type(thing) in KINDS and (tabled.is_tabled(thing) or any(map(is_slot, thing.values())))


def merged(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """The keys of two dicts, in an order that both have; with `DISORDER` where there is none."""
    out: list[Any] = []
    i = j = 0
    while i < len(a) or j < len(b):
        if i < len(a) and a[i] not in b:
            out.append(a[i])
            i += 1
        elif j < len(b) and b[j] not in a:
            out.append(b[j])
            j += 1
        elif a[i] == b[j]:
            out.append(a[i])
            i, j = i + 1, j + 1
        else:
            rest = dict.fromkeys((*a[i:], *b[j:]))
            return (*out, *(k for k in rest if k not in (*out, DISORDER)), DISORDER)
    return tuple(out)


# -- one key --------------------------------------------------------------------------------------


def _flag(owner: dict[Any, Any], key: Any) -> Any:
    if key not in owner:
        return False
    return owner[key].flag if is_slot(owner[key]) else True


def _value(owner: dict[Any, Any], key: Any) -> Any:
    value = owner[key]
    return value.value if is_slot(value) else value


def get(owner: dict[Any, Any], key: Any) -> Any:
    """owner[key]"""
    flag = _flag(owner, key)
    if type(owner) is Counter:
        return get_or(owner, key, 0)
    if isinstance(owner, defaultdict) and owner.default_factory is not None:
        from jitad.trace.calls import call  # which asks here first

        return _put_if_missing(owner, key, lambda: call(owner.default_factory))

    def missing() -> Any:
        raise KeyError(key)

    fork(flag, lambda: None, missing)
    return _value(owner, key)


def _put_if_missing(owner: dict[Any, Any], key: Any, make: Callable[[], Any]) -> Any:
    """As a branch would that only puts it in: in a loop, what is there is one thing then."""
    from jitad.trace.flow.choices import choose  # which joins

    choose(_flag(owner, key), lambda: None, lambda: put(owner, key, make()))
    out = _value(owner, key)
    put(owner, key, out)  # there on all paths
    return out


def get_or(owner: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """owner.get(key, default)"""
    return fork(_flag(owner, key), lambda: _value(owner, key), lambda: default)


def put(owner: dict[Any, Any], key: Any, value: Any) -> None:
    """owner[key] = value"""
    note(owner)
    if is_slot(owner.get(key)):
        *_, last = (k for k in owner if k is not DISORDER)
        if last is not key and last != key:
            owner[DISORDER] = Perhaps(True, 0, "")
    owner[key] = value


def contains(owner: dict[Any, Any], key: Any) -> Any:
    """key in owner"""
    return _flag(owner, key)


def delete(owner: dict[Any, Any], key: Any) -> None:
    """del owner[key]"""
    get(owner, key)
    note(owner)
    del owner[key]


def _pop(owner: dict[Any, Any], key: Any, *default: Any) -> Any:
    out = get_or(owner, key, *default) if default else get(owner, key)
    note(owner)
    owner.pop(key, None)
    return out


def _setdefault(owner: dict[Any, Any], key: Any, default: Any = None) -> Any:
    return _put_if_missing(owner, key, lambda: default)


def update(owner: dict[Any, Any], /, *others: Any, **named: Any) -> None:
    """owner.update(*others, **named)"""
    if tabled.is_tabled(owner):
        tabled.METHODS["update"](owner, *others, **named)
        return
    if any(map(tabled.is_tabled, others)):
        tabled.wanted(owner)
        raise tabled.refused("taken over by another dict")
    for other in (*others, named):
        for key in other if type(other) in KINDS else dict(other):
            flag, value = _flag(other, key), _value(other, key)
            if flag is True or key is DISORDER:
                put(owner, key, value if key is not DISORDER else other[key])
            elif key not in owner:
                note(owner)
                owner[key] = other[key]
            else:
                before, old = _flag(owner, key), _value(owner, key)
                new = fork(flag, _always(value), _always(old))
                there = either(flag, before)
                put(owner, key, new)
                owner[key] = new if there is True else Perhaps(there, new, repr(key))


def union(a: Any, b: Any) -> Any:
    """a | b"""
    if type(a) not in KINDS or type(b) not in KINDS or Counter in (type(a), type(b)):
        raise refused("an operand of or")
    from jitad.trace.calls import call  # which asks here first

    out = call(a.copy)
    if tabled.is_tabled(b) and not tabled.is_tabled(out):
        tabled.takes(out)
    update(out, b)
    return out


def in_place(name: str, target: Any, other: Any) -> bool:
    """target |= other, or target += other, where one of them is such a dict."""
    if not _is_such(target) and not _is_such(other):
        return False
    if name == "or" and type(target) in KINDS[:-1]:
        update(target, other)
    elif name == "add" and type(target) is list:
        from jitad.trace.calls import call  # which asks here first

        call(target.extend, other)
    else:
        raise refused(f"an operand of {name}")
    return True


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


# -- all keys -------------------------------------------------------------------------------------


def length(owner: dict[Any, Any]) -> Any:
    """len(owner)"""
    if tabled.is_tabled(owner):
        return tabled.length(owner)
    count: Any = 0
    for key in owner:
        if key is not DISORDER:
            flag = _flag(owner, key)
            one = bind("cast", flag, dtype="i8", py=True) if isinstance(flag, Leaf) else int(flag)
            count = extents.add(count, one)
    return count


class View:
    """The keys, values or items of such a dict."""

    def __init__(self, owner: dict[Any, Any], kind: str) -> None:
        self.owner, self.kind = owner, kind

    def generator(self, ordered: bool = True, backwards: bool = False) -> Any:
        from jitad.trace.flow.generators import written  # which call

        owner = self.owner
        if tabled.is_tabled(owner):
            return tabled.seen_through(owner, self.kind, backwards)
        if ordered and DISORDER in owner:
            tabled.wanted(owner)
            raise fail(
                JitadError, "the order of the keys of this dict depends on traced values",
                "Give it all keys first, in their order: `dict.fromkeys(names, 0.0)`.",
            )  # fmt: skip
        keys = list(owner)
        now = _Now(self, keys)
        return written(as_written.each_there, keys[::-1] if backwards else keys, now.found)

    def sorted(self) -> Any:
        """As keys differ, values are not asked for their order."""
        from jitad.trace.containers.lists import run
        from jitad.trace.flow.generators import written  # which call

        if tabled.is_tabled(self.owner):
            return tabled.in_order(self.owner, self.kind)
        keys = sorted(k for k in self.owner if k is not DISORDER)
        return run(as_written.listed, written(as_written.each_there, keys, lambda k: self.found(k)))

    def found(self, key: Any) -> tuple[Any, Any]:
        """Is it there, and what is seen of it?"""
        if key is DISORDER:
            return False, None
        return _flag(self.owner, key), self._item(key)

    def _item(self, key: Any) -> Any:
        if self.kind == "keys":
            return key
        value = _value(self.owner, key)
        return value if self.kind == "values" else (key, value)


class _Now:
    """What is seen when its turn comes; as many keys must be there, and in the same order."""

    def __init__(self, view: View, keys: list[Any]) -> None:
        self.view, self.keys = view, keys
        self.flags = self._flags()
        self.count = length(view.owner)

    def _flags(self) -> list[Any]:
        return [_flag(self.view.owner, k) for k in self.keys if k is not DISORDER]

    def found(self, key: Any) -> tuple[Any, Any]:
        owner = self.view.owner
        check_thing(owner)
        if tabled.is_tabled(owner) or list(owner) != self.keys:
            raise fail(JitadError, "keys come or go while a dict is gone over",
                       "Go over a list of it: for k in list(d).")  # fmt: skip
        if any(map(operator.is_not, self._flags(), self.flags)):
            same = bind("eq", length(owner), self.count)
            require(same, RuntimeError, "dictionary changed size during iteration")
        return self.view.found(key)


# those that Python makes, while the dict has all its keys on all paths
_PYTHONS = {type(getattr(kinds(), kind)()): kind for kinds in (dict, OrderedDict)
            for kind in ("keys", "values", "items")}  # fmt: skip


def seen(thing: Any) -> Any:
    """A view that was made before the dict became such a one, as one of it; else the thing."""
    if (kind := _PYTHONS.get(type(thing))) is None:
        return thing
    (owner,) = gc.get_referents(thing)
    return View(owner, kind) if is_partial(owner) else thing


SUCH = (*KINDS, View, *_PYTHONS)
_METHODS: dict[str, Callable[..., Any]] = {
    "get": get_or, "pop": _pop, "setdefault": _setdefault, "update": update,
    "__getitem__": get, "__setitem__": put, "__contains__": contains, "__len__": length,
    "__delitem__": delete,
    "keys": lambda owner: View(owner, "keys"), "values": lambda owner: View(owner, "values"),
    "items": lambda owner: View(owner, "items"),
    "__iter__": lambda owner: View(owner, "keys").generator(),
}  # fmt: skip
_PLAIN = ("copy", "clear")
_BY_KEY = ("get", "pop", "setdefault", "__getitem__", "__setitem__", "__delitem__")
# methods of other containers, and of texts, that go through what they are given
GOING_THROUGH = frozenset({
    "extend", "extendleft", "join", "fromkeys", "update", "union", "intersection", "difference",
    "symmetric_difference", "intersection_update", "difference_update",
    "symmetric_difference_update", "issubset", "issuperset", "isdisjoint",
})  # fmt: skip
_UNORDERED = (sum, min, max, any, all, math.fsum)


def items(thing: Any) -> Any:
    """What is iterated over."""
    thing = seen(thing)
    if tabled.is_tabled(thing):
        return tabled.inside(thing)
    if type(thing) is View:
        return thing.generator()
    return View(thing, "keys").generator() if is_partial(thing) else thing


def function(f: Any, args: tuple[Any, ...]) -> Any:
    """What stands in for a function that is called with such dicts; None: nothing needs to."""
    now = tuple(map(seen, args))
    found = _function(f, now)
    if found is None or all(a is b for a, b in zip(args, now, strict=True)):
        return found
    return lambda *given, **named: found(*map(seen, given), **named)


def _function(f: Any, args: tuple[Any, ...]) -> Any:
    if (found := tabled.function(f, args)) is not None:
        return found
    owner = seen(getattr(f, "__self__", None))
    if type(owner) is View:
        raise refused(f"asked for .{f.__name__} of its {owner.kind}")
    if isinstance(f, MethodType) and is_partial(owner):  # written in Python
        if f.__func__ is Counter.most_common:
            return lambda n=None: _most_common(owner, n)
        if isinstance(f.__func__, FunctionType) and not is_library(f.__func__):
            return None
        raise refused(f"asked for .{f.__name__}")
    if isinstance(f, BuiltinMethodType) and type(owner) in KINDS:
        given = args[0] if f.__name__ == "update" and args else None
        if is_partial(owner) or is_partial(given):
            if f.__name__ in _PLAIN:
                return None
            found = _METHODS.get(f.__name__)
            if found is None:
                raise refused(f"asked for .{f.__name__}")
            if f.__name__ in _BY_KEY and args and not tabled.is_tabled(owner):
                from jitad.trace.containers import keyed  # which asks here first

                if keyed.is_traced(keyed.plain(args[0])):
                    tabled.wanted(owner)
                    raise refused("asked for a key that depends on traced values")
            return functools.partial(found, owner)
    if not any(map(_is_such, args)):
        return None
    if f is reversed:
        return lambda a: (a if type(a) is View else View(a, "keys")).generator(backwards=True)
    if f is dict and is_partial(args[0]):
        return _copied
    if f is sorted and (type(args[0]) is not View or args[0].kind != "values"):
        return _sorted
    if f is len:
        return lambda a: length(a.owner if type(a) is View else a)
    return _gone_through(f, args)


def _is_such(value: Any) -> bool:
    return type(value) is View or is_partial(value)


def _gone_through(f: Any, args: tuple[Any, ...]) -> Any:
    """A call with generators in the place of the dicts that are iterated over; or None."""
    from jitad.trace.calls import call  # which asks here first
    from jitad.trace.containers.lists import run
    from jitad.trace.flow import generators
    from jitad.trace.protocols import is_iterated

    def taken(given: Any) -> Any:
        if not _is_such(given):
            return given
        out = (given if type(given) is View else View(given, "keys")).generator(ordered)
        lazy = f is iter or generators.instead(f, args) is not None
        return out if lazy and is_iterated(f, len(args)) else run(as_written.listed, out)

    def iterating(*args: Any, **kwargs: Any) -> Any:
        return call(f, *map(taken, args), **kwargs)

    ordered = not any(f is g for g in _UNORDERED)
    if f is np.fromiter:
        return lambda given, *more, **named: call(np.array, taken(given), *more, **named)
    if isinstance(f, BuiltinMethodType) and f.__name__ in GOING_THROUGH:
        return iterating if isinstance(f.__self__, (str, list, deque)) else _refusing(f)
    return iterating if is_iterated(f, len(args)) else None


def _refusing(f: Any) -> Any:
    raise refused(f"given to .{f.__name__}")


def _most_common(owner: Any, count: Any) -> Any:
    from jitad.plain import tabled as written
    from jitad.trace.containers.lists import run

    return run(written.most_common, View(owner, "items").generator(), count)


def _copied(owner: dict[Any, Any], /, **named: Any) -> dict[Any, Any]:
    out = dict(owner)
    made(out)
    update(out, **named)
    return out


def _sorted(given: Any, key: Any = None, reverse: Any = False) -> Any:
    if type(given) is View and tabled.is_tabled(given.owner) and (key is not None or reverse):
        from jitad.trace.calls import call  # which asks here first

        return call(sorted, given.generator(), key=key, reverse=reverse)
    if key is not None or reverse:
        raise refused("sorted by a key, or backwards")
    return (given if type(given) is View else View(given, "keys")).sorted()


def refused(what: str) -> JitadError:
    """For `raise`: what the dict can't do."""
    error: JitadError = fail(
        JitadError, f"a dict that has a key on some paths only can't be {what}",
        "Put the key in on every path, with None where there is nothing.",
    )  # fmt: skip
    return error


def certain(value: Any, owner: Any = None) -> Any:
    """What others have read; of such a dict it would pass for what is certain to be there."""
    if is_slot(value) and type(owner) not in (list, tuple):
        raise refused("read by a library")
    return value


def checked(what: str, *things: Any) -> None:
    """An error if one of them is such a dict."""
    things = tuple(map(seen, things))
    if any(map(_is_such, things)):
        owners = [t.owner if type(t) is View else t for t in things]
        raise (tabled.refused if any(map(tabled.is_tabled, owners)) else refused)(what)


def kept_whole(f: Any) -> bool:
    """Is it library code that copies such a dict as it is, keeps it, or asks what it is?"""
    if isinstance(f, BuiltinMethodType) and isinstance(f.__self__, MUTABLE):
        return True
    return any(f is g for g in _KEEPING)


_KEEPING = (*KINDS, copy.copy, copy.deepcopy, isinstance, id, type, callable, getattr, setattr,
            hasattr, object.__setattr__)  # fmt: skip
