"""How is a function compiled, one specialisation a combination of argument types, and called?

A call looks at the types of its arguments.  For types seen before, a generated entry function
hands the arguments and the captured values to the kernel; otherwise the function is traced,
specialised and emitted first.  What a trace relied on is checked at every call by the entry
(captured ints, functions, objects) or by the kernel (extents equal to one): a miss traces again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba import types as numba_types

from jitad.emit import capi
from jitad.emit.callable import register
from jitad.emit.kernel import Kernel, kernel
from jitad.entries import finish, python_entry
from jitad.errors import (
    GuardMiss,
    Guessed,
    JitadError,
    JitadOverflowError,
    JitadTypeError,
    RoomMiss,
    UnknownDepthError,
)
from jitad.fallback import Unknown, is_allowed, warn
from jitad.floatlists import LONG, packed
from jitad.memory import limited
from jitad.native_entries import native_entry, of_types
from jitad.primitives.schedules import Snapshots
from jitad.runtime.operators import place
from jitad.specialise.pipeline import specialise, stages
from jitad.structures import Structure, flatten, map_structure, step, unflatten
from jitad.tape.show import show
from jitad.tape.types import Array, Scalar, type_of_constant
from jitad.trace import calls, context, hooks
from jitad.trace.observe import Decisions
from jitad.trace.opaque import learning
from jitad.trace.paths import PLAIN_ARRAYS, Path
from jitad.trace.trace import Shaped, Traced, Valued, trace
from jitad.undisturbed import undisturbed
from jitad.values.registry import any_traced

_MISSED = object()
_MOST = 64  # specialisations of one function; more means that something changes at every call
_MOST_LEAVES = 1000  # of arguments for which an entry is written out


NumbaType = numba_types.Type


@dataclass(frozen=True)
class Specialisation:
    """One kernel, and what it takes to call it."""

    traced: Traced
    kernel: Kernel
    why: str
    from_types: bool = False  # traced without knowing which extents are 1: taken to be none


@register
class Compiled:
    """A compiled function; made by `jit`, `jit_grad` and `jit_value_and_grad`.

    Call it as the function itself; call it from `@numba.njit` functions, too.  It takes
    and gives the shapes and dtypes that the function takes and gives.

    Parameters
    ----------
    f, fallback, memory : as for `jit`.

    Attributes
    ----------
    source : the emitted Python of the latest specialisation.
    specialisations : why each one was made.
    explain() : which kernels there are, and which calls ran without one.
    tape(stage) : the tape of the latest specialisation, "traced", "plain" or after a named pass.
    compile(*types) : compile ahead of time, for Numba types or for values of the types.
    address(*types) : the address of a C function.

    Raises
    ------
    JitadTypeError : `f` is not a function; when called: an argument that no kernel takes.
    JitadError : what the function does can't be traced, or `source` before anything is compiled.

    Source: `source` is compiled by Numba; Lam, Pitrou & Seibert, *Numba: a LLVM-based Python JIT
    compiler*, LLVM-HPC 2015.

    >>> from jitad import jit_grad
    >>> g = jit_grad(lambda x: x * x * x)
    >>> g(2.0)
    12.0
    >>> g.specialisations
    ['first call']
    """

    def __init__(
        self, f: Callable[..., Any], fallback: bool | None = None,
        memory: float | Snapshots | None = None,
    ) -> None:  # fmt: skip
        if not callable(f):
            raise JitadTypeError(f"{f!r} is not a function", None, "Pass a function.")
        self.f, self.fallback, self.memory = f, fallback, limited(memory)
        functools.update_wrapper(self, f, updated=())
        self.__name__ = getattr(f, "__name__", type(f).__name__)
        self._by_key: dict[Any, list[Specialisation]] = {}
        self._unknown: dict[Any, Unknown] = {}  # argument types for which nesting is not known
        self._all: list[Specialisation] = []
        self._dynamic: frozenset[Path] = frozenset()
        self._seen: set[Any] = set()  # opaque functions that a call in Python may have shown
        self._native: dict[Any, Any] = {}
        self._entries: dict[Any, Callable[..., Any]] = {}
        self._fast: Callable[..., Any] = self._slow
        self._named: Callable[[Any, Any], Any] = self._slow_named

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._named(args, kwargs) if kwargs else self._fast(*args)

    def __repr__(self) -> str:
        return f"<jitad.Compiled {self.__name__}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    # -- calling --------------------------------------------------------------------------------

    def _slow_named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._slow(*args, **kwargs)

    def _slow(self, *args: Any, **kwargs: Any) -> Any:
        """Any call: find the specialisation for these arguments, or make it."""
        outside = context.current()
        if outside is not None:
            with outside.remembering(self.memory):
                return hooks.call(self.f, *args, **kwargs)  # part of the trace outside
        leaves, structure = flatten((args, kwargs))
        if any_traced(leaves):
            return hooks.call(self.f, *args, **kwargs)  # differentiated eagerly outside
        if len(leaves) > LONG:
            leaves, structure = flatten(packed((args, kwargs)))
        if any(isinstance(leaf, np.ndarray) and not leaf.ndim for leaf in leaves):
            leaves = [leaf[()] if isinstance(leaf, np.ndarray) and not leaf.ndim else leaf
                      for leaf in leaves]  # fmt: skip
            args, kwargs = _as_numbers((args, kwargs))  # an array without axes is a number
        key = (structure, tuple(map(_key, leaves)))
        ones = any(1 in leaf.shape for leaf in leaves if isinstance(leaf, np.ndarray))
        out = self._known(self._by_key.get(key, ()), args, kwargs, ones)
        if out is not _MISSED:
            return out
        with context.alone():  # another thread may have made it meanwhile
            tried = self._by_key.setdefault(key, [])
            out = self._known(tried, args, kwargs, ones)
            if out is not _MISSED:
                return out
            why = "first call" if not self._all else (
                "other values of what the trace relied on" if tried else "other types"
            )
            args_, kwargs_ = unflatten(structure, _abstracts(self.f, leaves, structure))
            unknown = self._unknown.get(key)
            path = None
            if unknown is not None:
                path, why = unknown.next_path(), "the path of an earlier call"
            s = None
            try:
                if unknown is None or path is not None:
                    s = self._specialise(args_, kwargs_, why, path=path)
            except Guessed as error:  # this once in Python, which shows what is needed
                if self._seen.issuperset(error.functions):
                    raise
                self._seen |= set(error.functions)
                with learning():
                    return self.f(*args, **kwargs)
            except UnknownDepthError as reason:
                if not is_allowed(self.fallback):
                    raise
                if not self._unknown:
                    warn(self.__name__, reason)
                unknown = self._unknown.setdefault(key, Unknown(reason, reason.places))
                unknown.found(reason, path)
            if s is not None:
                tried.append(s)
        if s is not None:
            if unknown is not None:
                out = self._known((s,), args, kwargs, False)
                return unknown.run(self.f, args, kwargs) if out is _MISSED else out
            values = s.traced.arguments(self.f, args, kwargs)
            try:
                return self._run(s, values, args, kwargs)
            except GuardMiss:  # what Python's functions give was not foreseen
                if not s.traced.missed(self.f, args, kwargs):
                    raise
            return self._slow(*args, **kwargs)
        assert unknown is not None
        return unknown.run(self.f, args, kwargs)

    def _known(
        self, tried: Sequence[Specialisation], args: Any, kwargs: Any, ones: bool
    ) -> Any:
        """The result by the first of these specialisations that will do."""
        for s in tuple(tried):
            if s.from_types and ones:
                continue
            with context.alone():  # what is checked is what is read
                missed = s.traced.missed(self.f, args, kwargs)
                values = [] if missed else s.traced.arguments(self.f, args, kwargs)
            # an int that changes is an input from now on
            self._dynamic |= {g.path for g in missed if g.kind == "value" and _is_int(g.expected)}
            if not missed:
                try:
                    return self._run(s, values, args, kwargs)
                except GuardMiss:
                    continue
        return _MISSED

    def _run(
        self, s: Specialisation, values: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        while True:
            try:
                flat = s.kernel(*values)
                break
            except RoomMiss as error:
                short = [r for r in s.traced.rooms if r.message == error.case]
                if not short:
                    raise
                for room in short:
                    room.grow()
                values = s.traced.arguments(self.f, args, kwargs)
        out = finish(s.traced, flat, self.f, args, kwargs)
        self._enter(s, args, kwargs)
        return out

    def _enter(self, s: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """From now on, calls like this one go straight to the kernel."""
        leaves, structure = flatten((args, kwargs))
        if len(leaves) > LONG:
            leaves, structure = flatten(packed((args, kwargs)))
        if len(leaves) > _MOST_LEAVES:
            return
        key = (s, structure, tuple(map(type, leaves)))
        if key not in self._entries:
            self._entries[key] = python_entry(
                s.traced, s.kernel.dispatcher, self.f, structure, leaves, self._slow, s.from_types
            )
        if kwargs:
            self._named = self._entries[key]
        else:
            self._fast = self._entries[key]

    def _specialise(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], why: str, from_types: bool = False,
        path: Decisions | None = None,
    ) -> Specialisation:
        if len(self._all) >= _MOST:
            raise JitadError(
                f"{self.__name__} was specialised {len(self._all)} times", None,
                "Something that it relies on changes at every call; see .specialisations.",
            )  # fmt: skip
        with undisturbed():
            traced = trace(self.f, args, kwargs, self._dynamic, path, self.memory)
            # for native callers there is no first call to learn from
            if not from_types and not self._seen.issuperset(traced.guessed):
                raise Guessed(traced.guessed)
            s = Specialisation(traced, kernel(specialise(traced.tape)), why, from_types)
        self._all.append(s)
        return s

    # -- from native code -----------------------------------------------------------------------

    def compile(self, *signature: Any) -> Compiled:
        """Compile ahead of time; gives the object itself.

        `signature`: for every argument a Numba type (`numba.float64[:]`), or a value of the type.
        """
        self.entry(tuple(map(_numba_type, signature)), signature)
        return self

    def address(self, *signature: Any) -> int:
        """The address of a C function for these argument types; see `jitad.emit.capi`."""
        kinds = tuple(map(_numba_type, signature))
        return capi.address(self.entry(kinds, signature), kinds)

    def entry(self, argument_types: tuple[Any, ...], values: tuple[Any, ...] = ()) -> Any:
        """The dispatcher that `@njit` callers with these Numba types are linked to.

        What must be known of the arguments is taken from literal types, from `values`, or else
        from the newest specialisation for such types.
        """
        kinds = tuple(numba_types.unliteral(t) for t in argument_types)
        leaves, structure = of_types(kinds)
        given = (*values, *argument_types[len(values) :])
        args = tuple(map(_with_value, unflatten(structure, leaves)[0], given))
        with context.alone():
            known = self._by_key.setdefault((structure, tuple(map(_key_of_type, leaves))), [])
            if not any(_serves(s.traced, self.f, args) for s in known):
                known.append(self._specialise(args, {}, "a call from native code", True))
            s = [s for s in known if _serves(s.traced, self.f, args)][-1]
            if (s, kinds) not in self._native:
                compiled = s.kernel.dispatcher
                self._native[s, kinds] = native_entry(s.traced, compiled, self.f, len(kinds))
            return self._native[s, kinds]

    # -- looking inside -------------------------------------------------------------------------

    @property
    def specialisations(self) -> list[str]:
        """Why each specialisation was made, oldest first."""
        return [s.why for s in self._all]

    def explain(self) -> str:
        """Which kernels there are and why, and which calls ran without one."""
        lines = [f"kernel {k}: {why}" for k, why in enumerate(self.specialisations, 1)]
        return "\n".join([*lines, *map(str, self._unknown.values())]) or "not called yet"

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
        names, tape = [], traced
        for name, tape in stages(traced):
            names.append(name)
            if name == stage:
                return show(tape)
        if stage == "plain":
            return show(tape)
        raise JitadError(
            f"no stage {stage!r}", None, f"Stages are traced, {', '.join(names)}, plain."
        )

    def _latest(self) -> Specialisation:
        if not self._all:
            raise JitadError(f"{self.__name__} was not compiled yet", None, "Call it first.")
        return self._all[-1]




def _as_numbers(value: Any) -> Any:
    """The structure with arrays without axes as the numbers that they are."""
    return map_structure(
        lambda a: a[()] if isinstance(a, np.ndarray) and not a.ndim else a, value
    )


def _is_int(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _numba_type(a: Any) -> Any:
    return a if isinstance(a, NumbaType) else numba.typeof(a)


def _with_value(t: Any, given: Any) -> Any:
    """An abstract argument together with the value that a caller gives for it, if one does."""
    if isinstance(given, numba_types.Literal):
        given = given.literal_value
    if isinstance(t, Scalar) and isinstance(given, (int, np.integer, np.bool_)):
        return Valued(t, given)
    if isinstance(t, Array) and isinstance(given, np.ndarray):
        return Shaped(t, given.shape)
    return t


def _serves(traced: Traced, function: Any, args: tuple[Any, ...]) -> bool:
    """May a caller with these arguments be linked to it?  The kernel checks what isn't known."""
    known = {Path(("arg", k)): a.value for k, a in enumerate(args) if isinstance(a, Valued)}
    outside = (g for g in traced.guards if not isinstance(g.path.root, tuple))
    return all(known.get(path, v) == v for path, v in traced.relied) and all(
        g.holds(function) for g in outside
    )


def _key(leaf: Any) -> Any:
    """Equal for leaves that one trace serves (what it relies on besides is guarded)."""
    if type(leaf) in PLAIN_ARRAYS and leaf.dtype.isnative:
        return (leaf.dtype.str[1:], leaf.ndim)
    if isinstance(leaf, np.ndarray):
        return (type(leaf), leaf.dtype.str, leaf.ndim)
    if type(leaf) is int and not -(2**63) <= leaf < 2**63:
        return leaf  # it will be refused
    if isinstance(leaf, (bool, int, float, np.generic)):
        return type_of_constant(leaf)
    return (type(leaf), leaf) if isinstance(leaf, str) else type(leaf)  # others are guarded


def _key_of_type(t: Array | Scalar) -> Any:
    return (t.dtype, t.ndim) if isinstance(t, Array) else t


def _abstract(leaf: Any) -> Any:
    """What stands for a leaf of the arguments in a trace: its type, or its value if static."""
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biuf":
        return Shaped(Array(leaf.dtype.str[1:], leaf.ndim), leaf.shape)
    if isinstance(leaf, (float, np.floating)):
        return type_of_constant(leaf)
    if isinstance(leaf, (bool, int, np.integer, np.bool_)):
        return Valued(type_of_constant(leaf), leaf)
    return leaf


def abstracts(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What stands for arguments in a trace."""
    leaves, structure = flatten((args, {}))
    out: tuple[Any, ...] = unflatten(structure, _abstracts(f, leaves, structure))[0]
    return out


_DTYPES = frozenset(("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1"))


def _abstracts(f: Callable[..., Any], leaves: list[Any], structure: Structure) -> list[Any]:
    """What stands for the leaves of `(args, kwargs)`; refuses those that no kernel takes."""
    for k, leaf in enumerate(leaves):
        if isinstance(leaf, np.ndarray) and leaf.dtype.str[1:] not in _DTYPES:
            what = f"an array of dtype {leaf.dtype}"
        elif isinstance(leaf, np.ndarray) and type(leaf) not in PLAIN_ARRAYS:
            what = f"a {type(leaf).__name__}, whose arithmetic is its own"
        elif isinstance(leaf, np.ndarray) and not leaf.dtype.isnative:
            what = f"an array in the byte order of another machine ({leaf.dtype})"
        elif isinstance(leaf, np.generic) and leaf.dtype.str[1:] not in _DTYPES:
            what = f"a NumPy value of dtype {leaf.dtype}"
        elif isinstance(leaf, int) and not -(2**63) <= leaf < 2**63:
            raise JitadOverflowError(
                f"{_place(f, structure, k)} is an int that needs more than 64 bits", None,
                "Kernels compute with 64-bit integers: pass a float.",
            )  # fmt: skip
        else:
            continue
        raise JitadTypeError(
            f"{_place(f, structure, k)} is {what}", None,
            "Kernels take floats, ints, bools, complex numbers and arrays of them.",
        )  # fmt: skip
    return list(map(_abstract, leaves))


def _place(f: Callable[..., Any], structure: Structure, leaf: int) -> str:
    """What the user calls leaf number `leaf` of `(args, kwargs)`: `argument 0 (x) at ['w']`."""
    at = structure
    keys: list[tuple[type | None, Any]] = []
    while at.kind is not None:
        for key, child in zip(at.keys, at.children, strict=True):
            if leaf < child.size:
                keys.append((at.kind, key))
                at = child
                break
            leaf -= child.size
    (_, where), (_, name), *inside = keys
    path = "".join(step(kind, key) for kind, key in inside if kind is not None)
    if where == 0:
        return place(f, name, path)
    return f"argument {name}" + (f" at {path}" if path else "")


calls.COMPILED.add(Compiled)
