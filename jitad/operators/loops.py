"""How does a user say of one loop that its derivative keeps snapshots?

Compiled, the loop is a loop like any other, with a mark (`sweeps.schedule`).  The eager engine, to
which a Python loop is nothing but its operations, is given the steps here.  A schedule comes out of
checkpoints: of the part before the next snapshot it keeps the state, and runs it again, parted in
the same way, when its turn comes; the part after it has one slot less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitad.calls.memory import limited
from jitad.errors import JitadTypeError
from jitad.plain import repeated
from jitad.primitives.schedules import Snapshots, advance
from jitad.runtime import custom as eager
from jitad.runtime.implicit import plain
from jitad.runtime.leaves import is_real, passive, snapshot
from jitad.runtime.tagged import dtype_of, shape_of
from jitad.runtime.tags import asleep, nested
from jitad.structures import flatten, map_structure
from jitad.tape.build import Leaf
from jitad.tape.types import is_float
from jitad.trace import hooks, ongoing
from jitad.trace.runs import leaving_nothing, taken_back
from jitad.values.active import any_traced
from jitad.where import caller

Function = Callable[..., Any]

_SNAPSHOTS = Snapshots(32)


def checkpointed_loop(
    step: Function, state: Any, count: Any, *args: Any,
    memory: float | Snapshots = _SNAPSHOTS,
) -> Any:  # fmt: skip
    """A loop whose derivative by reverse mode keeps snapshots of its state, and runs steps again.

    Parameters
    ----------
    step : function `step(k, state, *args)` that gives the state after step number k: a structure of
        numbers and arrays that stays the same, with their shapes and dtypes.
    state : the state before step 0.  `step` may write to its arrays: it has copies.
    count : how many steps there are; or a function `count(state, *args)` that says whether there is
        one more.
    args : further arguments of `step`.  By what it takes from around it, it may be differentiated
        as well; the eager engine then records all steps.
    memory : `Snapshots(n)`: of n states at most, 32 unless told; or a number of bytes for states
        and records.

    Returns
    -------
    The state in the end, with its structure, shapes and dtypes.  A loop of known length runs no
    step more often than that number of snapshots demands (the binomial optimum).  Where `count` is
    a function, the eager engine runs the loop once more, to count.

    Raises
    ------
    JitadTypeError : `count` is neither an int nor a function.
    JitadMemoryError : `memory` is too small for the records of one step (compiled).
    JitadError : when differentiated eagerly: `step` writes numbers to things outside.

    Source: A. Griewank & A. Walther, *Algorithm 799: revolve*, ACM TOMS 26 (2000).

    >>> import numpy as np
    >>> from jitad import Snapshots, checkpointed_loop, grad, jit_grad
    >>> def pendulum(k, state, length):
    ...     angle, speed = state
    ...     return angle + 0.01 * speed, speed - 0.01 * np.sin(angle) / length
    >>> def final(length):
    ...     return checkpointed_loop(pendulum, (1.0, 0.0), 500, length, memory=Snapshots(6))[0]
    >>> round(grad(final)(2.0), 9), round(jit_grad(final)(2.0), 9)
    (-0.131111451, -0.131111451)
    """
    memory_ = limited(memory)
    whole = isinstance(count, (int, np.integer))
    whole |= isinstance(count, Leaf) and not is_float(count.type)
    if not (callable(count) or whole):
        raise JitadTypeError(
            f"checkpointed_loop: count={count!r} is neither an int nor a function", caller(),
            "Give the number of steps, or a function that says whether there is one more.",
        )  # fmt: skip
    trace = ongoing.current()
    if trace is None and not nested():
        return _all(step, map_structure(snapshot, state), count, args, _plainly)
    state = map_structure(_own, state)
    if trace is not None:
        block = trace.builder.blocks[-1]
        before = len(block.equations)
        out = _all(step, state, count, args)
        for e in block.equations[before:] if memory_ is not None else ():
            if e.op in ("for", "while"):
                e.params = {**e.params, "memory": memory_}
        return out
    if memory_ is None or not any_traced(flatten((state, args))[0]):
        return _all(step, state, count, args)
    if callable(count):
        with asleep(), taken_back():
            alone = map_structure(plain, state)
            count = hooks.call(repeated.until, step, alone, count, args)[1]
    if isinstance(memory_, Snapshots):
        slots, leaf = memory_.count, memory_.steps
    else:
        slots, leaf = max(memory_ // max(_size(state), 1), 1), 1
    return _parted(step, state, 0, int(count), args, slots, leaf)


def _plainly(f: Function, *args: Any) -> Any:
    return f(*args)


def _all(
    step: Function, state: Any, count: Any, args: tuple[Any, ...], run: Function = hooks.call
) -> Any:
    if callable(count):
        return run(repeated.until, step, state, count, args)[0]
    return run(repeated.times, step, state, 0, count, args)


def _own(leaf: Any) -> Any:
    """An array that may be written to, as one that the function made itself."""
    return passive(snapshot(leaf))


def _size(state: Any) -> int:
    """Bytes of a snapshot."""
    return sum(
        int(np.prod(shape_of(a), dtype=int)) * np.dtype(dtype_of(a)).itemsize
        for a in flatten(state)[0] if is_real(a)
    )  # fmt: skip


def _parted(
    step: Function, state: Any, first: int, last: int, args: tuple[Any, ...], slots: int, leaf: int
) -> Any:
    while last - first > leaf:
        middle = first + advance(last - first, leaf, slots)

        def part(state: Any, *args: Any, first: int = first, last: int = middle,
                 slots: int = slots) -> Any:  # fmt: skip
            state = map_structure(_own, state)
            return _parted(step, state, first, last, args, slots, leaf)

        name = getattr(step, "__name__", "step")
        state = eager.checkpointed(name, leaving_nothing(name, part, "numbers"), (state, *args))
        first, slots = middle, slots - 1
    return hooks.call(repeated.times, step, state, first, last, args)
