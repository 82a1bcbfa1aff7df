"""What does a trace rely on of modules, and of the process's environment?

A user's module or class is found again as itself, wherever a function came by it (an import inside
of the function, `type(x)`): what is read of it is guarded like any other global, and so are the
methods and properties that things have of their classes, and each variable of the environment that
is asked for.  Libraries' modules stay as they are.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from jitad.errors import JitadError
from jitad.plain.fields import Fields
from jitad.trace.around.libraries import is_library_thing
from jitad.trace.around.paths import Guard, Path, Root
from jitad.trace.context import Trace
from jitad.trace.ongoing import current
from jitad.values.functions import implementation
from jitad.values.kind import fail
from jitad.values.stand_ins import StandIn, stands_for


def is_librarys(trace: Trace, owner: ModuleType | type) -> bool:
    """Is it a library's module?  A user's, or a class that stands in one, is now found again."""
    if is_library_thing(owner):
        return isinstance(owner, ModuleType)
    if _is_there(owner):
        trace.captures.register(owner, Path(Root(owner)))
    return False


def class_of(*args: Any, **kwargs: Any) -> Any:
    """The builtin `type`: a class of the user's is found again through what is of it."""
    trace: Any = current()
    out: Any = (implementation(type) or type)(*args, **kwargs)
    path = trace.captures.path_of(args[0]) if len(args) == 1 else None
    if path is not None and not (is_library_thing(out) or isinstance(args[0], Fields)):
        trace.captures.register(out, path.then("attr", "__class__"))
    return out


def _is_there(owner: ModuleType | type) -> bool:
    """False of a class that a function has made: the next call makes another."""
    if isinstance(owner, ModuleType):
        return True
    at: Any = sys.modules.get(owner.__module__)
    for name in owner.__qualname__.split("."):
        at = getattr(at, name, None)
    return at is owner


_WRAPPED = {property: "fget", functools.cached_property: "func", classmethod: "__func__",
            staticmethod: "__func__"}  # fmt: skip


def rely_on(
    trace: Trace, cls: type, holder: type, name: str, found: Any, thing: Any = None
) -> None:
    """A method or property, found in `holder` for a thing of class `cls`: it may change."""
    within = _WRAPPED.get(type(found), "")
    f = getattr(found, within) if within else found
    if not isinstance(f, FunctionType) or is_library_thing(holder):
        return
    known = trace.captures.path_of(cls)
    if known is None and not _is_there(cls) and trace.captures.path_of(thing) is None:
        return  # of a class that the function has made
    # A class between them may get one of its own.
    path = (known or Path(Root(cls))).then("attr", name)
    if within and not isinstance(found, staticmethod):
        path = path.then("attr", within)
    trace.captures.read(path, f)


def imported(value: Any, name: str, module: str, level: int) -> Any:
    """What `from module import name` has given inside of a function."""
    trace = current()
    if trace is None:
        return value
    if level:
        package = sys._getframe(1).f_globals.get("__package__")
        module = importlib.import_module("." * level + module, package).__name__
    owner = sys.modules.get(module)
    if not isinstance(owner, ModuleType) or name not in vars(owner):
        return value  # a submodule, or what the module computes
    from jitad.trace.places import get_attr  # which asks here what a module is

    return get_attr(owner, name)


class Environment(StandIn):
    """Stands for `os.environ`: what is read is relied on, one variable at a time."""

    _what = "environment"

    def get(self, key: str, default: Any = None) -> Any:
        trace, value = current(), os.environ.get(key)
        if trace is not None:
            path = Path(Root(os.environ)).then("item", key)
            kind = "missing" if value is None else "value"
            trace.captures.guards.append(Guard(path, kind, value))
        return default if value is None else value

    def __getitem__(self, name: str) -> str:
        found: str | None = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def lent(self) -> Any:
        return _whole("lent", lambda: os.environ)


def _whole(name: str, do: Callable[[], Any]) -> Any:
    """What takes, or changes, all of the environment: no guard asks for that."""
    if current() is not None:
        raise fail(JitadError, f"the environment can't be written, nor looked through ({name}), in "
                   "a trace", "Do it outside, and pass the result as an argument.")  # fmt: skip
    return do()


def _of_all(name: str) -> Callable[..., Any]:
    def method(self: Environment, *args: Any, **kwargs: Any) -> Any:
        return _whole(name, lambda: getattr(os.environ, name)(*args, **kwargs))

    return method


for _name in ("__setitem__", "__delitem__", "__iter__", "__len__", "keys", "values", "items",
              "copy", "pop", "update", "setdefault", "clear"):  # fmt: skip
    setattr(Environment, _name, _of_all(_name))


@stands_for(type(os.environ))
def _environment(value: Any, read: Any) -> Any:
    if value is not os.environ:  # the one of bytes
        raise fail(JitadError, "os.environb can't be read here", "Use os.environ.")
    return Environment()
