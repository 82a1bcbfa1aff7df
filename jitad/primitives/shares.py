"""How do a softmax, its logarithm and log-sum-exp vary, where one element outweighs the others?

The rows take the value, computed by `stop`ped operations; their rules are those of the function of
x that has it.  A softmax p varies by p * (t - sum(p * t)).  Where p is next to one that difference
is next to nothing, and what rounding leaves of it is wrong by the mean that it has: so this is
taken away, too.
"""

from __future__ import annotations

from typing import Any

from jitad.primitives.table import Primitive, register, same_as_first

Axes = tuple[int, ...]


def _along(o: Any, a: Any, like: Any, axes: Axes) -> Any:
    """Sums along axes, or what has been summed, everywhere."""
    others = tuple(k for k in range(len(like.shape)) if k not in axes)
    return o.broadcast(a, *like.shape, axes=others)


def _mean(o: Any, p: Any, t: Any, axes: Axes) -> Any:
    return _along(o, o.sum(p * t, axes=axes), t, axes)


def _centred(o: Any, p: Any, t: Any, axes: Axes) -> Any:
    t = t - _mean(o, p, t, axes)
    return t - _mean(o, p, t, axes)


def _spread(o: Any, p: Any, ct: Any, axes: Axes) -> Any:
    """The transpose of `_centred`."""
    ct = ct - p * _along(o, o.sum(ct, axes=axes), ct, axes)
    return ct - p * _along(o, o.sum(ct, axes=axes), ct, axes)


register(Primitive(  # the softmax y of x
    "shares", lambda y, x, *, axes: y, same_as_first,
    jvp=lambda o, ins, dins, y, *, axes: (
        None if dins[1] is None else y * _centred(o, y, dins[1], axes)),
    vjp=lambda o, ct, _, x, y, *, axes: (None, y * _centred(o, y, ct, axes)),
))  # fmt: skip
register(Primitive(  # its logarithm, p the softmax
    "log_shares", lambda y, x, p, *, axes: y, same_as_first,
    jvp=lambda o, ins, dins, y, *, axes: (
        None if dins[1] is None else _centred(o, ins[2], dins[1], axes)),
    vjp=lambda o, ct, _, x, p, y, *, axes: (None, _spread(o, p, ct, axes), None),
))  # fmt: skip
register(Primitive(  # log(sum(exp(x)))
    "log_sum", lambda y, x, p, *, axes: y, same_as_first,
    jvp=lambda o, ins, dins, y, *, axes: (
        None if dins[1] is None else o.sum(ins[2] * dins[1], axes=axes)),
    vjp=lambda o, ct, _, x, p, y, *, axes: (None, p * _along(o, ct, x, axes), None),
))  # fmt: skip

MARKS = frozenset(("shares", "log_shares", "log_sum"))  # of the value, for nothing but its rule
