"""What can a set or a deque do whose elements, or how many there are, only the kernel knows?

The hooks ask here when they meet one (`listed`).  A set becomes one where something traced is put
in, or taken out, a deque where paths leave other numbers of elements behind.  All is done by the
list of the elements (`plain/gathered.py`).  In which order a set has them is not known, but for
small ints of which some are taken out: what asks for an order is refused.
"""

from __future__ import annotations

import copy
import functools
import math
from collections import deque
from collections.abc import Callable
from types import BuiltinMethodType, MethodWrapperType
from typing import Any

from jitad.errors import JitadError
from jitad.plain import gathered as written
from jitad.tape.build import Leaf
from jitad.tape.types import INT
from jitad.trace.containers import lists
from jitad.trace.containers.listcalls import is_users
from jitad.trace.containers.listed import (
    BY_SIZE,
    IN_ORDER,
    KINDS,
    SETS,
    UNORDERED,
    Listed,
    again,
    elements_of,
    inside,
    key_of,
    listed,
    of_both,
)
from jitad.trace.containers.lists import run
from jitad.trace.containers.stretch import stretched
from jitad.trace.containers.writing import MUTABLE, note
from jitad.trace.joins.forms import Number
from jitad.trace.joins.unset import Among, is_optional
from jitad.trace.ongoing import current
from jitad.values.array import ArrayHandle
from jitad.values.journal import made
from jitad.values.kind import fail, require


def is_unknown(value: Any) -> bool:
    """Can't a set of Python's have it for an element, as only the kernel knows what it is?

    Not so of what is known where a loop is written out, and of ints that can be relied on.
    """
    if isinstance(value, tuple):
        return any(map(is_unknown, value))
    if listed(value) is not None:  # which is equal to any other with the same elements
        return True
    trace = current()
    if isinstance(value, Leaf):
        if trace is None or trace.counts_out(value):
            return False
        return trace.builder.example(value.atom) is None
    return isinstance(value, Among) or is_optional(value)


def _content(owner: Any) -> Listed:
    """A set or deque has its elements in a list from here on."""
    content = listed(owner)
    if content is not None:
        return content
    return _hold(owner, Listed(elements_of(owner), key_of(owner)))


def _hold(owner: Any, content: Listed) -> Listed:
    note(owner)
    owner.clear()
    (owner.append if isinstance(owner, deque) else owner.add)(content)
    return content


def _mixed(owner: set[Any], order: str) -> list[Any]:
    """The elements of a set into which others come, which are in this order afterwards."""
    content = _content(owner)
    (order,) = of_both((content.order,), (order,))
    if content.order != order:
        content = _hold(owner, Listed(content.elements, order))
    return content.elements


def _new(kind: Any, elements: list[Any], key: str = "") -> Any:
    out = again(kind(), elements, key, False)
    made(out)
    return out


def ordered(value: Any) -> Any:
    """What is iterated over."""
    content = listed(value)
    if content is None:
        return value
    what = "the order of the elements of this set depends on traced values"
    remedy = "Loop over sorted(it), or keep a list as well."
    if content.order == BY_SIZE and _are_ints(content.elements):
        from jitad.trace.calls import call  # which asks here first

        require(run(written.are_small, content.elements), JitadError, f"{what}: {remedy}")
        return call(sorted, content.elements)
    if content.order != IN_ORDER:
        raise fail(JitadError, what, remedy)
    return content.elements


def _are_ints(elements: list[Any]) -> bool:
    stretch = stretched(elements)
    if stretch is not None:
        return isinstance(stretch.element, Number) and stretch.element.type == INT
    return all(type(v) is int or (isinstance(v, Leaf) and v.type == INT) for v in elements)


# -- methods --------------------------------------------------------------------------------------


def _others(values: tuple[Any, ...]) -> list[Any]:
    """The arguments of a method, in which elements are looked for again and again."""
    return [inside(v) if isinstance(v, _LOOKED_IN) else lists.call_list(v) for v in values]


_LOOKED_IN = (list, tuple, dict, deque, *SETS, ArrayHandle)


def _adding(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda owner, *args: run(f, _mixed(owner, BY_SIZE), *map(inside, args))


def _removing(f: Callable[..., Any]) -> Callable[..., Any]:
    def method(owner: Any, *args: Any) -> Any:
        if key_of(owner) == BY_SIZE:  # what was large, and is gone, has put others elsewhere
            return run(f, _mixed(owner, UNORDERED), *args)
        return run(f, _content(owner).elements, *args)

    return method


def _making(f: Callable[..., Any]) -> Callable[..., Any]:
    def method(owner: Any, *others: Any) -> Any:
        return _new(type(owner), run(f, elements_of(owner), *_others(others)))

    return method


def _changing(f: Callable[..., Any]) -> Callable[..., Any]:
    def method(owner: Any, *others: Any) -> None:
        values = run(f, elements_of(owner), *_others(others))
        run(written.keep, _mixed(owner, UNORDERED), values)

    return method


def _asking(f: Callable[..., Any]) -> Callable[..., Any]:
    def method(owner: Any, other: Any) -> Any:
        return run(f, elements_of(owner), *_others((other,)))

    return method


def _limited(f: Callable[..., Any]) -> Callable[..., Any]:
    def method(owner: Any, value: Any) -> None:
        run(f, owner.maxlen, _content(owner).elements, ordered(value))

    return method


def _of_list(name: str) -> Callable[..., Any]:
    from jitad.trace.calls import call  # which asks here first

    return lambda owner, *args: call(getattr(elements_of(owner), name), *args)


def _copy_of(content: Listed) -> list[Any]:
    elements = content.elements
    if stretched(elements) is not None:
        return lists.copied(elements)
    out = elements.copy()
    made(out)
    return out


def _copied(owner: Any) -> Any:
    content = listed(owner)
    assert content is not None
    out = again(owner, _copy_of(content), key_of(owner), False)
    made(out)
    return out


_SET: dict[str, Callable[..., Any]] = {
    "add": _adding(written.add), "update": _adding(written.update),
    "discard": _removing(written.discard), "remove": _removing(written.take_out),
    "union": _making(written.union), "intersection": _making(written.intersection),
    "difference": _making(written.difference),
    "symmetric_difference": _making(written.symmetric_difference),
    "intersection_update": _changing(written.intersection),
    "difference_update": _changing(written.difference),
    "symmetric_difference_update": _changing(written.symmetric_difference),
    "issubset": _asking(written.is_subset), "issuperset": _asking(written.is_superset),
    "isdisjoint": _asking(written.is_disjoint),
    "copy": _copied, "clear": _of_list("clear"),
    "__len__": _of_list("__len__"), "__contains__": _of_list("__contains__"),
}  # fmt: skip
_DEQUE: dict[str, Callable[..., Any]] = {
    "append": _limited(written.append_right), "appendleft": _limited(written.append_left),
    "extend": _limited(written.extend_right), "extendleft": _limited(written.extend_left),
    "pop": _removing(written.pop_right), "popleft": _removing(written.pop_left),
    "rotate": _removing(written.rotate), "copy": _copied,
    **{name: _of_list(name) for name in (
        "clear", "count", "index", "remove", "reverse", "__len__", "__contains__",
        "__getitem__", "__setitem__", "__delitem__")},
    "insert": lambda owner, *args: run(written.put_in, owner.maxlen, elements_of(owner), *args),
}  # fmt: skip
# of sets of Python's, what looks at one element and may meet one that only the kernel knows
_TAKING = ("add", "discard", "remove")


def _method(owner: Any, name: str, args: tuple[Any, ...]) -> Any:
    """What stands in for a method; None: Python's own does."""
    if listed(owner) is None:
        unknown = any(listed(a) is not None or stretched(a) is not None for a in args)
        one = name in _TAKING and any(map(is_unknown, args))
        if not (unknown or one) or name == "__init__":
            return None
    found = (_DEQUE if isinstance(owner, deque) else _SET).get(name)
    if found is None:
        raise refused(f"asked for .{name}")
    return functools.partial(found, owner)


def refused(what: str) -> Exception:
    """For `raise`: what it can't do."""
    error: Exception = fail(
        JitadError, f"a set or deque whose elements depend on traced values can't be {what}",
        "Use a list, or flags in an array: `seen = np.zeros(n, bool)`.",
    )  # fmt: skip
    return error


# -- functions and operators ----------------------------------------------------------------------

_IN_ANY_ORDER = (sum, any, all, len, bool, math.fsum)
_ABOUT = (isinstance, type, id, callable, getattr, setattr, hasattr, object.__setattr__)
_BY_SIZE = (min, max, sorted)  # the order matters to what is equal, which a key may make of others


def _is_one(f: Any, of: tuple[Any, ...]) -> bool:
    return any(f is g for g in of)


def function(f: Any, args: tuple[Any, ...]) -> Any:
    """What stands in for a function that is called with such things; None: nothing needs to."""
    owner = getattr(f, "__self__", None)
    if isinstance(f, (BuiltinMethodType, MethodWrapperType)):
        if type(owner) in KINDS:
            return _method(owner, f.__name__, args)
        if isinstance(owner, MUTABLE) and f.__name__ not in ("extend", "update"):
            return None  # which holds what it is given
    if not args:
        return None
    unknown = listed(args[0]) is not None or stretched(args[0]) is not None
    if _is_one(f, SETS) and (unknown or _has_unknown(args[0])):
        return functools.partial(_distinct, f)
    if f is deque and unknown:
        return _deque
    if not any(listed(a) is not None for a in args) or is_users(f):
        return None
    if _is_one(f, (copy.copy, copy.deepcopy)):
        return _copied
    if _is_one(f, _ABOUT):
        return None
    return functools.partial(_of_elements, f)


def _has_unknown(values: Any) -> bool:
    return type(values) in (list, tuple, _VALUES) and any(map(is_unknown, values))


_VALUES: Any = type(dict[str, int]().values())


def _of_elements(f: Any, *args: Any, **kwargs: Any) -> Any:
    """f of the elements"""
    from jitad.trace.calls import call  # which asks here first

    free = _is_one(f, _IN_ANY_ORDER) or (_is_one(f, _BY_SIZE) and kwargs.get("key") is None)
    return call(f, *map(inside if free else ordered, args), **kwargs)


def _distinct(kind: Any, values: Any) -> Any:
    content = listed(values)
    if content is not None and not isinstance(values, deque):
        out = again(kind(), _copy_of(content), key_of(values), False)
        made(out)
        return out
    return _new(kind, run(written.distinct, ordered(values)), BY_SIZE)


def _deque(values: Any, maxlen: int | None = None) -> Any:
    out = again(deque(maxlen=maxlen), [], IN_ORDER, False)
    made(out)
    _DEQUE["extend"](out, values)
    return out


_BINARY: dict[str, str] = {
    "or": "union", "and": "intersection", "sub": "difference", "xor": "symmetric_difference",
}  # fmt: skip


def binary(name: str, a: Any, b: Any) -> Any:
    """a | b and the like, of which one at least is such a set, or such a deque."""
    if isinstance(a, SETS) and isinstance(b, SETS):
        if name in _BINARY:
            return _SET[_BINARY[name]](a, b)
        if name in _COMPARED:
            return run(_COMPARED[name], elements_of(a), elements_of(b))
    if type(a) is type(b) is deque and name != "add":
        from jitad.trace import hooks  # which ask here first

        return getattr(hooks, _HOOKS[name])(elements_of(a), elements_of(b))
    if name in ("eq", "ne") and all(type(x) in (*KINDS, *_OTHER) for x in (a, b)):
        return name == "ne"  # things of different kinds
    raise refused(f"an operand of {name}")


_OTHER = (list, tuple, dict, str, bool, int, float, Leaf)


_COMPARED: dict[str, Callable[..., Any]] = {
    "eq": written.is_same, "ne": written.is_other, "le": written.is_subset,
    "ge": written.is_superset, "lt": written.is_smaller, "gt": written.is_larger,
}  # fmt: skip
_HOOKS = {"eq": "Eq", "ne": "NotEq", "lt": "Lt", "le": "LtE", "gt": "Gt", "ge": "GtE"}


def in_place(name: str, a: Any, b: Any) -> Any:
    """a |= b and the like."""
    if isinstance(a, frozenset):
        return binary(name, a, b)
    if isinstance(a, set) and isinstance(b, SETS) and name in _BINARY:
        _SET["update" if name == "or" else f"{_BINARY[name]}_update"](a, b)
        return a
    if isinstance(a, deque) and name == "add":
        _DEQUE["extend"](a, b)
        return a
    raise refused(f"an operand of {name}")


def set_of(values: Any) -> Any:
    """A set that is written down."""
    if stretched(values) is not None or _has_unknown(values):
        return _distinct(set, values)
    from jitad.trace.containers.keyed import made  # which looks whether they are known

    return made(set(values))
