"""How is a function compiled, one specialisation a combination of argument types, and called?

A call looks at the types of its arguments.  For types seen before, a generated entry function
hands the arguments and the captured values to the kernel; otherwise the function is traced,
specialised and emitted first.  What a trace relied on is checked at every call by the entry
(captured ints, functions, objects) or by the kernel (extents equal to one): a miss traces again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba.core import types as numba_types

from jitad.emit import capi
from jitad.emit.callable import register
from jitad.emit.kernel import Kernel
from jitad.emit.kernel import kernel as make
from jitad.entries import Argument, native_entry, of_types, python_entry
from jitad.errors import GuardMiss, JitadError, JitadTypeError
from jitad.specialise.pipeline import specialise, stages
from jitad.structures import Structure, flatten
from jitad.tape.show import show
from jitad.tape.types import Array, Scalar, Type, type_of_constant
from jitad.trace.tracer import Traced, trace

NumbaType = numba_types.Type
_NO_KEYWORDS = flatten({})[1]
_SPECIALISATIONS = 64  # of one function; more means that something changes at every call


@dataclass(frozen=True)
class Specialisation:
    """One kernel, and what it takes to call it."""

    arguments: list[Argument]
    traced: Traced
    kernel: Kernel
    why: str


@register
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
        self._native: dict[Any, Any] = {}
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
        traced = s.traced
        numeric = [x for x, a in zip(leaves, s.arguments, strict=True) if a.type is not None]
        out = traced.finish(s.kernel(*numeric, *[c.read() for c in traced.captures]))
        if not kwargs and all(_plain(a) for a in args):
            self._fast = python_entry(traced, s.kernel.dispatcher, args, self._slow)
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
        s = Specialisation(arguments, traced, make(specialise(traced.tape)), why)
        self._all.append(s)
        return s

    # -- from native code -----------------------------------------------------------------------

    def compile(self, *signature: Any) -> Compiled:
        """Compile ahead of time for argument types.

        `signature`: one Numba type an argument (`numba.float64[:]`), or a value that stands for
        its type.  Gives the object itself.
        """
        self.entry(tuple(numba.typeof(a) if not isinstance(a, NumbaType) else a
                         for a in signature))  # fmt: skip
        return self

    def address(self, *signature: Any) -> int:
        """The address of a C function for these argument types; see `jitad.emit.capi`."""
        kinds = tuple(a if isinstance(a, NumbaType) else numba.typeof(a) for a in signature)
        return capi.address(self.entry(kinds), kinds)

    def entry(self, argument_types: tuple[Any, ...]) -> Any:
        """The dispatcher that `@njit` callers with these Numba types are linked to."""
        kinds = tuple(numba_types.unliteral(t) for t in argument_types)
        if kinds in self._native:
            return self._native[kinds]
        structure, leaves = of_types(kinds)
        key = (Structure(tuple, (0, 1), (structure, _NO_KEYWORDS)),
               tuple(_key_of_type(a.type) for a in leaves))  # fmt: skip
        found = [s for s in self._by_key.get(key, ()) if s.traced.holds()]
        if found:
            s = found[-1]
        else:
            s = self._specialise(key[0], leaves, "a call from native code", None)
            self._by_key.setdefault(key, []).append(s)
        self._native[kinds] = native_entry(s.traced, s.kernel.dispatcher, structure)
        return self._native[kinds]

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
        """The tape of the latest specialisation after a stage.

        "traced": as recorded, derivative operators and all; "plain": as it is emitted; between
        them the names of the passes (`jitad.specialise.pipeline`).
        """
        traced = self._latest().traced.tape
        if stage == "traced":
            return show(traced)
        names = []
        for name, tape in stages(traced):
            names.append(name)
            if name == stage:
                return show(tape)
        if stage == "plain":
            return show(tape)
        raise JitadError(f"no stage {stage!r}", None, f"Stages are traced, {', '.join(names)}, plain.")

    def _latest(self) -> Specialisation:
        if not self._all:
            raise JitadError(f"{self.__name__} was not compiled yet", None, "Call it first.")
        return self._all[-1]


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


def _key_of_type(t: Type | None) -> Any:
    """The same key as that of a value of the type."""
    if isinstance(t, Array):
        return (np.dtype(t.dtype), t.ndim)
    assert isinstance(t, Scalar)
    if t.py:
        return {"b": bool, "i": int, "f": float}[t.dtype[0]]
    return np.dtype(t.dtype).type


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
        return Argument(type_of_constant(leaf))
    return Argument(None, leaf)


def _any_number(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    from jitad.values.registry import any_traced

    return any_traced(args) or any_traced(kwargs.values())
