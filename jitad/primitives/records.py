"""How does a forward sweep hand values to the reverse sweep out of loops?

On stacks.  A stack is used linearly (each version once), and push and pop are each other's
transposes, so that sweeps over sweeps need no rule of their own:
    s' = push(s, v)       adjoint:  (s_bar, v_bar) = pop(s'_bar)
    (s', v) = pop(s)      adjoint:  s_bar = push(s'_bar, v_bar)
Concrete stacks (interpreter, runtime) are immutable linked pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jitad.primitives.table import Inferred, Primitive, register, same_as_first
from jitad.tape.ir import Atom
from jitad.tape.types import Array, Stack


def _pop_infer(s: Atom, *dims: Atom) -> Inferred:
    assert isinstance(s.type, Stack)
    return ((s.type, ()), (s.type.element, dims))


register(Primitive(
    "stack", lambda *, element: None, lambda *, element: ((Stack(element), ()),), fresh=True,
))  # fmt: skip
register(Primitive("push", lambda s, v: (s, v), same_as_first, fresh=True, tame=True))
register(Primitive(  # operands: extents of v
    "pop", lambda s, *dims: s, _pop_infer, fresh=True, tame=True,
))  # fmt: skip


def _pops(s: Any, n: Any, *, dtype: str) -> tuple[Any, Any]:
    out = np.empty(int(n), dtype)
    for k in range(len(out) - 1, -1, -1):
        s, out[k] = s
    return s, out


# the last n numbers, in the order of their pushes: in loops that are swept already
register(Primitive(
    "pops", _pops, lambda s, n, *, dtype: ((s.type, ()), (Array(dtype, 1), (n,))), fresh=True,
))  # fmt: skip

# gives a value a second name; copying a tape removes it
register(Primitive("ident", lambda v: v, same_as_first, linear=(0,),
                   vjp=lambda o, ct, v, y: (ct,)))  # fmt: skip

# of loops that are differentiated forwards inside a reverse sweep: see `sweeps.preaccumulate`
# v, with derivative zero
register(Primitive("frozen", lambda v: v, same_as_first, elementwise=True, tame=True))
register(Primitive(  # y, with derivative `slope` with respect to s
    "attach", lambda y, s, slope: y, same_as_first,
    jvp=lambda o, ins, dins, y: ins[2] * dins[1],
    vjp=lambda o, ct, y, s, slope, out: (None, slope * ct, None), tame=True,
))  # fmt: skip
