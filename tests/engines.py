"""In which ways can a function be run?  Eagerly, as an interpreted tape, as a native kernel."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

import jitad
from jitad.calls.arguments import abstract, as_numbers, key_of
from jitad.calls.entries import finish
from jitad.calls.fallback import Unknown
from jitad.emit.kernel import Kernel, kernel
from jitad.errors import GuardMiss, JitadError, JitadExtentError
from jitad.primitives.schedules import Memory
from jitad.specialise.pipeline import specialise
from jitad.structures import flatten, unflatten
from jitad.tape.interpret import interpret
from jitad.trace.trace import trace
from jitad.trace.traced import Traced
from tests.emit import running

Function = Callable[..., Any]


def eagerly(f: Function, *args: Any) -> Any:
    return f(*args)


def in_place_of_a_kernel(f: Function, *args: Any) -> Any:
    """As a compiled function runs that can't be traced."""
    return Unknown(JitadError("")).run(f, args, {})


def on_tape(f: Function, *args: Any, memory: Memory | None = None) -> Any:
    """Traced and specialised as for a kernel, then interpreted with NumPy."""
    return _retried(lambda exact: _interpreted(*_taped(f, args, memory, exact), f, args))


def on_one_tape(f: Function) -> Function:
    """As `on_tape`, traced once for all calls with numbers of the same types."""
    made: list[tuple[Traced, Any]] = []

    def run(*args: Any) -> Any:
        for traced, plain in made:
            if not traced.missed(f, args, {}):
                return _interpreted(traced, plain, f, args)
        made.append(_taped(f, args))
        return _interpreted(*made[-1], f, args)

    return run


def _taped(
    f: Function, args: tuple[Any, ...], memory: Memory | None = None, exact: bool = False
) -> tuple[Traced, Any]:
    leaves, structure = flatten((args, {}))
    abstracted = unflatten(structure, map(abstract, as_numbers(leaves)))
    traced = trace(f, *abstracted, memory=memory, exact=exact)
    return traced, specialise(traced.tape)


def _interpreted(traced: Traced, plain: Any, f: Function, args: tuple[Any, ...]) -> Any:
    flat = interpret(plain.body, traced.arguments(f, args, {}), functions=plain.functions)
    return finish(traced, tuple(flat), f, args, {})


def kernel_of(f: Function, *args: Any, exact: bool = False) -> tuple[Traced, Kernel]:
    """The trace, and what Numba would compile."""
    leaves, structure = flatten((args, {}))
    traced = trace(f, *unflatten(structure, map(abstract, as_numbers(leaves))), exact=exact)
    return traced, kernel(specialise(traced.tape))


def as_emitted(f: Function, *args: Any) -> Any:
    """What Numba would compile, run as the Python that it is."""
    return emitted_once(f)(*args)


def emitted_once(f: Function) -> Function:
    """As `as_emitted`, traced once for all calls that its guards let pass."""
    made: list[tuple[Traced, Function, Any]] = []

    def with_kernel(k: int, args: tuple[Any, ...]) -> Any:
        traced, function, _ = made[k]
        with np.errstate(all="ignore"):
            flat = function(*traced.arguments(f, args, {}))
        return finish(traced, tuple(flat), f, args, {})

    def anew(exact: bool, args: tuple[Any, ...]) -> Any:
        traced, emitted = kernel_of(f, *args, exact=exact)
        made.append((traced, running.plain(emitted.source, emitted.name), kinds(args)))
        return with_kernel(-1, args)

    def kinds(args: tuple[Any, ...]) -> Any:
        leaves, structure = flatten(args)
        return structure, tuple(map(key_of, as_numbers(leaves)))

    def run(*args: Any) -> Any:
        for k in range(len(made)):
            if made[k][2] == kinds(args) and not made[k][0].missed(f, args, {}):
                with suppress(GuardMiss, JitadExtentError):
                    return with_kernel(k, args)
        return _retried(lambda exact: anew(exact, args))

    return run


def _retried(run: Callable[[bool], Any]) -> Any:
    """As a call of a compiled function does: traced once more, with the extents as they are."""
    try:
        return run(False)
    except JitadExtentError:
        return run(True)


def natively(f: Function, *args: Any) -> Any:
    """As a kernel, called twice: the second call goes through the generated entry."""
    compiled = jitad.jit(f)
    compiled(*args)
    return compiled(*args)


ENGINES: dict[str, Callable[..., Any]] = {
    "eager": eagerly,
    "tape": on_tape,
    "native": natively,
}
