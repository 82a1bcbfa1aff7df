"""What becomes of Numba's own lists and dicts?  They are Python's while a function is traced.

Compiled they are all the same; those that are arguments are structures, and derivatives by them are
lists and dicts.  Numba rounds what is put into one of another kind, which these would not do: one
that says that it keeps such numbers is refused.  This is looked at when such a thing is met.
"""

from __future__ import annotations

from typing import Any

from numba import typed, types

from jitad.errors import JitadTypeError
from jitad.trace.calls import WRITTEN_OUT, call
from jitad.values.kind import fail
from jitad.values.registry import replaces

_KEPT = (types.float64, types.int64, types.complex128)


@replaces(typed.List, plain=False)
def _list(iterable: Any = (), /, lsttype: Any = None, **rest: Any) -> Any:
    if lsttype is not None:
        check(lsttype.item_type)
    return call(list, iterable)


@replaces(typed.Dict, plain=False)
def _dict(given: Any = (), /, dcttype: Any = None, **rest: Any) -> Any:
    if dcttype is not None:
        check(dcttype.key_type, dcttype.value_type)
    return call(dict, given)


def check(*kinds: Any) -> None:
    """Can Python's lists and dicts hold such things as Numba's do?"""
    for kind in kinds:
        if isinstance(kind, types.Number) and kind not in _KEPT:
            raise fail(JitadTypeError, f"lists and dicts of {kind} are not supported",
                       "Let it keep float64 or int64.")  # fmt: skip


def _empty_list(trace: Any, f: Any, args: Any, kwargs: Any) -> Any:
    check(*args[1:2], kwargs.get("item_type"))
    return call(list)


def _empty_dict(trace: Any, f: Any, args: Any, kwargs: Any) -> Any:
    check(*args[1:3], kwargs.get("key_type"), kwargs.get("value_type"))
    return call(dict)


WRITTEN_OUT[typed.List.empty_list.__func__.__code__] = _empty_list
WRITTEN_OUT[typed.Dict.empty.__func__.__code__] = _empty_dict
