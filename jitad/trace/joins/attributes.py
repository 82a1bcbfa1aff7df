"""What does an object say of an attribute that it has on some paths only?

Such an attribute holds a `Perhaps`, as a key of a dict does (`partial.py`).  Where it is not there,
the class has it, or `__getattr__` is asked, or an AttributeError is raised, which can be caught.
"""

from __future__ import annotations

from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any

from jitad.errors import JitadAttributeError, is_refusal
from jitad.trace import protocols
from jitad.trace.around.paths import Guard
from jitad.trace.calls import WHILE_TRACING, call, special
from jitad.trace.containers import partial
from jitad.trace.joins.selected import fork
from jitad.trace.ongoing import current
from jitad.trace.places import get_attr
from jitad.values.journal import MISSING
from jitad.values.kind import require
from jitad.values.python_functions import hasattr_, is_value

_REQUIRED = object()


def _held(owner: Any, name: str) -> Any:
    """What the object itself holds under this name, as it is."""
    own = getattr(owner, "__dict__", None)
    if own is not None and name in own:
        return own[name]
    found = getattr(type(owner), name, None) if type(owner) is not type else None
    if isinstance(found, MemberDescriptorType):  # of `__slots__`
        return found.__get__(owner) if hasattr(owner, name) else MISSING
    return MISSING


def certain(owner: Any, name: str, value: Any) -> Any:
    """An attribute that was read."""
    if not partial.is_slot(value):
        return value
    found = _besides(owner, name)
    if found is MISSING:
        _require(value.flag, owner, name)
        return value.value
    return fork(value.flag, lambda: value.value, found)


def _besides(owner: Any, name: str) -> Any:
    """What gives the attribute where the object itself has none."""
    trace = current()
    assert trace is not None
    holder = next((c for c in type(owner).__mro__ if name in vars(c)), None)
    if holder is not None:
        found = vars(holder)[name]
        if isinstance(found, MemberDescriptorType):
            return MISSING
        if isinstance(found, FunctionType):
            return lambda: found.__get__(owner)
        return lambda: protocols.read_of_class(trace, holder, name, found)
    asked = special(owner, "__getattr__")
    return MISSING if asked is None else lambda: call(asked, owner, name)


def _require(flag: Any, owner: Any, name: str) -> None:
    of = f"{type(owner).__name__!r} object"
    if isinstance(owner, type):
        of = f"type object {owner.__name__!r}"
    elif isinstance(owner, ModuleType):
        of = f"module {owner.__name__!r}"
    require(flag, JitadAttributeError, f"{of} has no attribute {name!r}")


def needed(owner: Any, name: str) -> None:
    """An attribute that is deleted must be there."""
    held = _held(owner, name)
    if partial.is_slot(held):
        _require(held.flag, owner, name)


# -- builtins -------------------------------------------------------------------------------------


def _getattr(owner: Any, name: str, default: Any = _REQUIRED) -> Any:
    """The builtin getattr."""
    if default is _REQUIRED:
        return get_attr(owner, name)
    if is_value(owner) and not hasattr_(owner, name):
        return default
    held = _held(owner, name)
    if partial.is_slot(held) and _besides(owner, name) is MISSING:
        return fork(held.flag, lambda: held.value, lambda: default)
    if partial.is_slot(held):
        return fork(held.flag, lambda: held.value, lambda: _or_default(owner, name, default))
    return _or_default(owner, name, default)


def _or_default(owner: Any, name: str, default: Any) -> Any:
    held = _held(owner, name)
    try:
        return _besides(owner, name)() if partial.is_slot(held) else get_attr(owner, name)
    except AttributeError as error:
        if is_refusal(error):
            raise
        trace = current()
        path = trace.captures.path_of(owner) if trace is not None else None
        if trace is not None and path is not None:
            trace.captures.guards.append(Guard(path.then("attr", name), "missing", None))
        return default


def _hasattr(owner: Any, name: str) -> Any:
    if is_value(owner):
        return hasattr_(owner, name)
    held, nothing = _held(owner, name), object()
    if not partial.is_slot(held):
        return _getattr(owner, name, nothing) is not nothing
    if _besides(owner, name) is MISSING:
        return held.flag
    return fork(held.flag, lambda: True, lambda: _or_default(owner, name, nothing) is not nothing)


WHILE_TRACING[getattr] = _getattr
WHILE_TRACING[hasattr] = _hasattr
