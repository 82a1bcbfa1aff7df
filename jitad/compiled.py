"""How is a function compiled, one specialisation a combination of argument types, and called?

A call looks at the types of its arguments.  For types seen before, a generated entry function
hands the arguments and the captured values to the kernel; otherwise the function is traced,
specialised and emitted first.  What a trace relied on is checked at every call by the entry
(captured ints, functions, objects) or by the kernel (extents equal to one): a miss traces again.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jitad.emit.kernel import Kernel, make
from jitad.errors import GuardMiss, JitadError, JitadTypeError
from jitad.specialise.pipeline import specialise
from jitad.structures import Structure, flatten, unflatten
from jitad.tape.ir import Tape
from jitad.tape.show import show
from jitad.tape.types import Array, Scalar, Type
from jitad.trace.tracer import Traced, trace

_SPECIALISATIONS = 64  # of one function; more means that something changes at every call


@dataclass(frozen=True)
class Argument:
    """A leaf of the arguments: of an abstract type, or a static value (type None)."""

    type: Type | None
    value: Any = None


@dataclass
class Specialisation:
    """One kernel, and what it takes to call it."""

    traced: Traced
    tapes: dict[str, Tape]
    kernel: Kernel
    why: str
    entry: Callable[..., Any] = field(default=lambda: None)


class Compiled:
    """A compiled function; made by `jit`, `jit_grad` and `jit_value_and_grad`.

    Call it as the function itself; call it from `@numba.njit` functions, too.

    Attributes
    ----------
    source : the emitted Python of the latest specialisation.
    specialisations : why each one was made.

    >>> from jitad import jit_grad
    >>> g = jit_grad(lambda x: x * x * x)
    >>> g(2.0)
    12.0
    >>> len(g.specialisations)
    1
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        if not callable(f):
            raise JitadTypeError(f"{f!r} is not a function", None, "Pass a function.")
        self.f = f
        functools.update_wrapper(self, f)
        self.__name__ = getattr(f, "__name__", type(f).__name__)
        self._by_key: dict[Any, list[Specialisation]] = {}
        self._all: list[Specialisation] = []
        self._fast: Callable[..., Any] = self._slow

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            return self._slow(*args, **kwargs)
        return self._fast(*args)

    def __repr__(self) -> str:
        return f"<jitad.Compiled {self.__name__}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    # -- calling --------------------------------------------------------------------------------

    def _slow(self, *args: Any, **kwargs: Any) -> Any:
        """Any call: find the specialisation for these arguments, or make it."""
        from jitad.trace import context, hooks

        if context.current() is not None or _any_number(args, kwargs):
            return hooks.call(self.f, *args, **kwargs)  # part of the trace or derivative outside
        leaves, structure = flatten((args, kwargs))
        key = (structure, tuple(map(_key, leaves)))
        tried = self._by_key.setdefault(key, [])
        for s in tried:
            if s.traced.holds():
                try:
                    return self._run(s, leaves, args, kwargs)
                except GuardMiss:
                    continue
        why = "first call" if not self._all else (
            "other values of what the trace relied on" if tried else "other types"
        )
        s = self._specialise(structure, [_argument(leaf) for leaf in leaves], why, leaves)
        tried.append(s)
        return self._run(s, leaves, args, kwargs)

    def _run(self, s: Specialisation, leaves: list[Any], args: Any, kwargs: Any) -> Any:
        out = s.entry(*leaves)
        if not kwargs and all(_plain(a) for a in args):
            self._fast = _fast_entry(s, args, self._slow)
        return out

    def _specialise(
        self, structure: Structure, arguments: list[Argument], why: str, examples: list[Any] | None
    ) -> Specialisation:
        if len(self._all) >= _SPECIALISATIONS:
            raise JitadError(
                f"{self.__name__} was specialised {len(self._all)} times", None,
                "Something that it relies on changes at every call; see .specialisations.",
            )  # fmt: skip
        traced = trace(self.f, structure, arguments, examples, self.__name__)
        tapes, kernel = compile_tape(traced.tape)
        s = Specialisation(traced, tapes, kernel, why)
        s.entry = functools.partial(_enter, s, [k for k, a in enumerate(arguments) if a.type])
        self._all.append(s)
        return s

    # -- looking inside -------------------------------------------------------------------------

    @property
    def specialisations(self) -> list[str]:
        """Why each specialisation was made, oldest first."""
        return [s.why for s in self._all]

    @property
    def source(self) -> str:
        """The emitted Python of the latest specialisation."""
        return self._latest().kernel.source

    def tape(self, stage: str = "plain") -> str:
        """The tape after a stage ("traced", "resolved", ..., "plain") of the latest specialisation."""
        tapes = self._latest().tapes
        if stage not in tapes:
            raise JitadError(f"no stage {stage!r}", None, f"Stages are {', '.join(tapes)}.")
        return show(tapes[stage])

    def _latest(self) -> Specialisation:
        if not self._all:
            raise JitadError(f"{self.__name__} was not compiled yet", None, "Call it first.")
        return self._all[-1]


def compile_tape(tape: Tape) -> tuple[dict[str, Tape], Kernel]:
    """The tape after every stage, and the kernel."""
    tapes = {"traced": tape}
    for stage, done in specialise(tape):
        tapes[stage] = tape = done
    tapes["plain"] = tape
    return tapes, make(tape)


def _enter(s: Specialisation, numeric: list[int], *leaves: Any) -> Any:
    traced = s.traced
    flat = [leaves[k] for k in numeric]
    out = s.kernel(*flat, *[c.read() for c in traced.captures])
    return traced.finish(out)


def _fast_entry(s: Specialisation, args: tuple[Any, ...], slow: Callable[..., Any]) -> Any:
    """A function of exactly these types: checks them, calls the kernel, gives the result."""
    names = [f"a{k}" for k in range(len(args))]
    env: dict[str, Any] = {
        "ndarray": np.ndarray, "slow": slow, "GuardMiss": GuardMiss, "s": s,
        "kernel": s.kernel.dispatcher, "finish": s.traced.finish, "holds": s.traced.holds,
    }  # fmt: skip
    tests = []
    for k, a in enumerate(args):
        if type(a) is np.ndarray:
            env[f"d{k}"] = a.dtype
            tests.append(f"type(a{k}) is ndarray and a{k}.dtype is d{k} and a{k}.ndim == {a.ndim}")
        else:
            env[f"t{k}"] = type(a)
            tests.append(f"type(a{k}) is t{k}")
    if s.traced.guards:
        tests.append("holds()")
    reads = []
    for k, c in enumerate(s.traced.captures):
        env[f"c{k}"] = c.read
        reads.append(f"c{k}()")
    numeric = [n for n, a in zip(names, args, strict=True) if not isinstance(a, str)]
    call = f"kernel({', '.join(numeric + reads)})"
    result = s.traced.simple_result
    back = {"first": f"{call}[0]", "tuple": call}.get(result, f"finish({call})")
    text = (
        f"def entry({', '.join(names + ['*more'])}):\n"
        f"    if not more and {' and '.join(tests) or 'True'}:\n"
        f"        try:\n            return {back}\n"
        f"        except GuardMiss:\n            pass\n"
        f"    return slow({', '.join(names + ['*more'])})\n"
    )
    file = f"<jitad entry of {s.traced.tape.name}>"
    exec(compile(text, file, "exec"), env)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return env["entry"]


def _plain(a: Any) -> bool:
    return type(a) in (np.ndarray, float, int, bool)


def _key(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return (leaf.dtype, leaf.ndim)
    if isinstance(leaf, (bool, int, float, complex, np.generic)):
        return type(leaf)
    try:
        hash(leaf)
    except TypeError:
        return (type(leaf), id(leaf))
    return (type(leaf), leaf)


def _argument(leaf: Any) -> Argument:
    if isinstance(leaf, np.ndarray):
        if leaf.dtype.kind not in "biuf":
            raise JitadTypeError(
                f"an array of dtype {leaf.dtype} can't be compiled for", None,
                "Arrays hold numbers: float64, float32, integers or bools.",
            )  # fmt: skip
        return Argument(Array(leaf.dtype.str[1:], leaf.ndim))
    if isinstance(leaf, np.generic) and leaf.dtype.kind in "biuf":
        return Argument(Scalar(leaf.dtype.str[1:]))
    if type(leaf) in (bool, int, float):
        from jitad.tape.types import type_of_constant

        return Argument(type_of_constant(leaf))
    return Argument(None, leaf)


def _any_number(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    from jitad.values.registry import any_traced

    return any_traced(args) or any_traced(kwargs.values())


__all__ = ["Argument", "Compiled", "unflatten"]
