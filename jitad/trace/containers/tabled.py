"""What is a dict into which keys come that only the kernel knows?

It is Python's own, so that all who hold it go on holding it, and has one key, `TABLE`, under which
lie a list of the keys and a list of the values, in the order in which they came.  All is done by
these (`plain/tabled.py`).  A dict is one from its beginning: where such a key would be new, the
trace starts anew, knowing at which place of the user's code the dict was made.
"""

from __future__ import annotations

import copy
import functools
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import replace
from types import BuiltinMethodType, MethodWrapperType
from typing import Any

from jitad.errors import JitadError, NewKey
from jitad.plain import tabled as written
from jitad.tape.ir import Pos
from jitad.trace.containers.stretch import stretched
from jitad.trace.containers.writing import note
from jitad.trace.context import Again
from jitad.trace.ongoing import current
from jitad.values.array import ArrayHandle
from jitad.values.journal import is_made, made
from jitad.values.kind import fail, require


def run(f: Callable[..., Any], *args: Any) -> Any:
    from jitad.trace.containers import lists  # which are joined as dicts are

    return lists.run(f, *args)


class _Table:
    def __repr__(self) -> str:
        return "<keys that depend on traced values>"


TABLE = _Table()
KINDS = (dict, OrderedDict, defaultdict, Counter)
Lists = tuple[list[Any], list[Any]]


def table(owner: Any) -> Lists | None:
    """The keys and the values of such a dict."""
    if type(owner) in KINDS and TABLE in owner:
        if len(owner) > 1:
            raise refused("put together with another in this way")
        out: Lists = owner[TABLE]
        return out
    return None


def is_tabled(owner: Any) -> bool:
    return table(owner) is not None


# -- where one begins -----------------------------------------------------------------------------


def begun(owner: Any) -> None:
    """A dict was made just now, where the user's code is."""
    trace = current()
    if trace is None or type(owner) not in KINDS or not is_made(owner):
        return
    pos = trace.builder.pos
    if pos is None:
        return
    if pos not in trace.insight.tabled:
        trace.begun[id(owner)] = (owner, pos)
    elif not is_tabled(owner):
        _hold(owner, list(owner), list(owner.values()))


def _hold(owner: Any, keys: list[Any], values: list[Any]) -> None:
    note(owner)
    made(keys)
    made(values)
    owner.clear()
    owner[TABLE] = keys, values


def takes(owner: Any) -> None:
    """A dict that is only just being made, and known as far as it goes, is to be one."""
    from jitad.trace.containers.partial import is_slot  # which asks here

    if any(map(is_slot, owner.values())):
        raise refused("put together with one that has keys on some paths only")
    _hold(owner, list(owner), list(owner.values()))


def _place(owner: Any) -> Pos | None:
    """Where the dict was made, if the user's code did that."""
    trace = current()
    _, pos = trace.begun.get(id(owner), (None, None)) if trace is not None else (None, None)
    return pos


def wanted(owner: Any) -> None:
    """A key that only the kernel knows is certainly new, or meets keys on some paths only.

    Not so where a loop, or calls, can be written out instead: then the keys may be known.
    """
    trace, pos = current(), _place(owner)
    if trace is None or pos is None or any(r.trial for r in trace.regions):
        return
    tried = all(r.function.__code__ in trace.insight.tried for r in trace.recursions)
    if tried and pos not in trace.insight.tabled:
        raise Again(replace(trace.insight, tabled=trace.insight.tabled | {pos}))


def may_have_come(owner: Any) -> None:
    """A key is missing, of a dict in which the kernel may have found that one is new."""
    trace, pos = current(), _place(owner)
    if trace is not None and pos in trace.new_keys.values():
        wanted(owner)


def require_known(found: Any, owner: Any, what: str, remedy: str) -> None:
    """The kernel checks that the key is there; where it is not, the function is traced anew."""
    trace, pos = current(), _place(owner)
    if trace is None or pos is None or found is True:
        require(found, JitadError, f"{what}: {remedy}")
        return
    text = f"no key is new in the dict of {pos.file}:{pos.line}:{pos.column}"
    trace.new_keys[text] = pos
    require(found, NewKey, text)


# -- what it does ---------------------------------------------------------------------------------


def refused(what: str) -> JitadError:
    """For `raise`: what it can't do."""
    error: JitadError = fail(
        JitadError, f"a dict whose keys depend on traced values can't be {what}",
        "Give the dict all its keys first (`dict.fromkeys(range(n), 0.0)`), or use two lists.",
    )  # fmt: skip
    return error


def get(owner: Any, key: Any) -> Any:
    """owner[key]"""
    keys, values = _content(owner)
    if type(owner) is Counter:
        return run(written.get_or, keys, values, key, 0)
    if type(owner) is defaultdict and owner.default_factory is not None:
        from jitad.trace.calls import call  # which asks here first

        make = owner.default_factory
        return run(written.made_if_missing, keys, values, lambda: call(make), key)
    return run(written.get, keys, values, key)


def put(owner: Any, key: Any, value: Any) -> None:
    """owner[key] = value"""
    run(written.put, *_content(owner), key, value)


def contains(owner: Any, key: Any) -> Any:
    """key in owner"""
    return run(written.contains, *_content(owner), key)


def delete(owner: Any, key: Any) -> None:
    """del owner[key]"""
    run(written.delete, *_content(owner), key)


def _content(owner: Any) -> Lists:
    content = table(owner)
    assert content is not None
    return content


def _pop(owner: Any, key: Any, *default: Any) -> Any:
    return run(written.take_or if default else written.take, *_content(owner), key, *default)


def _popitem(owner: Any, last: bool = True) -> Any:
    if not last:
        raise refused("asked for its first item")
    return run(written.take_last, *_content(owner))


def _update(owner: Any, *others: Any, **named: Any) -> None:
    from jitad.trace.calls import call  # which asks here first

    for other in (*others, named) if named else others:
        if type(owner) is Counter:
            if isinstance(other, dict):
                run(written.add_counts, owner, call(other.items))
            else:
                run(written.count_all, owner, other)
            continue
        pairs = call(other.items) if isinstance(other, dict) else other
        run(written.put_all, *_content(owner), pairs)


def _copied(owner: Any) -> Any:
    keys, values = _content(owner)
    out = copy.copy(owner)
    made(out)
    from jitad.trace.calls import call  # which asks here first

    _hold(out, call(list, keys), call(list, values))
    return out


METHODS: dict[str, Callable[..., Any]] = {
    "get": lambda owner, *args: run(written.get_or, *_content(owner), *args),
    "pop": _pop, "popitem": _popitem, "update": _update, "copy": _copied,
    "setdefault": lambda owner, *args: run(written.set_default, *_content(owner), *args),
    "__getitem__": get, "__setitem__": put, "__contains__": contains, "__delitem__": delete,
    "clear": lambda owner: run(written.clear, *_content(owner)),
    "__len__": lambda owner: length(owner), "__iter__": lambda owner: _content(owner)[0],
    **{name: functools.partial(lambda name, owner: _view(owner, name), name)
       for name in ("keys", "values", "items")},
}  # fmt: skip
_KEEPING = (isinstance, id, type, callable, getattr, setattr, hasattr, object.__setattr__)


def _view(owner: Any, kind: str) -> Any:
    from jitad.trace.containers.partial import View  # which asks here

    return View(owner, kind)


def seen_through(owner: Any, kind: str, backwards: bool = False) -> Any:
    """The keys, values or items, of which a view is asked."""
    from jitad.trace.calls import call  # which asks here first

    keys, values = _content(owner)
    if backwards:
        keys, values = run(written.backwards, keys), run(written.backwards, values)
    return keys if kind == "keys" else values if kind == "values" else call(zip, keys, values)


def in_order(owner: Any, kind: str) -> Any:
    """The keys or items, sorted: as keys differ, values are not asked for their order."""
    keys, values = _content(owner)
    if kind == "values":
        return run(written.sorted_values, values)
    return run(written.sorted_keys if kind == "keys" else written.sorted_items, keys, values)


def length(owner: Any) -> Any:
    """len(owner)"""
    from jitad.trace.calls import call  # which asks here first

    return call(len, _content(owner)[0])


def inside(value: Any) -> Any:
    """What is iterated over, of such a dict; anything else is what it is."""
    content = table(value)
    return value if content is None else content[0]


def function(f: Any, args: tuple[Any, ...]) -> Any:
    """What stands in for a function that is called with such dicts; None: nothing needs to."""
    owner = getattr(f, "__self__", None)
    if isinstance(f, (BuiltinMethodType, MethodWrapperType)) and is_tabled(owner):
        found = METHODS.get(f.__name__)
        if found is None:
            raise refused(f"asked for .{f.__name__}")
        return functools.partial(found, owner)
    if getattr(f, "__func__", None) is Counter.update and (is_tabled(owner) or _unknown(args)):
        return functools.partial(_update, owner)
    if f is Counter and _unknown(args):
        return _counted
    if isinstance(f, BuiltinMethodType) and type(owner) in KINDS and f.__name__ == "update":
        return None  # which may become one
    from jitad.trace.calls import takes_anything  # which asks here first

    if not any(map(is_tabled, args)) or takes_anything(f):
        return None
    if f is copy.copy:
        return _copied
    if f is reversed:
        return lambda owner: run(written.backwards, _content(owner)[0])
    if f in KINDS and is_tabled(args[0]) and len(args) == 1:
        return functools.partial(_again, f)
    if any(f is g for g in _KEEPING):
        return None
    return functools.partial(_of_keys, f)


def _unknown(args: tuple[Any, ...]) -> bool:
    """Is it one thing to iterate over, which gives keys that only the kernel knows?"""
    from jitad.trace.containers.gathered import is_unknown  # which knows of dicts

    if len(args) != 1 or isinstance(args[0], dict):
        return False
    (given,) = args
    if isinstance(given, ArrayHandle) or stretched(given) is not None:
        return True
    return isinstance(given, (list, tuple)) and any(map(is_unknown, given))


def _counted(given: Any) -> Any:
    out: Any = Counter()
    made(out)
    begun(out)
    run(written.count_all, out, given)
    return out


def _again(kind: Any, other: Any, **named: Any) -> Any:
    out = kind()
    made(out)
    keys, values = _content(other)
    from jitad.trace.calls import call  # which asks here first

    _hold(out, call(list, keys), call(list, values))
    if named:
        _update(out, **named)
    return out


def _of_keys(f: Any, *args: Any, **kwargs: Any) -> Any:
    from jitad.trace.calls import call  # which asks here first
    from jitad.trace.protocols import is_iterated

    if f not in (len, min, max) and not is_iterated(f, len(args)):
        raise refused(f"given to {getattr(f, '__qualname__', type(f).__name__)}")
    return call(f, *map(inside, args), **kwargs)
