"""How does a kernel print, and call functions that only Python can run?

`show(key, *values)` and `ask(key, kinds, *values)` call Python, where `late.py`
knows what belongs to the key.  `kinds` says what the tuple that comes back is made of: "f8 f8:2" is
a number and an array of two axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype, types

from jitad.emit import numba_private
from jitad.late import answer, ask, show

__all__ = ["ask", "show"]


def _type_show(key: Any, *values: Any) -> Any:
    text = isinstance(key, (types.StringLiteral, types.UnicodeType))
    return types.none(key, *map(types.unliteral, values)) if text else None


def _lower_show(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    numba_private.call_python(context, builder, show, sig.args, args)
    return context.get_dummy_value()


numba_private.define(show, _type_show, _lower_show)


def _type_ask(key: Any, kinds: Any, *values: Any) -> Any:
    if not isinstance(kinds, types.StringLiteral):  # asked again with literal types
        return None
    found = []
    for kind in kinds.literal_value.split():
        dtype, _, ndim = kind.partition(":")
        t = from_dtype(np.dtype(dtype))
        found.append(types.Array(t, int(ndim), "C") if ndim else t)
    return types.Tuple(found)(types.unliteral(key), kinds, *map(types.unliteral, values))


def _lower_ask(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kinds = [sig.args[0], *sig.args[2:]]
    return numba_private.call_python(
        context, builder, answer, kinds, [args[0], *args[2:]], sig.return_type
    )


numba_private.define(ask, _type_ask, _lower_ask)
