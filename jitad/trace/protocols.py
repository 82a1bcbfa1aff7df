"""What of the user's classes does Python call by itself, and how is that traced?

A trace sees what rewritten code does.  `for`, `with`, unpacking, properties and the like make
Python call methods (`__iter__`, `__enter__`, `__get__`): were those run as they are, what they
read would be baked into the kernel, and what they write would not be undone.  Here they are
called through the hook.  Objects whose classes have no such methods pass as they are.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import heapq
import itertools
import math
import sys
from collections import deque
from collections.abc import Callable, Iterator
from types import FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from jitad.errors import JitadError, is_refusal
from jitad.trace import acts
from jitad.trace.around import modules
from jitad.trace.around.libraries import is_library_file, is_library_thing, is_ours
from jitad.trace.around.paths import Guard, Path, Root, shape_of
from jitad.trace.around.unseen import may_change, untouched
from jitad.trace.calls import call, special
from jitad.trace.containers import gathered, partial, tabled
from jitad.trace.containers.iterables import Counted, Together, go_on
from jitad.trace.containers.listed import KINDS
from jitad.trace.context import Trace
from jitad.trace.joins.unset import Perhaps
from jitad.trace.ongoing import current
from jitad.trace.rewrite import is_rewritten_code
from jitad.values.array import ArrayHandle
from jitad.values.complexes.number import Complex
from jitad.values.functions import implementation
from jitad.values.journal import made
from jitad.values.kind import fail
from jitad.values.number import Number

# -- iteration ------------------------------------------------------------------------------------

_KNOWN = frozenset({list, tuple, dict, set, frozenset, str, range, int, float, ArrayHandle,
                    Complex})  # fmt: skip


def items(thing: Any) -> Any:
    """What is iterated over: the thing itself, or what its methods give."""
    if (trace := current()) is not None:
        go_on(trace.left, thing)
    if type(thing) in tabled.KINDS or type(thing := partial.seen(thing)) is partial.View:
        return partial.items(thing)
    if type(thing) in KINDS:
        return gathered.ordered(thing)
    if type(thing) in _KNOWN or isinstance(thing, Number):
        return thing
    found = special(thing, "__iter__")
    if found is not None:
        thing = call(found, thing)
        advance = special(thing, "__next__")
        return thing if advance is None else _made(_advanced(thing, advance))
    advance = special(thing, "__next__")
    if advance is not None and hasattr(type(thing), "__iter__"):
        return _made(_advanced(thing, advance))
    item = special(thing, "__getitem__")
    if item is not None and not hasattr(type(thing), "__iter__"):
        return _made(_counted(thing, item))
    if hasattr(thing, "__next__"):
        if trace is not None and not isinstance(thing, _KNOWING):
            check_advanced(trace, thing)
        return thing
    if not may_change(thing):
        return thing
    return _made(untouched(current(), (thing,), "iterating over it", iter, thing))


_KNOWING = (Counted, Together)  # where they stand: loops ask for them


def check_advanced(trace: Trace, thing: Any) -> None:
    """An iterator of Python's is moved on: where it stands, no place of the journal says."""
    if trace.moved is not None:
        trace.moved.append(thing)
    if len(trace.regions) and not trace.journal.is_fresh(thing):
        name = getattr(thing, "called", type(thing).__name__)
        raise fail(JitadError, f"a {name} can't be advanced under a traced condition",
                   "Make a list of it before the loop or branch.")  # fmt: skip


def check_taken(method: str, args: tuple[Any, ...]) -> None:
    """A container's method, as `extend`, takes all that iterators among these give."""
    trace = current()
    for a in args if trace is not None and method in partial.GOING_THROUGH else ():
        if hasattr(type(a), "__next__"):
            go_on(trace.left, a)  # type: ignore[union-attr]
            if not isinstance(a, _KNOWING):
                check_advanced(trace, a)  # type: ignore[arg-type]


def _made(out: Any) -> Any:
    made(out)
    return out


def _advanced(thing: Any, advance: Callable[..., Any]) -> Iterator[Any]:
    from jitad.trace.flow.attempts import sealed  # which calls

    while True:
        try:
            with sealed(StopIteration):
                value = call(advance, thing)
        except StopIteration:
            return
        yield value


def _counted(thing: Any, item: Callable[..., Any]) -> Iterator[Any]:
    """The older protocol: items by number, until there is none."""
    from jitad.trace.flow.attempts import sealed  # which calls

    for k in itertools.count():
        try:
            with sealed(IndexError, StopIteration):
                value = call(item, thing, k)
        except (IndexError, StopIteration):
            return
        yield value


_FIRST, _REST, _ALL = slice(0, 1), slice(1, None), slice(None)
# which arguments of functions that are not rewritten are iterated over
_ITERATING: dict[Any, slice] = {
    **dict.fromkeys(
        (list, tuple, set, frozenset, dict, sum, any, all, sorted, enumerate, deque, math.fsum,
         math.prod, iter, itertools.accumulate, itertools.islice, itertools.tee, itertools.cycle,
         itertools.chain.from_iterable, itertools.combinations, itertools.permutations,
         itertools.combinations_with_replacement, itertools.groupby, itertools.pairwise,
         heapq.nlargest, heapq.nsmallest), _FIRST),
    **dict.fromkeys((map, filter, functools.reduce, itertools.takewhile, itertools.dropwhile,
                     itertools.filterfalse, itertools.starmap), _REST),
    **dict.fromkeys((zip, itertools.chain, itertools.product, itertools.zip_longest), _ALL),
}  # fmt: skip


def iterated(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a function, with iterators for those that it iterates over."""
    if f is dict and args and special(args[0], "keys") is not None:
        from jitad.trace.containers.unpacking import mapping  # which asks here

        return (mapping(args[0]), *args[1:])
    which = _iterated(f, len(args))
    if which is None:
        return args
    first, last, _ = which.indices(len(args))
    return (*args[:first], *map(items, args[first:last]), *args[last:])


def by_own_methods(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same, of objects of the user's only, which say themselves how that is done."""
    which = _iterated(f, len(args))
    if which is None or f is dict:
        return args
    places = range(*which.indices(len(args)))
    return tuple(items(a) if k in places and type(a) not in _KNOWN and special(a, "__iter__")
                 else a for k, a in enumerate(args))  # fmt: skip


def is_iterated(f: Any, count: int) -> bool:
    """Does this function iterate over some of so many arguments?"""
    return _iterated(f, count) is not None


def _iterated(f: Any, count: int) -> slice | None:
    try:
        which = _ITERATING.get(f)
    except TypeError:  # no hash
        return None
    if which is None:
        return _FIRST if f in (min, max) and count == 1 else None
    return slice(1, 2) if f is functools.reduce else which


# -- contexts -------------------------------------------------------------------------------------


class _Entered:
    """A context manager of the user's, whose methods are called through the hook."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __enter__(self) -> Any:
        return self._call("__enter__")

    def __exit__(self, *error: Any) -> Any:
        if error[0] is not None and not issubclass(error[0], Exception):
            return False  # the trace ends here, or goes on elsewhere
        from jitad.trace.flow.managers import is_told  # which calls

        if error[0] is None and is_told(self.thing):
            return False
        swallowed = self._call("__exit__", *error)
        return False if is_refusal(error[1]) else swallowed

    def _call(self, name: str, *args: Any) -> Any:
        found = special(self.thing, name)
        if found is None:
            return getattr(type(self.thing), name)(self.thing, *args)
        return call(found, self.thing, *args)


_ERRORS = ("all", "divide", "over", "under", "invalid")


class _Suppress(contextlib.suppress):
    def __exit__(self, *error: Any) -> bool:
        return not is_refusal(error[1]) and super().__exit__(*error)


def entering(thing: Any) -> Any:
    """What stands in a `with`."""
    if type(thing) is np.errstate and current() is not None:
        acts.check_errstate(getattr(thing, f"_{name}", None) for name in _ERRORS)
    if type(thing) is contextlib.suppress:
        return _Suppress(*thing._exceptions)  # type: ignore[attr-defined]
    users = any(special(thing, name) for name in ("__enter__", "__exit__"))
    return _Entered(thing) if users else thing


# -- attributes -----------------------------------------------------------------------------------

NOTHING = object()


def attribute(trace: Trace | None, owner: Any, name: str) -> Any:
    """An attribute that code of the user's computes, or that a class has; NOTHING: any other."""
    kind = type(owner)
    if kind is ModuleType or kind in _KNOWN:
        return NOTHING
    from jitad.trace.flow.choices import choose  # which calls

    target, classes = owner, kind.__mro__
    if kind is super:
        target = owner.__self__
        above = owner.__self_class__.__mro__
        classes = above[above.index(owner.__thisclass__) + 1 :]
    own = {} if kind is super else getattr(owner, "__dict__", {})
    holder = next((c for c in classes if name in vars(c)), None)
    if holder is None:
        if name in own or name in ("__dict__", "__class__"):
            return NOTHING
        found = special(owner, "__getattr__")
        if found is None:
            return NOTHING
        _rely_on_none(trace, (owner, *classes), name)
        return call(found, owner, name)
    found = vars(holder)[name]
    if kind is super:
        _rely_on_none(trace, classes[: classes.index(holder)], name)
    match found:
        case property():
            _rely_on(trace, owner, holder, name, found)
            return call(found.fget, target) if isinstance(found.fget, FunctionType) else NOTHING
        case functools.cached_property():
            _rely_on(trace, owner, holder, name, found)
            if not isinstance(own.get(name), Perhaps):
                return NOTHING if name in own else _cached(trace, target, found)
            known = own[name]
            return choose(known.flag, lambda: known.value, lambda: call(found.func, target))
        case functools.singledispatchmethod():
            return lambda *args, **kwargs: call(
                dispatched(found.dispatcher, args).__get__(target, type(target)),
                *args, **kwargs)  # fmt: skip
    get = special(found, "__get__")
    if get is not None:
        if name in own and not hasattr(type(found), "__set__"):
            return NOTHING
        _found_in(trace, holder, name, found)
        return call(get, found, target, type(target))
    if trace is None or name in own:
        return NOTHING
    if hasattr(type(found), "__get__"):
        if kind is super or trace.captures.path_of(owner) is None:
            _rely_on(trace, owner, holder, name, found)
        return NOTHING
    return _of_class(trace, owner, classes[: classes.index(holder) + 1], name, found)


def _cached(trace: Trace | None, owner: Any, found: Any) -> Any:
    """A cached property that has not been asked for yet."""
    from jitad.trace.places import set_attr  # which reads

    path = trace.captures.path_of(owner) if trace is not None else None
    if trace is not None and path is not None:
        there = path.then("attr", "__dict__").then("item", found.attrname)
        if not trace.journal.touched(owner, ("attr", found.attrname)):
            trace.captures.guards.append(Guard(there, "missing", None))
    value = call(found.func, owner)
    set_attr(value, owner, found.attrname)
    return value


def _class_path(trace: Trace, cls: Any) -> Path:
    return trace.captures.path_of(cls) or Path(Root(cls))


def _rely_on_none(trace: Trace | None, things: Any, name: str) -> None:
    """None of these has such an attribute of its own: another one would be found."""
    if trace is None:
        return
    for thing in things:
        if isinstance(thing, type):
            there = None if is_library_thing(thing) else _class_path(trace, thing)
        else:
            there = trace.captures.path_of(thing)
        if there is not None and not trace.journal.touched(thing, ("attr", name)):
            own = there.then("attr", "__dict__").then("item", name)
            trace.captures.guards.append(Guard(own, "missing", None))


def _rely_on(trace: Trace | None, owner: Any, holder: Any, name: str, found: Any) -> None:
    if trace is not None:
        cls = holder if type(owner) is super else type(owner)
        modules.rely_on(trace, cls, holder, name, found, owner)


def _found_in(trace: Trace | None, holder: Any, name: str, found: Any) -> None:
    """A descriptor of the user's: what it holds is read anew at each call."""
    if trace is not None and trace.captures.path_of(found) is None:
        path = _class_path(trace, holder).then("attr", "__dict__").then("item", name)
        trace.captures.guards.append(Guard(path, "is", found))
        trace.captures.register(found, path)


def _of_class(trace: Trace, owner: Any, classes: Any, name: str, found: Any) -> Any:
    """A value that stands in the last of these classes: it may be another at the next call.

    Through an object that is found outside it is read as an attribute of the object's, unless the
    function itself has written to a class.
    """
    *between, holder = classes
    written = _written_to(trace, (owner, *classes), name)
    if written is holder or (written is None and trace.captures.path_of(owner) is not None):
        return NOTHING
    if trace.journal.is_made(holder) or isinstance(found, (type, FunctionType)):
        return NOTHING
    if name.startswith("__"):
        return NOTHING
    _rely_on_none(trace, between, name)
    return trace.captures.read(_class_path(trace, holder).then("attr", name), found)


def _written_to(trace: Trace, things: Any, name: str) -> Any:
    """The last of these to which the function has written such an attribute; None: none."""
    slot = ("attr", name)
    return next((t for t in reversed(things) if trace.journal.touched(t, slot)), None)


def written_in(trace: Trace, owner: Any, name: str) -> Any:
    """The thing or class that gives the attribute, if the function has written any on the way."""
    on_the_way = []
    for thing in owner.__mro__ if isinstance(owner, type) else (owner, *type(owner).__mro__):
        on_the_way.append(thing)
        if name in getattr(thing, "__dict__", ()):
            break
    return on_the_way[-1] if _written_to(trace, on_the_way, name) is not None else None


def read_of_class(trace: Trace, holder: Any, name: str, found: Any) -> Any:
    """The same, for an object that has an attribute of this name on other paths."""
    if trace.journal.is_made(holder) or trace.journal.touched(holder, ("attr", name)):
        return found
    return trace.captures.read(_class_path(trace, holder).then("attr", name), found)


def dotted(owner: Any, names: str) -> Any:
    """`owner.a.b`, as `operator.attrgetter` reads it."""
    from jitad.trace.places import get_attr  # which asks here

    for name in names.split("."):
        owner = get_attr(owner, name)
    return owner


def attributes_got(getter: Any, thing: Any) -> Any:
    """What an `operator.attrgetter` gives."""
    names: tuple[str, ...] = getter.__reduce__()[1]
    found = [dotted(thing, name) for name in names]
    return found[0] if len(names) == 1 else tuple(found)


def items_got(getter: Any, thing: Any) -> Any:
    """What an `operator.itemgetter` gives."""
    from jitad.trace.places import get_item  # which asks here

    indices: tuple[Any, ...] = getter.__reduce__()[1]
    found = [get_item(thing, index) for index in indices]
    return found[0] if len(indices) == 1 else tuple(found)


def method_called(caller: Any, thing: Any) -> Any:
    """What an `operator.methodcaller` gives."""
    made_by, args = caller.__reduce__()
    if isinstance(made_by, functools.partial):  # with keywords
        (name, *_), more = made_by.args, made_by.keywords
    else:
        (name, *args), more = args, {}
    return call(dotted(thing, name), *args, **more)


def _class_of(value: Any) -> Any:
    """The class that the user sees."""
    asked = implementation(builtins.type)
    assert asked is not None
    return asked(value)


def dispatched(f: Any, args: tuple[Any, ...]) -> Any:
    """The function that `functools.singledispatch` chooses, as long as no other one comes in."""
    trace, chosen = current(), f.dispatch(_class_of(args[0]))
    if trace is not None:
        path = (trace.captures.path_of(f) or Path(Root(f))).then("attr", "registry")
        trace.captures.guards.append(Guard(path, "keys", shape_of(f.registry)))
        key = next(k for k, g in f.registry.items() if g is chosen)
        trace.captures.read(path.then("item", key), chosen)
    return chosen


# -- what is left ---------------------------------------------------------------------------------


def watched(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """f(*args, **kwargs); an error if that runs a method of the user's that is not rewritten."""
    values = [*args, *kwargs.values()]
    if not any(map(_has_methods, values)) or sys.getprofile() is not None:
        return f(*args, **kwargs)
    here, found = sys._getframe().f_code, []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or frame.f_back is None or is_library_file(frame.f_code.co_filename):
            return
        caller = frame.f_back.f_code
        if not is_rewritten_code(frame.f_code) and frame.f_code.co_filename != "<string>":
            if caller is here or (is_library_file(caller.co_filename) and not is_ours(caller)):
                found.append(frame.f_code.co_qualname)

    sys.setprofile(watch)
    try:
        out = f(*args, **kwargs)
    finally:
        sys.setprofile(None)
    if found:
        name = getattr(f, "__qualname__", repr(f))
        raise fail(JitadError, f"{name} calls {found[0]} here, which a trace would not see",
                   "Call it in your own code.")  # fmt: skip
    return out


def _has_methods(value: Any) -> bool:
    """Is it an object of a class of the user's, or does it hold one?"""
    kind = type(value)
    if kind in (list, tuple):
        return any(type(v) not in _KNOWN and _has_methods(v) for v in value)
    if kind in _KNOWN or isinstance(value, (type, ModuleType, Number)):
        return False
    return kind.__module__ != "builtins" and not is_library_thing(kind)


def write(owner: Any, name: str) -> tuple[Any, ...] | None:
    """The user's function that assigns an attribute, with what it is called with first."""
    kind = type(owner)
    found = special(owner, "__setattr__")
    if found is not None:
        return found, owner, name
    holder = next((c for c in kind.__mro__ if name in vars(c)), None)
    if holder is None:
        return None
    there = vars(holder)[name]
    if isinstance(there, property):
        return (there.fset, owner) if isinstance(there.fset, FunctionType) else None
    put = special(there, "__set__")
    if put is None:
        return None
    _found_in(current(), holder, name, there)
    return put, there, owner


