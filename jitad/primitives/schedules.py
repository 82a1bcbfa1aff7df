"""How far does a reverse sweep go from one snapshot to the next, and how many does it take?

Integers for the schedules of `sweeps.schedule`, which has the theory.  A *leaf* is a run of steps
that are recorded at once; a *slot* holds a snapshot of a loop's state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jitad.errors import JitadValueError
from jitad.primitives.table import Primitive, register
from jitad.tape.types import INT

_MOST_RUNS = 64  # of any step, before slots are used up whatever that costs


@dataclass(frozen=True)
class Snapshots:
    """How many snapshots of a loop's state there may be, and how many steps are recorded at once.

    A `memory` for `jit_grad` and the others, in the place of a number of bytes, for loops whose steps
    are dear: no step is then run more often than that number of snapshots demands.

    Parameters
    ----------
    count : of snapshots (of states of any shapes and dtypes), one at least.
    steps : how many are recorded at once.

    Raises
    ------
    JitadValueError : one of the numbers is not positive.

    Source: see `jitad.sweeps.schedule`.

    >>> import math
    >>> from jitad import Snapshots, jit_grad
    >>> def walk(x, n):
    ...     for _ in range(n):
    ...         x = math.sin(x)
    ...     return x
    >>> jit_grad(walk, memory=Snapshots(5))(1.0, 100) == jit_grad(walk)(1.0, 100)
    True
    """

    count: int
    steps: int = 1

    def __post_init__(self) -> None:
        if self.count < 1 or self.steps < 1:
            raise JitadValueError(
                f"{self} is no room for a snapshot and a step", None, "Give positive numbers."
            )


Memory = int | Snapshots


def advance(steps: int, leaf: int, slots: int) -> int:
    """How far to go from a snapshot to the next one, or to the last leaf of `steps` steps.

    `slots`: those that may be used from here on, the snapshot here included.  In leaves, with
    b(s, r) = (s + r)! / (s! r!) and r the least with b(s, r) not less than their number m, any
    way to part them is best in which the first part lies from b(s, r-2) to b(s, r-1) and the rest
    from b(s-1, r-1) to b(s-1, r) (Griewank & Walther 2000).
    """
    leaves = (steps + leaf - 1) // leaf
    if slots <= 1 or leaves <= 2:
        return (leaves - 1) * leaf
    slots = min(slots, leaves)
    runs, all_of, earlier, before = 0, 1, 0, 0  # b(s, r), b(s, r-1), b(s, r-2)
    while all_of < leaves:
        runs += 1
        before, earlier = earlier, all_of
        all_of = all_of * (slots + runs) // runs
    return max(leaves - (all_of - earlier), before, 1) * leaf  # b(s-1, r) = b(s, r) - b(s, r-1)


def leaf_of(count: int, record: int, state: int, limit: int) -> int:
    """How many of `count` steps to record at once, if a step's records take `record` bytes, a
    snapshot `state`, and all there is may take `limit`; 0 where not even one is possible.

    All of them where that is possible.  Else as few steps are run as often as needs be, and for
    that the least memory is used: 2 l record for two leaves of l steps (one is recorded in the
    forward sweep), and r times as much for the snapshots, where steps run r times more.
    """
    if count * record <= limit:
        return max(count, 1)
    for runs in range(1, _MOST_RUNS):
        high = limit // (2 * (1 + runs) * record)
        if high < 1:
            break
        if _reach(high, runs, record, state) >= count:
            low = 0
            while high - low > 1:
                leaf = (low + high) // 2
                if _reach(leaf, runs, record, state) >= count:
                    high = leaf
                else:
                    low = leaf
            return high
    return 1 if limit >= 2 * record + state else 0


def _reach(leaf: int, runs: int, record: int, state: int) -> float:
    """The longest loop whose steps are run `runs` times more."""
    slots = 2 * runs * leaf * record // state
    steps = 1.0 * leaf
    if slots < 1:
        return steps
    for k in range(1, runs + 1):
        steps *= (slots + k) / k
    return steps


def slots_of(count: int, leaf: int, record: int, state: int, limit: int) -> int:
    """How many snapshots there is room for beside two leaves, or as many as are of use."""
    if leaf < 1 or count <= leaf:
        return 0
    return max(min((limit - 2 * leaf * record) // state, (count - 1) // leaf), 1)


def _integer(name: str, evaluate: Any, operands: int) -> None:
    places = ", ".join(f"{{{k}}}" for k in range(operands))
    register(Primitive(
        name, lambda *ins: evaluate(*map(int, ins)), lambda *ins: ((INT, ()),),
        emit=f"{name}({places})",
    ))  # fmt: skip


_integer("advance", advance, 3)
_integer("leaf_of", leaf_of, 4)
_integer("slots_of", slots_of, 5)
