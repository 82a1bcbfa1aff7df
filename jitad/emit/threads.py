"""How does a kernel run the parts of a loop on several threads?

`spread(function, parts, most, late, summed, *arrays, *own, *others)` calls `function(k, parts,
*arrays, *others)` for k = 0 ... parts - 1, on at most so many threads of the team (0: on as many as
a kernel may use).  All parts are handed the same
`others` and see to it themselves that they touch different elements; of the first `summed` arrays,
each part but the first is handed a copy of its own instead, `own[k - 1]`.  If `late` is 1, each
part leaves something to do that others must not see half done: `function(parts + k, ...)` does it,
one part after the other.

What a part raises is raised here: that of the first part that does, which is what would have been
raised first if one part had come after the other.

`threads()` says on how many a kernel may run.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from jitad.emit import numba_private, team
from jitad.primitives.threads import MOST

_WORD = ir.IntType(64)


def spread(
    function: Any, parts: int, most: int, late: int, summed: int, *operands: Any
) -> None:
    arrays, own = operands[:summed], operands[summed : 2 * summed]
    others = operands[2 * summed :]
    for k in range(parts):
        mine = arrays if k == 0 else tuple(a[k - 1] for a in own)
        function(k, parts, *mine, *others)
        if late:
            function(parts + k, parts, *arrays, *others)


def threads() -> int:
    return team.get_threads()


# -- Numba ----------------------------------------------------------------------------------------


def _handed(summed: int, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The types that the function takes."""
    return (types.intp, types.intp, *operands[:summed], *operands[2 * summed :])


def _type_spread(
    function: Any, parts: Any, most: Any, late: Any, summed: Any, *operands: Any
) -> Any:
    if not isinstance(function, types.Dispatcher):
        return None
    if not all(isinstance(n, types.IntegerLiteral) for n in (most, late, summed)):
        return None
    operands = tuple(map(types.unliteral, operands))
    return types.none(function, types.intp, most, late, summed, *operands)


def _lower_spread(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    function, _, most, late, summed, *operands = sig.args
    kinds = _handed(summed.literal_value, tuple(operands))
    run = numba_private.Spread(context, builder, function.dispatcher, kinds, MOST)
    limits = most.literal_value, summed.literal_value, late.literal_value
    run.all(args[1], args[5:], *limits, team.SPREAD)
    return context.get_dummy_value()


def _lower_threads(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    name, module = team.THREADS, builder.module
    if name not in module.globals:
        ir.GlobalVariable(module, _WORD, name)
    return builder.load(module.globals[name])


numba_private.define(spread, _type_spread, _lower_spread)
numba_private.define(threads, lambda: types.intp(), _lower_threads)
