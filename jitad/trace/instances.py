"""How is an object of a user's class made?

As `type.__call__` makes it, step by step: a metaclass's `__call__`, `__new__`, `__init__` and
`__post_init__` are traced where the user has written them.  The `__init__` of a dataclass is
generated, and calls the user's code (`__post_init__`, default factories): it is done here.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from types import FunctionType
from typing import Any

from jitad.trace.calls import call, is_users, method_of, special
from jitad.trace.library import native
from jitad.values.journal import made


def instance(cls: Any, args: Any, kwargs: Any) -> Any:
    """cls(*args, **kwargs)."""
    if type(cls).__name__ == "JitClassType":
        cls = importlib.import_module("jitad.operators.from_numba").as_written(cls)
    found = special(cls, "__call__")  # of the metaclass
    return constructed(cls, args, kwargs) if found is None else call(found, cls, *args, **kwargs)


def constructed(cls: Any, args: Any, kwargs: Any) -> Any:
    """What `type.__call__` does."""
    new, init = cls.__new__, cls.__init__
    generated = _is_generated(cls, init)
    ordinary = type(cls).__call__ is type.__call__ or special(cls, "__call__") is not None
    if not ordinary or not (is_users(new) or is_users(init) or generated):
        out = native(cls, *args, **kwargs)
        if ordinary and new is object.__new__:
            made(out)
        return out
    for name in ("__new__", "__init__", "__post_init__"):
        method_of(cls, name)  # which the trace relies on
    if is_users(new):
        out = call(new, cls, *args, **kwargs)
        if not isinstance(out, cls):
            return out
    else:
        out = new(cls) if new is object.__new__ else new(cls, *args, **kwargs)
        made(out)
    if is_users(init):
        call(init, out, *args, **kwargs)
    elif generated:
        _fill(cls, out, args, kwargs)
    else:
        init(out, *args, **kwargs)
    return out


def replace(thing: Any, /, **changes: Any) -> Any:
    """dataclasses.replace."""
    from jitad.trace.places import get_attr  # which calls

    if isinstance(thing, type) or not dataclasses.is_dataclass(thing):
        raise TypeError("replace() should be called on dataclass instances")
    for f in dataclasses.fields(thing):
        if not f.init and f.name in changes:
            raise ValueError(
                f"field {f.name} is declared with init=False, it cannot be specified with replace()"
            )
        if f.init and f.name not in changes:
            changes[f.name] = get_attr(thing, f.name)
    return call(type(thing), **changes)


def _is_generated(cls: Any, init: Any) -> bool:
    """Has `dataclass` written this `__init__`, and does it run code of the user's?"""
    if not dataclasses.is_dataclass(cls) or not isinstance(init, FunctionType):
        return False
    if init.__code__.co_filename != "<string>":
        return False
    factories = any(
        f.default_factory is not dataclasses.MISSING and f.default_factory not in (list, dict, set)
        for f in dataclasses.fields(cls)
    )
    methods = (getattr(cls, n, None) for n in ("__post_init__", "__setattr__"))
    return factories or any(map(is_users, methods))


def _fill(cls: Any, out: Any, args: Any, kwargs: Any) -> None:
    """What a generated `__init__` does."""
    from jitad.trace.places import set_attr  # which calls

    owner = next(c for c in cls.__mro__ if "__init__" in vars(c))
    given = inspect.signature(cls.__init__).bind(out, *args, **kwargs)
    known = given.arguments
    put = set_attr if is_users(cls.__setattr__) else _put
    fields = {f.name: f for f in dataclasses.fields(owner)}
    for name, f in fields.items():
        if f.init and name in known:
            put(known[name], out, name)
        elif f.default_factory is not dataclasses.MISSING:
            put(call(f.default_factory), out, name)
        elif f.default is not dataclasses.MISSING:
            put(f.default, out, name)
    if hasattr(cls, "__post_init__"):
        given.apply_defaults()
        seeds = [v for k, v in list(given.arguments.items())[1:] if k not in fields]
        call(cls.__post_init__, out, *seeds)


def _put(value: Any, owner: Any, name: str) -> None:
    object.__setattr__(owner, name, value)
