"""What changes while a function runs eagerly, although no note tells of it?

What the user's code writes is noted (`outside`).  An iterator that is advanced, and an object of a
library that is told something (a queue, an `array.array`), only look different afterwards.  So
what a function can reach is looked at before it runs and after: where it must run again as if it
had not run before, such a change is an error.
"""

from __future__ import annotations

import gc
import operator
import random
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from types import (
    CodeType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

import numpy as np

from jitad.errors import JitadError
from jitad.trace.around.libraries import is_library, is_library_thing
from jitad.trace.around.unseen import may_change, state
from jitad.where import caller

_MOST = 10_000  # things that are looked through
_LEAVES = (bool, int, float, complex, str, bytes, type(None), np.generic, np.ndarray)
_ITERATORS = ("builtins", "itertools", "_io", "_csv")  # modules of the classes
_NOTED = (random.Random, np.random.Generator, np.random.RandomState)  # see `randomness`


class Reached:
    """The iterators and objects of libraries that a function can reach, as they are now."""

    def __init__(self, f: Any, args: tuple[Any, ...]) -> None:
        self.before = [(thing, _looks(thing)) for thing in _reached([f, *args])]

    def check(self, name: str, why: str) -> None:
        """None of them has changed; an error otherwise."""
        for thing, was in self.before:
            if _looks(thing) != was:
                raise JitadError(
                    f"{name} changes a {type(thing).__name__} from outside, and {why}", caller(),
                    "Make a list of an iterator first; for what changes use lists, dicts and "
                    "objects of your own classes.",
                )  # fmt: skip


def _reached(every: list[Any]) -> Iterator[Any]:
    """Those among these things, and among what they know of."""
    met = set(map(id, every))
    for thing in every:  # which gets longer
        if _changes_unnoted(thing):
            yield thing
        for part in parts(thing):
            if id(part) not in met and not isinstance(part, _LEAVES) and len(every) < _MOST:
                met.add(id(part))
                every.append(part)


def _changes_unnoted(thing: Any) -> bool:
    if isinstance(thing, _NOTED):
        return False
    if isinstance(thing, Iterator) and type(thing).__module__ in _ITERATORS:
        return True
    return may_change(thing) and (is_library_thing(type(thing)) or not hasattr(thing, "__dict__"))


def parts(thing: Any) -> Iterator[Any]:
    """What the thing knows of, so far as a function of the user's can reach it."""
    match thing:
        case FunctionType():
            if not is_library(thing):
                yield from _of_function(thing)
        case ModuleType():
            return
        case type():
            if not is_library_thing(thing):
                yield from vars(thing).values()
                yield from thing.__bases__
        case dict():
            yield from islice(thing.values(), _MOST)
        case list() | tuple() | set() | deque():
            yield from islice(thing, _MOST)
        case SimpleNamespace():
            yield from vars(thing).values()
        case MethodType() | partial():
            yield from gc.get_referents(thing)
        case _ if type(thing).__module__.startswith("jitad"):
            yield getattr(thing, "f", None)
        case _ if not is_library_thing(type(thing)):
            yield from gc.get_referents(thing)


def _of_function(f: FunctionType) -> Iterator[Any]:
    yield from f.__defaults__ or ()
    yield from (f.__kwdefaults__ or {}).values()
    yield from vars(f).values()
    for cell in f.__closure__ or ():
        yield from gc.get_referents(cell)
    names = _names(f.__code__)
    for name in names & f.__globals__.keys():
        found = f.__globals__[name]
        yield found
        if isinstance(found, ModuleType) and not is_library_thing(found):
            yield from (vars(found)[n] for n in names & vars(found).keys())


def _names(code: CodeType) -> set[str]:
    inner = [_names(c) for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*inner)


def _looks(thing: Any, deep: int = 4) -> Any:
    """Something that compares equal only if an iterator, or an object, is as it was."""
    if not isinstance(thing, Iterator):
        return [v if type(v) is bytes else id(v) for v in state(thing)]
    if type(thing).__module__ == "_io":
        return _asked(thing.tell)  # type: ignore[attr-defined]
    at: Any = repr(thing)
    if isinstance(thing, GeneratorType):
        at = thing.gi_frame and thing.gi_frame.f_lasti
    return at, operator.length_hint(thing, -1), _inner(thing, deep)


def _inner(thing: Any, deep: int) -> list[Any]:
    parts = gc.get_referents(thing) if deep else []
    return [
        _looks(p, deep - 1) if isinstance(p, Iterator)
        else _inner(p, deep - 1) if isinstance(p, tuple) else id(p)
        for p in parts
    ]  # fmt: skip


def _asked(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except (OSError, ValueError):
        return None
