"""How does a kernel print?

`show(key, *values)` calls back into Python, where `jitad.late` knows what belongs to the key.
"""

from __future__ import annotations

from typing import Any

from numba import types

from jitad.emit import numba_private
from jitad.late import show

__all__ = ["show"]


def _type_show(key: Any, *values: Any) -> Any:
    text = isinstance(key, (types.StringLiteral, types.UnicodeType))
    return types.none(key, *map(types.unliteral, values)) if text else None


def _lower_show(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    numba_private.call_python(context, builder, show, sig.args, args)
    return context.get_dummy_value()


numba_private.define(show, _type_show, _lower_show)
